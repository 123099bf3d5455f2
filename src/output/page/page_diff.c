/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/page/page_diff.h"

#include <math.h>

#include "base/memory.h"
#include "base/sort.h"

#define MAX_FUNCTIONS 10000

uint32_t *page_diff_choose(const struct stacks_diff *diff, size_t *ret_count)
{
	size_t count = diff->functions.count;
	_cleanup_free_ struct sort_key *keys = memory_calloc(count + 1, sizeof(*keys));
	uint32_t *functions;

	for (size_t i = 0; i < count; i++) {
		const struct comparison_cell *cells = judgement_row(&diff->functions_judgement, i);
		double share = fmax(cells[0].evidence.share, cells[1].evidence.share);

		keys[i] = (struct sort_key){ .key = (1 - share) * UINT32_MAX, .index = i };
	}
	sort_keys(keys, count);
	functions = memory_calloc(count + 1, sizeof(*functions));
	*ret_count = count < MAX_FUNCTIONS ? count : MAX_FUNCTIONS;
	for (size_t i = 0; i < *ret_count; i++)
		functions[i] = keys[i].index;
	return functions;
}

static unsigned int verdict_of_cells(const struct comparison_cell *cells)
{
	return !cells[1].judged ? 0 : cells[1].certain ? 2 : 1;
}

static unsigned int verdict_of(const struct page_diff *page, uint32_t node)
{
	if (page->diff->stacks->nodes.items[node].kind == STACK_SMALL)
		return 0;
	return verdict_of_cells(judgement_row(&page->diff->judgement, node));
}

/* The interval is not wider than from -100 % to 100 %, whatever few blocks say. */
static unsigned int margin_of(const struct comparison_cell *cells)
{
	return lround(10000 * fmin(cells[1].difference.margin, 1));
}

static void write_functions(struct json *json, const struct page_diff *page)
{
	const struct stacks_diff *diff = page->diff;

	json_unsigned(json, "functions_left_out", diff->functions.count - page->function_count);
	json_open_line(json, "functions");
	for (size_t i = 0; i < page->function_count; i++) {
		uint32_t function = page->functions[i];
		const struct comparison_cell *cells =
			judgement_row(&diff->functions_judgement, function);

		json_unsigned(json, NULL, page->frame_of[diff->functions.items[function]]);
		for (size_t side = 0; side < 2; side++) {
			json_unsigned(json, NULL, cells[side].period / page->unit);
			json_unsigned(json, NULL, cells[side].count);
		}
		json_unsigned(json, NULL, verdict_of_cells(cells));
		json_unsigned(json, NULL, cells[1].judged ? margin_of(cells) : 0);
	}
	json_close(json);
}

void page_diff_write(struct json *json, const struct page_diff *page)
{
	const struct stack_node *nodes = page->diff->stacks->nodes.items;
	uint32_t up;

	json_open_object(json, "base");
	json_string(json, "recording", page->title);
	json_open_line(json, "tree");
	for (uint32_t at = 0; at != STACK_NONE; at = stacks_next(nodes, at, &up))
		json_unsigned(json, NULL, page->base[at].period / page->unit);
	json_close(json);
	json_open_line(json, "samples");
	for (uint32_t at = 0; at != STACK_NONE; at = stacks_next(nodes, at, &up))
		if (page->base[at].period)
			json_unsigned(json, NULL, page->base[at].count);
	json_close(json);
	json_open_line(json, "verdict");
	for (uint32_t at = 0; at != STACK_NONE; at = stacks_next(nodes, at, &up))
		json_unsigned(json, NULL, verdict_of(page, at));
	json_close(json);
	json_open_line(json, "margin");
	for (uint32_t at = 0; at != STACK_NONE; at = stacks_next(nodes, at, &up))
		if (verdict_of(page, at))
			json_unsigned(json, NULL,
				      margin_of(judgement_row(&page->diff->judgement, at)));
	json_close(json);
	write_functions(json, page);
	json_close(json);
}
