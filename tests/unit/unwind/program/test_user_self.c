/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chains of this process's own stack, from copies, using the files that it has mapped: compared
 * with backtrace(3), which is libgcc's unwinder, and with the callers that the functions themselves
 * recorded.
 */
#include "test.h"

#include <execinfo.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "base/memory.h"
#include "base/vector.h"
#include "unwind/deep_calls.h"
#include "unwind/file_source.h"
#include "unwind/program/program_table.h"
#include "unwind/program/user.h"

static struct {
	VECTOR(struct unwind_mapping) mappings;
	uint64_t stack_end;
} self;

static const struct unwind_table *read_file(const char *path)
{
	struct unwind_table *table = NULL;
	struct file_source file;
	struct guest_elf_source source;
	struct error *error;

	file_source_open(path, &file);
	source = file_source_elf(&file);
	error = unwind_table_read_file(&source, &table);
	error_destroy(error);
	file_source_close(&file);
	return table;
}

static bool read_vdso_bytes(void *context, uint64_t offset, void *data, size_t size)
{
	memcpy(data, (const uint8_t *)context + offset, size);
	return true;
}

static const struct unwind_table *read_vdso(void)
{
	struct unwind_table *table = NULL;
	struct guest_elf_source source = { .read = read_vdso_bytes };
	size_t bytes;

	source.context = (void *)vdso_of_self(&bytes);
	source.bytes = bytes;
	assert_no_error(unwind_table_read_file(&source, &table));
	return table;
}

static void take_mapping(const char *line)
{
	uint64_t start, end, offset;
	char rights[8], path[256] = "";
	struct unwind_mapping mapping;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %255s", &start, &end,
		   rights, &offset, path) < 4)
		return;
	if (!strcmp(path, "[stack]"))
		self.stack_end = end;
	if (rights[2] != 'x' || (path[0] != '/' && strcmp(path, "[vdso]")))
		return;
	mapping = (struct unwind_mapping){ GVA(start), GVA(end), offset,
					   path[0] == '/' ? read_file(path) : read_vdso() };
	vector_append(&self.mappings, mapping);
}

static int read_self(void **state)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char *line = NULL;
	size_t room = 0;

	(void)state;
	assert_non_null(maps);
	while (getline(&line, &room, maps) > 0)
		take_mapping(line);
	free(line);
	fclose(maps);
	return 0;
}

static int forget_self(void **state)
{
	(void)state;
	for (size_t i = 0; i < self.mappings.count; i++)
		unwind_table_destroy((struct unwind_table *)self.mappings.items[i].table);
	vector_deinit(&self.mappings);
	return 0;
}

static struct unwind_frame frames[DEEP_CALLS_MAX];

/* The chain from at most BYTES of deep_calls' copy. */
static struct unwind_chain unwind_copy(uint64_t bytes)
{
	struct unwind_chain chain = { .frames = frames, .capacity = DEEP_CALLS_MAX };
	struct unwind_program program = { self.mappings.items, self.mappings.count, false };
	struct unwind_registers registers = { .ip = deep_calls.ip,
					      .sp = deep_calls.sp,
					      .bp = deep_calls.bp };
	struct unwind_stack stack = { GVA(deep_calls.sp), deep_calls.bytes, deep_calls.stack,
				      GVA((uint64_t)deep_calls.stack_end) };

	if (stack.bytes > bytes)
		stack.bytes = bytes;
	unwind_run_user(&program, &registers, &stack, 1, &chain);
	return chain;
}

static void begin(uint64_t stack_end)
{
	deep_calls.known_count = 0;
	deep_calls.stack_end = (const uint8_t *)stack_end;
}

/*
 * The whole chain must match backtrace(), and the innermost frames must match what their functions
 * know.
 */
static void check_chain(void)
{
	struct unwind_chain chain = unwind_copy(UINT64_MAX);

	assert_int_equal(chain.end, UNWIND_COMPLETE);
	assert_int_equal(chain.count, deep_calls.wanted_count);
	assert_true(chain.count > deep_calls.known_count);
	for (size_t i = 1; i < chain.count; i++) {
		assert_int_equal(frames[i].address, (uint64_t)deep_calls.wanted[i]);
		assert_false(frames[i].guessed);
	}
	for (size_t i = 0; i < deep_calls.known_count; i++)
		assert_int_equal(frames[1 + i].address,
				 (uint64_t)deep_calls.known[deep_calls.known_count - 1 - i]);
}

static void calls(void **state)
{
	(void)state;
	begin(self.stack_end);
	deep_calls_plain(1);
	assert_int_equal(deep_calls.known_count, 3);
	check_chain();
	begin(self.stack_end);
	deep_calls_large(1);
	check_chain();
	begin(self.stack_end);
	deep_calls_aligned(7);
	check_chain();
	begin(self.stack_end);
	deep_calls_busy(7);
	check_chain();
	begin(self.stack_end);
	deep_calls_sized(7);
	check_chain();
}

static void callbacks_of_libc(void **state)
{
	(void)state;
	begin(self.stack_end);
	deep_calls_sort();
	assert_int_equal(deep_calls.known_count, 3);
	check_chain();
}

static void signal_handlers(void **state)
{
	size_t interrupts = 0;

	(void)state;
	begin(self.stack_end);
	deep_calls_signal();
	check_chain();
	for (int i = 1; i < deep_calls.wanted_count; i++)
		interrupts += frames[i].kind == UNWIND_FRAME_INTERRUPT;
	/* In raise() when the signal arrived, and what the handler returns to. */
	assert_int_equal(interrupts, 2);
}

static void *run_thread(void *unused)
{
	pthread_attr_t attributes;
	void *stack;
	size_t bytes;

	(void)unused;
	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &stack, &bytes);
	pthread_attr_destroy(&attributes);
	begin((uint64_t)stack + bytes);
	deep_calls_plain(1);
	return NULL;
}

static void threads(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, run_thread, NULL), 0);
	pthread_join(thread, NULL);
	check_chain();
}

static struct {
	size_t steps, complete, no_registers;
	size_t astray; /* backtrace() is wrong */
	struct unwind_frame callers[DEEP_CALLS_MAX];
	size_t caller_count;
	/* in the dynamic linker, called by glibc code that has its frame in RBX */
	size_t bound;
	uint64_t wrong; /* 0: none */
	void *all[DEEP_CALLS_MAX], *wanted[DEEP_CALLS_MAX];
	void **base; /* in ALL: after the test's caller */
	size_t base_count;
} stepped;

/* The part of backtrace() that starts with the code interrupted at IP. */
static size_t wanted_at(uint64_t ip, void ***ret)
{
	int count = backtrace(stepped.wanted, DEEP_CALLS_MAX), i = 0;

	while (i < count && (uint64_t)stepped.wanted[i] != ip)
		i++;
	*ret = &stepped.wanted[i];
	return count - i;
}

/*
 * As in backtrace(), except for the last instructions of frames with an alignment of their own,
 * where GCC's CFI says that BP is still to be restored and backtrace() goes wrong. A complete chain
 * ends with the frames that called everything.
 */
static bool is_true(const struct unwind_chain *chain, uint64_t ip)
{
	void **wanted;
	size_t count = wanted_at(ip, &wanted), rest = stepped.base_count;

	if (!count || (chain->end != UNWIND_COMPLETE && chain->end != UNWIND_NO_REGISTERS))
		return false;
	for (size_t i = 0; i < chain->count && i < count; i++)
		if (frames[i].address != (uint64_t)wanted[i] && i + 1 < count)
			return false;
	if (chain->end == UNWIND_NO_REGISTERS)
		return true;
	for (size_t i = 0; i < rest; i++)
		if (chain->count <= rest ||
		    frames[chain->count - rest + i].address != (uint64_t)stepped.base[i])
			return false;
	return chain->count >= count;
}

static void keep_callers(const struct unwind_chain *chain)
{
	memcpy(stepped.callers, frames, chain->count * sizeof(*frames));
	stepped.caller_count = chain->count;
}

/* The callers are those at the previous instruction, for which backtrace() was right. */
static bool are_kept(const struct unwind_chain *chain)
{
	for (size_t i = 1; i < chain->count; i++)
		if (frames[i].address != stepped.callers[i].address)
			return false;
	return chain->count == stepped.caller_count;
}

/* Whether a caller in CHAIN has its frame in RBX. */
static bool goes_by_bx(const struct unwind_program *program, const struct unwind_chain *chain)
{
	for (size_t i = 1; i < chain->count; i++) {
		const struct unwind_mapping *mapping =
			unwind_program_find(program, frames[i].address - 1);
		const struct unwind_row *row =
			mapping ? unwind_table_find(mapping->table, frames[i].address - 1 -
									    mapping->start.value +
									    mapping->offset)
				: NULL;

		if (row && row->sp_base == UNWIND_BASE_GENERAL + UNWIND_BX)
			return true;
	}
	return false;
}

/* The chain of the interrupted code, using only what is above its SP. */
static void take_step(int number, siginfo_t *info, void *context)
{
	static const struct unwind_layout layout = {
		8,
		REG_RIP,
		{ REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI, REG_R8,
		  REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 }
	};
	const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct unwind_program program = { self.mappings.items, self.mappings.count, false };
	struct unwind_registers at = { .ip = registers[REG_RIP],
				       .sp = registers[REG_RSP],
				       .bp = registers[REG_RBP],
				       .others = registers,
				       .layout = &layout };
	struct unwind_stack stack = { GVA(at.sp), self.stack_end - at.sp, (const uint8_t *)at.sp,
				      GVA(self.stack_end) };
	struct unwind_chain chain = { .frames = frames, .capacity = DEEP_CALLS_MAX };

	(void)number;
	(void)info;
	unwind_run_user(&program, &at, &stack, 1, &chain);
	stepped.steps++;
	stepped.complete += chain.end == UNWIND_COMPLETE;
	stepped.no_registers += chain.end == UNWIND_NO_REGISTERS;
	stepped.bound += chain.end == UNWIND_COMPLETE && goes_by_bx(&program, &chain);
	if (is_true(&chain, at.ip))
		keep_callers(&chain);
	else if (are_kept(&chain))
		stepped.astray++;
	else
		stepped.wrong = at.ip;
}

/* At every instruction: prologues, epilogues, the linkage table, the dynamic linker, qsort(). */
static void every_instruction(void **state)
{
	int count = backtrace(stepped.all, DEEP_CALLS_MAX);

	(void)state;
	while (count && stepped.all[count - 1] != __builtin_return_address(0))
		count--, stepped.base_count++;
	stepped.base = &stepped.all[count];
	deep_calls_step(take_step);
	print_message("%zu instructions: %zu complete, %zu without registers, %zu while a call was "
		      "bound\n",
		      stepped.steps, stepped.complete, stepped.no_registers, stepped.bound);
	if (stepped.wrong)
		fail_msg("another chain at %#" PRIx64, stepped.wrong);
	assert_true(stepped.steps > 500);
	assert_true(stepped.complete >= stepped.steps * 99 / 100);
	assert_true(stepped.bound > 100);
	assert_true(stepped.astray <= 4); /* in busy(): after BP is popped */
}

/* However little is copied, the frames are a prefix of the true ones. */
static void cut_stacks(void **state)
{
	size_t most = 0;

	(void)state;
	begin(self.stack_end);
	deep_calls_aligned(3);
	for (uint64_t bytes = 0; bytes < 4096; bytes += 8) {
		struct unwind_chain chain = unwind_copy(bytes);

		assert_true(chain.count >= most && chain.count >= 1);
		most = chain.count;
		for (size_t i = 1; i < chain.count; i++)
			assert_int_equal(frames[i].address, (uint64_t)deep_calls.wanted[i]);
		if (bytes < deep_calls.bytes && chain.count < (size_t)deep_calls.wanted_count)
			assert_int_equal(chain.end, UNWIND_CUT);
	}
	assert_true(most >= 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls),
		cmocka_unit_test(callbacks_of_libc),
		cmocka_unit_test(signal_handlers),
		cmocka_unit_test(threads),
		cmocka_unit_test(every_instruction),
		cmocka_unit_test(cut_stacks),
	};

	return cmocka_run_group_tests(tests, read_self, forget_self);
}
