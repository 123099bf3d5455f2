/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions without a symbol are named after their file, in brackets: addresses would make a node
 * of each. Tidy names are those of stackcollapse-perf.pl (github.com/brendangregg/FlameGraph): a
 * ';' would end a frame, and arguments and quotes are noise.
 */
#include "output/stacks.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/map.h"
#include "base/memory.h"
#include "compare/function_name.h"
#include "output/view.h"
#include "profile/calltree.h"

#define ANONYMOUS "(anonymous namespace)"
#define DELETED " (deleted)"

struct builder {
	const struct profile *profile;
	const struct stacks_options *options;
	struct stacks *stacks;
	struct map places; /* hash of parent, name, dso, kind -> node */
	struct buffer text;
	uint32_t *names, *dsos; /* for each frame of the tree; names + 1, 0: not yet */
	bool counts; /* the periods of the current profile count */
};

size_t stacks_choose_event(const struct profile *profile)
{
	for (size_t i = 0; i < profile->event_count; i++)
		if (profile->events[i].samples)
			return i;
	return 0;
}

static enum stack_kind kind_of(uint16_t cpumode, enum stack_level level)
{
	bool host = level == STACK_LEVEL_HOST, guest = level == STACK_LEVEL_GUEST;

	switch (cpumode & ~CPUMODE_GUESSED) {
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return host ? STACK_HOST_KERNEL : STACK_GUEST_KERNEL;
	case PERF_RECORD_MISC_GUEST_USER:
		return host ? STACK_HOST_USER : STACK_GUEST_USER;
	case PERF_RECORD_MISC_KERNEL:
		return guest ? STACK_GUEST_KERNEL : STACK_HOST_KERNEL;
	case PERF_RECORD_MISC_USER:
		return guest ? STACK_GUEST_USER : STACK_HOST_USER;
	default:
		return STACK_OTHER;
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "net/http.(*Client).Do" is a Go method, not a function with arguments. */
static bool is_go_method(const char *name)
{
	const char *open = strstr(name, ".("), *close = open ? strstr(open, ").") : NULL;

	return close;
}

/* Appends "[file]", without the kernel's mark for a deleted file. */
static void append_file(struct buffer *out, const char *file, bool tidy)
{
	size_t length = strlen(file), gone = strlen(DELETED);

	if (length > gone && !strcmp(file + length - gone, DELETED))
		length -= gone;
	buffer_append_u8(out, '[');
	for (size_t i = 0; i < length; i++)
		buffer_append_u8(out, tidy && file[i] == ';' ? ':' : file[i]);
	buffer_append_u8(out, ']');
}

/* Where the arguments of NAME start; its end if it has none. */
static const char *arguments_of(const char *name)
{
	const char *open = strchr(name, '(');

	if (is_go_method(name))
		return name + strlen(name);
	while (open && !strncmp(open, ANONYMOUS, strlen(ANONYMOUS)))
		open = strchr(open + 1, '(');
	return open ? open : name + strlen(name);
}

static void append_tidy(struct buffer *out, const char *name)
{
	for (const char *end = arguments_of(name); name < end; name++)
		if (*name == ';')
			buffer_append_u8(out, ':');
		else if (*name != '"' && *name != '\'')
			buffer_append_u8(out, *name);
}

static uint32_t take_text(struct builder *builder)
{
	uint32_t name = intern_bytes(builder->stacks->names, (const char *)builder->text.data,
				     builder->text.size);

	buffer_clear(&builder->text);
	return name;
}

static void name_frame(struct builder *builder, uint32_t frame)
{
	struct resolver *resolver = builder->profile->resolver;
	const struct chains_frame *function = &builder->profile->tree->frames.items[frame];
	uint32_t location = function->location;
	const char *name = resolver_symbol_name(resolver, location);
	const char *file = base_name(resolver_dso_path(resolver, location));
	bool known = resolver_location(resolver, location)->dso != LOCATION_NO_DSO;

	if (builder->options->any_build)
		file = module_name(file);
	if (function->cpumode & CPUMODE_GUESSED)
		buffer_append_string(&builder->text, VIEW_GUESSED);
	if (name && builder->options->tidy)
		append_tidy(&builder->text, name);
	else if (name)
		buffer_append(&builder->text, name,
			      builder->options->any_build ? function_name_length(name)
							  : strlen(name));
	else if (known)
		append_file(&builder->text, file, builder->options->tidy);
	else
		buffer_append_string(&builder->text, file);
	builder->names[frame] = take_text(builder) + 1;
	if (known && !builder->options->tidy)
		builder->dsos[frame] = intern_text(builder->stacks->names, file);
}

/* The node with that name, dso and kind below PARENT, added if it is new. */
static uint32_t find_node(struct builder *builder, uint32_t parent, const struct stack_node *wanted)
{
	const uint32_t key[] = { parent, wanted->name, wanted->dso, wanted->kind };
	struct stacks *stacks = builder->stacks;
	uint64_t hash = hash_bytes_seeded(builder->places.seed, key, sizeof(key));
	uint64_t *place;

	for (;; hash = hash_u64(hash + 1)) {
		struct stack_node *known;

		place = map_insert(&builder->places, hash, NULL);
		if (!*place)
			break;
		known = &stacks->nodes.items[*place];
		if (known->parent == parent && known->name == wanted->name &&
		    known->dso == wanted->dso && known->kind == wanted->kind)
			return *place;
	}
	*place = stacks->nodes.count;
	vector_append(&stacks->nodes, *wanted);
	stacks->nodes.items[*place].parent = parent;
	stacks->nodes.items[*place].child = stacks->nodes.items[*place].sibling = STACK_NONE;
	return *place;
}

static uint32_t add_level(struct builder *builder, uint32_t parent, const struct profile_row *row,
			  enum profile_key key, enum stack_kind kind)
{
	struct stack_node node = { .kind = kind };

	if (key == PROFILE_VCPU)
		buffer_append_string(&builder->text, "vCPU ");
	view_append_cell(&builder->text, builder->profile, row, key);
	for (size_t i = 0; builder->options->tidy && i < builder->text.size; i++)
		if (builder->text.data[i] == ' ' || builder->text.data[i] == ';')
			builder->text.data[i] = builder->text.data[i] == ' ' ? '_' : ':';
	node.name = take_text(builder);
	return find_node(builder, parent, &node);
}

static uint32_t add_levels(struct builder *builder, const struct profile_row *row)
{
	uint32_t node = 0;

	/* A recording without VMs needs no level for them. */
	if (builder->options->vms && builder->profile->session->machines.count > 1)
		node = add_level(builder, node, row, PROFILE_VM, STACK_VM);
	if (builder->options->vcpus && row->vcpu != PERFDATA_NO_VCPU)
		node = add_level(builder, node, row, PROFILE_VCPU, STACK_VCPU);
	return add_level(builder, node, row, PROFILE_COMM, STACK_PROCESS);
}

static void add_own(struct builder *builder, uint32_t at, const struct calltree_node *node)
{
	if (!builder->counts)
		return;
	builder->stacks->nodes.items[at].self_period += node->self_period;
	builder->stacks->nodes.items[at].self_count += node->self_count;
}

/* Adds the nodes of the tree in order, parents first. Returns where they are; the caller's. */
static uint32_t *add_nodes(struct builder *builder, size_t event)
{
	const struct calltree *tree = builder->profile->tree;
	uint32_t *places = memory_calloc(tree->nodes.count + 1, sizeof(*places));

	for (size_t i = 0; i < tree->nodes.count; i++) {
		const struct calltree_node *node = &tree->nodes.items[i];
		struct stack_node wanted;

		places[i] = STACK_NONE;
		if (node->parent == CALLTREE_NONE) {
			const struct calltree_root *root = &tree->roots.items[node->frame];

			if (root->event == event) {
				places[i] = add_levels(builder, &root->row);
				add_own(builder, places[i], node);
			}
			continue;
		}
		if (places[node->parent] == STACK_NONE)
			continue;
		if (!builder->names[node->frame])
			name_frame(builder, node->frame);
		wanted = (struct stack_node){ .name = builder->names[node->frame] - 1,
					      .dso = builder->dsos[node->frame],
					      .kind = kind_of(
						      tree->frames.items[node->frame].cpumode,
						      builder->options->level) };
		places[i] = find_node(builder, places[node->parent], &wanted);
		add_own(builder, places[i], node);
	}
	return places;
}

static int compare_names(const struct stacks *stacks, uint32_t left, uint32_t right)
{
	return left == right ? 0 : strverscmp(intern_string(stacks->names, left),
					      intern_string(stacks->names, right));
}

uint32_t stacks_next(const struct stack_node *nodes, uint32_t at, uint32_t *up)
{
	*up = 0;
	if (nodes[at].child != STACK_NONE)
		return nodes[at].child;
	for (; at; at = nodes[at].parent) {
		++*up;
		if (nodes[at].sibling != STACK_NONE)
			return nodes[at].sibling;
	}
	return STACK_NONE;
}

bool stacks_is_same_function(const struct stack_node *left, const struct stack_node *right)
{
	return left->name == right->name && left->dso == right->dso && left->kind == right->kind;
}

int stacks_compare(const struct stacks *stacks, uint32_t left, uint32_t right)
{
	const struct stack_node *a = &stacks->nodes.items[left];
	const struct stack_node *b = &stacks->nodes.items[right];
	int order = compare_names(stacks, a->name, b->name);

	if (!order)
		order = (a->kind > b->kind) - (a->kind < b->kind);
	return order ? order : compare_names(stacks, a->dso, b->dso);
}

static int compare(const void *left, const void *right, void *data)
{
	const struct stacks *stacks = data;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint32_t above_a = stacks->nodes.items[a].parent, above_b = stacks->nodes.items[b].parent;

	if (above_a != above_b)
		return above_a < above_b ? -1 : 1;
	return stacks_compare(stacks, a, b);
}

/* Links children, sorted by name, kind and file, and adds up periods. */
static void link_nodes(struct stacks *stacks)
{
	size_t count = stacks->nodes.count;
	_cleanup_free_ uint32_t *order = memory_calloc(count + 1, sizeof(*order));

	for (size_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare, stacks);
	for (size_t i = count; i-- > 0;) {
		struct stack_node *node = &stacks->nodes.items[order[i]];

		if (!order[i])
			continue;
		node->sibling = stacks->nodes.items[node->parent].child;
		stacks->nodes.items[node->parent].child = order[i];
	}
	for (size_t i = count; i-- > 0;) {
		struct stack_node *node = &stacks->nodes.items[i];
		struct stack_node *parent = &stacks->nodes.items[node->parent];

		node->period += node->self_period;
		node->count += node->self_count;
		if (!i)
			break;
		parent->period += node->period;
		parent->count += node->count;
	}
}

/* Adds the nodes of SOURCE. Returns where those of its tree are; the caller's. */
static uint32_t *add_source(struct builder *builder, const struct stacks_source *source)
{
	size_t frames = source->profile->tree->frames.count;
	uint32_t *places;

	builder->profile = source->profile;
	builder->names = memory_calloc(frames + 1, sizeof(*builder->names));
	builder->dsos = memory_calloc(frames + 1, sizeof(*builder->dsos));
	places = add_nodes(builder, source->event);
	free(builder->names);
	free(builder->dsos);
	return places;
}

struct stacks *stacks_create_common(const struct stacks_source *sources, size_t count,
				    const struct stacks_options *options, uint32_t **ret_places)
{
	struct stacks *stacks = memory_calloc(1, sizeof(*stacks));
	struct builder builder = { .options = options, .stacks = stacks };

	stacks->names = intern_create();
	vector_append(&stacks->nodes,
		      (struct stack_node){ .child = STACK_NONE,
					   .sibling = STACK_NONE,
					   .name = intern_text(stacks->names, "all") });
	map_init(&builder.places);
	buffer_init(&builder.text, 1024 * 1024);
	for (size_t i = 0; i < count; i++) {
		builder.counts = i + 1 == count;
		ret_places[i] = add_source(&builder, &sources[i]);
	}
	link_nodes(stacks);
	buffer_deinit(&builder.text);
	map_deinit(&builder.places);
	return stacks;
}

struct stacks *stacks_create(const struct profile *profile, size_t event,
			     const struct stacks_options *options)
{
	struct stacks_source source = { profile, event };
	_cleanup_free_ uint32_t *places = NULL;

	return stacks_create_common(&source, 1, options, &places);
}

void stacks_destroy(struct stacks *stacks)
{
	if (!stacks)
		return;
	vector_deinit(&stacks->nodes);
	intern_destroy(stacks->names);
	free(stacks);
}
