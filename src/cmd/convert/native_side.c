/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of a guest other than samples: comms, forks and mappings of its processes, without
 * the id that tied them to the VM, and losses.
 *
 * A file without a build-id gets one made from its path. Otherwise a reader would look up that path
 * on the machine it runs on and take the file there for the guest's; perf does so with its own vDSO
 * (machine__findnew_vdso()).
 */
#include <linux/perf_event.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "cmd/convert/convert.h"
#include "perfdata/format.h"
#include "perfdata/record.h"
#include "session/order.h"

struct native_side {
	struct native *native;
	struct arena *arena; /* holds the bodies of these */
	VECTOR(struct perfdata_record) records;
	VECTOR(struct order_entry) order; /* by time; values are indices into records */
	size_t next;			  /* index into order */
	struct session_losses losses;	  /* those that have been written */
};

/* Twenty bytes that no linker produces, always the same for the same path. */
static void make_build_id(const char *path, struct native_file *ret)
{
	uint64_t hashes[2] = { hash_bytes(path, strlen(path)), 0 };

	hashes[1] = hash_u64(hashes[0] ^ strlen(path));
	memcpy(ret->build_id, "path", 4);
	memcpy(ret->build_id + 4, hashes, sizeof(hashes));
	ret->build_id_bytes = PERFDATA_BUILD_ID_BYTES;
}

/* MAPPING's file, added if it is new; NULL if MAPPING has no file. */
static const struct native_file *find_file(struct native *native,
					   const struct perfdata_mapping *mapping)
{
	struct dso_names names = { .path = mapping->path, .build_id = mapping->build_id,
				   .build_id_bytes = mapping->build_id_bytes,
				   .guest = native->machine->pid };
	struct native_file file = { .build_id_bytes = mapping->build_id_bytes };
	uint64_t *place;

	if (dsos_is_anonymous(mapping->path) ||
	    (mapping->path[0] != '/' && strcmp(mapping->path, "[vdso]")))
		return NULL;
	file.dso = dsos_add_file(&native->session->dsos, &names);
	place = map_insert(&native->file_of_dso, file.dso, NULL);
	if (!*place) {
		if (mapping->build_id_bytes)
			memcpy(file.build_id, mapping->build_id, mapping->build_id_bytes);
		else
			make_build_id(mapping->path, &file);
		vector_append(&native->files, file);
		*place = native->files.count;
	}
	return &native->files.items[*place - 1];
}

static struct error *copy_mapping(struct native *native, const struct perfdata_record *record,
				  uint64_t time_ns)
{
	const struct native_file *file;
	struct perfdata_mapping mapping;

	if (!perfdata_record_mapping(record, perfdata_reader_swap(native->session->reader),
				     &mapping) ||
	    (mapping.misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_GUEST_USER)
		return NULL;
	mapping.misc = PERF_RECORD_MISC_USER;
	file = find_file(native, &mapping);
	if (file) {
		mapping.build_id = file->build_id;
		mapping.build_id_bytes = file->build_id_bytes;
	}
	return perfdata_writer_mmap2(native->writer, &mapping, time_ns);
}

static struct error *copy_lost(struct native_side *side, const struct perfdata_record *record,
			       const struct perfdata_decoded *trailer)
{
	uint64_t count, id;
	struct error *error;

	if (!side->native->events[trailer->event_index] ||
	    !session_count_lost(side->native->session, record, &side->losses, &count) || !count)
		return NULL;
	error = native_find_id(side->native, trailer->event_index, native_cpu(trailer->id->vcpu),
			       &id);
	return error ? error : perfdata_writer_lost(side->native->writer, id, count,
						    trailer->sample.time_ns);
}

static struct error *copy_record(struct native_side *side, const struct perfdata_record *record)
{
	struct native *native = side->native;
	struct perfdata_reader *reader = native->session->reader;
	bool swap = perfdata_reader_swap(reader);
	struct perfdata_decoded trailer;
	struct perfdata_comm comm;
	struct perfdata_fork fork;

	if (!perfdata_reader_decode_id(reader, record, &trailer))
		return NULL;
	switch (record->type) {
	case PERF_RECORD_COMM:
		if (!perfdata_record_comm(record, swap, &comm))
			return NULL;
		return perfdata_writer_comm(native->writer, comm.pid, comm.tid, comm.comm,
					    trailer.sample.time_ns);
	case PERF_RECORD_FORK:
		if (!perfdata_record_fork(record, swap, &fork))
			return NULL;
		return perfdata_writer_fork(native->writer, &fork, trailer.sample.time_ns);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return copy_mapping(native, record, trailer.sample.time_ns);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return copy_lost(side, record, &trailer);
	}
	return NULL;
}

/* Keeps the guest's records, except samples, and sorts them. */
static void collect(struct native_side *side)
{
	struct session *session = side->native->session;
	struct perfdata_decoded trailer;
	struct perfdata_record record;

	session_rewind(session);
	while (session_next_record(session, &record) == PERFDATA_RECORD) {
		struct order_entry place = { .value = side->records.count };

		if (record.type == PERF_RECORD_SAMPLE || record.type >= RECORD_USER_FIRST ||
		    !perfdata_reader_decode_id(session->reader, &record, &trailer) || !trailer.id ||
		    trailer.id->machine_pid != side->native->machine->pid)
			continue;
		place.time = trailer.sample.time_ns == UINT64_MAX ? 0 : trailer.sample.time_ns;
		if (!session->timed)
			place.time = session->sequence;
		record.body = memcpy(arena_alloc(side->arena, record.body_bytes), record.body,
				     record.body_bytes);
		vector_append(&side->records, record);
		vector_append(&side->order, place);
	}
	order_sort(side->order.items, side->order.count);
}

struct native_side *native_side_create(struct native *native)
{
	struct native_side *side = memory_calloc(1, sizeof(*side));

	side->native = native;
	side->arena = arena_create();
	collect(side);
	return side;
}

void native_side_destroy(struct native_side *side)
{
	vector_deinit(&side->records);
	vector_deinit(&side->order);
	arena_destroy(side->arena);
	free(side);
}

struct error *native_side_copy_until(struct native_side *side, uint64_t time)
{
	struct error *error = NULL;

	for (; !error && side->next < side->order.count; side->next++) {
		const struct order_entry *place = &side->order.items[side->next];

		if (place->time > time)
			break;
		error = copy_record(side, &side->records.items[place->value]);
	}
	return error;
}
