/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfvisor report --html: the recording as a page, in which it can be filtered further. */
#include <stdlib.h>

#include "cmd/page_file.h"
#include "cmd/report/report.h"
#include "cmd/stacks_command.h"

/* What shapes the text has no meaning for the page. */
static struct error *check_options(const struct report_config *config)
{
	const struct {
		bool given;
		const char *name;
	} options[] = {
		{ config->stdio, "--stdio" },
		{ config->json, "--json" },
		{ config->sort, "--sort" },
		{ config->fields, "--fields" },
		{ config->sample_counts, "--show-nr-samples" },
		{ config->header || config->header_only || config->info, "--header" },
		{ config->time_quantum, "--time-quantum" },
		{ config->hierarchy, "--hierarchy" },
		{ config->separator, "--field-separator" },
		{ config->widths, "--column-widths" },
		{ config->graph, "--call-graph" },
		{ config->children || config->no_children, "--children" },
		{ config->percent_limit, "--percent-limit" },
		{ config->branches, "--branch-stack" },
		{ config->percentage, "--percentage" },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (options[i].given)
			return error_create(ERROR_USAGE, "%s and --html exclude each other",
					    options[i].name);
	return NULL;
}

/* Counts by what the page filters by, and lists each sample. *RET_PLACES: the caller's to free. */
static struct error *load(const struct report_config *config, struct loaded_stacks *ret,
			  uint32_t **ret_places)
{
	const struct stacks_config stacks = { .input = config->input,
					      .filters = config->filters,
					      .symbols = config->symbols };
	const struct stacks_options levels = { .vms = true, .vcpus = true };
	struct profile_options counted = { .lone = true, .samples = true,
					   .max_stack = config->max_stack,
					   .inlined = config->inlined && !config->no_inlined };
	_cleanup_(filter_deinit) struct filter filter = { 0 };
	struct error *error = stacks_open(&stacks, ret, &filter);

	stacks_add_keys(&levels, &counted.keys);
	if (!error)
		error = stacks_count(&stacks, &counted, &filter, ret);
	if (!error)
		ret->stacks = stacks_create_common(
			&(struct stacks_source){ ret->profile, ret->event }, 1, &levels,
			ret_places);
	return error;
}

struct error *report_page(const struct report_config *config, int *ret_status)
{
	_cleanup_(page_file_deinit) struct page_file file = { 0 };
	_cleanup_free_ uint32_t *places = NULL;
	struct loaded_stacks loaded = { 0 };
	struct error *error = check_options(config);

	if (!error)
		error = page_file_begin(config->page, config->force, &file);
	if (!error)
		error = load(config, &loaded, &places);
	if (!error) {
		struct flamegraph_page page = { .profile = loaded.profile,
						.event = loaded.event,
						.stacks = loaded.stacks,
						.places = places,
						.title = loaded.path };

		error = page_file_write(&file, &page, ret_status);
	}
	loaded_stacks_deinit(&loaded);
	return error;
}
