/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines on stderr, by level. Each is one write, so that lines from several threads do not mix. */
#include "base/log.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/utf8.h"

#define MAX_LINE_BYTES ((size_t)1 << 20)

static enum log_level log_level = LOG_NOTE;

void log_set_level(enum log_level level)
{
	log_level = level;
}

bool log_enabled(enum log_level level)
{
	return level <= log_level;
}

/* Text quoted from a guest, a file or another process must not control the terminal. */
static void write_line(const char *prefix, const char *kind, const char *text)
{
	_cleanup_buffer_ struct buffer line;

	buffer_init(&line, MAX_LINE_BYTES);
	buffer_printf(&line, "%s%s", prefix, kind);
	utf8_append_escaped(&line, text);
	buffer_append_u8(&line, '\n');
	fwrite(line.data, 1, line.size, stderr);
}

static void log_line(enum log_level level, const char *prefix, const char *format,
		     va_list arguments)
{
	_cleanup_free_ char *text = NULL;

	if (!log_enabled(level))
		return;
	text = memory_vprintf(format, arguments);
	progress_clear_line();
	write_line("perfvisor: ", prefix, text);
}

void log_error(const struct error *error)
{
	write_line("perfvisor: ", "", error_message(error));
	if (error_hint_text(error))
		write_line("  hint: ", "", error_hint_text(error));
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
