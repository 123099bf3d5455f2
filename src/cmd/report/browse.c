/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/browse.h"

#include <signal.h>

#include "output/report_head.h"
#include "terminal/browser.h"
#include "terminal/screen.h"
#include "view/outline.h"

#define MAX_INFO_BYTES (16 * 1024 * 1024)

static bool has_samples(const struct profile *profile)
{
	for (size_t i = 0; i < profile->event_count; i++)
		if (profile->events[i].samples)
			return true;
	return false;
}

static void run(struct outline *outline, const struct profile_options *counted,
		const struct report_text_options *text)
{
	_cleanup_buffer_ struct buffer info;
	struct browser browser;

	buffer_init(&info, MAX_INFO_BYTES);
	report_head_append(&info, outline_profile(outline), text);
	browser_init(&browser, outline, text->path, &info);
	browser.annotates = true;
	browser.filter = counted->filter;
	browser_run(&browser);
	browser_deinit(&browser);
}

bool report_browse(const struct profile *profile, const struct profile_options *counted,
		   const struct report_text_options *text)
{
	const struct outline_options options = {
		.columns = &text->columns, .keys = &counted->keys, .children = text->children,
		.chains = text->chains, .caller = text->caller, .hierarchy = text->hierarchy,
		.absolute = counted->absolute, .min_percent = text->min_percent,
		.min_chain_percent = text->min_chain_percent };
	struct outline *outline;

	if (!has_samples(profile) || !options.keys->count || !screen_can_open())
		return false;
	outline = outline_create(profile, &options);
	if (!screen_open()) {
		outline_destroy(outline);
		return false;
	}
	run(outline, counted, text);
	screen_close();
	outline_destroy(outline);
	if (screen_signal()) {
		signal(screen_signal(), SIG_DFL);
		raise(screen_signal());
	}
	return true;
}
