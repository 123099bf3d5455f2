/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is counted, in a browser. The browser waits for keys and for this file's work: reading
 * records, and showing them when it is time. The outline's profile is the one of the last look; it
 * is suspended while there is another look, and shows nothing when what was counted is gone.
 *
 * Nobody else may print while the browser has the terminal: what the recorder says comes through a
 * pipe, what this process says is kept in memory, and both are printed at the end.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/progress.h"
#include "cmd/top/top_run.h"
#include "terminal/browser.h"
#include "terminal/screen.h"
#include "view/outline.h"

#define MAX_LINE_BYTES 4096

enum { RECORDS, MESSAGES }; /* what is waited for */

struct top_view {
	struct browser_source source; /* first */
	struct top_run *run;
	struct browser browser;
	struct profile_keys keys;
	struct report_columns columns;
	struct buffer title;
	bool paused, ended;
	struct error *error;
};

/* What is shown while there is nothing. */
static struct profile_event no_samples = { .name = "" };
static const struct profile nothing = { .events = &no_samples, .event_count = 1 };

static const char *const help[] = {
	"",
	"w                    wait: what is shown stays, samples are counted; again: go on",
	"Z                    count anew from zero",
};

/* Those of guests, for as long as no sample has come. */
static void choose_usual_keys(struct top_view *view)
{
	static const enum profile_key usual[] = { PROFILE_VM, PROFILE_GUEST_COMM, PROFILE_DSO,
						  PROFILE_SYMBOL };

	view->keys.count = 0;
	view->columns = (struct report_columns){ .usual = true };
	report_columns_add(&view->columns, REPORT_OVERHEAD, 0);
	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++) {
		profile_keys_add(&view->keys, usual[i]);
		report_columns_add(&view->columns, REPORT_KEY, usual[i]);
	}
}

static void choose_keys(struct top_view *view)
{
	const struct top_engine *engine = &view->run->engine;
	size_t before = view->columns.count;

	view->keys = engine->options.keys;
	top_choose_columns(engine, &view->columns);
	if (view->columns.count != before)
		memset(view->browser.widths, 0, sizeof(view->browser.widths));
}

/* How many VMs PROFILE has samples of; 0: rows do not know their VM. */
static size_t count_vms(const struct profile *profile)
{
	_cleanup_map_ struct map vms;

	map_init(&vms);
	for (size_t i = 0; i < profile->event_count; i++)
		for (size_t k = 0; k < profile->events[i].rows.count; k++) {
			const struct machine *vm = profile->events[i].rows.items[k].vm;

			if (vm)
				map_insert(&vms, (uintptr_t)vm, NULL);
		}
	return vms.count;
}

static void set_title(struct top_view *view)
{
	buffer_append_u8(&view->title, 0);
	view->browser.title = (const char *)view->title.data;
}

/* "998 samples in 0.5 s (1996/s), 2 VMs" */
static void write_title(struct top_view *view, const struct top_interval *interval,
			const struct profile *profile)
{
	size_t vms = profile ? count_vms(profile) : 0;

	buffer_clear(&view->title);
	top_append_rate(&view->title, interval);
	if (vms)
		buffer_printf(&view->title, ", %zu VM%s", vms, vms == 1 ? "" : "s");
	set_title(view);
	buffer_clear(&view->source.parts);
	top_append_parts(&view->source.parts, interval);
}

static struct error *show(struct top_run *run)
{
	struct top_view *view = run->view;
	const struct profile *profile;
	struct top_interval interval;

	view->paused = false;
	browser_suspend(&view->browser);
	profile = top_engine_look(&run->engine, &interval);
	if (profile)
		choose_keys(view);
	write_title(view, &interval, profile);
	browser_resume(&view->browser, profile ? profile : &nothing);
	return NULL;
}

void top_view_drop(struct top_view *view)
{
	browser_suspend(&view->browser);
	for (size_t i = 0; i < view->keys.count; i++)
		if (view->keys.items[i] >= PROFILE_TEXT)
			choose_usual_keys(view); /* texts go, too */
	if (view->paused)
		browser_say(&view->browser, "what was shown is forgotten");
	view->paused = false;
	browser_resume(&view->browser, &nothing);
}

static void end(struct top_view *view, struct error *error)
{
	view->error = error;
	view->browser.done = true;
}

/* There is no more to come. A recorder that has ended leaves nothing to wait for. */
static void end_stream(struct top_view *view)
{
	struct error *error = top_engine_check_end(&view->run->engine);

	view->ended = true;
	view->source.waits.fds[RECORDS] = -1;
	view->source.waits.due_ns = SCREEN_NEVER;
	if (!error)
		error = top_run_show(view->run);
	if (error || view->run->source->recorder.pid)
		end(view, error);
}

/* The recorder's last line is shown. */
static bool hear(struct top_view *view)
{
	struct top_messages *messages = &view->run->source->recorder.messages;
	_cleanup_buffer_ struct buffer text;
	bool heard = top_messages_read(messages);

	buffer_init(&text, MAX_LINE_BYTES);
	view->source.waits.fds[MESSAGES] = messages->fd;
	if (!heard)
		return false;
	top_messages_append_last(messages, &text);
	buffer_append_u8(&text, 0);
	if (text.size)
		browser_say(&view->browser, (const char *)text.data);
	return true;
}

/* It is time for a screen; what is paused only counts. */
static struct error *refresh(struct top_view *view)
{
	struct top_run *run = view->run;
	uint64_t now = clock_monotonic_ns(), *due_ns = &view->source.waits.due_ns;

	*due_ns += run->engine.interval_ns;
	if (*due_ns < now)
		*due_ns = now + run->engine.interval_ns;
	if (!view->paused)
		return top_run_show(run);
	top_engine_next(&run->engine);
	return NULL;
}

static bool work(struct browser_source *source, struct browser *browser)
{
	struct top_view *view = (struct top_view *)source;
	bool changed = source->waits.ready[MESSAGES] && hear(view), ends = false;
	struct error *error = NULL;

	(void)browser;
	if (source->waits.ready[RECORDS])
		error = top_run_read(view->run, &ends);
	if (!error && ends) {
		end_stream(view);
		return true;
	}
	if (!error && clock_monotonic_ns() >= source->waits.due_ns) {
		changed |= !view->paused;
		error = refresh(view);
	}
	if (error)
		end(view, error);
	return changed;
}

static void pause_or_go_on(struct top_view *view)
{
	view->paused = !view->paused;
	if (!view->paused) {
		view->source.waits.due_ns = clock_monotonic_ns();
		return;
	}
	if (view->title.size)
		view->title.size--; /* the zero at its end */
	buffer_append_string(&view->title, view->title.size ? ", PAUSED" : "PAUSED");
	set_title(view);
}

static void take_key(struct browser_source *source, struct browser *browser, wint_t key)
{
	struct top_view *view = (struct top_view *)source;

	if (key == 'w' && view->ended) {
		browser_say(browser, "no more is to come");
	} else if (key == 'w') {
		pause_or_go_on(view);
	} else if (key == 'Z' && view->run->engine.live) {
		live_profile_decay(view->run->engine.live, 0);
		browser_say(browser, "counting anew");
	}
}

static void open_view(struct top_view *view, struct outline **ret_outline)
{
	struct top_run *run = view->run;
	const struct top_config *config = run->config;
	const struct outline_options options = {
		.keys = &view->keys, .columns = &view->columns,
		.children = config->record.callchains && !config->no_children,
		.chains = config->record.callchains,
		.caller = !config->no_children,
		.min_percent = run->min_percent,
		.min_chain_percent = run->min_percent,
	};

	choose_usual_keys(view);
	buffer_init(&view->title, MAX_LINE_BYTES);
	buffer_init(&view->source.parts, MAX_LINE_BYTES);
	view->source.work = work;
	view->source.key = take_key;
	view->source.help = help;
	view->source.help_count = sizeof(help) / sizeof(*help);
	*ret_outline = outline_create(&nothing, &options);
	browser_init(&view->browser, *ret_outline, "", NULL);
	view->browser.source = &view->source;
	run->view = view;
	run->show = show;
}

static void close_view(struct top_view *view)
{
	view->run->view = NULL;
	outline_destroy(view->browser.outline);
	browser_deinit(&view->browser);
	buffer_deinit(&view->title);
	buffer_deinit(&view->source.parts);
}

/* A stream is shown as it comes; of a file, what there is. */
static struct error *browse(struct top_view *view)
{
	const struct top_source *source = view->run->source;
	const struct top_messages *messages = &source->recorder.messages;
	struct error *error = NULL;

	view->source.waits = (struct screen_others){
		.fds = { source->fd, messages->kept ? messages->fd : -1 },
		.due_ns = SCREEN_NEVER };
	view->ended = source->fd < 0;
	if (view->ended)
		error = show(view->run);
	else
		view->source.waits.due_ns = clock_monotonic_ns();
	if (!error)
		browser_run(&view->browser);
	return error ? error : view->error;
}

/* What this process prints meanwhile is printed afterwards. */
static struct error *browse_in_silence(struct top_view *view)
{
	FILE *terminal = stderr;
	char *said = NULL;
	struct error *error;
	size_t size = 0;

	stderr = open_memstream(&said, &size);
	if (!stderr)
		stderr = terminal;
	error = browse(view);
	screen_close();
	if (stderr != terminal)
		fclose(stderr);
	stderr = terminal;
	if (size)
		fwrite(said, 1, size, stderr);
	free(said);
	return error;
}

struct error *top_view_run(struct top_run *run, bool *ret_ended)
{
	struct top_view view = { .run = run };
	struct outline *outline;
	struct error *error, *last;

	if (!screen_open())
		return error_create(ERROR_SYSTEM, "the terminal cannot be drawn on");
	open_view(&view, &outline);
	error = browse_in_silence(&view);
	close_view(&view);
	if (screen_signal() != SIGTERM)
		run->config->ended_by = screen_signal();
	*ret_ended = view.ended;
	run->gone = true;
	if (view.ended)
		return error;
	last = top_run_follow(run, ret_ended);
	if (!error)
		return last;
	error_destroy(last);
	return error;
}
