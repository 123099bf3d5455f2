/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From arbitrary bytes to a report and a script: threads, mappings, lookups, call chains,
 * tracepoints, text. The parts of the totals must add up, whatever is in the file.
 */
#include <assert.h>
#include <fcntl.h>
#include <unistd.h>

#include "fuzz.h"
#include "output/flamegraph.h"
#include "output/fold_text.h"
#include "output/report_text.h"
#include "output/script/script_text.h"
#include "perfdata/reader.h"
#include "profile/calltree.h"
#include "profile/profile.h"

static const struct profile_keys all_keys = {
	.items = { PROFILE_VM, PROFILE_VCPU, PROFILE_COMM, PROFILE_PID, PROFILE_GUEST_COMM,
		   PROFILE_GUEST_PID, PROFILE_DSO, PROFILE_MODE, PROFILE_SYMBOL, PROFILE_TID,
		   PROFILE_CPU, PROFILE_TIME },
	.count = 12,
};

/* Chains as shown by other views: nothing may get lost on the way. */
static void show_stacks(const struct profile *profile, int fd)
{
	size_t event = stacks_choose_event(profile);
	FILE *out = fdopen(dup(fd), "w");

	for (int machines = 0; profile->event_count && machines < 2; machines++) {
		struct stacks_options options = { .vms = true, .vcpus = machines,
						  .tidy = !machines };
		struct stacks *stacks = stacks_create(profile, event, &options);

		assert(stacks->nodes.items[0].count == profile->events[event].samples);
		error_destroy(fold_text_write(fd, stacks));
		flamegraph_write(out, &(struct flamegraph_page){ .profile = profile,
								 .event = event,
								 .stacks = stacks,
								 .title = "input" });
		stacks_destroy(stacks);
	}
	fclose(out);
}

static void report(struct session *session, int fd)
{
	struct profile_options options = { .keys = all_keys, .chains = true, .children = true };
	struct report_text_options text = { .path = "input", .children = true,
					    .header = true, .info = true,
					    .chains = true, .caller = true };
	_cleanup_sample_texts_ struct sample_texts *texts = sample_texts_create(session);
	_cleanup_profile_ struct profile *profile = NULL;
	const struct profile_totals *totals;
	uint64_t samples = 0, rows = 0, chained = 0;

	error_destroy(report_columns_parse(
		"overhead_children,overhead,sample,period,vm,vcpu,comm,pid,gcomm,gpid,dso,mode,sym,"
		"tid,cpu,time,trace,prev_comm,sched_switch.next_pid",
		texts, &text.columns));
	for (size_t i = 0; i < text.columns.count; i++)
		if (text.columns.items[i].field == REPORT_KEY)
			profile_keys_add(&options.keys, text.columns.items[i].key);
	options.texts = sample_texts_found(texts);
	profile = profile_create(session, &options);
	totals = &profile->totals;
	for (size_t i = 0; i < profile->event_count; i++) {
		samples += profile->events[i].samples;
		for (size_t r = 0; r < profile->events[i].rows.count; r++)
			rows += profile->events[i].rows.items[r].count;
	}
	for (size_t i = 0; i < profile->tree->roots.count; i++)
		chained += profile->tree->nodes.items[profile->tree->roots.items[i].node].count;
	assert(chained == samples);
	assert(samples == rows);
	assert(totals->nested <= samples && totals->at_exit <= samples);
	assert(samples <= totals->host + totals->guest_kernel + totals->guest_user +
				  totals->unattributed);
	error_destroy(report_text_write(fd, profile, &text));
	text.caller = false;
	error_destroy(report_text_write(fd, profile, &text));
	show_stacks(profile, fd);
}

/* Whatever a filter takes, what it leaves out is counted: the sum stays. */
static void filter_samples(struct session *session)
{
	const char *part = "a";
	struct filter filter = { .any = true, .places = true, .symbol_parts = { &part, 1, 1 },
				 .cpumodes = 1 << PERF_RECORD_MISC_GUEST_KERNEL |
					     1 << PERF_RECORD_MISC_USER };
	struct profile_options options = { .keys = all_keys, .absolute = true };
	_cleanup_profile_ struct profile *all = profile_create(session, &options);
	struct profile *some;

	options.filter = &filter;
	options.chains = true;
	some = profile_create(session, &options);
	assert(profile_totals_sum(&all->totals) == profile_totals_sum(&some->totals));
	for (size_t i = 0; i < some->event_count; i++)
		assert(some->events[i].total_samples == all->events[i].samples);
	profile_destroy(some);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kernel_source_options none = { 0 };
	_cleanup_session_ struct session *session = NULL;
	_cleanup_close_ int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct perfdata_reader *reader;
	struct script_counts counts;
	struct error *error = perfdata_reader_open_memory(data, size, "input", &reader);

	if (!error)
		error = session_open_reader(reader, &none, &session);
	if (error) {
		error_destroy(error);
		return 0;
	}
	report(session, fd);
	filter_samples(session);
	error_destroy(script_text_write(fd, session,
					&(struct script_fields){ .records = UINT32_MAX }, NULL,
					&counts));
	return 0;
}
