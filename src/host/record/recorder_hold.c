/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --overwrite: the newest samples stay in memory, and go to the file when it is completed. perf has
 * the kernel overwrite its rings instead. A ring of a BPF program cannot be overwritten, and QEMU's
 * monitor has none; so rings are emptied as usual, and older samples are given up here.
 *
 * What is held consists of segments, each of some rounds. A segment stands alone like a file: tasks
 * and processes are introduced in each segment in which they are seen. The oldest segment is given
 * up as a whole when there is too much, so 7/8 of the room at least have the newest samples. The
 * counts of VMs go with the segment, so those of the file are exact.
 */
#include <string.h>

#include "host/record/recorder_state.h"

#define THREAD_BYTES ((size_t)512 << 10) /* as perf's rings */
#define HELD_MAX_BYTES ((size_t)1 << 30)

static size_t room(const struct recorder *recorder)
{
	size_t ring = recorder->config.ring_bytes ? recorder->config.ring_bytes : THREAD_BYTES;
	size_t bytes = 0;

	for (size_t i = 0; i < recorder->threads.count && bytes < HELD_MAX_BYTES; i++)
		bytes += recorder->threads.items[i].alive ? ring : 0;
	if (bytes < ring)
		bytes = ring;
	return bytes < HELD_MAX_BYTES ? bytes : HELD_MAX_BYTES;
}

void recorder_hold_begin(struct recorder *recorder)
{
	struct recorder_hold *hold = &recorder->hold;

	if (!recorder->config.overwrite)
		return;
	hold->max_bytes = room(recorder);
	if (!hold->open.records.max_bytes)
		buffer_init(&hold->open.records, SIZE_MAX);
	perfdata_writer_hold(recorder->writer, &hold->open.records);
}

static void segment_deinit(struct recorder_segment *segment)
{
	buffer_deinit(&segment->records);
	vector_deinit(&segment->counts);
}

static void add_segment(const struct recorder_segment *segment, struct perfdata_vm_counts *sum)
{
	for (size_t i = 0; i < segment->counts.count; i++)
		recorder_add_counts(sum, &segment->counts.items[i]);
	recorder_add_counts(sum, &segment->other);
}

/* The oldest one. */
static void give_up(struct recorder_hold *hold)
{
	struct perfdata_vm_counts sum = { 0 };

	add_segment(&hold->closed[0], &sum);
	hold->overwritten += sum.guest_kernel + sum.guest_user + sum.host_written;
	hold->bytes -= hold->closed[0].records.size;
	segment_deinit(&hold->closed[0]);
	hold->closed_count--;
	memmove(hold->closed, hold->closed + 1, hold->closed_count * sizeof(*hold->closed));
}

/* Moves the counts out of the inventory. */
static void close_segment(struct recorder *recorder)
{
	struct recorder_hold *hold = &recorder->hold;
	struct perfdata_inventory *inventory = &recorder->inventory;
	struct recorder_segment segment = hold->open;

	for (size_t i = 0; i < inventory->vms.count; i++) {
		vector_append(&segment.counts, inventory->vms.items[i].counts);
		inventory->vms.items[i].counts = (struct perfdata_vm_counts){ 0 };
	}
	segment.other = inventory->other;
	inventory->other = (struct perfdata_vm_counts){ 0 };
	hold->bytes += segment.records.size;
	hold->closed[hold->closed_count++] = segment;
	hold->open = (struct recorder_segment){ .records.size = 0 };
	buffer_init(&hold->open.records, SIZE_MAX);
	perfdata_writer_hold(recorder->writer, &hold->open.records);
	recorder_begin_part(recorder);
}

void recorder_hold_end_round(struct recorder *recorder)
{
	struct recorder_hold *hold = &recorder->hold;

	if (!hold->max_bytes || hold->open.records.size < hold->max_bytes / RECORDER_SEGMENTS)
		return;
	close_segment(recorder);
	hold->max_bytes = room(recorder);
	while (hold->closed_count > 1 &&
	       (hold->bytes > hold->max_bytes || hold->closed_count > RECORDER_SEGMENTS))
		give_up(hold);
}

static struct error *write_segment(struct recorder *recorder,
				   const struct recorder_segment *segment)
{
	struct perfdata_inventory *inventory = &recorder->inventory;

	for (size_t i = 0; i < segment->counts.count; i++)
		recorder_add_counts(&inventory->vms.items[i].counts, &segment->counts.items[i]);
	recorder_add_counts(&inventory->other, &segment->other);
	return perfdata_writer_append(recorder->writer, segment->records.data,
				      segment->records.size);
}

struct error *recorder_hold_write(struct recorder *recorder)
{
	struct recorder_hold *hold = &recorder->hold;
	struct error *error = NULL;

	if (!hold->max_bytes)
		return NULL;
	close_segment(recorder);
	perfdata_writer_hold(recorder->writer, NULL);
	for (size_t i = 0; i < hold->closed_count; i++) {
		if (!error)
			error = write_segment(recorder, &hold->closed[i]);
		segment_deinit(&hold->closed[i]);
	}
	hold->closed_count = hold->bytes = 0;
	return error;
}

void recorder_hold_deinit(struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->hold.closed_count; i++)
		segment_deinit(&recorder->hold.closed[i]);
	segment_deinit(&recorder->hold.open);
}

void recorder_hold_add_counts(const struct recorder *recorder, struct perfdata_vm_counts *sum)
{
	for (size_t i = 0; i < recorder->hold.closed_count; i++)
		add_segment(&recorder->hold.closed[i], sum);
}
