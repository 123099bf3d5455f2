/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout is that of tools/perf/ui/stdio/hist.c: functions without a branch in between are
 * listed below each other, and each branch shows its share of all samples ("graph"). A row with a
 * single chain needs no share.
 */
#include "output/report_chains.h"

#include <inttypes.h>

#include "base/memory.h"
#include "output/view.h"
#include "profile/calltree.h"
#include "profile/chains.h"

#define MARGIN "            "

/* The columns that have vertical lines: a 1 for each. */
struct columns {
	size_t margin; /* characters before the first column */
	size_t count;
	bool lines[CHAINS_FRAMES_MAX + 1];
};

static void append_margin(struct report_chains *chains, const struct columns *columns)
{
	buffer_append_string(chains->out, MARGIN);
	for (size_t i = 0; i < columns->margin; i++)
		buffer_append_u8(chains->out, ' ');
}

static void append_columns(struct report_chains *chains, const struct columns *columns,
			   size_t count)
{
	append_margin(chains, columns);
	for (size_t i = 0; i < count; i++)
		buffer_append_string(chains->out,
				     columns->lines[i] ? "|          " : "           ");
}

static void append_function(struct report_chains *chains, const struct callgraph_branch *branch)
{
	view_append_function(chains->out, chains->profile, branch->frame);
	buffer_append_u8(chains->out, '\n');
}

/*
 * Gets the branches after BRANCH into BELOW. True: there is only one, which continues the same
 * lines. Otherwise BRANCH ends or forks here.
 */
static bool goes_on(struct report_chains *chains, const struct callgraph_branch *branch,
		    struct callgraph_branches *below)
{
	callgraph_descend(chains->graph, branch, below);
	return below->list.count == 1 && !branch->end_period;
}

/* Prints BRANCH and its continuation, line by line; the branches at its end go to BELOW. */
static void append_stretch(struct report_chains *chains, const struct callgraph_branch *branch,
			   struct columns *columns, bool first,
			   void (*line)(struct report_chains *, struct columns *,
					const struct callgraph_branch *, bool),
			   struct callgraph_branches *below)
{
	struct callgraph_branches next = { 0 };

	line(chains, columns, branch, first);
	while (goes_on(chains, branch, &next)) {
		callgraph_branches_deinit(below);
		*below = next;
		next = (struct callgraph_branches){ 0 };
		branch = &below->list.items[0];
		line(chains, columns, branch, false);
	}
	callgraph_branches_deinit(below);
	*below = next;
}

static void append_line(struct report_chains *chains, struct columns *columns,
			const struct callgraph_branch *branch, bool first)
{
	append_columns(chains, columns, columns->count - 1);
	buffer_append_u8(chains->out, columns->lines[columns->count - 1] ? '|' : ' ');
	if (first)
		buffer_printf(chains->out, "--%.2f%%--", 100.0 * branch->period / chains->total);
	else
		buffer_append_string(chains->out, "          ");
	append_function(chains, branch);
}

/* Branches are sorted by period, so those that are too small come last. */
static size_t count_shown(const struct report_chains *chains,
			  const struct callgraph_branches *branches)
{
	size_t count = 0;

	while (count < branches->list.count &&
	       branches->list.items[count].period >= chains->min_period)
		count++;
	return count;
}

static void append_branches(struct report_chains *chains, struct columns *columns,
			    const struct callgraph_branches *branches)
{
	size_t shown = count_shown(chains, branches);

	if (columns->count > CHAINS_FRAMES_MAX)
		return;
	columns->lines[columns->count++] = true;
	for (size_t i = 0; i < shown; i++) {
		struct callgraph_branches below = { 0 };

		append_columns(chains, columns, columns->count);
		buffer_append_u8(chains->out, '\n');
		if (i + 1 == shown)
			columns->lines[columns->count - 1] = false;
		append_stretch(chains, &branches->list.items[i], columns, true, append_line,
			       &below);
		append_branches(chains, columns, &below);
		callgraph_branches_deinit(&below);
	}
	columns->count--;
}

/* Whether the row's symbol is the function of BRANCH: not if that is inlined into it. */
static bool shows_function(const struct report_chains *chains,
			   const struct callgraph_branch *branch)
{
	struct resolver *resolver = chains->profile->resolver;
	uint32_t location = chains->profile->tree->frames.items[branch->frame].location;

	return resolver_location(resolver, location)->inlined ==
	       resolver_location(resolver, chains->location)->inlined;
}

/* The lines of a row's only chain, which have no column yet. */
static void append_only_line(struct report_chains *chains, struct columns *columns,
			     const struct callgraph_branch *branch, bool first)
{
	if (first && chains->symbol_first && shows_function(chains, branch))
		return;
	append_margin(chains, columns);
	if (!columns->margin) {
		buffer_append_string(chains->out, "|\n" MARGIN "---");
		columns->margin = 3;
	}
	append_function(chains, branch);
}

void report_chains_append(struct report_chains *chains, const struct profile_row *row)
{
	_cleanup_free_ struct columns *columns = memory_calloc(1, sizeof(*columns));
	struct callgraph_branches branches = { 0 };
	size_t before = chains->out->size, shown;

	chains->location = row->location;
	callgraph_enter(chains->graph, row, &branches);
	shown = count_shown(chains, &branches);
	if (shown == 1 &&
	    branches.list.items[0].period == (chains->children ? row->children : row->period)) {
		struct callgraph_branches below = { 0 };

		append_stretch(chains, &branches.list.items[0], columns, true, append_only_line,
			       &below);
		append_branches(chains, columns, &below);
		callgraph_branches_deinit(&below);
	} else {
		append_branches(chains, columns, &branches);
	}
	if (chains->out->size != before)
		buffer_append_u8(chains->out, '\n');
	callgraph_branches_deinit(&branches);
}
