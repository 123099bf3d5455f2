/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Layouts: include/uapi/linux/perf_event.h, enum perf_event_type. The text is that of
 * perf_event__fprintf() in tools/perf/util/event.c; the name of the thread before it is the one
 * that it had after the record was applied (builtin-script.c, print_event()).
 *
 * Records without a time, of what ran before the recording began, all apply from its beginning on.
 * perf applies them one by one while it prints them, so their names come from a list of their own.
 */
#include "output/script/script_records.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cursor.h"
#include "base/utf8.h"
#include "output/script/script_extra.h"
#include "perfdata/record.h"

#define BYTES_PER_LINE 16 /* of code that was changed */

static const char *const names[] = {
	[PERF_RECORD_MMAP] = "MMAP",
	[PERF_RECORD_LOST] = "LOST",
	[PERF_RECORD_COMM] = "COMM",
	[PERF_RECORD_EXIT] = "EXIT",
	[PERF_RECORD_FORK] = "FORK",
	[PERF_RECORD_MMAP2] = "MMAP2",
	[PERF_RECORD_SWITCH] = "SWITCH",
	[PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
	[PERF_RECORD_NAMESPACES] = "NAMESPACES",
	[PERF_RECORD_KSYMBOL] = "KSYMBOL",
	[PERF_RECORD_BPF_EVENT] = "BPF_EVENT",
	[PERF_RECORD_CGROUP] = "CGROUP",
	[PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
};

void script_records_init(struct script_records *records, struct session *session,
			 struct resolver *resolver)
{
	*records = (struct script_records){ .session = session, .resolver = resolver };
	map_init(&records->early_comms);
}

void script_records_deinit(struct script_records *records)
{
	map_deinit(&records->early_comms);
}

static struct cursor open_body(const struct script_records *records,
			       const struct perfdata_record *record)
{
	return cursor_make(record->body, record->body_bytes,
			   perfdata_reader_swap(records->session->reader));
}

static uint64_t early_key(const struct machine *machine, uint32_t tid)
{
	return (uint64_t)machine->pid << 32 | tid;
}

/* The name of TID, until now; the idle thread has one from the beginning. */
static uint32_t early_comm(struct script_records *records, const struct machine *machine,
			   uint32_t tid)
{
	const uint64_t *found = map_find(&records->early_comms, early_key(machine, tid));

	if (!found && !tid)
		return intern_text(records->session->strings, "swapper");
	return found ? *found : TIMELINE_NO_COMM;
}

static void set_early_comm(struct script_records *records, const struct machine *machine,
			   uint32_t tid, uint32_t comm)
{
	if (comm != TIMELINE_NO_COMM)
		*map_insert(&records->early_comms, early_key(machine, tid), NULL) = comm;
}

static void apply_early(struct script_records *records, const struct perfdata_record *record,
			const struct machine *machine)
{
	bool swap = perfdata_reader_swap(records->session->reader);
	struct perfdata_comm comm;
	struct perfdata_fork fork;

	if (record->type == PERF_RECORD_COMM && perfdata_record_comm(record, swap, &comm))
		set_early_comm(records, machine, comm.tid,
			       intern_text(records->session->strings, comm.comm));
	else if (record->type == PERF_RECORD_FORK && perfdata_record_fork(record, swap, &fork))
		set_early_comm(records, machine, fork.tid,
			       early_comm(records, machine, fork.parent_tid));
}

/* The thread that a record is about: in the record itself, or else in its trailer. */
static bool find_thread(const struct script_records *records, const struct perfdata_record *record,
			const struct perfdata_sample *trailer, uint32_t *ret_pid, uint32_t *ret_tid)
{
	struct cursor cursor = open_body(records, record);

	switch (record->type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		*ret_pid = cursor_u32(&cursor);
		cursor_skip(&cursor, sizeof(uint32_t));
		*ret_tid = cursor_u32(&cursor);
		return !cursor.failed;
	case PERF_RECORD_COMM:
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_NAMESPACES:
		*ret_pid = cursor_u32(&cursor);
		*ret_tid = cursor_u32(&cursor);
		return !cursor.failed;
	}
	*ret_pid = trailer->pid;
	*ret_tid = trailer->tid;
	return true;
}

bool script_records_begin(struct script_records *records, const struct perfdata_record *record,
			  struct script_record *ret)
{
	struct session *session = records->session;
	struct perfdata_sample *head = &ret->head.decoded.sample;
	uint32_t pid, tid;

	*ret = (struct script_record){ .thread = { .comm = TIMELINE_NO_COMM } };
	if (record->type >= sizeof(names) / sizeof(*names) || !names[record->type])
		return false;
	if (!perfdata_reader_decode_id(session->reader, record, &ret->head.decoded))
		ret->head.decoded = (struct perfdata_decoded){ 0 };
	head->misc = record->misc;
	if (!find_thread(records, record, head, &pid, &tid))
		return false;
	ret->machine = session_record_machine(session, record, &ret->head.decoded, pid);
	ret->thread.pid = pid;
	ret->thread.tid = tid;
	ret->head.time = session->timed ? head->time_ns : session->sequence;
	if (session->timed && !head->time_ns) {
		apply_early(records, record, ret->machine);
		ret->thread.comm = early_comm(records, ret->machine, tid);
	} else {
		ret->thread.comm = timeline_find(&ret->machine->timeline, pid, tid,
						 ret->head.time).comm;
	}
	return true;
}

static void append_mapping(const struct perfdata_record *record,
			   const struct perfdata_mapping *mapping, struct buffer *out)
{
	buffer_printf(out, " %d/%d: [%#" PRIx64 "(%#" PRIx64 ") @ %#" PRIx64, (int)mapping->pid,
		      (int)mapping->tid, mapping->start, mapping->length, mapping->file_offset);
	if (record->type == PERF_RECORD_MMAP) {
		buffer_printf(out, "]: %c ",
			      record->misc & PERF_RECORD_MISC_MMAP_DATA ? 'r' : 'x');
	} else {
		if (record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
			buffer_append_string(out, " <");
			for (size_t i = 0; i < mapping->build_id_bytes; i++)
				buffer_printf(out, "%02x", mapping->build_id[i]);
			buffer_append_string(out, ">]: ");
		} else {
			buffer_printf(out, " %02x:%02x %" PRIu64 " %" PRIu64 "]: ",
				      mapping->device_major, mapping->device_minor, mapping->inode,
				      mapping->inode_generation);
		}
		buffer_append_u8(out, mapping->prot & PROT_READ ? 'r' : '-');
		buffer_append_u8(out, mapping->prot & PROT_WRITE ? 'w' : '-');
		buffer_append_u8(out, mapping->prot & PROT_EXEC ? 'x' : '-');
		buffer_append_u8(out, mapping->flags & MAP_SHARED ? 's' : 'p');
		buffer_append_u8(out, ' ');
	}
	utf8_append_escaped(out, mapping->path);
}

static void append_task(struct cursor *cursor, struct buffer *out)
{
	int pid = cursor_u32(cursor), parent_pid = cursor_u32(cursor);
	int tid = cursor_u32(cursor), parent_tid = cursor_u32(cursor);

	buffer_printf(out, "(%d:%d):(%d:%d)", pid, tid, parent_pid, parent_tid);
}

static void append_namespaces(struct cursor *cursor, struct buffer *out)
{
	static const char *const kinds[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	int pid = cursor_u32(cursor), tid = cursor_u32(cursor);
	uint64_t count = cursor_u64(cursor);

	buffer_printf(out, " %d/%d - nr_namespaces: %" PRIu64 "\n\t\t[", pid, tid, count);
	for (uint64_t i = 0; i < count && cursor_left(cursor) >= 2 * sizeof(uint64_t); i++) {
		uint64_t device = cursor_u64(cursor), inode = cursor_u64(cursor);

		buffer_printf(out, "%s%" PRIu64 "/%s: %" PRIu64 "/%#" PRIx64 "%s",
			      i && i % 4 == 0 ? "\n\t\t " : "", i,
			      i < sizeof(kinds) / sizeof(*kinds) ? kinds[i] : "UNKNOWN", device,
			      inode, i + 1 < count ? ", " : "]");
	}
}

static void append_switch(const struct perfdata_record *record, struct cursor *cursor,
			  struct buffer *out)
{
	bool leaves = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
	int pid, tid;

	buffer_append_string(out, !leaves ? " IN         "
				  : record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT
					  ? " OUT preempt"
					  : " OUT        ");
	if (record->type == PERF_RECORD_SWITCH)
		return;
	pid = cursor_u32(cursor);
	tid = cursor_u32(cursor);
	buffer_printf(out, "  %s pid/tid: %5d/%-5d", leaves ? "next" : "prev", pid, tid);
}

static void append_text(struct cursor *cursor, struct buffer *out)
{
	const char *text = cursor_string_field(cursor, cursor_left(cursor));

	utf8_append_escaped(out, text ? text : "");
}

static void append_ksymbol(struct cursor *cursor, struct buffer *out)
{
	uint64_t address = cursor_u64(cursor);
	uint32_t bytes = cursor_u32(cursor);
	uint16_t type = cursor_u16(cursor), flags = cursor_u16(cursor);

	buffer_printf(out, " addr %" PRIx64 " len %u type %u flags 0x%x name ", address, bytes,
		      type, flags);
	append_text(cursor, out);
}

static void append_bpf(struct cursor *cursor, struct buffer *out)
{
	uint16_t type = cursor_u16(cursor), flags = cursor_u16(cursor);

	buffer_printf(out, " type %u, flags %u, id %u", type, flags, cursor_u32(cursor));
}

static void append_cgroup(struct cursor *cursor, struct buffer *out)
{
	buffer_printf(out, " cgroup: %" PRIu64 " ", cursor_u64(cursor));
	append_text(cursor, out);
}

static void append_bytes(const char *which, const uint8_t *bytes, size_t count, struct buffer *out)
{
	for (size_t i = 0; i < count; i++) {
		if (i % BYTES_PER_LINE == 0)
			buffer_printf(out, "\n            %s bytes:", which);
		buffer_printf(out, " %02x", bytes[i]);
	}
}

static void append_text_poke(struct script_records *records, struct cursor *cursor,
			     const struct script_record *begun, struct buffer *out)
{
	uint64_t address = cursor_u64(cursor);
	uint16_t old_bytes = cursor_u16(cursor), new_bytes = cursor_u16(cursor);
	const uint8_t *bytes = cursor_bytes(cursor, (size_t)old_bytes + new_bytes);
	struct resolved place;

	if (!bytes)
		return;
	place = resolver_find(records->resolver, begun->machine, &begun->machine->kernel, address,
			      begun->head.time);
	buffer_printf(out, " %" PRIx64 " ", address);
	if (resolver_symbol_name(records->resolver, place.location))
		script_append_symbol(records->resolver, place.location, place.address, true, out);
	buffer_printf(out, " old len %u new len %u", old_bytes, new_bytes);
	append_bytes("Old", bytes, old_bytes, out);
	append_bytes("New", bytes + old_bytes, new_bytes, out);
}

static void append_body(struct script_records *records, const struct perfdata_record *record,
			const struct script_record *begun, struct buffer *out)
{
	struct cursor cursor = open_body(records, record);
	struct perfdata_mapping mapping;
	struct perfdata_comm comm;
	uint64_t lost;

	switch (record->type) {
	case PERF_RECORD_COMM:
		if (perfdata_record_comm(record, cursor.swap, &comm)) {
			buffer_append_string(out, record->misc & PERF_RECORD_MISC_COMM_EXEC
							  ? " exec: " : ": ");
			utf8_append_escaped(out, comm.comm);
			buffer_printf(out, ":%d/%d", (int)comm.pid, (int)comm.tid);
		}
		return;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		if (perfdata_record_mapping(record, cursor.swap, &mapping))
			append_mapping(record, &mapping, out);
		return;
	case PERF_RECORD_LOST:
		if (perfdata_record_lost(record, cursor.swap, &lost))
			buffer_printf(out, " lost %" PRIu64, lost);
		return;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return append_task(&cursor, out);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return append_switch(record, &cursor, out);
	case PERF_RECORD_NAMESPACES:
		return append_namespaces(&cursor, out);
	case PERF_RECORD_KSYMBOL:
		return append_ksymbol(&cursor, out);
	case PERF_RECORD_BPF_EVENT:
		return append_bpf(&cursor, out);
	case PERF_RECORD_CGROUP:
		return append_cgroup(&cursor, out);
	case PERF_RECORD_TEXT_POKE:
		return append_text_poke(records, &cursor, begun, out);
	}
}

void script_records_append(struct script_records *records, const struct perfdata_record *record,
			   const struct script_record *begun, struct buffer *out)
{
	buffer_append_string(out, "PERF_RECORD_");
	buffer_append_string(out, names[record->type]);
	append_body(records, record, begun, out);
	buffer_append_u8(out, '\n');
}
