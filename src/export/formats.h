/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The writers of export.c's table, a file each. */
#ifndef EXPORT_FORMATS_H
#define EXPORT_FORMATS_H

#include "export/export.h"

void export_pprof(FILE *out, const struct export_input *input);
void export_speedscope(FILE *out, const struct export_input *input);
void export_json(FILE *out, const struct export_input *input);
void export_csv(FILE *out, const struct export_input *input);

#endif
