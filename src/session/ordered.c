/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts samples. A recorder empties the rings of all CPUs one after another, then writes
 * FINISHED_ROUND: later records are not older than the newest record before the end of the previous
 * round (tools/perf/util/ordered-events.c). So at the end of each round, everything up to that time
 * can be returned, sorted.
 *
 * Records without a time, which perf made up for what ran before, come as soon as they are read.
 *
 * Records are copied, since a reader's record is only valid until the next one. Without times there
 * is nothing to sort by: the order is that of the file.
 */
#include "session/ordered.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "perfdata/format.h"
#include "session/order.h"

struct stored {
	uint64_t file_offset;
	size_t offset; /* of the body, in the copied bytes */
	uint64_t sequence;
	uint16_t type, misc, size;
};

struct batch {
	VECTOR(uint8_t) bytes;
	VECTOR(struct stored) records;
	VECTOR(struct order_entry) order; /* of records, by time */
};

struct ordered {
	struct session *session;
	uint32_t types; /* bits: the types of the records wanted, besides samples */
	struct batch batch, next_batch;
	size_t max_bytes; /* to hold; 0: no limit */
	size_t at, ready; /* indices: [at, ready) can be returned */
	uint64_t newest, round_newest; /* times: so far, and at the end of the last round */
	enum perfdata_status status; /* PERFDATA_RECORD or PERFDATA_WAIT: not all has been read */
};

struct ordered *ordered_create(struct session *session, uint32_t types)
{
	struct ordered *ordered = memory_calloc(1, sizeof(*ordered));

	ordered->session = session;
	ordered->types = types;
	ordered->status = PERFDATA_RECORD;
	if (!session->live)
		session_rewind(session);
	perfdata_reader_keep_nothing(session->reader);
	return ordered;
}

void ordered_limit(struct ordered *ordered, size_t max_bytes)
{
	ordered->max_bytes = max_bytes;
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

static bool ordered_wants(const struct ordered *ordered, uint32_t type)
{
	return type < 32 && (ordered->types >> type & 1);
}

static void end_round(struct ordered *ordered)
{
	release(ordered, ordered->round_newest);
	ordered->round_newest = ordered->newest;
}

/* Whether RECORD is wanted, and when it was made; 0: before all others. */
static bool find_time(struct ordered *ordered, const struct perfdata_record *record,
		      uint64_t *ret_time)
{
	struct session_sample sample;
	struct perfdata_decoded trailer;

	if (record->type == PERF_RECORD_SAMPLE) {
		session_decode(ordered->session, record, &sample);
		*ret_time = sample.time;
		ordered->session->malformed += ordered->session->live && !sample.valid;
		return sample.valid; /* without a time, it cannot be sorted */
	}
	if (!ordered_wants(ordered, record->type))
		return false;
	*ret_time = 0;
	if (perfdata_reader_decode_id(ordered->session->reader, record, &trailer) &&
	    trailer.sample.time_ns != UINT64_MAX)
		*ret_time = trailer.sample.time_ns;
	return true;
}

static void take(struct ordered *ordered, const struct perfdata_record *record)
{
	struct stored stored = { .file_offset = record->file_offset, .misc = record->misc,
				 .size = record->size, .type = record->type,
				 .sequence = ordered->session->sequence };
	uint64_t time;

	if (!find_time(ordered, record, &time))
		return;
	if (time > ordered->newest)
		ordered->newest = time;
	store(&ordered->batch, record->body, record->body_bytes, &stored, time);
}

/* The recorder wrote no rounds, or long ones. */
static bool is_full(const struct ordered *ordered)
{
	return ordered->max_bytes && ordered->batch.bytes.count >= ordered->max_bytes;
}

/* Reads until something can be returned or everything has been read, or there is no more yet. */
static void fill(struct ordered *ordered)
{
	struct perfdata_record record;

	if (ordered->ready)
		compact(ordered);
	while (ordered->status == PERFDATA_RECORD && ordered->ready == 0 &&
	       ordered->session->timed) {
		if (interrupt_requested()) {
			ordered->status = PERFDATA_WAIT;
			return;
		}
		ordered->status = session_next_record(ordered->session, &record);
		if (ordered->status == PERFDATA_WAIT)
			return;
		if (ordered->status != PERFDATA_RECORD || is_full(ordered))
			release(ordered, UINT64_MAX);
		if (ordered->status != PERFDATA_RECORD)
			return;
		if (record.type == RECORD_FINISHED_ROUND)
			end_round(ordered);
		else
			take(ordered, &record);
	}
}

static void decode_stored(struct ordered *ordered, struct perfdata_record *ret_record,
			  struct session_sample *ret)
{
	const struct batch *batch = &ordered->batch;
	const struct stored *stored = &batch->records.items[batch->order.items[ordered->at].value];
	uint64_t sequence = ordered->session->sequence;

	*ret_record = (struct perfdata_record){
		.type = stored->type,
		.misc = stored->misc,
		.size = stored->size,
		.body = batch->bytes.items + stored->offset,
		.body_bytes = stored->size - sizeof(struct perf_event_header),
		.file_offset = stored->file_offset,
	};
	if (stored->type != PERF_RECORD_SAMPLE)
		return;
	ordered->session->sequence = stored->sequence;
	session_decode(ordered->session, ret_record, ret);
	ordered->session->sequence = sequence;
}

/* Reads on; returns what is a sample or wanted. */
static enum perfdata_status next_untimed(struct ordered *ordered,
					 struct perfdata_record *ret_record,
					 struct session_sample *ret)
{
	do {
		if (interrupt_requested())
			return ordered->status = PERFDATA_WAIT;
		ordered->status = session_next_record(ordered->session, ret_record);
	} while (ordered->status == PERFDATA_RECORD && ret_record->type != PERF_RECORD_SAMPLE &&
		 !ordered_wants(ordered, ret_record->type));
	if (ordered->status == PERFDATA_RECORD && ret_record->type == PERF_RECORD_SAMPLE)
		session_decode(ordered->session, ret_record, ret);
	return ordered->status;
}

static enum perfdata_status next_timed(struct ordered *ordered, struct perfdata_record *ret_record,
				       struct session_sample *ret)
{
	if (ordered->status == PERFDATA_WAIT)
		ordered->status = PERFDATA_RECORD;
	if (ordered->at == ordered->ready)
		fill(ordered);
	if (ordered->at == ordered->ready && !ordered->session->timed)
		return next_untimed(ordered, ret_record, ret);
	if (ordered->at == ordered->ready)
		return ordered->status;
	decode_stored(ordered, ret_record, ret);
	ordered->at++;
	return PERFDATA_RECORD;
}

enum perfdata_status ordered_next_record(struct ordered *ordered,
					 struct perfdata_record *ret_record,
					 struct session_sample *ret)
{
	struct group_reads *reads = &ordered->session->group_reads;

	ret_record->type = PERF_RECORD_SAMPLE;
	while (!group_reads_next(reads, ordered->session->reader, ret)) {
		enum perfdata_status status =
			ordered->session->timed ? next_timed(ordered, ret_record, ret)
						: next_untimed(ordered, ret_record, ret);

		if (status != PERFDATA_RECORD || ret_record->type != PERF_RECORD_SAMPLE ||
		    !group_reads_begin(reads, ret))
			return status;
	}
	return PERFDATA_RECORD;
}

enum perfdata_status ordered_next(struct ordered *ordered, struct session_sample *ret)
{
	struct perfdata_record record;

	return ordered_next_record(ordered, &record, ret);
}
