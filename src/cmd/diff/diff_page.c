/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfvisor diff --flamegraph: what differs, as a page. */
#include "base/log.h"
#include "cmd/diff/diff.h"
#include "cmd/page_file.h"

/* What shapes the text has no meaning for the page. */
static struct error *check_options(const struct diff_config *config)
{
	const struct {
		bool given;
		const char *name;
	} options[] = {
		{ config->sort, "--sort" },
		{ config->compute, "--compute" },
		{ config->weights, "--weights" },
		{ config->separator, "--field-separator" },
		{ config->percent_limit, "--percent-limit" },
		{ config->order != 1, "--order" },
		{ config->baseline_only, "--baseline-only" },
		{ config->periods, "--period" },
		{ config->fail_over > 0, "--fail-over" },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (options[i].given)
			return error_create(ERROR_USAGE, "%s and --flamegraph exclude each other",
					    options[i].name);
	return NULL;
}

/* The first event that both sides have; names the others. */
static struct error *choose_event(const struct diff_sides *sides, struct comparison_side *ret)
{
	struct comparison_side more[COMPARISON_MAX_SIDES];
	size_t at = 0;

	if (!diff_sides_next_event(sides, &at, ret))
		return diff_no_event();
	while (diff_sides_next_event(sides, &at, more))
		log_note("the recordings have several events: showing only '%s', not '%s'",
			 ret->event->name, more->event->name);
	return NULL;
}

static struct stacks_diff_side take_side(const struct comparison_side *side)
{
	return (struct stacks_diff_side){
		.source = { side->profile, side->event - side->profile->events },
		.quantum_ns = side->quantum_ns,
	};
}

static struct error *write_page(const struct diff_sides *sides, struct page_file *file,
				int *ret_status)
{
	struct comparison_side compared[COMPARISON_MAX_SIDES];
	struct error *error = choose_event(sides, compared);
	struct stacks_diff_side both[2];
	struct flamegraph_page page;
	struct stacks_diff diff;

	if (error)
		return error;
	both[0] = take_side(&compared[0]);
	both[1] = take_side(&compared[1]);
	stacks_diff_init(&diff, both);
	page = (struct flamegraph_page){ .profile = both[1].source.profile,
					 .event = both[1].source.event,
					 .stacks = diff.stacks,
					 .title = sides->items[1].label,
					 .diff = &diff,
					 .base_title = sides->items[0].label };
	error = page_file_write(file, &page, ret_status);
	stacks_diff_deinit(&diff);
	return error;
}

static struct error *count_sides(const struct diff_config *config,
				 const struct string_list *paths, struct diff_sides *ret)
{
	struct profile_options options = { .chains = true, .by_name = true, .lone = true };
	struct error *error = diff_sides_open(config, paths, ret);

	if (!error && ret->count != 2)
		error = error_create(ERROR_USAGE, "--flamegraph compares two recordings or VMs, "
						  "not %zu", ret->count);
	profile_keys_add(&options.keys, PROFILE_COMM);
	if (!error)
		error = diff_sides_count(config, ret, &options);
	for (size_t i = 0; !error && i < ret->count; i++)
		recording_warn_if_cut(ret->items[i].profile);
	return error;
}

struct error *diff_page(const struct diff_config *config, const struct string_list *paths,
			int *ret_status)
{
	_cleanup_(page_file_deinit) struct page_file file = { 0 };
	struct diff_sides sides = { .count = 0 };
	struct error *error = check_options(config);

	if (!error)
		error = page_file_begin(config->output ? config->output : DIFF_PAGE_OUTPUT,
					config->force, &file);
	if (!error)
		error = count_sides(config, paths, &sides);
	if (!error)
		error = write_page(&sides, &file, ret_status);
	diff_sides_deinit(&sides);
	return error;
}
