/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The writers of export.c's table, a file each. */
#ifndef EXPORT_FORMATS_H
#define EXPORT_FORMATS_H

#include "export/export.h"

struct error *export_folded(FILE *out, const struct export_input *input);
struct error *export_pprof(FILE *out, const struct export_input *input);
struct error *export_speedscope(FILE *out, const struct export_input *input);
struct error *export_firefox(FILE *out, const struct export_input *input);
struct error *export_chrome(FILE *out, const struct export_input *input);
struct error *export_json(FILE *out, const struct export_input *input);
struct error *export_csv(FILE *out, const struct export_input *input);

#endif
