/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts samples. A recorder empties the rings of all CPUs one after another, then writes
 * FINISHED_ROUND: later records are not older than the newest record before the end of the previous
 * round (tools/perf/util/ordered-events.c). So at the end of each round, everything up to that time
 * can be returned, sorted.
 *
 * Records are copied, since a reader's record is only valid until the next one. Without times there
 * is nothing to sort by: the order is that of the file.
 */
#include "session/ordered.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/memory.h"
#include "perfdata/format.h"
#include "session/order.h"

struct stored {
	uint64_t file_offset;
	size_t offset; /* of the body, in the copied bytes */
	uint64_t sequence;
	uint16_t misc, size;
};

struct batch {
	VECTOR(uint8_t) bytes;
	VECTOR(struct stored) records;
	VECTOR(struct order_entry) order; /* of records, by time */
};

struct ordered {
	struct session *session;
	struct batch batch, next_batch;
	size_t at, ready; /* indices: [at, ready) can be returned */
	uint64_t newest, round_newest; /* times: so far, and at the end of the last round */
	enum perfdata_status status;   /* not PERFDATA_RECORD: everything has been read */
};

struct ordered *ordered_create(struct session *session)
{
	struct ordered *ordered = memory_calloc(1, sizeof(*ordered));

	ordered->session = session;
	ordered->status = PERFDATA_RECORD;
	session_rewind(session);
	perfdata_reader_keep_nothing(session->reader);
	return ordered;
}

static void batch_deinit(struct batch *batch)
{
	vector_deinit(&batch->bytes);
	vector_deinit(&batch->records);
	vector_deinit(&batch->order);
}

void ordered_destroy(struct ordered *ordered)
{
	if (!ordered)
		return;
	batch_deinit(&ordered->batch);
	batch_deinit(&ordered->next_batch);
	free(ordered);
}

static void store(struct batch *batch, const uint8_t *body, size_t body_bytes,
		  const struct stored *record, uint64_t time)
{
	struct stored copy = *record;

	copy.offset = batch->bytes.count;
	vector_reserve(&batch->bytes, batch->bytes.count + body_bytes);
	memcpy(batch->bytes.items + batch->bytes.count, body, body_bytes);
	batch->bytes.count += body_bytes;
	vector_append(&batch->order,
		      (struct order_entry){ .time = time, .value = batch->records.count });
	vector_append(&batch->records, copy);
}

/* Drops what was returned and moves the rest to the front. */
static void compact(struct ordered *ordered)
{
	struct batch *from = &ordered->batch, *to = &ordered->next_batch, swap;

	to->bytes.count = to->records.count = to->order.count = 0;
	for (size_t i = ordered->ready; i < from->order.count; i++) {
		const struct order_entry *entry = &from->order.items[i];
		const struct stored *record = &from->records.items[entry->value];

		store(to, from->bytes.items + record->offset,
		      record->size - sizeof(struct perf_event_header), record, entry->time);
	}
	swap = *from;
	*from = *to;
	*to = swap;
	ordered->at = ordered->ready = 0;
}

/* Everything up to time LIMIT can be returned. */
static void release(struct ordered *ordered, uint64_t limit)
{
	struct batch *batch = &ordered->batch;

	order_sort(batch->order.items, batch->order.count);
	while (ordered->ready < batch->order.count &&
	       batch->order.items[ordered->ready].time <= limit)
		ordered->ready++;
}

static void end_round(struct ordered *ordered)
{
	release(ordered, ordered->round_newest);
	ordered->round_newest = ordered->newest;
}

static void take_sample(struct ordered *ordered, const struct perfdata_record *record)
{
	struct session_sample sample;
	struct stored stored = { .file_offset = record->file_offset, .misc = record->misc,
				 .size = record->size, .sequence = ordered->session->sequence };

	session_decode(ordered->session, record, &sample);
	if (!sample.valid)
		return; /* without a time, it cannot be sorted */
	if (sample.time > ordered->newest)
		ordered->newest = sample.time;
	store(&ordered->batch, record->body, record->body_bytes, &stored, sample.time);
}

/* Reads until something can be returned or everything has been read. */
static void fill(struct ordered *ordered)
{
	struct perfdata_record record;

	compact(ordered);
	while (ordered->status == PERFDATA_RECORD && ordered->ready == 0) {
		ordered->status = session_next_record(ordered->session, &record);
		if (ordered->status != PERFDATA_RECORD)
			release(ordered, UINT64_MAX);
		else if (record.type == PERF_RECORD_SAMPLE)
			take_sample(ordered, &record);
		else if (record.type == RECORD_FINISHED_ROUND)
			end_round(ordered);
	}
}

static void decode_stored(struct ordered *ordered, struct session_sample *ret)
{
	const struct batch *batch = &ordered->batch;
	const struct stored *stored = &batch->records.items[batch->order.items[ordered->at].value];
	struct perfdata_record record = {
		.type = PERF_RECORD_SAMPLE,
		.misc = stored->misc,
		.size = stored->size,
		.body = batch->bytes.items + stored->offset,
		.body_bytes = stored->size - sizeof(struct perf_event_header),
		.file_offset = stored->file_offset,
	};
	uint64_t sequence = ordered->session->sequence;

	ordered->session->sequence = stored->sequence;
	session_decode(ordered->session, &record, ret);
	ordered->session->sequence = sequence;
}

enum perfdata_status ordered_next(struct ordered *ordered, struct session_sample *ret)
{
	struct group_reads *reads = &ordered->session->group_reads;

	if (!ordered->session->timed) {
		ordered->status = session_next_sample(ordered->session, ret);
		return ordered->status;
	}
	while (!group_reads_next(reads, ordered->session->reader, ret)) {
		if (ordered->at == ordered->ready)
			fill(ordered);
		if (ordered->at == ordered->ready)
			return ordered->status;
		decode_stored(ordered, ret);
		ordered->at++;
		if (!group_reads_begin(reads, ret))
			break;
	}
	return PERFDATA_RECORD;
}
