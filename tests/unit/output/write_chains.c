/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a recording of two VMs with call chains, for tests of programs that display them, and
 * prints what is in it: a line for each chain, "PERIOD VM VCPU COMMAND FRAME…", separated by tabs,
 * the outermost frame first, each frame as its level, a space and its name.
 *
 *	write_chains FILE [programs]
 *
 * programs: the recording has a function of the guests' program, their kernel has a module, names
 * only contain characters that are possible in kallsyms, and nothing is guessed. Names come from a
 * hostile guest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "perfdata/sample.h"
#include "perfdata/writer/writer.h"
#include "symbol/table.h"

#define KERNEL 0xffffffff81000000ULL
#define FUNCTION_BYTES 0x100
#define PERIOD 250000
#define MAX_FRAMES 8

/* Functions of the guests' kernels, by number. */
static const char *const functions[] = {
	"entry_SYSCALL_64",
	"do_syscall_64",
	"vfs_read",
	"</script><script>document.title='owned'</script>",
	"<img src=x onerror=\"document.title='owned'\">",
	"operator<(std::string const&, int)",
	"semi;colon \"quoted\" 'single'",
	"gr\xc3\xb6\xc3\x9f"
	"e_\xe2\x82\xac",
	"not_utf8_\xff\xfe",
	"a_function_with_a_name_that_is_far_too_long_to_be_shown_in_whole_in_any_frame_of_the_"
	"graph_"
	"and_goes_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on",
	"\x1b[31mred",
};

enum { APP = -1, HOST_USER = -2, END = -3 }; /* frames of files without symbols */
#define GUESSED 1000 /* added to a function's number: not a certain caller */

static const struct {
	size_t count;
	int vm, vcpu, process; /* vm -1: the host itself */
	int frames[MAX_FRAMES]; /* the outermost first */
} chains[] = {
	{ 2, 0, 1, 1, { 0, 9, 10, END } }, /* before all others: perf has no map yet */
	{ 40, 0, 0, 0, { APP, 0, 1, 2, END } },
	{ 20, 0, 0, 0, { APP, 0, 1, 3, END } },
	{ 10, 0, 0, 0, { APP, END } },
	{ 8, 0, 0, 1, { APP, 0, 1, 4, END } },
	{ 6, 0, 1, 0, { 0, 1, 5, END } },
	{ 5, 0, 1, 0, { 0, 1, 6, END } },
	{ 4, 0, 1, 1, { 0, 7, END } },
	{ 3, 0, 1, 1, { 0, 8, END } },
	{ 16, 1, 0, 0, { APP, APP, 0, 1, 2, 2, END } }, /* vfs_read calls itself */
	{ 6, -1, 0, 0, { HOST_USER, HOST_USER, END } },
	{ 3, 0, 1, 0, { GUESSED + 0, GUESSED + 1, 2, END } },
};

#define TWICE_MARKED 1

static const uint32_t vm_pids[] = { 5000, 6000 };
static const char *const vm_names[] = { "web <1>", "db" };
static const char *const processes[] = { "server", "evil </script>" };

static struct perfdata_event event = {
	.attr = { .type = PERF_TYPE_SOFTWARE,
		  .size = sizeof(struct perf_event_attr),
		  .config = PERF_COUNT_SW_CPU_CLOCK,
		  .sample_period = PERIOD,
		  .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				 PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
		  .read_format = PERF_FORMAT_ID,
		  .sample_id_all = 1 },
	.name = (char *)"cpu-clock",
};

static uint64_t clock_ns = 1000000000;
static bool programs;

static void check(struct error *error)
{
	if (!error)
		return;
	fprintf(stderr, "write_chains: %s\n", error_message(error));
	exit(1);
}

static const char *function_name(size_t number)
{
	static char name[256];
	size_t length = strlen(functions[number]);

	if (!programs)
		return functions[number];
	for (size_t i = 0; i <= length; i++)
		name[i] = functions[number][i] > ' ' && functions[number][i] < 0x7f
				  ? functions[number][i]
			  : i == length ? 0
					: '_';
	return name;
}

static uint64_t address_of(int frame)
{
	if (frame >= 0)
		return KERNEL + 0x1000 + FUNCTION_BYTES * (frame % GUESSED) + clock_ns / 10 % 0x40;
	return 0x401000 + clock_ns / 10 % 0x800;
}

/* Writes the chain into WORDS, innermost first, with marks; returns the number of words. */
static size_t make_chain(size_t number, uint64_t *words)
{
	const int *frames = chains[number].frames;
	size_t frame_count = 0, count = 0;
	uint64_t mark = 0;
	bool guessed = false;

	while (frames[frame_count] != END)
		frame_count++;
	for (size_t i = frame_count; i-- > 0;) {
		uint64_t wanted = frames[i] >= 0     ? (uint64_t)PERF_CONTEXT_GUEST_KERNEL
				  : frames[i] == APP ? (uint64_t)PERF_CONTEXT_GUEST_USER
						     : (uint64_t)PERF_CONTEXT_USER;

		if (mark != wanted || guessed != (frames[i] >= GUESSED))
			words[count++] = mark = wanted;
		if (number == TWICE_MARKED && frames[i] == APP)
			words[count++] = mark; /* nothing is in between, so it is not a guess */
		guessed = frames[i] >= GUESSED;
		words[count++] = address_of(frames[i]);
	}
	return count;
}

static void write_samples(struct perfdata_writer *writer, size_t number, uint64_t id)
{
	for (size_t i = 0; i < chains[number].count; i++) {
		uint64_t words[2 * MAX_FRAMES];
		int vm = chains[number].vm;
		size_t count = make_chain(number, words);
		struct perfdata_sample sample = {
			.id = id, .ip = words[1], .time_ns = clock_ns += 10, .period = PERIOD,
			.pid = vm < 0 ? 900 : 100 + chains[number].process,
			.tid = vm < 0 ? 900 : 100 + chains[number].process,
			.misc = vm < 0			    ? PERF_RECORD_MISC_USER
				: words[1] >= KERNEL ? PERF_RECORD_MISC_GUEST_KERNEL
						     : PERF_RECORD_MISC_GUEST_USER,
			.callchain = words, .callchain_count = count };
		struct buffer record;

		buffer_init(&record, UINT16_MAX);
		if (!perfdata_sample_encode(&event.attr, &sample, &record))
			exit(1);
		check(perfdata_writer_append(writer, record.data, record.size));
		buffer_deinit(&record);
	}
}

static void tell(size_t number)
{
	int vm = chains[number].vm;

	printf("%zu", chains[number].count * PERIOD);
	if (vm < 0)
		printf("\t[host]\t-\tspinner");
	else
		printf("\t%s\t%d\t%s", vm_names[vm], chains[number].vcpu,
		       processes[chains[number].process]);
	for (const int *frame = chains[number].frames; *frame != END; frame++) {
		if (*frame >= 0)
			printf("\tguest kernel %s%s", *frame >= GUESSED ? "? " : "",
			       function_name(*frame % GUESSED));
		else
			printf("\t%s", *frame != APP ? "host user [spinner]"
				     : programs	    ? "guest user app_main"
						    : "guest user [app]");
	}
	putchar('\n');
}

static void add_mapping(struct perfdata_writer *writer, uint32_t machine_pid, uint32_t pid,
			const char *path)
{
	struct perfdata_mapping mapping = { .pid = pid, .tid = pid, .start = 0x400000,
					    .length = 0x10000, .prot = 5, .path = path,
					    .misc = machine_pid ? PERF_RECORD_MISC_GUEST_USER
								: PERF_RECORD_MISC_USER };

	if (machine_pid)
		check(perfdata_writer_guest_mmap2(writer, machine_pid, &mapping, 1));
	else
		check(perfdata_writer_mmap2(writer, &mapping, 1));
}

static void add_threads(struct perfdata_writer *writer)
{
	for (size_t vm = 0; vm < 2; vm++) {
		for (uint32_t i = 0; i < 2; i++) {
			check(perfdata_writer_guest_comm(writer, vm_pids[vm], 100 + i, 100 + i,
							 processes[i], 1));
			add_mapping(writer, vm_pids[vm], 100 + i, "/usr/bin/app");
		}
	}
	check(perfdata_writer_comm(writer, 900, 900, "spinner", 1));
	add_mapping(writer, 0, 900, "/nonexistent/spinner");
}

/* Encodes what BUILDER collected into OUT. Takes BUILDER. */
static void encode(struct symbol_builder *builder, struct buffer *out)
{
	struct symbol_table *table = symbol_builder_finish(builder);

	buffer_init(out, 1 << 20);
	symbol_table_encode(table, out);
	symbol_table_destroy(table);
}

static void encode_program(struct buffer *out)
{
	struct symbol_builder *builder = symbol_builder_create();

	symbol_builder_add(builder, 0x1000, 0x2000, 'T', "app_main", NULL);
	encode(builder, out);
}

static void encode_kernel(struct buffer *out)
{
	struct symbol_builder *builder = symbol_builder_create();

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		symbol_builder_add(builder, KERNEL + 0x1000 + FUNCTION_BYTES * i,
				   KERNEL + 0x1000 + FUNCTION_BYTES * (i + 1), 'T',
				   function_name(i), programs && i > 8 ? "extra" : NULL);
	encode(builder, out);
}

static void finish(struct perfdata_writer *writer)
{
	struct perfdata_writer_symbols symbols[2] = { 0 };
	struct perfdata_inventory inventory;
	struct buffer kernel, program;

	encode_kernel(&kernel);
	encode_program(&program);
	perfdata_inventory_init(&inventory);
	inventory.guest = inventory.guest_sampled = inventory.host_sampled = true;
	inventory.guest_processes = true;
	for (size_t i = 0; i < 2; i++)
		perfdata_inventory_add(&inventory, vm_pids[i], vm_names[i], "qemu");
	symbols[0] = (struct perfdata_writer_symbols){ .data = kernel.data, .size = kernel.size };
	symbols[1] = (struct perfdata_writer_symbols){ .data = program.data, .size = program.size,
						       .kind = PERFDATA_SYMBOLS_FILE,
						       .path = "/usr/bin/app" };
	check(perfdata_writer_finish(
		writer, &(struct perfdata_writer_features){ .inventory = &inventory,
							    .symbols = symbols,
							    .symbols_count = 1 + programs }));
	perfdata_inventory_deinit(&inventory);
	buffer_deinit(&kernel);
	buffer_deinit(&program);
}

int main(int argc, char **argv)
{
	struct perfdata_writer *writer;
	uint64_t ids[2][2], host;

	if (argc < 2)
		return 2;
	programs = argc > 2;
	check(perfdata_writer_create(argv[1], &event, 1, 16, &writer));
	for (uint32_t vm = 0; vm < 2; vm++)
		for (uint32_t vcpu = 0; vcpu < 2; vcpu++)
			check(perfdata_writer_add_id(
				writer, 0,
				&(struct perfdata_id){ .machine_pid = vm_pids[vm], .vcpu = vcpu,
						       .cpu = UINT32_MAX },
				&ids[vm][vcpu]));
	check(perfdata_writer_add_id(writer, 0,
				     &(struct perfdata_id){ .vcpu = PERFDATA_NO_VCPU,
							    .cpu = UINT32_MAX },
				     &host));
	add_threads(writer);
	for (size_t i = 0; i < sizeof(chains) / sizeof(*chains); i++) {
		int vm = chains[i].vm;

		if (programs && chains[i].frames[0] >= GUESSED)
			continue;
		write_samples(writer, i, vm < 0 ? host : ids[vm][chains[i].vcpu]);
		tell(i);
	}
	finish(writer);
	perfdata_writer_destroy(writer);
	return 0;
}
