/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording says of how it was made: the command line, and the tracepoints' formats. */
#include <string.h>

#include "base/log.h"
#include "cmd/record/record.h"

#define TRACING_DATA_MAX_BYTES (64u << 20)

void record_facts_collect(const struct record_options *options,
			  const struct record_events *events, int argc, char **argv,
			  struct record_facts *ret)
{
	struct error *error;

	ret->command_line = memory_calloc(argc + 1, sizeof(*ret->command_line));
	ret->command_line[0] = (char *)"perfvisor";
	memcpy(ret->command_line + 1, argv, argc * sizeof(*argv));
	buffer_init(&ret->tracing_data, TRACING_DATA_MAX_BYTES);
	error = record_events_tracing_data(events, &ret->tracing_data);
	if (error) {
		log_warning("%s", error_message(error));
		error_destroy(error);
	}
	ret->features = (struct perfdata_writer_features){ .argc = argc + 1,
							   .argv = ret->command_line };
	if (options->clock) {
		ret->clock = record_read_clock(options->clock_id);
		ret->features.clock = &ret->clock;
	}
	if (!ret->tracing_data.size)
		return;
	ret->features.tracing_data = ret->tracing_data.data;
	ret->features.tracing_data_bytes = ret->tracing_data.size;
}

void record_facts_deinit(struct record_facts *facts)
{
	free(facts->command_line);
	buffer_deinit(&facts->tracing_data);
}
