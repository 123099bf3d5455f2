/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines on stderr that a user may want to see but that are neither the result nor an error.
 * Warnings always appear, notes unless -q is given, details with -v. Libraries return errors and
 * counts instead; the log is for src/cmd, and for choices that src/host makes along the way.
 * Anything that must not reach a terminal is escaped here (base/utf8.h).
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/error.h"

enum log_level { LOG_WARNING, LOG_NOTE, LOG_DETAIL };

void log_set_level(enum log_level level); /* the most verbose level to print; LOG_NOTE initially */
bool log_enabled(enum log_level level);
void log_warning(const char *format, ...) PRINTF_LIKE(1, 2);
void log_note(const char *format, ...) PRINTF_LIKE(1, 2);
void log_detail(const char *format, ...) PRINTF_LIKE(1, 2);
void log_error(const struct error *error); /* with its hint; at any level */

#endif
