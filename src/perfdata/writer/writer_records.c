/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records that the writer makes itself, in this machine's byte order.
 *
 * Formats: include/uapi/linux/perf_event.h (MMAP2, COMM, LOST), format.h (ID_INDEX, EVENT_UPDATE,
 * FINISHED_ROUND). Kernel records end with the sample_id trailer of an event: the one whose id is
 * in it, or with id 0, the first event (evlist__event2evsel()).
 */
#include <string.h>

#include "perfdata/sample.h"
#include "perfdata/writer/writer_state.h"

/* A record's size has 16 bits; a round number of ids that fit. */
#define IDS_PER_RECORD 1024
/* TASK_COMM_LEN and PATH_MAX with their terminators: perf's limits. */
#define COMM_BYTES 16
#define PATH_BYTES 4096
#define EVENT_NAME_BYTES 4096

void writer_begin_record(struct perfdata_writer *writer, uint32_t type, uint16_t misc)
{
	buffer_clear(&writer->scratch);
	buffer_append_u32(&writer->scratch, type);
	buffer_append_u16(&writer->scratch, misc);
	buffer_append_u16(&writer->scratch, 0);
}

static void set_size(struct perfdata_writer *writer)
{
	uint16_t size = writer->scratch.size;

	memcpy(writer->scratch.data + offsetof(struct perf_event_header, size), &size,
	       sizeof(size));
}

struct error *writer_end_record(struct perfdata_writer *writer)
{
	set_size(writer);
	return writer_append(writer, writer->scratch.data, writer->scratch.size);
}

/* Likewise for a record that belongs to samples. */
static struct error *end_with_samples(struct perfdata_writer *writer)
{
	set_size(writer);
	return perfdata_writer_append(writer, writer->scratch.data, writer->scratch.size);
}

/* TEXT with its terminator, cut to MAX_BYTES, padded to a multiple of 8 bytes. */
static void put_text(struct buffer *out, const char *text, size_t max_bytes)
{
	buffer_append(out, text, strnlen(text, max_bytes - 1));
	buffer_append_u8(out, 0);
	buffer_pad(out, 8);
}

static void put_trailer(struct perfdata_writer *writer, size_t event_index, uint64_t id,
			uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct perfdata_sample trailer = { .id = id,
					   .pid = pid,
					   .tid = tid,
					   .time_ns = writer_shifted(writer, time_ns),
					   .cpu = UINT32_MAX };

	perfdata_sample_id_encode(&writer->events[event_index].attr, &trailer, &writer->scratch);
}

void perfdata_writer_shift_times(struct perfdata_writer *writer, int64_t shift_ns)
{
	writer->shift_ns = shift_ns;
}

static uint64_t widen(uint32_t value, uint32_t unknown)
{
	return value == unknown ? UINT64_MAX : value;
}

static struct error *one_id_index(struct perfdata_writer *writer, const struct perfdata_id *ids,
				  size_t count)
{
	struct buffer *out = &writer->scratch;

	writer_begin_record(writer, RECORD_ID_INDEX, 0);
	buffer_append_u64(out, count);
	for (size_t i = 0; i < count; i++) {
		buffer_append_u64(out, ids[i].id);
		buffer_append_u64(out, 0);
		buffer_append_u64(out, widen(ids[i].cpu, UINT32_MAX));
		buffer_append_u64(out, widen(ids[i].tid, 0));
	}
	for (size_t i = 0; i < count; i++) {
		buffer_append_u64(out, ids[i].machine_pid);
		buffer_append_u64(out, widen(ids[i].vcpu, PERFDATA_NO_VCPU));
	}
	return writer_end_record(writer);
}

struct error *writer_id_index(struct perfdata_writer *writer, const struct perfdata_id *ids,
			      size_t count)
{
	while (count) {
		size_t now = count < IDS_PER_RECORD ? count : IDS_PER_RECORD;
		struct error *error = one_id_index(writer, ids, now);

		if (error)
			return error;
		ids += now;
		count -= now;
	}
	return NULL;
}

struct error *writer_event_name(struct perfdata_writer *writer, const struct perfdata_event *event,
				uint64_t id)
{
	writer_begin_record(writer, RECORD_EVENT_UPDATE, 0);
	buffer_append_u64(&writer->scratch, FORMAT_EVENT_UPDATE_NAME);
	buffer_append_u64(&writer->scratch, id);
	put_text(&writer->scratch, event->name, EVENT_NAME_BYTES);
	return writer_end_record(writer);
}

struct error *perfdata_writer_round(struct perfdata_writer *writer)
{
	writer_begin_record(writer, RECORD_FINISHED_ROUND, 0);
	return end_with_samples(writer);
}

/* The event and the id that a record carries; 0, 0: the host's. */
struct owner {
	size_t event_index;
	uint64_t id;
};

static struct error *find_owner(const struct perfdata_writer *writer, uint32_t machine_pid,
				struct owner *ret)
{
	const uint64_t *id = map_find(&writer->id_of_machine, machine_pid);

	if (!id)
		return error_create(ERROR_BAD_DATA, "'%s' has no id for VM %u yet", writer->path,
				    machine_pid);
	*ret = (struct owner){ *map_find(&writer->event_of_id, *id), *id };
	return NULL;
}

static struct error *end_owned(struct perfdata_writer *writer, const struct owner *owner)
{
	return owner->id ? end_with_samples(writer) : writer_end_record(writer);
}

static struct error *write_comm(struct perfdata_writer *writer, const struct owner *owner,
				uint16_t misc, uint32_t pid, uint32_t tid, const char *comm,
				uint64_t time_ns)
{
	writer_begin_record(writer, PERF_RECORD_COMM, misc);
	buffer_append_u32(&writer->scratch, pid);
	buffer_append_u32(&writer->scratch, tid);
	put_text(&writer->scratch, comm, COMM_BYTES);
	put_trailer(writer, owner->event_index, owner->id, pid, tid, time_ns);
	return end_owned(writer, owner);
}

struct error *perfdata_writer_comm(struct perfdata_writer *writer, uint32_t pid, uint32_t tid,
				   const char *comm, uint64_t time_ns)
{
	return write_comm(writer, &(struct owner){ 0 }, 0, pid, tid, comm, time_ns);
}

struct error *perfdata_writer_guest_comm(struct perfdata_writer *writer, uint32_t machine_pid,
					 uint32_t pid, uint32_t tid, const char *comm,
					 uint64_t time_ns)
{
	struct owner owner;
	struct error *error = find_owner(writer, machine_pid, &owner);

	return error ? error
		     : write_comm(writer, &owner, PERF_RECORD_MISC_GUEST_KERNEL, pid, tid, comm,
				  time_ns);
}

static struct error *write_fork(struct perfdata_writer *writer, const struct owner *owner,
				uint16_t misc, const struct perfdata_fork *fork, uint64_t time_ns)
{
	writer_begin_record(writer, PERF_RECORD_FORK,
		     misc | (fork->exec ? PERF_RECORD_MISC_FORK_EXEC : 0));
	buffer_append_u32(&writer->scratch, fork->pid);
	buffer_append_u32(&writer->scratch, fork->parent_pid);
	buffer_append_u32(&writer->scratch, fork->tid);
	buffer_append_u32(&writer->scratch, fork->parent_tid);
	buffer_append_u64(&writer->scratch, writer_shifted(writer, time_ns));
	put_trailer(writer, owner->event_index, owner->id, fork->pid, fork->tid, time_ns);
	return end_owned(writer, owner);
}

struct error *perfdata_writer_fork(struct perfdata_writer *writer, const struct perfdata_fork *fork,
				   uint64_t time_ns)
{
	return write_fork(writer, &(struct owner){ 0 }, 0, fork, time_ns);
}

struct error *perfdata_writer_guest_process(struct perfdata_writer *writer, uint32_t machine_pid,
					    uint32_t pid, uint32_t parent_pid, uint64_t time_ns)
{
	struct perfdata_fork fork = { .pid = pid, .parent_pid = parent_pid, .tid = pid,
				      .parent_tid = parent_pid, .exec = true };
	struct owner owner;
	struct error *error = find_owner(writer, machine_pid, &owner);

	return error ? error : write_fork(writer, &owner, PERF_RECORD_MISC_GUEST_KERNEL, &fork,
					  time_ns);
}

/* 24 bytes that identify the file: by its build-id or by its inode. */
static void put_file_identity(struct buffer *out, const struct perfdata_mapping *mapping)
{
	uint8_t build_id[PERFDATA_BUILD_ID_BYTES] = { 0 };

	if (!mapping->build_id) {
		buffer_append_u32(out, mapping->device_major);
		buffer_append_u32(out, mapping->device_minor);
		buffer_append_u64(out, mapping->inode);
		buffer_append_u64(out, mapping->inode_generation);
		return;
	}
	memcpy(build_id, mapping->build_id, mapping->build_id_bytes);
	buffer_append_u8(out, mapping->build_id_bytes);
	buffer_append_u8(out, 0);
	buffer_append_u16(out, 0);
	buffer_append(out, build_id, sizeof(build_id));
}

static struct error *write_mmap2(struct perfdata_writer *writer, const struct owner *owner,
				 const struct perfdata_mapping *mapping, uint64_t time_ns)
{
	struct buffer *out = &writer->scratch;
	uint16_t misc = mapping->misc & ~PERF_RECORD_MISC_MMAP_BUILD_ID;

	if (mapping->build_id && mapping->build_id_bytes > PERFDATA_BUILD_ID_BYTES)
		return error_create(ERROR_BAD_DATA, "the build-id of '%s' is %u bytes long",
				    mapping->path, mapping->build_id_bytes);
	writer_begin_record(writer, PERF_RECORD_MMAP2,
		     misc | (mapping->build_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0));
	buffer_append_u32(out, mapping->pid);
	buffer_append_u32(out, mapping->tid);
	buffer_append_u64(out, mapping->start);
	buffer_append_u64(out, mapping->length);
	buffer_append_u64(out, mapping->file_offset);
	put_file_identity(out, mapping);
	buffer_append_u32(out, mapping->prot);
	buffer_append_u32(out, mapping->flags);
	put_text(out, mapping->path, PATH_BYTES);
	put_trailer(writer, owner->event_index, owner->id, mapping->pid, mapping->tid, time_ns);
	return end_owned(writer, owner);
}

struct error *perfdata_writer_mmap2(struct perfdata_writer *writer,
				    const struct perfdata_mapping *mapping, uint64_t time_ns)
{
	return write_mmap2(writer, &(struct owner){ 0 }, mapping, time_ns);
}

struct error *perfdata_writer_guest_mmap2(struct perfdata_writer *writer, uint32_t machine_pid,
					  const struct perfdata_mapping *mapping, uint64_t time_ns)
{
	struct owner owner;
	struct error *error = find_owner(writer, machine_pid, &owner);

	return error ? error : write_mmap2(writer, &owner, mapping, time_ns);
}

struct error *perfdata_writer_lost(struct perfdata_writer *writer, uint64_t id, uint64_t count,
				   uint64_t time_ns)
{
	const uint64_t *event_index = map_find(&writer->event_of_id, id);

	if (!event_index)
		return error_create(ERROR_BAD_DATA, "lost samples have an unknown id");
	writer_begin_record(writer, PERF_RECORD_LOST, 0);
	buffer_append_u64(&writer->scratch, id);
	buffer_append_u64(&writer->scratch, count);
	put_trailer(writer, *event_index, id, UINT32_MAX, UINT32_MAX, time_ns);
	return end_with_samples(writer);
}
