/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a recording of a group of events, cycles and instructions, for stock perf to read
 * (tests/cli/test_groups_perf.sh):
 *
 *	write_group FILE|- read|sampled|apart
 *
 * A VM with two vCPUs runs three pieces of code. read: only cycles take samples, which have the
 * values of both, as with {cycles,instructions}:S. sampled: both take samples. apart: so they do,
 * but are in no group. Prints a line for each event and sample, with what was counted:
 *
 *	EVENT IP COUNT
 *
 * FILE "-": the recording goes to stdout in the pipe form, the lines to stderr.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perfdata/sample.h"
#include "perfdata/writer/writer.h"

#define SAMPLE_TYPE                                                                                \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define START_NS 1000000000000ULL
#define VM 5000
#define EVENTS 2
#define VCPUS 2
#define PIECES 3
#define SAMPLES 300

static const char *const names[EVENTS] = { "cycles", "instructions" };

struct group {
	struct perfdata_event events[EVENTS];
	struct perfdata_writer *writer;
	uint64_t ids[VCPUS][EVENTS], totals[VCPUS][EVENTS];
	struct perfdata_inventory inventory;
	FILE *truth;
	bool read;
};

static void check(struct error *error)
{
	if (!error)
		return;
	fprintf(stderr, "write_group: %s\n", error_message(error));
	_exit(1);
}

static struct perfdata_event make_event(const struct group *group, uint32_t number)
{
	return (struct perfdata_event){
		.attr = { .type = PERF_TYPE_HARDWARE,
			  .size = sizeof(struct perf_event_attr),
			  .config = number,
			  .sample_period = group->read && number ? 0 : 1000,
			  .sample_type = SAMPLE_TYPE | (group->read ? PERF_SAMPLE_READ : 0),
			  .read_format = PERF_FORMAT_ID | (group->read ? PERF_FORMAT_GROUP : 0),
			  .disabled = !number,
			  .sample_id_all = 1,
			  .exclude_host = 1 },
		.name = (char *)names[number],
	};
}

static void open_writer(struct group *group, const char *path)
{
	struct perfdata_writer_features features = { .inventory = &group->inventory };

	perfdata_inventory_init(&group->inventory);
	group->inventory.guest = group->inventory.guest_sampled = true;
	perfdata_inventory_add(&group->inventory, VM, "vm", "qemu");
	check(strcmp(path, "-") ? perfdata_writer_create(path, group->events, EVENTS, 16,
							 &group->writer)
				: perfdata_writer_create_pipe(STDOUT_FILENO, group->events, EVENTS,
							      16, &group->writer));
	check(perfdata_writer_begin(group->writer, &features));
	for (uint32_t vcpu = 0; vcpu < VCPUS; vcpu++) {
		struct perfdata_id spec = { .machine_pid = VM,
					    .vcpu = vcpu,
					    .tid = VM + 1 + vcpu,
					    .cpu = UINT32_MAX };

		for (size_t i = 0; i < EVENTS; i++)
			check(perfdata_writer_add_id(group->writer, i, &spec,
						     &group->ids[vcpu][i]));
	}
}

static void write_record(struct group *group, size_t event, uint32_t vcpu, uint64_t ip,
			 uint64_t number, uint64_t period)
{
	uint64_t values[] = { EVENTS, group->totals[vcpu][0], group->ids[vcpu][0],
			      group->totals[vcpu][1], group->ids[vcpu][1] };
	struct perfdata_sample sample = { .id = group->ids[vcpu][event],
					  .ip = ip,
					  .time_ns = START_NS + number * 1000000 + event,
					  .pid = VM,
					  .tid = VM + 1 + vcpu,
					  .cpu = vcpu,
					  .period = period,
					  .misc = PERF_RECORD_MISC_GUEST_KERNEL,
					  .read = (const uint8_t *)values,
					  .read_bytes = sizeof(values) };
	_cleanup_buffer_ struct buffer record;

	buffer_init(&record, 1 << 16);
	if (!perfdata_sample_encode(&group->events[event].attr, &sample, &record))
		_exit(1);
	check(perfdata_writer_append(group->writer, record.data, record.size));
}

/* The pieces differ in how much they execute per cycle. */
static void write_sample(struct group *group, uint64_t number)
{
	uint32_t vcpu = number % VCPUS, piece = number % PIECES;
	uint64_t ip = 0xffffffff81000000 + 0x1000 * piece;
	uint64_t counts[EVENTS] = { 1000 + number, 400 * (piece + 1) + number % 7 };

	for (size_t i = 0; i < EVENTS; i++) {
		group->totals[vcpu][i] += counts[i];
		fprintf(group->truth, "%s %" PRIx64 " %" PRIu64 "\n", names[i], ip, counts[i]);
	}
	for (size_t i = 0; i < (group->read ? 1 : EVENTS); i++)
		write_record(group, i, vcpu, ip, number, counts[i]);
}

int main(int argc, char **argv)
{
	struct group group = { .truth = stdout };
	struct perfdata_writer_features features = { .inventory = &group.inventory };

	if (argc != 3)
		return 2;
	if (strcmp(argv[1], "-") == 0)
		group.truth = stderr;
	group.read = strcmp(argv[2], "read") == 0;
	for (uint32_t i = 0; i < EVENTS; i++)
		group.events[i] = make_event(&group, i);
	if (strcmp(argv[2], "apart")) {
		group.events[0].group_size = EVENTS;
		group.events[0].group_name = (char *)"work";
		group.events[1].group_rank = 1;
	}
	open_writer(&group, argv[1]);
	for (uint64_t i = 0; i < SAMPLES; i++)
		write_sample(&group, i);
	check(perfdata_writer_round(group.writer));
	check(perfdata_writer_finish(group.writer, &features));
	perfdata_writer_destroy(group.writer);
	perfdata_inventory_deinit(&group.inventory);
	return 0;
}
