/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page is made from the files in page/. In it, a mark is replaced by the data as JSON:
 *
 *	names	texts, referred to by number; 0 is ""; long ones may be cut (page_names.h)
 *	names_cut	how many are
 *	frames	for each kind of node: name, dso (0: none), kind (enum stack_kind), three numbers
 *	tree	the nodes, each followed by everything below it, siblings in order: frame, own
 *		period in units, how many levels its parent is above the node before (0: that
 *		is the parent), three numbers each
 *	samples	for each node with samples of its own: how many
 *	merged	how many nodes were too small to be kept (stacks_small.h)
 *
 * and, if it compares two recordings, "base" with
 *
 *	tree	for each node, its own period in the first recording, in units
 *	samples	for each of those that are not 0: how many samples
 *	verdict	for each node, of its share and that of all below it: 0: too few samples to judge
 *		the difference; 1: it may be chance; 2: it is more than chance
 *	margin	for each node whose verdict is not 0: the difference's, in hundredths of a percent
 *	functions	by share in either recording, highest first: frame, then own period in units
 *		and samples in the first recording, both in the second, verdict and margin (of the
 *		function's own samples; 0 if it is not judged), seven numbers each
 *	functions_left_out	how many have smaller shares than these
 *
 * A report's has "times":
 *
 *	first	when its first sample was taken, in ns, as a text: the first bucket begins there
 *	bucket	how long a bucket is, in ns; 0: there are no times, and all is in one
 *	buckets	how many there are
 *	rounding	periods in the list are multiples of so many units
 *	usual	the period of most samples, as such a multiple
 *	slots	where samples are: node, as the difference from the slot before; kind of the mode
 *	list	the samples of each bucket, as page_times.c describes them, in base64
 *
 * Names come from guests. In the page they are JSON without any '<', in a script element of a type
 * that browsers do not execute, and the page shows them only through canvas and textContent.
 */
#include "output/flamegraph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/files/untrusted.h"
#include "output/json.h"
#include "output/page/page_diff.h"
#include "output/page/page_names.h"
#include "output/page/page_times.h"
#include "output/stacks_small.h"
#include "output/view.h"

#define MARK "@DATA@"
#define GENERATOR "<meta name=\"generator\" content=\"perfvisor\">" /* in the first HEAD_BYTES */
#define HEAD_BYTES 1024
/* Some 2 MB. What is merged is less than a point wide on any screen, unless it is zoomed. */
#define MAX_NODES 120000
#define MAX_REPORT_NODES 60000 /* to leave room for times, … */
#define REPORT_BYTES 3900000	/* … which take what is left of so much */

extern const char flamegraph_page[]; /* generated from page/, terminated */

struct writer {
	const struct flamegraph_page *page;
	const struct stacks *stacks;
	struct map frames; /* hash of name, dso and kind -> frame + 1 */
	uint32_t *frame_of; /* the frame of each node */
	size_t place_count; /* of nodes before any became a part of another */
	uint32_t *into; /* what each node became a part of; NULL: none did */
	VECTOR(uint32_t) kinds; /* a node for each frame */
	uint32_t *name_of; /* the number in the page of each name + 1; 0: none yet */
	VECTOR(uint32_t) names; /* by that number */
	uint32_t merged; /* nodes */
	uint32_t *functions; /* those of the diff that are in the page; NULL: there is no diff */
	size_t function_count;
	struct base_own *base; /* what the first recording has of each node; NULL: there is none */
};

static uint64_t frame_key(const struct stack_node *node)
{
	const uint32_t key[] = { node->name, node->dso, node->kind };

	return hash_bytes(key, sizeof(key));
}

static void number_frame(struct writer *writer, uint32_t node)
{
	const struct stack_node *nodes = writer->stacks->nodes.items;
	uint64_t key = frame_key(&nodes[node]);
	uint64_t *frame = map_insert(&writer->frames, key, NULL);

	for (; *frame && !stacks_is_same_function(&nodes[writer->kinds.items[*frame - 1]],
						  &nodes[node]);
	     frame = map_insert(&writer->frames, key, NULL))
		key = hash_u64(key + 1);
	if (!*frame) {
		vector_append(&writer->kinds, node);
		*frame = writer->kinds.count;
	}
	writer->frame_of[node] = *frame - 1;
}

/* Of what is in the page: the nodes, and functions whose nodes are all too small. */
static void number_frames(struct writer *writer)
{
	const struct stacks_diff *diff = writer->page->diff;
	uint32_t up;

	for (uint32_t i = 0; i != STACK_NONE; i = stacks_next(writer->stacks->nodes.items, i, &up))
		number_frame(writer, i);
	for (size_t i = 0; i < writer->function_count; i++)
		number_frame(writer, diff->functions.items[writer->functions[i]]);
}

static int compare_frames(const void *left, const void *right, void *data)
{
	const struct writer *writer = data;

	return stacks_compare(writer->stacks, writer->kinds.items[*(const uint32_t *)left],
			      writer->kinds.items[*(const uint32_t *)right]);
}

/* Numbers the frames in the order of neighbours, by which the page merges the vCPUs. */
static void sort_frames(struct writer *writer)
{
	size_t count = writer->kinds.count;
	_cleanup_free_ uint32_t *order = memory_calloc(count + 1, sizeof(*order));
	_cleanup_free_ uint32_t *numbers = memory_calloc(count + 1, sizeof(*numbers));
	_cleanup_free_ uint32_t *kinds = memory_calloc(count + 1, sizeof(*kinds));

	for (size_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare_frames, writer);
	for (size_t i = 0; i < count; i++) {
		numbers[order[i]] = i;
		kinds[i] = writer->kinds.items[order[i]];
	}
	memcpy(writer->kinds.items, kinds, count * sizeof(*kinds));
	for (size_t i = 0; i < writer->stacks->nodes.count; i++)
		writer->frame_of[i] = numbers[writer->frame_of[i]];
}

/* The number in the page of NAME. */
static uint32_t number_name(struct writer *writer, uint32_t name)
{
	if (!writer->name_of[name]) {
		vector_append(&writer->names, name);
		writer->name_of[name] = writer->names.count;
	}
	return writer->name_of[name] - 1;
}

static void write_frames(struct json *json, struct writer *writer)
{
	writer->name_of = memory_calloc(intern_count(writer->stacks->names) + 1,
					sizeof(*writer->name_of));
	number_name(writer, 0);
	json_open_line(json, "frames");
	for (size_t i = 0; i < writer->kinds.count; i++) {
		const struct stack_node *node =
			&writer->stacks->nodes.items[writer->kinds.items[i]];

		json_unsigned(json, NULL, number_name(writer, node->name));
		json_unsigned(json, NULL, number_name(writer, node->dso));
		json_unsigned(json, NULL, node->kind);
	}
	json_close(json);
}

static uint64_t common_divisor(uint64_t unit, uint64_t rest)
{
	while (rest) {
		uint64_t next = unit % rest;

		unit = rest;
		rest = next;
	}
	return unit;
}

/* That of UNIT and the periods of all samples that the page has times of. */
static uint64_t find_unit_of_samples(const struct flamegraph_page *page, uint64_t unit)
{
	const struct profile *profile = page->profile;

	for (size_t i = 0; page->places && i < profile->samples.count && unit != 1; i++)
		if (page->places[profile->samples.items[i].node] != STACK_NONE)
			unit = common_divisor(unit, profile->samples.items[i].period);
	return unit;
}

/* The greatest common divisor of all periods: with a fixed period, the numbers get small. */
static uint64_t find_unit(const struct writer *writer)
{
	uint64_t unit = 0;

	for (size_t i = 0; i < writer->stacks->nodes.count && unit != 1; i++) {
		unit = common_divisor(unit, writer->stacks->nodes.items[i].self_period);
		if (writer->base)
			unit = common_divisor(unit, writer->base[i].period);
	}
	unit = find_unit_of_samples(writer->page, unit);
	return unit ? unit : 1;
}

static void write_tree(struct json *json, const struct writer *writer, uint64_t unit)
{
	const struct stack_node *nodes = writer->stacks->nodes.items;
	uint32_t up = 0;

	json_open_line(json, "tree");
	for (uint32_t at = 0; at != STACK_NONE; at = stacks_next(nodes, at, &up)) {
		json_unsigned(json, NULL, writer->frame_of[at]);
		json_unsigned(json, NULL, nodes[at].self_period / unit);
		json_unsigned(json, NULL, up);
	}
	json_close(json);
	json_open_line(json, "samples");
	for (uint32_t at = 0; at != STACK_NONE; at = stacks_next(nodes, at, &up))
		if (nodes[at].self_period)
			json_unsigned(json, NULL, nodes[at].self_count);
	json_close(json);
}

/* The nodes' numbers in the page, of those that are in it and those that became a part of one. */
static uint32_t *number_nodes(const struct writer *writer)
{
	const struct stacks *stacks = writer->stacks;
	uint32_t *numbers = memory_calloc(stacks->nodes.count, sizeof(*numbers));
	uint32_t number = 0, up;

	for (uint32_t at = 0; at != STACK_NONE; at = stacks_next(stacks->nodes.items, at, &up))
		numbers[at] = number++;
	for (size_t i = 0; writer->into && i < writer->place_count; i++)
		numbers[i] = numbers[writer->into[i]];
	return numbers;
}

static void write_times(struct json *json, const struct writer *writer, uint64_t unit)
{
	_cleanup_free_ uint32_t *numbers = number_nodes(writer);
	size_t taken = strlen(flamegraph_page) + ftell(json->out);

	page_times_write(json, &(struct page_times){ .profile = writer->page->profile,
						     .event = writer->page->event,
						     .places = writer->page->places,
						     .numbers = numbers,
						     .unit = unit,
						     .max_bytes = taken < REPORT_BYTES
									  ? REPORT_BYTES - taken
									  : 0 });
}

static void write_data(FILE *out, struct writer *writer)
{
	const struct profile *profile = writer->page->profile;
	uint64_t unit = find_unit(writer);
	_cleanup_buffer_ struct buffer totals;
	struct json json;

	buffer_init(&totals, 4096);
	view_append_totals(&totals, &profile->totals);
	buffer_append_u8(&totals, 0);
	number_frames(writer);
	sort_frames(writer);
	json_init(&json, out);
	json_open_object(&json, NULL);
	json_string(&json, "recording", writer->page->title);
	json_string(&json, "host",
		    perfdata_reader_features(profile->session->reader)->hostname);
	json_string(&json, "event", profile->events[writer->page->event].name);
	json_string(&json, "totals", totals.overflow ? "" : (const char *)totals.data);
	json_unsigned(&json, "unit", unit);
	json_unsigned(&json, "merged", writer->merged);
	write_frames(&json, writer);
	page_names_write(&json, writer->stacks->names, writer->names.items, writer->names.count);
	write_tree(&json, writer, unit);
	if (writer->page->diff)
		page_diff_write(&json, &(struct page_diff){
					       .diff = writer->page->diff,
					       .title = writer->page->base_title,
					       .base = writer->base,
					       .functions = writer->functions,
					       .function_count = writer->function_count,
					       .frame_of = writer->frame_of,
					       .unit = unit });
	if (writer->page->places)
		write_times(&json, writer, unit);
	json_close(&json);
}

/* In JSON '<' only occurs in strings, where it can be escaped. */
static void write_without_tags(FILE *out, const char *data, size_t size)
{
	const char *end = data + size, *tag;

	while ((tag = memchr(data, '<', end - data))) {
		fwrite(data, 1, tag - data, out);
		fputs("\\u003c", out);
		data = tag + 1;
	}
	fwrite(data, 1, end - data, out);
}

/* A report filters by VMs, vCPUs and processes: all are kept, unless there is no room for more. */
static void keep_levels(const struct stacks *stacks, uint64_t *weights)
{
	size_t levels = 0;

	for (size_t i = 0; i < stacks->nodes.count; i++)
		levels += stacks->nodes.items[i].kind <= STACK_PROCESS;
	for (size_t i = 0; levels <= MAX_REPORT_NODES / 2 && i < stacks->nodes.count; i++)
		if (stacks->nodes.items[i].kind <= STACK_PROCESS)
			weights[i] = UINT64_MAX;
}

/* The weight of nodes in both recordings. */
static uint64_t *weights_of(const struct flamegraph_page *page)
{
	uint64_t *weights = stacks_weights(page->stacks);

	for (size_t i = 0; page->diff && i < page->stacks->nodes.count; i++)
		weights[i] += judgement_row(&page->diff->judgement, i)->period;
	if (page->places)
		keep_levels(page->stacks, weights);
	return weights;
}

/* Merges what is small, and adds up what the first recording has of what is left. */
static void merge(struct writer *writer)
{
	const struct flamegraph_page *page = writer->page;
	size_t count = page->stacks->nodes.count;
	_cleanup_free_ uint64_t *weights = weights_of(page);
	uint32_t *into = stacks_merge_small(page->stacks, weights,
					    page->places ? MAX_REPORT_NODES : MAX_NODES);

	writer->into = into;
	writer->place_count = count;
	for (size_t i = 0; into && i < count; i++)
		writer->merged += into[i] != i;
	if (!page->diff)
		return;
	writer->base = memory_calloc(page->stacks->nodes.count, sizeof(*writer->base));
	for (size_t i = 0; i < count; i++) {
		struct base_own *own = &writer->base[into ? into[i] : i];

		own->period += page->diff->base[i].period;
		own->count += page->diff->base[i].count;
	}
	writer->functions = page_diff_choose(page->diff, &writer->function_count);
}

void flamegraph_write(FILE *out, const struct flamegraph_page *page)
{
	const char *mark = strstr(flamegraph_page, MARK);
	struct writer writer = { .page = page, .stacks = page->stacks };
	char *data = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&data, &size);

	if (!mark || !memory)
		abort(); /* cannot happen: the page is generated, and allocation does not fail */
	merge(&writer);
	map_init(&writer.frames);
	writer.frame_of = memory_calloc(page->stacks->nodes.count + 1, sizeof(*writer.frame_of));
	write_data(memory, &writer);
	fclose(memory);
	fwrite(flamegraph_page, 1, mark - flamegraph_page, out);
	write_without_tags(out, data, size);
	fputs(mark + strlen(MARK), out);
	free(data);
	free(writer.frame_of);
	free(writer.name_of);
	free(writer.base);
	free(writer.functions);
	free(writer.into);
	map_deinit(&writer.frames);
	vector_deinit(&writer.kinds);
	vector_deinit(&writer.names);
}

bool flamegraph_is_page(const char *path)
{
	_cleanup_close_ int fd = -1;
	char head[HEAD_BYTES + 1];
	ssize_t size;

	error_destroy(open_untrusted(UNTRUSTED_ANYWHERE, path, 0, &fd));
	size = fd < 0 ? -1 : pread(fd, head, HEAD_BYTES, 0);
	if (size < 0)
		return false;
	head[size] = 0;
	return !size || strstr(head, GENERATOR);
}
