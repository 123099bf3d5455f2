/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines on stderr, by level. Each is one write, so that lines of threads do not mix. */
#include "base/log.h"

#include "base/memory.h"
#include "base/progress.h"

static enum log_level log_level = LOG_NOTE;

void log_set_level(enum log_level level)
{
	log_level = level;
}

bool log_enabled(enum log_level level)
{
	return level <= log_level;
}

static void log_line(enum log_level level, const char *prefix, const char *format, va_list arguments)
{
	_cleanup_free_ char *text = NULL;

	if (!log_enabled(level))
		return;
	text = memory_vprintf(format, arguments);
	progress_clear_line();
	fprintf(stderr, "perfvisor: %s%s\n", prefix, text);
}

void log_warning(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	log_line(LOG_WARNING, "warning: ", format, arguments);
	va_end(arguments);
}

void log_note(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	log_line(LOG_NOTE, "", format, arguments);
	va_end(arguments);
}

void log_detail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	log_line(LOG_DETAIL, "", format, arguments);
	va_end(arguments);
}
