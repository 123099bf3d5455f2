/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a user may want to know that is neither the result nor an error: lines on stderr. Warnings
 * always appear; notes unless -q; details with -v. Libraries return errors and counts instead; the
 * log is for src/cmd and for what src/host chose on its way. What may not go to a terminal is
 * escaped here (base/utf8.h).
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/error.h"

enum log_level { LOG_WARNING, LOG_NOTE, LOG_DETAIL };

void log_set_level(enum log_level level); /* what is printed, up to; LOG_NOTE at first */
bool log_enabled(enum log_level level);
void log_warning(const char *format, ...) PRINTF_LIKE(1, 2);
void log_note(const char *format, ...) PRINTF_LIKE(1, 2);
void log_detail(const char *format, ...) PRINTF_LIKE(1, 2);
void log_error(const struct error *error); /* and its hint; whatever the level */

#endif
