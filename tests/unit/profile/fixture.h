/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording that a test writes with the writer, and its profile, row by row. */
#ifndef TEST_PROFILE_FIXTURE_H
#define TEST_PROFILE_FIXTURE_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/view.h"
#include "perfdata/sample.h"
#include "perfdata/writer/writer.h"
#include "profile/profile.h"

static char path[] = "/tmp/perfvisor-profile-XXXXXX";
static uint64_t clock_ns; /* of the last sample */
static struct kernel_source_options symbol_options;
static uint64_t more_fields; /* in the samples, PERF_SAMPLE_* */

static inline struct perfdata_event event(void)
{
	return (struct perfdata_event){
		.attr = { .type = PERF_TYPE_SOFTWARE,
			  .size = sizeof(struct perf_event_attr),
			  .config = PERF_COUNT_SW_CPU_CLOCK,
			  .sample_period = 1000,
			  .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
					 PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | more_fields,
			  .read_format = PERF_FORMAT_ID,
			  .sample_id_all = 1 },
		.name = (char *)"cpu-clock",
	};
}

static inline uint64_t add_id(struct perfdata_writer *writer, uint32_t machine_pid, uint32_t vcpu)
{
	struct perfdata_id spec = { .machine_pid = machine_pid, .vcpu = vcpu, .cpu = UINT32_MAX };
	uint64_t id;

	assert_no_error(perfdata_writer_add_id(writer, 0, &spec, &id));
	return id;
}

static inline void add_samples(struct perfdata_writer *writer, uint64_t id, uint32_t pid,
			       uint32_t tid, uint16_t misc, uint64_t ip, size_t count)
{
	struct perfdata_event described = event();
	struct buffer record;

	buffer_init(&record, UINT16_MAX);
	for (size_t i = 0; i < count; i++) {
		struct perfdata_sample sample = { .id = id,
						  .ip = ip,
						  .time_ns = clock_ns += 10,
						  .pid = pid,
						  .tid = tid,
						  .period = 1000,
						  .misc = misc };

		buffer_clear(&record);
		assert_true(perfdata_sample_encode(&described.attr, &sample, &record));
		assert_no_error(perfdata_writer_append(writer, record.data, record.size));
	}
	buffer_deinit(&record);
}

/* Ends the recording of two VMs with a kernel each; takes everything except the writer's file. */
static inline void finish_two_vms(struct perfdata_writer *writer,
				  struct perfdata_inventory *inventory,
				  const uint32_t pids[2], struct buffer kernels[2])
{
	struct perfdata_writer_symbols symbols[] = {
		{ pids[0], kernels[0].data, kernels[0].size },
		{ pids[1], kernels[1].data, kernels[1].size },
	};

	assert_no_error(perfdata_writer_finish(
		writer, &(struct perfdata_writer_features){ .inventory = inventory,
							    .symbols = symbols,
							    .symbols_count = 2 }));
	perfdata_writer_destroy(writer);
	perfdata_inventory_deinit(inventory);
	buffer_deinit(&kernels[0]);
	buffer_deinit(&kernels[1]);
}

struct opened {
	struct session *session;
	struct profile *profile;
	struct profile_options options;
	const struct machine *vm;
	struct filter filter;
};

static inline void open_profile(struct opened *opened, const char *keys, uint32_t vm_pid)
{
	char *copy = strdup(keys), *rest = copy, *word;

	memset(opened, 0, sizeof(*opened));
	while ((word = strsep(&rest, ","))) {
		enum profile_key key = 0;

		assert_true(view_parse_key(word, &key));
		profile_keys_add(&opened->options.keys, key);
	}
	free(copy);
	assert_no_error(session_open(path, &symbol_options, &opened->session));
	if (vm_pid) {
		opened->vm = session_find_machine(opened->session, vm_pid);
		assert_non_null(opened->vm);
		opened->filter = (struct filter){ .any = true, .vms = { &opened->vm, 1, 1 } };
		opened->options.filter = &opened->filter;
	}
	opened->profile = profile_create(opened->session, &opened->options);
	assert_int_equal(opened->profile->event_count, 1);
}

static inline void close_profile(struct opened *opened)
{
	profile_destroy(opened->profile);
	session_close(opened->session);
}

/* The row as "count cell|cell|…". */
static inline void check_row(const struct opened *opened, size_t index, const char *want)
{
	const struct profile_event *rows = &opened->profile->events[0];
	struct buffer text;

	assert_true(index < rows->rows.count);
	buffer_init(&text, 4096);
	buffer_printf(&text, "%llu ", (unsigned long long)rows->rows.items[index].count);
	for (size_t k = 0; k < opened->options.keys.count; k++) {
		buffer_append_string(&text, k ? "|" : "");
		view_append_cell(&text, opened->profile, &rows->rows.items[index],
				 opened->options.keys.items[k]);
	}
	buffer_append_u8(&text, 0);
	assert_string_equal((const char *)text.data, want);
	buffer_deinit(&text);
}

#endif
