/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From arbitrary bytes to statistics of exits: formats of tracepoints, pairs, names, text. Whatever
 * is in the file, no more exits are counted than there are samples, and the rows add up.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "exits/exits.h"
#include "fuzz.h"
#include "output/exits_text.h"
#include "perfdata/reader.h"

static uint64_t count_samples(struct session *session)
{
	struct session_sample sample;
	uint64_t count = 0;

	while (session_next_sample(session, &sample) == PERFDATA_RECORD)
		count++;
	session_rewind(session);
	return count;
}

static void check(const struct exits *exits, uint64_t samples)
{
	uint64_t count = 0, total_ns = 0;

	for (size_t i = 0; i < exits->rows.count; i++) {
		const struct exits_row *row = &exits->rows.items[i];

		assert(row->count && row->timed <= row->count);
		assert(row->min_ns <= row->median_ns && row->median_ns <= row->p99_ns &&
		       row->p99_ns <= row->max_ns);
		count += row->count;
		total_ns += row->total_ns;
	}
	assert(count == exits->count && total_ns == exits->total_ns);
	assert(count + exits->unpaired <= samples);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned int keys[] = {
		EXITS_BY_REASON, EXITS_BY_REASON | EXITS_BY_SYMBOL | EXITS_BY_VCPU,
		EXITS_BY_REASON, EXITS_BY_SYMBOL, EXITS_BY_VCPU,
	};
	struct kernel_source_options none = { 0 };
	struct machine_list vms = { 0 };
	_cleanup_session_ struct session *session = NULL;
	_cleanup_exit_sources_ struct exit_sources *sources = NULL;
	_cleanup_close_ int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct perfdata_reader *reader;
	struct error *error = perfdata_reader_open_memory(data, size, "input", &reader);
	uint64_t samples;

	if (!error)
		error = session_open_reader(reader, &none, &session);
	if (!error)
		error = exit_sources_create(session, &sources);
	if (error) {
		error_destroy(error);
		return 0;
	}
	samples = count_samples(session);
	exits_find_vms(session, sources);
	for (enum exits_event event = EXITS_VMEXIT; event <= EXITS_HYPERCALL; event++) {
		struct exits_options options = { .event = event, .keys = keys[event] };
		struct exits exits;
		struct exits_view view = { session, &exits, event, keys[event], &vms, NULL };

		exits_count(session, sources, &options, &exits);
		check(&exits, samples);
		error_destroy(exits_text_write(fd, &view));
		exits_deinit(&exits);
	}
	return 0;
}
