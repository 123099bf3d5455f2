/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of a guest, as its own kernel would have written them. Samples of the guest: the
 * cpumode and the contexts in the chain lose their GUEST, the CPU is the vCPU's number. Comms, forks and
 * mappings of guest processes lose the id that tied them to the VM. Of the host nothing is left.
 *
 * A file that has no build-id is given one, made of its path: a reader would else take the file of that path of
 * the machine that it runs on for the guest's. (For the same reason machine__findnew_vdso() in perf
 * takes its own vDSO.)
 *
 * A guest of the guest is another machine still: what is not named there must not be named here, so
 * its samples stay, as a hypervisor's, without their chains.
 */
#include <linux/perf_event.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "cmd/convert.h"
#include "perfdata/format.h"
#include "perfdata/record.h"
#include "profile/context.h"
#include "profile/order.h"
#include "profile/ordered.h"

#define MAX_VCPUS 4096
#define ROUND_SAMPLES 10000
#define COPIED_FIELDS (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | \
		       PERF_SAMPLE_CALLCHAIN)

struct copier {
	struct native *native;
	struct context_cache *contexts;
	uint32_t *events;    /* place in the new file + 1, by that in the old one; 0: left out */
	struct map ids;	     /* new place of the event and vCPU -> new id */
	struct map comms;    /* of vCPU threads: tid -> string */
	struct buffer record; /* the sample that is being made */
	uint64_t *chain;

	struct arena *arena; /* of the bodies of … */
	VECTOR(struct perfdata_record) side;
	VECTOR(struct order_entry) order; /* by time, values are places in side */
	size_t next_side;		  /* place in order */
};

/* The event's name without the letters that say host or guest. */
static char *native_name(const char *name)
{
	const char *colon = strrchr(name, ':');
	char *copy = memory_strdup(name), *out = copy;

	if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "ukhpPGHSDIWeb")])
		return copy;
	for (const char *at = name; *at; at++)
		if (at <= colon || !strchr("GH", *at))
			*out++ = *at;
	*out = 0;
	if (out[-1] == ':')
		out[-1] = 0;
	return copy;
}

/* What the recorder in the guest would have opened; only what is in the samples matters. */
static struct perf_event_attr native_attr(const struct perf_event_attr *attr, bool timed)
{
	uint64_t fields = COPIED_FIELDS & (timed ? ~0ULL : ~(uint64_t)PERF_SAMPLE_TIME);

	return (struct perf_event_attr){
		.type = attr->type,
		.size = sizeof(*attr),
		.config = attr->config,
		.config1 = attr->config1,
		.config2 = attr->config2,
		.sample_period = attr->sample_period,
		.freq = attr->freq,
		.sample_type = (attr->sample_type & fields) | PERF_SAMPLE_IDENTIFIER |
			       PERF_SAMPLE_CPU,
		.read_format = PERF_FORMAT_ID,
		.precise_ip = attr->precise_ip,
		.mmap = 1, .mmap2 = 1, .comm = 1, .comm_exec = 1, .task = 1, .sample_id_all = 1,
	};
}

/* Events that can be of a guest: tracepoints are the host's. */
static struct error *create_writer(struct copier *copier, const char *path)
{
	struct native *native = copier->native;
	const struct perfdata_reader *reader = native->session->reader;
	size_t old_count = perfdata_reader_event_count(reader), count = 0;
	struct perfdata_event *events = memory_calloc(old_count + 1, sizeof(*events));
	struct error *error;

	copier->events = memory_calloc(old_count + 1, sizeof(*copier->events));
	for (size_t i = 0; i < old_count; i++) {
		const struct perfdata_event *old = perfdata_reader_event(reader, i);

		if (old->attr.type == PERF_TYPE_TRACEPOINT)
			continue;
		events[count].attr = native_attr(&old->attr, native->session->timed);
		events[count].name = native_name(old->name);
		copier->events[i] = ++count;
	}
	if (count)
		error = perfdata_writer_create(path, events, count, MAX_VCPUS, &native->writer);
	else
		error = error_create(ERROR_UNSUPPORTED, "the recording has events of the host alone");
	for (size_t i = 0; i < count; i++)
		free(events[i].name);
	free(events);
	return error;
}

/* Without it, where nothing is known of the kernel, perf asks nobody for its symbols. */
static struct error *write_kernel_map(struct native *native)
{
	struct perfdata_mapping mapping = { .pid = UINT32_MAX, .misc = PERF_RECORD_MISC_KERNEL,
					    .path = "[kernel.kallsyms]_text" };
	uint64_t end;

	if (!native_kernel_range(native, &mapping.start, &end))
		return NULL;
	mapping.file_offset = native->kernel_text;
	mapping.length = end - mapping.start;
	return perfdata_writer_mmap2(native->writer, &mapping, 0);
}

static struct error *find_id(struct copier *copier, uint32_t event, uint32_t vcpu, uint64_t *ret)
{
	bool added;
	uint64_t *id = map_insert(&copier->ids, (uint64_t)event << 32 | vcpu, &added);
	struct perfdata_id spec = { .vcpu = PERFDATA_NO_VCPU, .cpu = vcpu };
	struct error *error = NULL;

	if (added)
		error = perfdata_writer_add_id(copier->native->writer, event, &spec, id);
	if (!error)
		*ret = *id;
	return error;
}

/* The guest's part of a chain into copier->chain; gives how many words. */
static size_t copy_chain(struct copier *copier, const struct perfdata_sample *sample)
{
	uint64_t *chain = copier->chain;
	bool guest = false;
	size_t count = 0;

	for (uint64_t i = 0; i < sample->callchain_count; i++) {
		uint64_t word = sample->callchain[i];

		if (word < (uint64_t)PERF_CONTEXT_MAX) {
			if (guest)
				chain[count++] = word;
			continue;
		}
		guest = true;
		if (word == (uint64_t)PERF_CONTEXT_GUEST_USER)
			chain[count++] = (uint64_t)PERF_CONTEXT_USER;
		else if (word == (uint64_t)PERF_CONTEXT_GUEST_KERNEL || word == (uint64_t)PERF_CONTEXT_GUEST)
			chain[count++] = (uint64_t)PERF_CONTEXT_KERNEL;
		else
			guest = false;
	}
	return count;
}

/* A thread that the recording does not know from inside has the name of its vCPU's thread. */
static struct error *write_vcpu_comm(struct copier *copier, const struct context *context,
				     const struct session_sample *sample)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	uint64_t *comm;

	if (context->process || context->comm == TIMELINE_NO_COMM)
		return NULL;
	comm = map_insert(&copier->comms, fields->tid, NULL);
	if (*comm == context->comm + 1ULL)
		return NULL;
	*comm = context->comm + 1ULL;
	return perfdata_writer_comm(copier->native->writer, fields->pid, fields->tid,
				    intern_string(copier->native->session->strings, context->comm),
				    fields->time_ns);
}

static struct error *write_sample(struct copier *copier, const struct context *context,
				  const struct session_sample *sample)
{
	struct native *native = copier->native;
	uint32_t event = copier->events[sample->decoded.event_index] - 1;
	const struct perfdata_event *old =
		perfdata_reader_event(native->session->reader, sample->decoded.event_index);
	struct perf_event_attr attr = native_attr(&old->attr, native->session->timed);
	struct perfdata_sample copy = sample->decoded.sample;
	struct error *error;

	copy.misc &= PERF_RECORD_MISC_EXACT_IP;
	copy.misc |= context->cpumode == PERF_RECORD_MISC_GUEST_USER ? PERF_RECORD_MISC_USER
								     : PERF_RECORD_MISC_KERNEL;
	copy.cpu = context->vcpu < MAX_VCPUS ? context->vcpu : 0;
	copy.callchain = copier->chain;
	copy.callchain_count = copy_chain(copier, &sample->decoded.sample);
	if (context->special & PERFDATA_NESTED) {
		copy.misc = PERF_RECORD_MISC_HYPERVISOR;
		copy.callchain_count = 0;
		native->nested++;
	}
	if (copy.cpu >= native->vcpus)
		native->vcpus = copy.cpu + 1;
	error = write_vcpu_comm(copier, context, sample);
	if (!error)
		error = find_id(copier, event, copy.cpu, &copy.id);
	if (error)
		return error;
	buffer_clear(&copier->record);
	if (!perfdata_sample_encode(&attr, &copy, &copier->record))
		return error_create(ERROR_BAD_DATA, "a sample is larger than a record can be");
	native->samples++;
	return perfdata_writer_append(native->writer, copier->record.data, copier->record.size);
}

static struct error *copy_sample(struct copier *copier, const struct session_sample *sample)
{
	struct native *native = copier->native;
	const struct context *context;

	if (!sample->valid || !copier->events[sample->decoded.event_index])
		return NULL;
	context = context_find(copier->contexts, sample);
	if (context->machine != native->machine)
		return NULL;
	if (!native_has_time(native, sample->time)) {
		native->other_boots++;
		return NULL;
	}
	return write_sample(copier, context, sample);
}

/* Twenty bytes that no linker makes, the same for the same path. */
static void make_build_id(const char *path, struct native_file *ret)
{
	uint64_t hashes[2] = { hash_bytes(path, strlen(path)), 0 };

	hashes[1] = hash_u64(hashes[0] ^ strlen(path));
	memcpy(ret->build_id, "path", 4);
	memcpy(ret->build_id + 4, hashes, sizeof(hashes));
	ret->build_id_bytes = PERFDATA_BUILD_ID_BYTES;
}

/* MAPPING's file, added if it is new; NULL: it is none. */
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

	if (!perfdata_record_mapping(record, perfdata_reader_swap(native->session->reader), &mapping) ||
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

static struct error *copy_lost(struct copier *copier, const struct perfdata_record *record,
			       const struct perfdata_decoded *trailer)
{
	bool swap = perfdata_reader_swap(copier->native->session->reader);
	uint32_t vcpu = trailer->id->vcpu < MAX_VCPUS ? trailer->id->vcpu : 0;
	uint64_t count, id;
	struct error *error;

	if (!perfdata_record_lost(record, swap, &count) || !copier->events[trailer->event_index])
		return NULL;
	error = find_id(copier, copier->events[trailer->event_index] - 1, vcpu, &id);
	return error ? error : perfdata_writer_lost(copier->native->writer, id, count,
						    trailer->sample.time_ns);
}

static struct error *copy_side(struct copier *copier, const struct perfdata_record *record)
{
	struct native *native = copier->native;
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
		return copy_lost(copier, record, &trailer);
	}
	return NULL;
}

/* Keeps the records that are of the guest, but for samples, and puts them in order. */
static void collect_side(struct copier *copier)
{
	struct session *session = copier->native->session;
	struct perfdata_decoded trailer;
	struct perfdata_record record;

	session_rewind(session);
	while (session_next_record(session, &record) == PERFDATA_RECORD) {
		struct order_entry place = { .value = copier->side.count };

		if (record.type == PERF_RECORD_SAMPLE || record.type >= RECORD_USER_FIRST ||
		    !perfdata_reader_decode_id(session->reader, &record, &trailer) || !trailer.id ||
		    trailer.id->machine_pid != copier->native->machine->pid)
			continue;
		place.time = trailer.sample.time_ns == UINT64_MAX ? 0 : trailer.sample.time_ns;
		if (!session->timed)
			place.time = session->sequence;
		record.body = memcpy(arena_alloc(copier->arena, record.body_bytes), record.body,
				     record.body_bytes);
		vector_append(&copier->side, record);
		vector_append(&copier->order, place);
	}
	order_sort(copier->order.items, copier->order.count);
}

/* Those of times up to TIME that were not copied yet. */
static struct error *copy_side_until(struct copier *copier, uint64_t time)
{
	struct error *error = NULL;

	for (; !error && copier->next_side < copier->order.count; copier->next_side++) {
		const struct order_entry *place = &copier->order.items[copier->next_side];

		if (place->time > time)
			break;
		error = copy_side(copier, &copier->side.items[place->value]);
	}
	return error;
}

/*
 * All in the order of time: the recorder tells of threads when it has found them, which may be
 * after their first samples, and perf applies such a record when it comes to it.
 */
static struct error *copy_all(struct copier *copier)
{
	struct ordered *ordered;
	struct session_sample sample;
	struct error *error = NULL;
	uint64_t count = 0;

	collect_side(copier);
	ordered = ordered_create(copier->native->session);
	while (!error && ordered_next(ordered, &sample) == PERFDATA_RECORD) {
		error = copy_side_until(copier, sample.time);
		if (!error)
			error = copy_sample(copier, &sample);
		if (!error && ++count % ROUND_SAMPLES == 0)
			error = perfdata_writer_round(copier->native->writer);
	}
	ordered_destroy(ordered);
	return error ? error : copy_side_until(copier, UINT64_MAX);
}

struct error *native_write_records(struct native *native, const char *path)
{
	struct copier copier = { .native = native };
	struct error *error = create_writer(&copier, path);

	buffer_init(&copier.record, UINT16_MAX);
	map_init(&copier.ids);
	map_init(&copier.comms);
	copier.chain = memory_alloc(UINT16_MAX);
	copier.arena = arena_create();
	copier.contexts = memory_alloc(sizeof(*copier.contexts));
	context_cache_init(copier.contexts, native->session);
	if (!error)
		error = write_kernel_map(native);
	if (!error)
		error = copy_all(&copier);
	buffer_deinit(&copier.record);
	map_deinit(&copier.ids);
	map_deinit(&copier.comms);
	free(copier.chain);
	free(copier.contexts);
	free(copier.events);
	vector_deinit(&copier.side);
	vector_deinit(&copier.order);
	arena_destroy(copier.arena);
	return error;
}
