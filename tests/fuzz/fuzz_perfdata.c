/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader of recordings, with all functions that a caller has, twice: after rewinding, and with
 * the fast path, the results must be the same.
 */
#include <assert.h>
#include <string.h>

#include "base/map.h"
#include "fuzz.h"
#include "perfdata/reader.h"

/* Touches every byte, so that ASan checks all of them. */
static uint64_t sum(const void *data, size_t size)
{
	return size ? hash_bytes(data, size) : 0;
}

static uint64_t sum_decoded(const struct perfdata_reader *reader,
			    const struct perfdata_decoded *decoded)
{
	const struct perfdata_sample *sample = &decoded->sample;

	assert(decoded->event_index < perfdata_reader_event_count(reader));
	assert(!decoded->id || decoded->id->id == sample->id);
	return sum(sample->callchain, sample->callchain_count * sizeof(uint64_t)) +
	       sum(sample->raw, sample->raw_bytes) + sample->ip + sample->time_ns;
}

static uint64_t read_records(struct perfdata_reader *reader, uint64_t *ret_count)
{
	struct perfdata_record record;
	struct perfdata_decoded decoded;
	enum perfdata_status status;
	uint64_t total = 0;

	*ret_count = 0;
	while ((status = perfdata_reader_next(reader, &record)) == PERFDATA_RECORD) {
		assert(record.body_bytes + 8 == record.size);
		assert(perfdata_reader_offset(reader) <= perfdata_reader_bytes(reader));
		total += sum(record.body, record.body_bytes) + record.type + record.misc;
		if (perfdata_reader_decode(reader, &record, &decoded))
			total += sum_decoded(reader, &decoded);
		if (perfdata_reader_decode_id(reader, &record, &decoded))
			total += decoded.sample.time_ns;
		(*ret_count)++;
	}
	assert((status == PERFDATA_BAD) == (perfdata_reader_error(reader) != NULL));
	assert(perfdata_reader_next(reader, &record) == status);
	return total;
}

/* The fields of the samples that both paths return, in order. */
static uint64_t add_plain(uint64_t total, const struct perfdata_decoded *decoded)
{
	const struct perfdata_sample *sample = &decoded->sample;
	const uint64_t words[] = { total, sample->ip, sample->time_ns, sample->period, sample->id,
				   sample->pid, sample->tid, sample->misc, decoded->event_index,
				   (uintptr_t)decoded->id };

	return hash_bytes(words, sizeof(words));
}

static uint64_t read_samples(struct perfdata_reader *reader, bool fast)
{
	struct perfdata_record record;
	struct perfdata_decoded decoded;
	uint64_t total = 0;

	for (;;) {
		if (fast && perfdata_reader_next_plain(reader, &decoded))
			total = add_plain(total, &decoded);
		else if (perfdata_reader_next(reader, &record) != PERFDATA_RECORD)
			return total;
		else if (perfdata_reader_decode(reader, &record, &decoded))
			total = add_plain(total, &decoded);
	}
}

/* The number of records left, with skipped samples counted. */
static uint64_t count_records(struct perfdata_reader *reader)
{
	struct perfdata_record record;
	uint64_t count = 0;

	for (;;) {
		count += perfdata_reader_skip_samples(reader, UINT32_MAX, 100);
		if (perfdata_reader_next(reader, &record) != PERFDATA_RECORD)
			return count;
		count++;
	}
}

static void read_the_rest(struct perfdata_reader *reader)
{
	const struct perfdata_features *features = perfdata_reader_features(reader);
	uint64_t total = strlen(features->hostname) + strlen(features->osrelease) +
			 strlen(features->version) + strlen(features->arch) +
			 strlen(features->cpudesc) + strlen(features->cpuid) +
			 strlen(features->cmdline);

	total += sum(features->tracing_data, features->tracing_data_bytes);
	for (size_t i = 0; i < features->build_id_count; i++) {
		assert(features->build_ids[i].size <= 20);
		total += strlen(features->build_ids[i].path);
	}
	for (size_t i = 0; i < perfdata_reader_event_count(reader); i++) {
		const struct perfdata_event *event = perfdata_reader_event(reader, i);

		total += strlen(event->name) +
			 sum(event->ids, event->id_count * sizeof(*event->ids));
	}
	for (size_t i = 0; i < perfdata_reader_symbols_count(reader); i++) {
		struct perfdata_symbols symbols = perfdata_reader_symbols(reader, i);

		_cleanup_error_ struct error *error = NULL;
		const void *bytes = NULL;
		size_t size = 0;

		assert(symbols.build_id_bytes <= PERFDATA_BUILD_ID_BYTES);
		error = perfdata_reader_load_symbols(reader, i, &bytes, &size);
		total += sum(bytes, size) + strlen(symbols.path) +
			 sum(symbols.build_id, symbols.build_id_bytes);
		if (i % 2)
			perfdata_reader_drop_symbols(reader, i);
	}
	/* Keeps the compiler from dropping the code above because its result is unused. */
	__asm__ volatile("" : : "r"(total));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	_cleanup_error_ struct error *error =
		perfdata_reader_open_memory(data, size, "input", &reader);
	uint64_t first_count, second_count, first, second;

	if (error) {
		assert(!reader && *error_message(error));
		return 0;
	}
	/* In the pipe form, events may come after samples, which can only then be decoded. */
	read_records(reader, &first_count);
	perfdata_reader_rewind(reader);
	first = read_records(reader, &first_count);
	read_the_rest(reader);
	perfdata_reader_rewind(reader);
	second = read_records(reader, &second_count);
	assert(first == second && first_count == second_count);
	perfdata_reader_rewind(reader);
	assert(count_records(reader) == first_count);
	perfdata_reader_rewind(reader);
	first = read_samples(reader, false);
	perfdata_reader_rewind(reader);
	assert(read_samples(reader, true) == first);
	return 0;
}
