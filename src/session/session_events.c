/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Applies COMM, FORK, MMAP, MMAP2 and LOST records to the
 * machines. In the first pass over a recording they are collected with their times, sorted, then
 * applied, so that samples can be read in any order. A session that is read live (live/) gets them
 * one by one, in order.
 *
 * As in perf, records without a time (made by perf for what ran before the recording began) come
 * before all records with one. In a file without times, the order of the records counts.
 *
 * Layouts: include/uapi/linux/perf_event.h, enum perf_event_type.
 */
#include "session/session_events.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cursor.h"
#include "perfdata/format.h"
#include "perfdata/guest_mode.h"
#include "perfdata/record.h"
#include "session/order.h"
#include "session/session.h"

enum event_kind { EVENT_COMM, EVENT_FORK, EVENT_MAPPING };

struct side_event {
	uint64_t time, sequence;
	struct machine *machine;
	enum event_kind kind;
	uint32_t pid, tid;
	union {
		uint32_t comm;
		struct {
			uint32_t parent_pid, parent_tid;
			bool synthesized;
		} fork;
		struct {
			uint64_t start, end, file_offset;
			uint32_t dso;
			bool kernel;
		} mapping;
	};
};

struct collector {
	struct session *session;
	struct machine *noted; /* the guest of the last guest sample */
	VECTOR(struct side_event) events;
};

/* MAP_HUGETLB: the same on all of perf's architectures except alpha */
#define MMAP_HUGETLB_FLAG 0x40000

static uint16_t cpumode_of(const struct perfdata_record *record)
{
	return record->misc & PERF_RECORD_MISC_CPUMODE_MASK;
}

static bool is_swapped(const struct collector *collector)
{
	return perfdata_reader_swap(collector->session->reader);
}

static struct side_event *add_event(struct collector *collector, enum event_kind kind,
				    const struct perfdata_decoded *trailer)
{
	uint64_t time = trailer->sample.time_ns;

	vector_append(&collector->events,
		      (struct side_event){ .kind = kind,
					   .time = time == UINT64_MAX ? 0 : time,
					   .sequence = collector->session->sequence });
	return &collector->events.items[collector->events.count - 1];
}

static bool read_comm(struct collector *collector, const struct perfdata_record *record,
		      const struct perfdata_decoded *trailer)
{
	struct perfdata_comm comm;
	struct side_event *event;

	if (!perfdata_record_comm(record, is_swapped(collector), &comm))
		return false;
	event = add_event(collector, EVENT_COMM, trailer);
	event->machine = session_record_machine(collector->session, record, trailer, comm.pid);
	event->pid = comm.pid;
	event->tid = comm.tid;
	event->comm = intern_text(collector->session->strings, comm.comm);
	return true;
}

static bool read_fork(struct collector *collector, const struct perfdata_record *record,
		      const struct perfdata_decoded *trailer)
{
	struct perfdata_fork fork;
	struct side_event *event;

	if (!perfdata_record_fork(record, is_swapped(collector), &fork))
		return false;
	event = add_event(collector, EVENT_FORK, trailer);
	event->machine = session_record_machine(collector->session, record, trailer, fork.pid);
	event->pid = fork.pid;
	event->tid = fork.tid;
	event->fork.parent_pid = fork.parent_pid;
	event->fork.parent_tid = fork.parent_tid;
	event->fork.synthesized = fork.exec;
	return true;
}

/* The dso of a user mapping; *ret_offset is the file offset for translating addresses. */
static uint32_t user_dso(struct collector *collector, const struct perfdata_mapping *mapping,
			 const struct dso_names *names, uint64_t *ret_offset)
{
	struct dsos *dsos = &collector->session->dsos;

	*ret_offset = mapping->file_offset;
	if (dsos_is_anonymous(mapping->path) || (mapping->flags & MMAP_HUGETLB_FLAG)) {
		*ret_offset = mapping->start; /* plain addresses */
		return mapping->prot & PROT_EXEC ? dsos_add_jit(dsos, mapping->pid)
						 : dsos_add_plain(dsos, mapping->path);
	}
	if (!strcmp(mapping->path, "[vdso]"))
		*ret_offset = 0;
	return dsos_add_file(dsos, names);
}

/* Of the mappings in kernel mode, the first one of the kernel itself. */
static void note_kernel(struct session *session, const struct perfdata_mapping *mapping)
{
	if (session->kernel_path ||
	    strncmp(mapping->path, "[kernel.kallsyms]", strlen("[kernel.kallsyms]")))
		return;
	session->kernel_path = intern_text(session->strings, mapping->path);
	session->kernel_reference = mapping->file_offset;
	session->kernel_bytes = mapping->length;
	session->kernel_build_id_bytes = mapping->build_id_bytes;
	if (mapping->build_id_bytes)
		memcpy(session->kernel_build_id, mapping->build_id, mapping->build_id_bytes);
}

static bool read_mmap(struct collector *collector, const struct perfdata_record *record,
		      const struct perfdata_decoded *trailer)
{
	uint16_t cpumode = cpumode_of(record);
	struct perfdata_mapping fields;
	struct dso_names names;
	struct side_event *event;
	struct machine *machine;
	bool kernel = cpumode == PERF_RECORD_MISC_KERNEL ||
		      cpumode == PERF_RECORD_MISC_GUEST_KERNEL;
	uint64_t end, offset;
	uint32_t dso;

	if (!perfdata_record_mapping(record, is_swapped(collector), &fields))
		return false;
	names = (struct dso_names){ .path = fields.path, .build_id = fields.build_id,
				    .build_id_bytes = fields.build_id_bytes };
	machine = session_record_machine(collector->session, record, trailer, fields.pid);
	if (__builtin_add_overflow(fields.start, fields.length, &end))
		end = UINT64_MAX; /* perf's kernel mappings may end with the address space */
	if (end <= fields.start)
		return true; /* empty: nothing to name */
	if (cpumode == PERF_RECORD_MISC_KERNEL)
		note_kernel(collector->session, &fields);
	if (kernel) {
		dso = dsos_add_kernel(&collector->session->dsos, &names);
		offset = fields.start;
	} else {
		names.guest = machine->pid;
		dso = user_dso(collector, &fields, &names, &offset);
	}
	event = add_event(collector, EVENT_MAPPING, trailer);
	event->machine = machine;
	event->pid = fields.pid;
	event->mapping.start = fields.start;
	event->mapping.end = end;
	event->mapping.file_offset = offset;
	event->mapping.dso = dso;
	event->mapping.kernel = kernel;
	return true;
}

/* A function generated by the kernel: u64 start, u32 bytes, u16 type, u16 flags, name. */
static bool read_ksymbol(struct collector *collector, const struct perfdata_record *record,
			 const struct perfdata_decoded *trailer, struct cursor *cursor)
{
	uint64_t start = cursor_u64(cursor), end;
	uint32_t bytes = cursor_u32(cursor);
	uint16_t type = cursor_u16(cursor), flags = cursor_u16(cursor);
	const char *name = cursor_string_field(cursor, cursor_left(cursor));
	struct side_event *event;

	(void)type;
	if (cursor->failed || !name || __builtin_add_overflow(start, bytes, &end))
		return false;
	if (!bytes)
		return true;
	event = add_event(collector, EVENT_MAPPING, trailer);
	event->machine = session_record_machine(collector->session, record, trailer, 0);
	event->mapping.start = start;
	event->mapping.end = end;
	event->mapping.file_offset = start;
	event->mapping.dso = flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER
				     ? SPACE_UNMAPPED
				     : dsos_add_symbol(&collector->session->dsos, name);
	event->mapping.kernel = true;
	if (!event->machine->made_end || start < event->machine->made_start)
		event->machine->made_start = start;
	if (end > event->machine->made_end)
		event->machine->made_end = end;
	return true;
}

static bool read_record(struct collector *collector, const struct perfdata_record *record)
{
	struct perfdata_reader *reader = collector->session->reader;
	struct cursor cursor = cursor_make(record->body, record->body_bytes,
					   perfdata_reader_swap(reader));
	struct perfdata_decoded trailer = { 0 };

	/* perf's own records have no trailer, or one of zeros: they come before all times. */
	if (!perfdata_reader_decode_id(reader, record, &trailer))
		trailer = (struct perfdata_decoded){ 0 };
	switch (record->type) {
	case PERF_RECORD_COMM:
		return read_comm(collector, record, &trailer);
	case PERF_RECORD_FORK:
		return read_fork(collector, record, &trailer);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return read_mmap(collector, record, &trailer);
	case PERF_RECORD_KSYMBOL:
		return read_ksymbol(collector, record, &trailer, &cursor);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return session_take_lost(collector->session, record,
					 trailer.id ? trailer.id->machine_pid : 0);
	}
	return true;
}

static bool is_side_event(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return true;
	}
	return false;
}

static void note_mode(struct session *session, struct machine *machine,
		      const struct perfdata_sample *sample)
{
	bool kernel = (sample->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
		      PERF_RECORD_MISC_GUEST_KERNEL;
	bool high = perfdata_guest_mode_is_high(sample->misc, sample->ip);

	session->modes_noted++;
	machine->high_kernel |= high;
	if (high)
		machine->user_high += !kernel;
	else if (sample->ip && !(sample->ip >> 63))
		machine->kernel_low += kernel;
}

/* Recordings made by perf do not list VMs: take the pids of their guest samples. */
static void note_guest(struct collector *collector, const struct perfdata_record *record)
{
	struct perfdata_decoded decoded;
	uint32_t pid;

	collector->session->guest_samples = true;
	if (!perfdata_reader_decode(collector->session->reader, record, &decoded))
		return;
	pid = session_guest_pid(&decoded);
	if (!pid)
		return;
	if (!collector->noted || collector->noted->pid != pid)
		collector->noted = session_machine(collector->session, pid);
	note_mode(collector->session, collector->noted, &decoded.sample);
}

static inline void note_sample(struct collector *collector, const struct perfdata_record *record)
{
	uint16_t cpumode = cpumode_of(record);

	if (cpumode_is_guest(cpumode))
		note_guest(collector, record);
	else if (cpumode == PERF_RECORD_MISC_KERNEL && !collector->session->kernel_loader.started)
		session_start_kernel(collector->session);
}

#define SKIP_MAX 4096 /* parts are cut in between */

/* Skips samples from which note_sample() has nothing to learn. */
static size_t skip_samples(struct collector *collector)
{
	struct session *session = collector->session;
	unsigned modes = 1U << PERF_RECORD_MISC_USER | 1U << PERF_RECORD_MISC_HYPERVISOR |
			 1U << PERF_RECORD_MISC_CPUMODE_UNKNOWN;
	size_t count;

	if (session->kernel_loader.started)
		modes |= 1U << PERF_RECORD_MISC_KERNEL;
	/* They list the VMs. */
	if (session->guest_samples && perfdata_reader_inventory(session->reader))
		modes |= 1U << PERF_RECORD_MISC_GUEST_KERNEL | 1U << PERF_RECORD_MISC_GUEST_USER;
	count = perfdata_reader_skip_samples(session->reader, modes, SKIP_MAX);
	session->sequence += count;
	perfdata_reader_release(session->reader);
	return count;
}

bool session_events_are_timed(const struct perfdata_reader *reader)
{
	for (size_t i = 0; i < perfdata_reader_event_count(reader); i++) {
		const struct perf_event_attr *attr = &perfdata_reader_event(reader, i)->attr;

		if (!(attr->sample_type & PERF_SAMPLE_TIME) || !attr->sample_id_all)
			return false;
	}
	return true;
}

#define PAGE_MASK 4095

static void apply_mapping(struct session *session, const struct side_event *event, uint64_t time)
{
	struct space_mapping mapping = { .start = event->mapping.start,
					 .end = event->mapping.end,
					 .file_offset = event->mapping.file_offset,
					 .from = time,
					 .dso = event->mapping.dso };

	if (!event->mapping.kernel && ((mapping.start | mapping.end) & PAGE_MASK))
		session->unaligned = true;
	if (event->mapping.kernel)
		space_add(&event->machine->kernel, &mapping);
	else
		timeline_add_mapping(&event->machine->timeline, event->pid, &mapping);
}

static void apply(struct session *session, const struct side_event *event, uint64_t time)
{
	struct timeline *timeline = &event->machine->timeline;

	switch (event->kind) {
	case EVENT_COMM:
		timeline_add_comm(timeline, event->tid, event->comm, time);
		break;
	case EVENT_FORK:
		timeline_add_fork(timeline,
				  &(struct timeline_fork){ .pid = event->pid,
							   .tid = event->tid,
							   .parent_pid = event->fork.parent_pid,
							   .parent_tid = event->fork.parent_tid,
							   .synthesized = event->fork.synthesized },
				  time);
		break;
	case EVENT_MAPPING:
		apply_mapping(session, event, time);
		break;
	}
}

/* perf_session__register_idle_thread() in perf: no record gives the idle thread's name. */
void session_events_begin(struct session *session)
{
	timeline_add_comm(&session->machines.items[0]->timeline, 0,
			  intern_text(session->strings, "swapper"), 0);
}

static void apply_all(struct collector *collector)
{
	size_t count = collector->events.count;
	struct order_entry *order = memory_calloc(count, sizeof(*order));

	for (size_t i = 0; i < count; i++) {
		const struct side_event *event = &collector->events.items[i];

		order[i].time = collector->session->timed ? event->time : event->sequence;
		order[i].value = i;
	}
	order_sort(order, count);
	session_events_begin(collector->session);
	for (size_t i = 0; i < count; i++)
		apply(collector->session, &collector->events.items[order[i].value],
		      order[i].time);
	free(order);
}

/* Samples have copies of stacks. */
static bool has_stacks(const struct perfdata_reader *reader)
{
	for (size_t i = 0; i < perfdata_reader_event_count(reader); i++)
		if (perfdata_reader_event(reader, i)->attr.sample_type & PERF_SAMPLE_STACK_USER)
			return true;
	return false;
}

/* What perf's own records say. */
static void note_user_record(struct session *session, const struct perfdata_record *record)
{
	struct cursor cursor = cursor_make(record->body, record->body_bytes,
					   perfdata_reader_swap(session->reader));

	if (record->type == RECORD_STAT)
		session->counts = true;
	else if (record->type == RECORD_AUXTRACE_INFO)
		session->aux_kind = cursor_u32(&cursor);
	else if (record->type == RECORD_AUXTRACE)
		session->aux_bytes += cursor_u64(&cursor);
}

/* What is out of order in spite of the recorder's rounds applies from now on. */
static void apply_live(struct session *session, const struct side_event *event)
{
	uint64_t time = session->timed ? event->time : event->sequence;

	session->live_time = time > session->live_time ? time : session->live_time;
	apply(session, event, session->live_time);
	session->live_records++;
	session->stamp++;
	/* The code of the kernel is not looked up by its mappings alone. */
	session->names_stamp += event->kind == EVENT_MAPPING && event->mapping.kernel;
	/* perf inject's, where no inventory says it. */
	if (event->kind == EVENT_COMM && machine_is_guest(event->machine) &&
	    !perfdata_reader_inventory(session->reader))
		session->guest_processes = event->machine->processes = true;
}

void session_events_take(struct session *session, const struct perfdata_record *record)
{
	struct collector collector = { .session = session };

	if (record->type >= RECORD_USER_FIRST)
		note_user_record(session, record);
	else if (is_side_event(record->type) && !read_record(&collector, record))
		session->malformed++;
	for (size_t i = 0; i < collector.events.count; i++)
		apply_live(session, &collector.events.items[i]);
	vector_deinit(&collector.events);
}

struct error *session_events_read(struct session *session)
{
	struct collector collector = { .session = session };
	struct perfdata_record record;
	enum perfdata_status status;
	struct error *error = NULL;
	bool any = false;

	session->sequence = 0;
	/* Which are large: to read them again costs less than to keep them. */
	if (has_stacks(session->reader))
		perfdata_reader_keep_nothing(session->reader);
	for (;;) {
		perfdata_reader_cut(session->reader);
		any |= skip_samples(&collector) > 0;
		status = session_next_record(session, &record);
		if (status != PERFDATA_RECORD)
			break;
		any = true;
		note_user_record(session, &record);
		if (record.type == PERF_RECORD_SAMPLE)
			note_sample(&collector, &record);
		else if (is_side_event(record.type) && !read_record(&collector, &record))
			session->malformed++;
	}
	perfdata_reader_cut(session->reader);
	session->timed = session_events_are_timed(session->reader);
	session->damaged = status == PERFDATA_BAD;
	if (status == PERFDATA_BAD && !any)
		error = error_create(ERROR_BAD_DATA, "%s",
				     error_message(perfdata_reader_error(session->reader)));
	else
		apply_all(&collector);
	vector_deinit(&collector.events);
	return error;
}
