/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The progress line: overwritten in place with a carriage return, cut to the terminal's width. */
#include "base/progress.h"

#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/terminal.h"

#define INTERVAL_NS 200000000ULL

uint64_t clock_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static bool on_terminal(void)
{
	return log_enabled(LOG_NOTE) && isatty(STDERR_FILENO) && !terminal_is_dumb();
}

bool progress_due(const struct progress *progress)
{
	return clock_monotonic_ns() - progress->shown_ns >= INTERVAL_NS && on_terminal();
}

static int terminal_columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return 80;
	return size.ws_col;
}

void progress_show(struct progress *progress, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list arguments;

	if (!on_terminal())
		return;
	va_start(arguments, format);
	text = memory_vprintf(format, arguments);
	va_end(arguments);
	fprintf(stderr, "\r\033[K%.*s", terminal_columns() - 1, text);
	fflush(stderr);
	progress->shown_ns = clock_monotonic_ns();
	progress->active = true;
}

void progress_clear_line(void)
{
	if (on_terminal())
		fputs("\r\033[K", stderr);
}

void progress_end(struct progress *progress)
{
	if (progress->active)
		progress_clear_line();
	progress->active = false;
}
