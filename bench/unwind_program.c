/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwinds a program's stack with DWARF repeatedly: from copies of registers and stack, such as
 * samples have, which this process takes of itself at every 1009th instruction of some work in
 * libc, below 24 calls of 4 functions.
 *
 *	unwind_program
 *
 * prints: rows of all mapped files, milliseconds to read and build them, chains, complete chains,
 * frames in all chains, nanoseconds per frame. Times are CPU time.
 */
#include <inttypes.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "base/files/file.h"
#include "base/memory.h"
#include "base/vector.h"
#include "cpu_time.h"
#include "unwind/program/program_table.h"
#include "unwind/program/user.h"

#define SAMPLES 256
#define STEPS_PER_SAMPLE 1009
#define MAX_STACK_BYTES 32768
#define MAX_FRAMES 128
#define CALLS 24
#define FRAMES_WANTED ((uint64_t)20000000)

#define NOINLINE __attribute__((noinline, noclone))

struct sample {
	struct unwind_registers registers;
	uint64_t bytes;
	uint8_t stack[MAX_STACK_BYTES];
};

static struct {
	VECTOR(struct unwind_mapping) mappings;
	uint64_t stack_end, steps;
	struct sample *samples;
	size_t count, rows;
} program;

static bool read_file(void *context, uint64_t offset, void *data, size_t size)
{
	const struct mapped_file *file = context;

	memcpy(data, file->data + offset, size);
	return true;
}

/* NULL: it has none. */
static const struct unwind_table *read_table(const char *path)
{
	struct unwind_table *table = NULL;
	struct mapped_file file;
	struct guest_elf_source source;
	struct error *error = file_map(path, &file);

	if (error) {
		error_destroy(error);
		return NULL;
	}
	source = (struct guest_elf_source){ read_file, &file, file.size };
	error_destroy(unwind_table_read_file(&source, &table));
	file_unmap(&file);
	if (table)
		program.rows += unwind_table_rows(table);
	return table;
}

static void take_mapping(const char *line)
{
	uint64_t start, end, offset;
	char rights[8], path[256] = "";

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %255s", &start, &end,
		   rights, &offset, path) < 4)
		return;
	if (!strcmp(path, "[stack]"))
		program.stack_end = end;
	if (rights[2] == 'x' && path[0] == '/')
		vector_append(
			&program.mappings,
			(struct unwind_mapping){ GVA(start), GVA(end), offset, read_table(path) });
}

static bool read_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char *line = NULL;
	size_t room = 0;

	if (!maps)
		return false;
	while (getline(&line, &room, maps) > 0)
		take_mapping(line);
	free(line);
	fclose(maps);
	return program.stack_end;
}

static void take_step(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct sample *sample = &program.samples[program.count];
	uint64_t sp = registers[REG_RSP];

	(void)number;
	(void)info;
	if (program.count == SAMPLES)
		registers[REG_EFL] &= ~0x100;
	if (program.count == SAMPLES || ++program.steps % STEPS_PER_SAMPLE)
		return;
	sample->registers = (struct unwind_registers){ .ip = registers[REG_RIP],
						       .sp = sp,
						       .bp = registers[REG_RBP] };
	sample->bytes = program.stack_end - sp;
	if (sample->bytes > MAX_STACK_BYTES)
		sample->bytes = MAX_STACK_BYTES;
	memcpy(sample->stack, (const void *)sp, sample->bytes);
	program.count++;
}

static int compare(const void *left, const void *right)
{
	return strcmp(left, right);
}

/* The work that is sampled. */
static NOINLINE int work(int seed)
{
	char words[64][16], text[64];
	regex_t expression;

	for (int i = 0; i < 64; i++)
		snprintf(words[i], sizeof(words[i]), "%.3f", (i * 37 + seed) % 64 / 7.0);
	qsort(words, 64, sizeof(words[0]), compare);
	snprintf(text, sizeof(text), "^(%s|%s)*[a-z]+$", words[0], words[63]);
	if (!regcomp(&expression, text, REG_EXTENDED)) {
		regexec(&expression, words[5], 0, NULL, 0);
		regfree(&expression);
	}
	return words[31][0];
}

static NOINLINE int call_some(int depth, int seed);

#define CALLER(name, bytes)                                                                        \
	static NOINLINE int name(int depth, int seed)                                              \
	{                                                                                          \
		volatile char data[bytes];                                                         \
		int ret;                                                                           \
                                                                                                   \
		data[0] = depth;                                                                   \
		ret = call_some(depth - 1, seed + data[0]);                                        \
		return ret + data[0];                                                              \
	}
CALLER(call_small, 16)
CALLER(call_middle, 80)
CALLER(call_large, 300)

static NOINLINE int call_some(int depth, int seed)
{
	int ret;

	if (depth <= 0)
		return work(seed);
	ret = depth % 3 == 0   ? call_small(depth - 1, seed)
	      : depth % 3 == 1 ? call_middle(depth - 1, seed)
			       : call_large(depth - 1, seed);
	return ret + 1;
}

static void take_samples(void)
{
	struct sigaction action = { .sa_sigaction = take_step, .sa_flags = SA_SIGINFO };

	program.samples = memory_calloc(SAMPLES, sizeof(*program.samples));
	sigaction(SIGTRAP, &action, NULL);
	__asm__ volatile("subq $128, %%rsp; pushfq; orq $0x100, (%%rsp); popfq; addq $128, %%rsp" ::
				 : "memory", "cc");
	for (int i = 0; program.count < SAMPLES; i++)
		call_some(CALLS, i);
}

struct totals {
	uint64_t frames, complete;
};

static struct totals unwind_all(void)
{
	struct unwind_program mapped = { program.mappings.items, program.mappings.count, false };
	struct unwind_frame frames[MAX_FRAMES];
	struct totals totals = { 0 };

	for (size_t i = 0; i < program.count; i++) {
		const struct sample *sample = &program.samples[i];
		struct unwind_stack stack = { GVA(sample->registers.sp), sample->bytes,
					      sample->stack, GVA(program.stack_end) };
		struct unwind_chain chain = { .frames = frames, .capacity = MAX_FRAMES };

		unwind_run_user(&mapped, &sample->registers, &stack, 1, &chain);
		totals.frames += chain.count;
		totals.complete += chain.end == UNWIND_COMPLETE;
	}
	return totals;
}

int main(void)
{
	uint64_t begin = cpu_ns(), read_ns, rounds;
	struct totals once;

	if (!read_mappings())
		return 1;
	read_ns = cpu_ns() - begin;
	take_samples();
	once = unwind_all();
	rounds = FRAMES_WANTED / once.frames;
	begin = cpu_ns();
	for (uint64_t i = 0; i < rounds; i++)
		unwind_all();
	printf("%zu %.1f %zu %" PRIu64 " %" PRIu64 " %.2f\n", program.rows, (double)read_ns * 1e-6,
	       program.count, once.complete, once.frames,
	       (double)(cpu_ns() - begin) / (double)(rounds * once.frames));
	return 0;
}
