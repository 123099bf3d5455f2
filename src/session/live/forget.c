/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forgets what was not seen for long: what is to stay is copied, the rest goes with the tables that
 * it was in. So the cost is that of what stays, and nothing is missed. Files that stay keep their
 * symbols.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "session/live/live_session.h"
#include "session/session_events.h"

#define GENERATIONS_MAX 64 /* of forks, as in space.c */

struct forgetting {
	struct session *session;
	struct intern *strings; /* the old ones */
	struct dsos dsos;	/* likewise; entries that stay have moved: NULL */
	uint32_t *new_dsos;	/* for each, + 1; 0: not needed so far */
	uint64_t oldest;
	size_t max_threads;
};

static uint32_t keep_string(const struct forgetting *forgetting, uint32_t number)
{
	if (number == TIMELINE_NO_COMM)
		return number;
	return intern_text(forgetting->session->strings,
			   intern_string(forgetting->strings, number));
}

/* The new number of a dso; its entry moves, with what was loaded. */
static uint32_t keep_dso(struct forgetting *forgetting, uint32_t number)
{
	struct dso_entry **old;

	if (number == SPACE_UNMAPPED)
		return number;
	old = &forgetting->dsos.items.items[number];
	if (!forgetting->new_dsos[number]) {
		(*old)->path = keep_string(forgetting, (*old)->path);
		(*old)->short_name = keep_string(forgetting, (*old)->short_name);
		dsos_adopt(&forgetting->session->dsos, *old);
		*old = NULL;
		forgetting->new_dsos[number] = forgetting->session->dsos.items.count;
	}
	return forgetting->new_dsos[number] - 1;
}

struct mappings {
	VECTOR(struct space_mapping) list; /* in order of time */
};

/* The mappings of SPACE, and of what it was forked from as of then. */
static void list_mappings(const struct space *space, struct mappings *ret)
{
	const struct space *generations[GENERATIONS_MAX];
	uint64_t untils[GENERATIONS_MAX], until = SPACE_FOREVER;
	size_t depth = 0;

	for (; space && depth < GENERATIONS_MAX; space = space->parent) {
		generations[depth] = space;
		untils[depth++] = until;
		until = until < space->forked_at ? until : space->forked_at;
	}
	while (depth--)
		for (size_t i = 0; i < generations[depth]->mappings.count; i++)
			if (generations[depth]->mappings.items[i].from <= untils[depth])
				vector_append(&ret->list, generations[depth]->mappings.items[i]);
}

/* What the same addresses were before is history; and of the rest, the newest are kept. */
static void drop_hidden(struct mappings *mappings)
{
	size_t at = mappings->list.count, kept = at;
	struct map seen;

	map_init(&seen);
	while (at-- > 0 && mappings->list.count - kept < LIVE_KEPT_OF_SPACE) {
		const struct space_mapping *mapping = &mappings->list.items[at];
		bool added;

		map_insert(&seen, hash_u64(mapping->start) ^ mapping->end, &added);
		if (added)
			mappings->list.items[--kept] = *mapping;
	}
	map_deinit(&seen);
	mappings->list.count -= kept;
	memmove(mappings->list.items, mappings->list.items + kept,
		mappings->list.count * sizeof(*mappings->list.items));
}

/* What is mapped in SPACE now. */
static void keep_mappings(struct forgetting *forgetting, const struct space *space,
			  struct mappings *ret)
{
	list_mappings(space, ret);
	if (ret->list.count)
		drop_hidden(ret);
	for (size_t i = 0; i < ret->list.count; i++)
		ret->list.items[i].dso = keep_dso(forgetting, ret->list.items[i].dso);
}

/* An entry of one of a timeline's maps: when it was last seen, and where. */
struct known {
	VECTOR(struct sort_key) order;
};

static void list_known(const struct forgetting *forgetting, const struct map *map,
		       const struct timeline *timeline, bool threads, struct known *ret)
{
	for (size_t i = 0; i < map->capacity; i++) {
		size_t place = map->entries[i].value;
		uint64_t seen;

		if (!map->entries[i].used)
			continue;
		seen = threads ? timeline->threads.items[place].seen
			       : timeline->processes.items[place].seen;
		if (seen >= forgetting->oldest)
			vector_append(&ret->order, (struct sort_key){ seen, i });
	}
	sort_keys(ret->order.items, ret->order.count);
	/* From the end: the number of those that may stay. */
	if (ret->order.count > forgetting->max_threads) {
		size_t more = ret->order.count - forgetting->max_threads;

		memmove(ret->order.items, ret->order.items + more,
			forgetting->max_threads * sizeof(*ret->order.items));
		ret->order.count = forgetting->max_threads;
	}
}

static void keep_threads(struct forgetting *forgetting, const struct timeline *old,
			 struct timeline *timeline)
{
	struct known known = { 0 };

	list_known(forgetting, &old->by_tid, old, true, &known);
	for (size_t i = 0; i < known.order.count; i++) {
		const struct map_entry *entry = &old->by_tid.entries[known.order.items[i].index];
		const struct timeline_thread *thread = &old->threads.items[entry->value];
		const struct timeline_comm *last = &thread->comms.items[thread->comms.count - 1];

		timeline_add_comm(timeline, entry->key, keep_string(forgetting, last->comm),
				  last->from);
		timeline->threads.items[timeline->threads.count - 1].seen = thread->seen;
	}
	vector_deinit(&known.order);
}

/* The processes that were seen last come first: there may be no room for all. */
static void keep_processes(struct forgetting *forgetting, const struct timeline *old,
			   struct timeline *timeline)
{
	struct known known = { 0 };
	size_t room = LIVE_KEPT_MAPPINGS;

	list_known(forgetting, &old->by_pid, old, false, &known);
	for (size_t i = known.order.count; i-- > 0;) {
		const struct map_entry *entry = &old->by_pid.entries[known.order.items[i].index];
		const struct timeline_process *process = &old->processes.items[entry->value];
		struct mappings mappings = { 0 };

		keep_mappings(forgetting, process->spaces.items[process->spaces.count - 1].space,
			      &mappings);
		for (size_t m = 0; m < mappings.list.count && mappings.list.count <= room; m++)
			timeline_add_mapping(timeline, entry->key, &mappings.list.items[m]);
		if (mappings.list.count && mappings.list.count <= room)
			timeline->processes.items[timeline->processes.count - 1].seen =
				process->seen;
		room -= mappings.list.count <= room ? mappings.list.count : 0;
		vector_deinit(&mappings.list);
	}
	vector_deinit(&known.order);
}

static void keep_kernel(struct forgetting *forgetting, struct machine *machine)
{
	struct mappings mappings = { 0 };

	keep_mappings(forgetting, &machine->kernel, &mappings);
	space_deinit(&machine->kernel);
	space_init(&machine->kernel, forgetting->session->space_numbers++);
	for (size_t i = 0; i < mappings.list.count; i++)
		space_add(&machine->kernel, &mappings.list.items[i]);
	vector_deinit(&mappings.list);
	if (machine->kernel_loaded ||
	    (!machine_is_guest(machine) && forgetting->session->kernel_loader.started))
		machine->kernel_dso = keep_dso(forgetting, machine->kernel_dso);
}

static void keep_machine(struct forgetting *forgetting, struct machine *machine)
{
	struct session *session = forgetting->session;
	struct timeline old = machine->timeline;

	timeline_init(&machine->timeline, session->arena, &session->space_numbers);
	if (!machine_is_guest(machine))
		session_events_begin(session);
	keep_threads(forgetting, &old, &machine->timeline);
	keep_processes(forgetting, &old, &machine->timeline);
	machine->timeline.marks = true;
	timeline_deinit(&old);
	keep_kernel(forgetting, machine);
	machine->name = intern_string(session->strings,
				      intern_text(session->strings, machine->name));
}

/* What is made again when it is asked for. */
static void drop_caches(struct session *session)
{
	source_lines_destroy(session->source_lines);
	session->source_lines = NULL;
	map_deinit(&session->build_ids);
	map_init(&session->build_ids);
	session->build_ids_listed = false;
	for (size_t i = 0; i < session->retired.count; i++) {
		if (!symbol_table_is_shared(session->retired.items[i]))
			session->dsos.room += symbol_table_bytes(session->retired.items[i]);
		symbol_table_destroy(session->retired.items[i]);
	}
	session->retired.count = 0;
}

void live_session_forget(struct session *session, uint64_t oldest)
{
	struct forgetting forgetting = { .session = session, .strings = session->strings,
					 .dsos = session->dsos, .oldest = oldest };
	struct arena *arena = session->arena;

	forgetting.max_threads = LIVE_KEPT / session->machines.count;
	if (forgetting.max_threads < LIVE_KEPT_LEAST)
		forgetting.max_threads = LIVE_KEPT_LEAST;
	forgetting.new_dsos =
		memory_calloc(session->dsos.items.count + 1, sizeof(*forgetting.new_dsos));
	session->arena = arena_create();
	session->strings = intern_create();
	session->dsos = (struct dsos){ .strings = session->strings,
				       .recording = forgetting.dsos.recording,
				       .downloads = take_pointer(forgetting.dsos.downloads),
				       .room = forgetting.dsos.room };
	map_init(&session->dsos.by_key);
	session->nested_dso = keep_dso(&forgetting, session->nested_dso);
	if (session->kernel_path)
		session->kernel_path = keep_string(&forgetting, session->kernel_path);
	for (size_t i = 0; i < session->machines.count; i++)
		keep_machine(&forgetting, session->machines.items[i]);
	drop_caches(session);
	session->dsos.room += dsos_bytes(&forgetting.dsos);
	dsos_deinit(&forgetting.dsos);
	intern_destroy(forgetting.strings);
	arena_destroy(arena);
	free(forgetting.new_dsos);
	session->live_records = 0;
	session->stamp++;
	session->names_stamp++;
}
