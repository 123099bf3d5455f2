/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a recording with the writer, for stock perf to read (tests/cli/test_writer_perf.sh):
 *
 *	write_example FILE|- [MODE]
 *	MODE: finish | kill | kill-late | guest-maps | guest-processes | compressed |
 *	      compressed-kill | host-only
 *
 * Two events, two guests with two vCPUs each, one of which appears while recording, and a host
 * process. Prints a line per sample, as `perf script -F
 * pid,tid,cpu,time,period,event,ip,machine_pid,vcpu` should print it, with the fields in this
 * order:
 *
 * 	PID TID CPU TIME PERIOD EVENT MACHINE_PID VCPU IP       ("-" for host samples)
 *
 * FILE "-": the recording goes to stdout in the pipe form, the lines to stderr.
 *
 * kill: the process ends after a flush, without finish. kill-late: more samples are appended after
 * the flush, which must not be visible. guest-maps: with the records that make stock perf look for
 * guest kernel symbols under --guestmount. guest-processes: guest samples have the pid and tid of
 * guest processes, whose comms and mappings are in the file; the line then ends with the guest's
 * comm and, for user samples, the file mapped there. compressed: with compressed records.
 * host-only: no sample is written, and HOST_ONLY of the host are said to have been left out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfdata/sample.h"
#include "perfdata/writer/writer.h"

#define SAMPLE_TYPE                                                                                \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define ROUNDS 50
#define START_NS 1000000000000ULL
#define FIRST_VM 5000
#define SECOND_VM 6000
#define HOST_PID 900
#define HOST_ONLY 2961
#define EXEC_AT 300 /* before this sample, a guest process executes another program */

struct source {
	size_t event_index;
	uint64_t id;
	uint32_t pid, tid, machine_pid, vcpu;
	uint16_t misc;
	uint64_t ip;
	const char *comm, *path; /* NULL: not printed */
};

static const char *const event_names[] = { "cpu-clock", "cycles:G" };

static void check(struct error *error)
{
	if (!error)
		return;
	fprintf(stderr, "write_example: %s\n", error_message(error));
	exit(1);
}

static struct perfdata_event make_event(uint32_t type, uint64_t config, size_t index)
{
	return (struct perfdata_event){
		.attr = { .type = type,
			  .size = sizeof(struct perf_event_attr),
			  .config = config,
			  .sample_period = 1000,
			  .sample_type = SAMPLE_TYPE,
			  .read_format = PERF_FORMAT_ID,
			  .sample_id_all = 1,
			  .exclude_host = index },
		.name = (char *)event_names[index],
	};
}

static struct source add_source(struct perfdata_writer *writer, size_t event_index,
				uint32_t machine_pid, uint32_t vcpu, uint16_t misc, uint64_t ip)
{
	struct source source = { .event_index = event_index,
				 .pid = machine_pid ? machine_pid : HOST_PID,
				 .tid = machine_pid ? machine_pid + 1 + vcpu : HOST_PID + 1,
				 .machine_pid = machine_pid,
				 .vcpu = vcpu,
				 .misc = misc,
				 .ip = ip };
	struct perfdata_id spec = { .machine_pid = machine_pid,
				    .vcpu = machine_pid ? vcpu : PERFDATA_NO_VCPU,
				    .tid = source.tid,
				    .cpu = UINT32_MAX };

	check(perfdata_writer_add_id(writer, event_index, &spec, &source.id));
	return source;
}

static void write_sample(struct perfdata_writer *writer, const struct perfdata_event *events,
			 const struct source *source, uint64_t number, FILE *shown)
{
	_cleanup_buffer_ struct buffer record;
	struct perfdata_sample sample = { .id = source->id,
					  .ip = source->ip + 16 * (number % 8),
					  .time_ns = START_NS + number * 1000001,
					  .pid = source->pid,
					  .tid = source->tid,
					  .cpu = number % 2,
					  .period = 1000 + number,
					  .misc = source->misc };

	buffer_init(&record, 1 << 16);
	if (!perfdata_sample_encode(&events[source->event_index].attr, &sample, &record))
		exit(1);
	check(perfdata_writer_append(writer, record.data, record.size));
	if (!shown)
		return;
	fprintf(shown, "%d %d %u %" PRIu64 ".%09" PRIu64 " %" PRIu64 " %s ", (int)sample.pid,
		(int)sample.tid, sample.cpu, sample.time_ns / 1000000000,
		sample.time_ns % 1000000000, sample.period, event_names[source->event_index]);
	if (source->machine_pid)
		fprintf(shown, "%u %u", source->machine_pid, source->vcpu);
	else
		fprintf(shown, "- -");
	fprintf(shown, " %" PRIx64, sample.ip);
	if (source->comm)
		fprintf(shown, " %s %s", source->comm, source->path ? source->path : "-");
	fprintf(shown, "\n");
}

static void write_threads(struct perfdata_writer *writer, uint32_t pid, uint32_t vcpu_count)
{
	char comm[32];

	check(perfdata_writer_comm(writer, pid, pid, "vmm", START_NS));
	for (uint32_t vcpu = 0; vcpu < vcpu_count; vcpu++) {
		snprintf(comm, sizeof(comm), "CPU %u/KVM", vcpu);
		check(perfdata_writer_comm(writer, pid, pid + 1 + vcpu, comm, START_NS));
		check(perfdata_writer_guest_comm(writer, pid, pid, pid + 1 + vcpu, comm,
						 START_NS));
	}
}

static void write_host(struct perfdata_writer *writer)
{
	struct perfdata_mapping mapping = { .pid = HOST_PID,
					    .tid = HOST_PID,
					    .start = 0x400000,
					    .length = 0x10000,
					    .device_major = 8,
					    .inode = 12,
					    .prot = 5,
					    .flags = 2,
					    .misc = PERF_RECORD_MISC_USER,
					    .path = "/usr/bin/example-host" };

	check(perfdata_writer_comm(writer, HOST_PID, HOST_PID, "hostproc", START_NS));
	check(perfdata_writer_comm(writer, HOST_PID, HOST_PID + 1, "hostthread", START_NS));
	check(perfdata_writer_mmap2(writer, &mapping, START_NS));
	mapping = (struct perfdata_mapping){ .pid = UINT32_MAX,
					     .start = 0xffffffff81000000,
					     .length = 0x1000000,
					     .file_offset = 0xffffffff81000000,
					     .misc = PERF_RECORD_MISC_KERNEL,
					     .path = "[kernel.kallsyms]_text" };
	check(perfdata_writer_mmap2(writer, &mapping, START_NS));
}

static void write_guest_map(struct perfdata_writer *writer, uint32_t machine_pid)
{
	char path[64];
	struct perfdata_mapping mapping = { .pid = machine_pid,
					    .tid = machine_pid,
					    .misc = PERF_RECORD_MISC_GUEST_KERNEL,
					    .path = path };

	snprintf(path, sizeof(path), "[guest.kernel.kallsyms.%u]", machine_pid);
	check(perfdata_writer_mmap2(writer, &mapping, START_NS));
}

static void map_in_guest(struct perfdata_writer *writer, uint32_t machine_pid, uint32_t pid,
			 uint64_t start, const char *path, const uint8_t *build_id,
			 uint64_t time_ns)
{
	struct perfdata_mapping mapping = { .pid = pid,
					    .tid = pid,
					    .start = start,
					    .length = 0x10000,
					    .device_major = 254,
					    .inode = 77,
					    .prot = 5,
					    .flags = 2,
					    .misc = PERF_RECORD_MISC_GUEST_USER,
					    .path = path,
					    .build_id = build_id,
					    .build_id_bytes = build_id ? 20 : 0 };

	check(perfdata_writer_guest_mmap2(writer, machine_pid, &mapping, time_ns));
}

static void set_process(struct source *source, uint32_t pid, uint32_t tid, const char *comm,
			const char *path)
{
	source->pid = pid;
	source->tid = tid;
	source->comm = comm;
	source->path = path;
}

/* Two programs and a kernel thread; pid 321 exists in both guests, as different processes. */
static void write_first_processes(struct perfdata_writer *writer, struct source *sources)
{
	/* Of tests/fuzz/corpus/elf/so64, whose functions start at 0x3c0. */
	static const uint8_t build_id[20] = { 0x0d, 0x05, 0x13, 0x51, 0xb5, 0x94, 0x54,
					      0x2e, 0x7f, 0x52, 0x85, 0xca, 0xcb, 0x5a,
					      0x2d, 0x2f, 0xea, 0xbe, 0xa2, 0xed };

	check(perfdata_writer_guest_comm(writer, FIRST_VM, 321, 321, "server", START_NS));
	check(perfdata_writer_guest_comm(writer, FIRST_VM, 321, 322, "worker", START_NS));
	check(perfdata_writer_guest_comm(writer, FIRST_VM, 9, 9, "kthread", START_NS));
	map_in_guest(writer, FIRST_VM, 321, 0x7f0000001000, "/usr/lib/libserver.so", build_id,
		     START_NS);
	map_in_guest(writer, FIRST_VM, 321, 0x400000, "/usr/bin/server", NULL, START_NS);
	set_process(&sources[0], HOST_PID, HOST_PID + 1, "hostthread", "/usr/bin/example-host");
	set_process(&sources[1], 9, 9, "kthread", NULL);
	set_process(&sources[2], 321, 322, "worker", "/usr/lib/libserver.so");
}

static void write_second_processes(struct perfdata_writer *writer, struct source *sources)
{
	check(perfdata_writer_guest_comm(writer, SECOND_VM, 321, 321, "database", START_NS));
	check(perfdata_writer_guest_comm(writer, SECOND_VM, 0, 0, "swapper/1", START_NS));
	set_process(&sources[3], 321, 321, "database", NULL);
	set_process(&sources[4], 0, 0, "swapper/1", NULL);
	set_process(&sources[5], 321, 321, "server", "/usr/bin/server");
}

/* Pid 321 of the first guest exits, and its pid is reused. */
static void replace_process(struct perfdata_writer *writer, struct source *sources)
{
	uint64_t time_ns = START_NS + EXEC_AT * 1000001 - 1;

	check(perfdata_writer_guest_process(writer, FIRST_VM, 321, 1, time_ns));
	check(perfdata_writer_guest_comm(writer, FIRST_VM, 321, 321, "editor", time_ns));
	map_in_guest(writer, FIRST_VM, 321, 0x400000, "/usr/bin/editor", NULL, time_ns);
	set_process(&sources[5], 321, 321, "editor", "/usr/bin/editor");
	set_process(&sources[2], 321, 321, "editor", "[unknown]");
	set_process(&sources[3], UINT32_MAX, UINT32_MAX, ":-1", NULL); /* it is not known */
}

/* What is said of the VMs: at the beginning, while recording, at the end. */
static struct perfdata_inventory inventory;
static char *command_line[] = { "perfvisor", "record", "-e", "cpu-clock" };

static void begin(struct perfdata_writer *writer, bool guest_processes, bool symbol_table)
{
	struct perfdata_writer_features features = { .argc = 4,
						     .argv = command_line,
						     .inventory = &inventory };
	struct perfdata_writer_symbols symbols = { FIRST_VM, "symbols", 7 };
	struct perfdata_vm *vm;
	uint32_t number;

	perfdata_inventory_init(&inventory);
	inventory.guest = inventory.guest_sampled = true;
	inventory.guest_processes = guest_processes;
	vm = perfdata_inventory_add(&inventory, FIRST_VM, "first", "qemu");
	free(vm->kernel_release);
	vm->kernel_release = strdup("6.1.0-example");
	free(vm->host_name);
	vm->host_name = strdup("web1");
	check(perfdata_writer_begin(writer, &features));
	if (symbol_table)
		check(perfdata_writer_symbols(writer, &symbols, &number));
}

/* The second VM, which comes while the first one is recorded. */
static void add_second_vm(struct perfdata_writer *writer, struct source sources[6])
{
	perfdata_inventory_add(&inventory, SECOND_VM, "second", "tinyvm");
	check(perfdata_writer_inventory(writer, &inventory));
	sources[3] = add_source(writer, 0, SECOND_VM, 0, PERF_RECORD_MISC_GUEST_KERNEL,
				0xffffffff81001000);
	sources[4] = add_source(writer, 1, SECOND_VM, 1, PERF_RECORD_MISC_GUEST_KERNEL,
				0xffffffff81002000);
	sources[5] = add_source(writer, 1, FIRST_VM, 1, PERF_RECORD_MISC_GUEST_USER, 0x402000);
	write_threads(writer, SECOND_VM, 2);
}

static void finish(struct perfdata_writer *writer, bool guest_processes, uint64_t rounds)
{
	static const uint8_t build_id[20] = { 0xab, 0xcd, 1,  2,  3,  4,  5,  6,  7,  8,
					      9,    10,   11, 12, 13, 14, 15, 16, 17, 18 };
	struct perfdata_writer_build_id build_ids[] = {
		{ "/usr/bin/example-host", build_id, 20, PERF_RECORD_MISC_USER, UINT32_MAX },
	};
	struct perfdata_writer_symbols symbols[] = { { 0, "for all guests", 14 } };
	struct perfdata_writer_features features = { .argc = 4,
						     .argv = command_line,
						     .build_ids = build_ids,
						     .build_id_count = 1,
						     .inventory = &inventory,
						     .symbols = symbols };

	inventory.vms.items[0].counts.guest_kernel = rounds;
	inventory.vms.items[0].counts.host_dropped = rounds ? 0 : HOST_ONLY;
	features.symbols_count = guest_processes ? 0 : 1;
	check(perfdata_writer_finish(writer, &features));
}

int main(int argc, char **argv)
{
	struct perfdata_event events[] = {
		make_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0),
		make_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1),
	};
	_cleanup_perfdata_writer_ struct perfdata_writer *writer = NULL;
	const char *mode = argc > 2 ? argv[2] : "finish";
	struct source sources[6];
	uint64_t number = 0, rounds = strcmp(mode, "host-only") == 0 ? 0 : ROUNDS;
	bool to_pipe = argc > 1 && strcmp(argv[1], "-") == 0;
	FILE *truth = to_pipe ? stderr : stdout;
	bool guest_processes = strcmp(mode, "guest-processes") == 0;

	if (argc < 2)
		return 2;
	check(to_pipe ? perfdata_writer_create_pipe(STDOUT_FILENO, events, 2, 16, &writer)
		      : perfdata_writer_create(argv[1], events, 2, 16, &writer));
	if (strncmp(mode, "compressed", 10) == 0)
		check(perfdata_writer_compress(writer));
	/* Perfvisor reads the other ones, too; it is no table. */
	begin(writer, guest_processes, strcmp(mode, "finish") == 0);
	write_host(writer);
	sources[0] = add_source(writer, 0, 0, 0, PERF_RECORD_MISC_USER, 0x401000);
	sources[1] = add_source(writer, 0, FIRST_VM, 0, PERF_RECORD_MISC_GUEST_KERNEL,
				0xffffffff81001000);
	sources[2] =
		add_source(writer, 0, FIRST_VM, 1, PERF_RECORD_MISC_GUEST_USER, 0x7f00000013c0);
	write_threads(writer, FIRST_VM, 2);
	if (strcmp(mode, "guest-maps") == 0) {
		write_guest_map(writer, FIRST_VM);
		write_guest_map(writer, SECOND_VM);
	}
	if (guest_processes)
		write_first_processes(writer, sources);
	check(perfdata_writer_flush(writer));
	for (; number < 3 * rounds; number++)
		write_sample(writer, events, &sources[number % 3], number, truth);
	check(perfdata_writer_round(writer));
	add_second_vm(writer, sources);
	if (guest_processes)
		write_second_processes(writer, sources);
	for (; number < 9 * rounds; number++) {
		if (guest_processes && number == EXEC_AT)
			replace_process(writer, sources);
		write_sample(writer, events, &sources[number % 6], number, truth);
	}
	check(perfdata_writer_lost(writer, sources[1].id, 7, START_NS + number * 1000001));
	check(perfdata_writer_round(writer));
	fflush(truth);
	if (!strstr(mode, "kill")) {
		finish(writer, guest_processes, rounds);
		perfdata_inventory_deinit(&inventory);
		return 0;
	}
	check(perfdata_writer_flush(writer));
	if (strcmp(mode, "kill-late") == 0)
		for (uint64_t late = 0; late < 100000; late++)
			write_sample(writer, events, &sources[late % 6], number + late, NULL);
	_exit(0);
}
