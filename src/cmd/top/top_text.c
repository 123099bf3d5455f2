/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One screen after another, as text: a line with the rates, and the rows as report prints them. */
#include <inttypes.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/terminal.h"
#include "cmd/top/top_run.h"
#include "output/report_text.h"
#include "output/stream.h"

#define DEFAULT_ENTRIES 20
#define OTHER_LINES 8 /* of a screen */
#define CLEAR "\033[H\033[2J"

static size_t default_entries(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row <= OTHER_LINES)
		return DEFAULT_ENTRIES;
	return size.ws_row - OTHER_LINES;
}

static void append_part(struct buffer *out, uint64_t part, uint64_t all, const char *what)
{
	buffer_printf(out, "%s%.1f%% %s", out->size ? ", " : "", all ? 100.0 * part / all : 0,
		      what);
}

void top_append_rate(struct buffer *out, const struct top_interval *interval)
{
	uint64_t all = profile_totals_sum(&interval->totals);

	buffer_printf(out, "%" PRIu64 " sample%s", all, all == 1 ? "" : "s");
	if (interval->seconds > 0)
		buffer_printf(out, " in %.1f s (%.0f/s)", interval->seconds,
			      all / interval->seconds);
}

void top_append_parts(struct buffer *out, const struct top_interval *interval)
{
	const struct profile_totals *totals = &interval->totals;
	uint64_t all = profile_totals_sum(totals);

	if (!all) /* of nothing, there are no shares */
		return;
	append_part(out, totals->guest_kernel, all, "guest kernel");
	append_part(out, totals->guest_user, all, "guest user");
	if (totals->guest_counted)
		append_part(out, totals->guest_counted, all, "guest");
	if (totals->host_sampled || totals->host || totals->host_counted)
		append_part(out, totals->host + totals->host_counted, all, "host");
	append_part(out, totals->lost, all, "lost");
	if (totals->unattributed)
		append_part(out, totals->unattributed, all, "unattributed");
	if (totals->filtered)
		append_part(out, totals->filtered, all, "filtered out");
}

void top_choose_columns(const struct top_engine *engine, struct report_columns *ret)
{
	const struct profile_keys *keys = &engine->options.keys;

	*ret = (struct report_columns){ .usual = true };
	if (engine->options.children)
		report_columns_add(ret, REPORT_CHILDREN, 0);
	report_columns_add(ret, REPORT_OVERHEAD, 0);
	if (engine->config->sample_counts)
		report_columns_add(ret, REPORT_SAMPLES, 0);
	for (size_t i = 0; i < keys->count; i++)
		report_columns_add(ret, REPORT_KEY, keys->items[i]);
}

static bool is_reader_gone(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	return poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP));
}

struct error *top_text_show(struct top_run *run)
{
	struct top_engine *engine = &run->engine;
	bool screen = isatty(STDOUT_FILENO) && !terminal_is_dumb();
	struct top_interval interval;
	const struct profile *profile = top_engine_look(engine, &interval);
	struct report_text_options options = {
		.children = engine->options.children,
		.chains = engine->options.chains,
		.caller = engine->options.children,
		.min_percent = engine->min_percent,
		.min_chain_percent = engine->min_percent ? engine->min_percent : 0.5,
		.max_rows = engine->config->entries ? engine->config->entries : default_entries(),
		.colour = screen && terminal_wants_colors(),
	};
	_cleanup_buffer_ struct buffer heading;
	struct error *error;

	buffer_init(&heading, 4096);
	if (screen)
		buffer_append_string(&heading, CLEAR);
	buffer_append_string(&heading, "# ");
	top_append_rate(&heading, &interval);
	top_append_parts(&heading, &interval);
	buffer_append_string(&heading, profile ? "\n#\n" : "\n\n");
	buffer_append_u8(&heading, 0);
	options.heading = (const char *)heading.data;
	top_choose_columns(engine, &options.columns);
	if (profile)
		error = report_text_write(STDOUT_FILENO, profile, &options);
	else
		error = file_write_all(STDOUT_FILENO, heading.data, heading.size - 1, "the output");
	run->gone = is_reader_gone();
	return error;
}
