/* SPDX-License-Identifier: GPL-2.0-or-later */
/* COMM, FORK, MMAP, MMAP2, LOST and LOST_SAMPLES. */
#include "perfdata/record.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

#include "base/cursor.h"

static struct cursor open_body(const struct perfdata_record *record, bool swap)
{
	return cursor_make(record->body, record->body_bytes, swap);
}

bool perfdata_record_comm(const struct perfdata_record *record, bool swap,
			  struct perfdata_comm *ret)
{
	struct cursor cursor = open_body(record, swap);
	struct perfdata_comm comm;

	comm.pid = cursor_u32(&cursor);
	comm.tid = cursor_u32(&cursor);
	comm.comm = cursor_string_field(&cursor, cursor_left(&cursor));
	if (cursor.failed || !comm.comm)
		return false;
	*ret = comm;
	return true;
}

bool perfdata_record_fork(const struct perfdata_record *record, bool swap,
			  struct perfdata_fork *ret)
{
	struct cursor cursor = open_body(record, swap);
	struct perfdata_fork fork;

	fork.pid = cursor_u32(&cursor);
	fork.parent_pid = cursor_u32(&cursor);
	fork.tid = cursor_u32(&cursor);
	fork.parent_tid = cursor_u32(&cursor);
	if (cursor.failed)
		return false;
	fork.exec = record->misc & PERF_RECORD_MISC_FORK_EXEC;
	*ret = fork;
	return true;
}

bool perfdata_record_lost(const struct perfdata_record *record, bool swap, uint64_t *ret)
{
	struct cursor cursor = open_body(record, swap);
	uint64_t count;

	if (record->type == PERF_RECORD_LOST)
		cursor_skip(&cursor, sizeof(uint64_t)); /* an id: it is in the trailer, too */
	count = cursor_u64(&cursor);
	if (cursor.failed)
		return false;
	*ret = count;
	return true;
}

/* The 24 bytes that identify the file. */
static bool read_identity(const struct perfdata_record *record, struct cursor *cursor,
			  struct perfdata_mapping *mapping)
{
	if (!(record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)) {
		mapping->device_major = cursor_u32(cursor);
		mapping->device_minor = cursor_u32(cursor);
		mapping->inode = cursor_u64(cursor);
		mapping->inode_generation = cursor_u64(cursor);
		return true;
	}
	mapping->build_id_bytes = cursor_u8(cursor);
	cursor_skip(cursor, 3);
	mapping->build_id = cursor_bytes(cursor, PERFDATA_BUILD_ID_BYTES);
	return mapping->build_id_bytes <= PERFDATA_BUILD_ID_BYTES;
}

bool perfdata_record_mapping(const struct perfdata_record *record, bool swap,
			     struct perfdata_mapping *ret)
{
	struct cursor cursor = open_body(record, swap);
	struct perfdata_mapping mapping = { .prot = PROT_EXEC, .misc = record->misc };

	mapping.pid = cursor_u32(&cursor);
	mapping.tid = cursor_u32(&cursor);
	mapping.start = cursor_u64(&cursor);
	mapping.length = cursor_u64(&cursor);
	mapping.file_offset = cursor_u64(&cursor);
	if (record->type == PERF_RECORD_MMAP2) {
		if (!read_identity(record, &cursor, &mapping))
			return false;
		mapping.prot = cursor_u32(&cursor);
		mapping.flags = cursor_u32(&cursor);
	}
	mapping.path = cursor_string_field(&cursor, cursor_left(&cursor));
	if (cursor.failed || !mapping.path)
		return false;
	*ret = mapping;
	return true;
}
