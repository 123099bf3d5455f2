/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfvisor diff: what differs between recordings, or VMs, and whether it is more than chance. */
#include "cmd/pager.h"
#include "cmd/diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "cmd/command.h"
#include "cmd/values.h"
#include "output/diff_text.h"
#include "output/view.h"

#define STATUS_OVER 3 /* --fail-over: a difference is over the limit */
#define DEFAULT_KEYS "dso,sym"

static struct error *parse_keys(const char *text, struct profile_keys *ret)
{
	_cleanup_free_ char *copy = memory_strdup(text);
	char *rest = copy, *word;

	ret->count = 0;
	while ((word = strsep(&rest, ","))) {
		enum profile_key key;

		if (!view_parse_key(word, &key) || key == PROFILE_TIME)
			return error_hint(error_create(ERROR_USAGE, "--sort: unknown key '%s'",
						       word),
					  "the keys are vm, vcpu, comm, pid, tid, gcomm, gpid, "
					  "dso, mode, sym, cpu");
		profile_keys_add(ret, key);
	}
	return NULL;
}

static bool parse_weights(const char *text, struct comparison_order *ret)
{
	char *end;

	ret->first_weight = strtod(text, &end);
	if (end == text || *end != ',')
		return false;
	text = end + 1;
	ret->second_weight = strtod(text, &end);
	return end != text && !*end && isfinite(ret->first_weight) &&
	       isfinite(ret->second_weight);
}

/* perf's words. */
static struct error *parse_method(const char *text, struct comparison_order *ret)
{
	if (!text || !strcmp(text, "delta-abs"))
		ret->method = COMPARISON_DELTA_ABS;
	else if (!strcmp(text, "delta"))
		ret->method = COMPARISON_DELTA;
	else if (!strcmp(text, "ratio"))
		ret->method = COMPARISON_RATIO;
	else if (!strncmp(text, "wdiff:", 6) && parse_weights(text + 6, ret))
		ret->method = COMPARISON_WDIFF;
	else
		return error_hint(error_create(ERROR_USAGE, "-c does not understand '%s'", text),
				  "it takes delta-abs, delta, ratio or wdiff:WEIGHT1,WEIGHT2");
	return NULL;
}

static struct error *parse_weights_of(const struct diff_config *config, bool *ret_time)
{
	const char *text = config->weights;

	*ret_time = text && !strcmp(text, "time");
	if (text && !*ret_time && strcmp(text, "samples") != 0)
		return error_create(ERROR_USAGE, "--weights takes samples or time, not '%s'", text);
	if (*ret_time && config->compute && !strncmp(config->compute, "wdiff", 5))
		return error_create(ERROR_USAGE, "--weights time excludes -c wdiff, which compares "
						 "periods");
	return NULL;
}

static struct error *parse_options(const struct diff_config *config, struct profile_keys *keys,
				   struct diff_text_options *text)
{
	struct error *error = parse_keys(config->sort ? config->sort : DEFAULT_KEYS, keys);

	text->order.side = config->order;
	text->separator = config->separator;
	text->baseline_only = config->baseline_only;
	text->periods = config->periods;
	if (!error)
		error = parse_method(config->compute, &text->order);
	if (!error)
		error = parse_weights_of(config, &text->by_time);
	if (!error)
		error = values_percent("--percent-limit", config->percent_limit,
				       &text->min_percent);
	return error ? error : values_check_separator(config->separator);
}

/* Prints the differences over LIMIT percent; whether there are any. */
static bool is_over(const struct comparison *comparison, double limit, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < comparison->rows.count; i++)
		for (size_t j = 1; j < comparison->side_count; j++) {
			const struct comparison_cell *cell =
				&comparison->rows.items[i].cells[j];

			count += cell->certain && 100 * fabs(cell->difference.delta) > limit;
		}
	if (count)
		log_warning("%s: %zu differences are more than chance and over %g %%", name, count,
			    limit);
	return count;
}

static struct error *write_event(const struct diff_config *config,
				 const struct comparison_side *sides, size_t count,
				 const struct profile_keys *keys, int fd,
				 const struct diff_text_options *options, bool *ret_over)
{
	struct comparison comparison;
	const char *name = sides->event->name;
	struct error *error;

	comparison_init(&comparison, sides, count, keys);
	comparison_sort(&comparison, &options->order);
	error = diff_text_write(fd, &comparison, name, options);
	if (!error && config->fail_over > 0)
		*ret_over |= is_over(&comparison, config->fail_over, name);
	comparison_deinit(&comparison);
	return error;
}

static struct error *write_events(const struct diff_config *config, const struct diff_sides *sides,
				  const struct profile_keys *keys, int fd,
				  const struct diff_text_options *options, bool *ret_over)
{
	struct comparison_side compared[COMPARISON_MAX_SIDES] = { 0 };
	struct error *error = NULL;
	size_t at = 0, written = 0;

	for (; !error && diff_sides_next_event(sides, &at, compared); written++) {
		if (options->by_time)
			error = diff_sides_weigh_by_time(sides, compared);
		if (!error)
			error = write_event(config, compared, sides->count, keys, fd, options,
					    ret_over);
	}
	if (!error && !written)
		error = diff_no_event();
	return error;
}

static struct error *diff(const struct diff_config *config, const struct string_list *paths,
			  bool *ret_over)
{
	const char *labels[COMPARISON_MAX_SIDES];
	struct profile_options counted = { .unnamed_alike = true };
	struct diff_text_options options = { .labels = labels };
	struct profile_keys keys;
	struct diff_sides sides = { .count = 0 };
	_cleanup_pager_ struct pager pager = { 0 };
	struct error *error = parse_options(config, &keys, &options);

	pager_start(&pager);
	if (!error)
		error = diff_sides_open(config, paths, &sides);
	if (!error && options.order.side >= sides.count)
		error = error_create(ERROR_USAGE, "--order takes the number of a recording, at "
						  "most %zu here", sides.count - 1);
	counted.keys = keys;
	if (!error)
		error = diff_sides_count(config, &sides, &counted);
	for (size_t i = 0; i < sides.count; i++)
		labels[i] = sides.items[i].label;
	if (!error) {
		options.colour = pager.terminal && terminal_wants_colors();
		error = write_events(config, &sides, &keys, pager.fd, &options, ret_over);
	}
	diff_sides_deinit(&sides);
	return error;
}

static struct error *run_diff(const struct command *command, int argc, char **argv,
			      int *ret_status)
{
	struct diff_config config = { .order = 1 };
	struct string_list paths = { 0 };
	struct error *error;
	bool help, over = false;

	error = command_parse_mixed(command, &config, argc, argv, &paths, &help);
	if (!error && !help && !config.flamegraph && (config.output || config.force))
		error = error_create(ERROR_USAGE, "%s is for --flamegraph",
				     config.output ? "--output" : "--force");
	if (!error && !help)
		error = config.flamegraph ? diff_page(&config, &paths, ret_status)
					  : diff(&config, &paths, &over);
	if (over)
		*ret_status = STATUS_OVER;
	free(paths.items);
	filter_options_deinit(&config.filters);
	return error;
}

static const struct option_spec diff_options[] = {
	{ OPTION_STRING, 's', "sort", offsetof(struct diff_config, sort), "KEYS",
	  "what to compare by, separated by commas: vm, vcpu, comm, pid, tid, gcomm, gpid, dso, "
	  "mode, sym, cpu (default: " DEFAULT_KEYS ")",
	  .completion = COMPLETE_WORDS,
	  .words = "vm vcpu comm pid tid gcomm gpid dso mode sym cpu" },
	{ OPTION_STRING, 'c', "compute", offsetof(struct diff_config, compute), "METHOD",
	  "how to express a difference: delta-abs (default), delta, ratio, wdiff:WEIGHT1,WEIGHT2",
	  .completion = COMPLETE_WORDS, .words = "delta-abs delta ratio wdiff:" },
	{ OPTION_STRING, 0, "weights", offsetof(struct diff_config, weights), "WEIGHTS",
	  "compare shares of samples (the default), or of time: how much of a CPU a function took",
	  .completion = COMPLETE_WORDS, .words = "samples time" },
	{ OPTION_UNSIGNED, 0, "order", offsetof(struct diff_config, order), "N",
	  "sort by the difference of recording N from the first, or for 0 by the first's share "
	  "(default: 1)", .max = COMPARISON_MAX_SIDES - 1 },
	{ OPTION_FLAG, 'b', "baseline-only", offsetof(struct diff_config, baseline_only), NULL,
	  "leave out what the first recording does not have" },
	{ OPTION_FLAG, 'p', "period", offsetof(struct diff_config, periods), NULL,
	  "also show periods" },
	{ OPTION_STRING, 't', "field-separator", offsetof(struct diff_config, separator),
	  "CHARACTER", "separates columns, which are not padded; in names it becomes a point" },
	{ OPTION_STRING, 0, "percent-limit", offsetof(struct diff_config, percent_limit),
	  "PERCENT", "leave out rows with a smaller share in each recording" },
	{ OPTION_PERCENT, 0, "fail-over", offsetof(struct diff_config, fail_over), "PERCENT",
	  "exit with status 3 if a share differs by more, and by more than chance" },
	{ OPTION_FLAG, 0, "flamegraph", offsetof(struct diff_config, flamegraph), NULL,
	  "write a flame graph of the second recording, coloured by what differs, as a page" },
	{ OPTION_STRING, 'o', "output", offsetof(struct diff_config, output), "FILE",
	  "where to write the page; - is standard output (default: " DIFF_PAGE_OUTPUT ")",
	  .completion = COMPLETE_FILE },
	{ OPTION_FLAG, 0, "force", offsetof(struct diff_config, force), NULL,
	  "replace FILE even if it is not a perfvisor page" },
	FILTER_VM_OPTION(struct diff_config, filters,
			 "only this VM; two or more of them: compare these VMs of one recording"),
	FILTER_SAMPLE_OPTIONS(struct diff_config, filters, 'C', 0),
	RECORDING_SYMBOL_OPTIONS(struct diff_config, symbols),
	{ 0 },
};

const struct command command_diff = {
	.name = "diff",
	.summary = "Compare recordings: host and guest, before and after, one VM and another",
	.arguments = "[BASELINE RECORDING...]",
	.options = diff_options,
	.examples =
		"  perfvisor diff                             # host and guest, or the last two\n"
		"  perfvisor diff monday.data tuesday.data    # more files: a column each\n"
		"  perfvisor diff --vm web1 --vm web2         # two VMs of the newest recording\n"
		"  perfvisor diff --flamegraph old new        # a page, " DIFF_PAGE_OUTPUT "\n"
		"  perfvisor diff --fail-over 2 old new       # in CI: status 3 if it got worse\n",
	.run = run_diff,
};
