/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chains of running 32-bit programs (lab/workloads/user32.c, signal32.c), stopped anywhere or
 * everywhere: all of them must match the source, up to the outermost function. Names come from the
 * program's own symbol table.
 */
#include "test.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unwind/file_source.h"
#include "unwind/program/program_table.h"
#include "unwind/program/user.h"

#define STOPS 300
#define STEPS 12000
#define CALLS 300
#define STACK_BYTES 16384
#define MAX_VDSO_BYTES 65536
#define MAX_MAPPINGS 8

static struct {
	struct file_source file;
	struct unwind_table *table;
	struct unwind_mapping mappings[MAX_MAPPINGS];
	size_t mapping_count;
	uint8_t vdso[MAX_VDSO_BYTES];
	struct unwind_table *vdso_table;
	struct gva vdso_start, vdso_end;
} program;

static void open_program(const char *path)
{
	struct guest_elf_source source;
	const Elf32_Ehdr *header;
	const Elf32_Phdr *segments;

	memset(&program, 0, sizeof(program));
	file_source_open(path, &program.file);
	source = file_source_elf(&program.file);
	assert_no_error(unwind_table_read_file(&source, &program.table));
	header = (const void *)program.file.file.data;
	segments = (const void *)(program.file.file.data + header->e_phoff);
	for (size_t i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && segments[i].p_flags & PF_X)
			program.mappings[program.mapping_count++] = (struct unwind_mapping){
				.start = GVA(segments[i].p_vaddr),
				.end = GVA(segments[i].p_vaddr + segments[i].p_filesz),
				.offset = segments[i].p_offset,
				.table = program.table
			};
}

static bool read_vdso(void *context, uint64_t offset, void *data, size_t size)
{
	memcpy(data, (const uint8_t *)context + offset, size);
	return true;
}

/* Mapped above the program, which is linked to low addresses. */
static void add_vdso(pid_t child)
{
	struct guest_elf_source source = { read_vdso, program.vdso, 0 };
	char path[64], line[256];
	uint64_t start, end;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", child);
	maps = fopen(path, "r");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "[vdso]") &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2) {
			struct iovec to = { program.vdso, end - start },
				     from = { (void *)start, end - start };

			assert_true(end - start <= MAX_VDSO_BYTES);
			source.bytes = (uint64_t)process_vm_readv(child, &to, 1, &from, 1, 0);
			program.vdso_start = GVA(start);
			program.vdso_end = GVA(end);
		}
	fclose(maps);
	assert_int_equal(source.bytes, program.vdso_end.value - program.vdso_start.value);
	assert_no_error(unwind_table_read_file(&source, &program.vdso_table));
	program.mappings[program.mapping_count++] = (struct unwind_mapping){
		.start = program.vdso_start, .end = program.vdso_end, .table = program.vdso_table
	};
}

static void close_program(void)
{
	unwind_table_destroy(program.table);
	unwind_table_destroy(program.vdso_table);
	file_source_close(&program.file);
}

/* The function that contains ADDRESS. */
static const char *name_of(uint64_t address)
{
	const uint8_t *data = program.file.file.data;
	const Elf32_Ehdr *header = (const void *)data;
	const Elf32_Shdr *sections = (const void *)(data + header->e_shoff);

	for (size_t i = 0; i < header->e_shnum; i++) {
		const Elf32_Sym *symbols = (const void *)(data + sections[i].sh_offset);
		const char *names = (const char *)data + sections[sections[i].sh_link].sh_offset;

		for (size_t j = 0; sections[i].sh_type == SHT_SYMTAB &&
				   j < sections[i].sh_size / sizeof(*symbols);
		     j++)
			if (ELF32_ST_TYPE(symbols[j].st_info) == STT_FUNC &&
			    address - symbols[j].st_value < symbols[j].st_size)
				return names + symbols[j].st_name;
	}
	return address - program.vdso_start.value <
			       program.vdso_end.value - program.vdso_start.value
		       ? "vdso"
		       : "";
}

static const char *name_of_frame(const struct unwind_chain *chain, size_t number)
{
	const struct unwind_frame *frame = &chain->frames[number];
	const char *name = name_of(frame->address - (frame->kind == UNWIND_FRAME_CALL));

	/* In a system call at the end of a function. */
	return *name ? name : name_of(frame->address - 1);
}

/*
 * Runs to the next instruction (PTRACE_SINGLESTEP), or to the start or end of a system call
 * (PTRACE_SYSCALL). Delivers SIGNAL; returns the next one.
 */
static int step(pid_t child, enum __ptrace_request how, int signal)
{
	int status;

	assert_int_equal(ptrace(how, child, NULL, signal), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSTOPPED(status));
	return WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
}

/* 0: this machine cannot run 32-bit programs, or does not allow tracing them. */
static pid_t start(const char *path)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		if (!ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			execl(path, path, NULL);
		_exit(1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFSTOPPED(status))
		return 0;
	/* It ends together with this process, even if a check fails. */
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL), 0);
	/* After its first instructions, _start() declares that nothing called it. */
	for (int i = 0; i < 16; i++)
		step(child, PTRACE_SINGLESTEP, 0);
	return child;
}

static void stop_somewhere(pid_t child)
{
	int status;

	assert_int_equal(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
	usleep((useconds_t)(random() % 300));
	assert_int_equal(kill(child, SIGSTOP), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSTOPPED(status));
}

struct expectation {
	const char *const *functions; /* the chain of callers, innermost first */
	size_t count;
	size_t stopped_in[8]; /* in each of them */
	size_t signals[2];    /* returned from through the vDSO, through the program's own code */
};

/* A signal handler returns through one of two functions. */
static void check_name(struct expectation *expectation, const char *wanted, const char *name)
{
	bool vdso = !strcmp(name, "vdso");

	if (!strcmp(wanted, "return32")) {
		expectation->signals[!vdso]++;
		if (vdso)
			return;
	}
	assert_string_equal(name, wanted);
}

static void check_chain(pid_t child, struct expectation *expectation)
{
	static const struct unwind_layout layout = {
		8, 16, { 10, 11, 12, 5, 19, 4, 13, 14, 9, 8, 7, 6, 3, 2, 1, 0 }
	};
	static uint8_t bytes[STACK_BYTES];
	struct unwind_frame frames[16];
	struct unwind_chain chain = { .frames = frames, .capacity = 16 };
	struct unwind_program code = { .mappings = program.mappings,
				       .count = program.mapping_count };
	struct unwind_registers registers;
	struct unwind_stack stack;
	struct user_regs_struct saved;
	struct iovec to, from;
	size_t got = 0, first;

	assert_int_equal(ptrace(PTRACE_GETREGS, child, NULL, &saved), 0);
	from = (struct iovec){ (void *)saved.rsp, 4096 - saved.rsp % 4096 };
	while (got + from.iov_len <= sizeof(bytes)) {
		to = (struct iovec){ bytes + got, from.iov_len };
		if (process_vm_readv(child, &to, 1, &from, 1, 0) != (ssize_t)from.iov_len)
			break;
		got += from.iov_len;
		from = (struct iovec){ (void *)(saved.rsp + got), 4096 };
	}
	assert_true(got > 0);
	registers = (struct unwind_registers){ .ip = saved.rip,
					       .sp = saved.rsp,
					       .bp = saved.rbp,
					       .others = &saved,
					       .layout = &layout };
	stack = (struct unwind_stack){ GVA(saved.rsp), got, bytes, GVA(saved.rsp + got) };
	unwind_run_user(&code, &registers, &stack, 1, &chain);
	assert_true(chain.count >= 1 && chain.count <= expectation->count);
	first = expectation->count - chain.count;
	for (size_t i = 0; i < chain.count; i++)
		check_name(expectation, expectation->functions[first + i],
			   name_of_frame(&chain, i));
	assert_int_equal(chain.end, UNWIND_COMPLETE);
	expectation->stopped_in[first]++;
}

static pid_t open_child(const char *path)
{
	pid_t child = start(path);

	if (!child)
		skip_because("this kernel runs no 32-bit programs");
	open_program(path);
	add_vdso(child);
	return child;
}

static void close_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close_program();
}

static void chains_of_a_running_program(void **state)
{
	static const char *const functions[] = { "hot32", "middle32", "_start" };
	struct expectation expectation = { functions, 3 };
	pid_t child = open_child(USER32);

	(void)state;
	for (int i = 0; i < STOPS; i++) {
		stop_somewhere(child);
		check_chain(child, &expectation);
	}
	assert_true(expectation.stopped_in[0] >= STOPS / 2);
	close_child(child);
}

/*
 * At every instruction of handlers, of the code through which they return, and of functions whose
 * frame is in ECX for a moment.
 */
static void chains_of_signal_handlers(void **state)
{
	static const char *const functions[] = { "hot32",  "handle32", "return32",
						 "send32", "cause32",  "_start" };
	struct expectation expectation = { functions, 6 };
	pid_t child = open_child(SIGNAL32);
	int signal = 0;

	(void)state;
	for (int i = 0; i < STEPS; i++) {
		signal = step(child, PTRACE_SINGLESTEP, signal);
		check_chain(child, &expectation);
	}
	for (int i = 0; i < CALLS; i++) {
		signal = step(child, PTRACE_SYSCALL, signal);
		check_chain(child, &expectation);
	}
	for (size_t i = 0; i < expectation.count; i++)
		assert_true(expectation.stopped_in[i] >= 3);
	assert_true(expectation.signals[0] > STEPS / 4 && expectation.signals[1] > STEPS / 8);
	close_child(child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_of_a_running_program),
		cmocka_unit_test(chains_of_signal_handlers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
