/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of options that several commands have. */
#ifndef CMD_VALUES_H
#define CMD_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* TEXT, the value of OPTION, as a share from 0 to 100; NULL leaves RET as it is. */
struct error *values_percent(const char *option, const char *text, double *ret) MUST_CHECK;

/* The value of --time-quantum, NULL: it was not given, RET_NS stays; and that of --percentage. */
struct error *values_time_quantum(const char *text, uint64_t *ret_ns) MUST_CHECK;
struct error *values_percentage(const char *word, bool *ret_absolute) MUST_CHECK;

/* Checks the value of -t, a character that cannot be taken for another; NULL: none was given. */
struct error *values_check_separator(const char *text) MUST_CHECK;

#endif
