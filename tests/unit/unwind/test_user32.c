/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chains of a 32-bit program that runs (lab/workloads/user32.c), stopped wherever it is: all of them are those of its
 * source, to the outermost function. Its own symbol table names them.
 */
#include "test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file_source.h"
#include "unwind/program_table.h"
#include "unwind/user.h"

#define STOPS 300
#define STACK_BYTES 512
#define MAX_MAPPINGS 8

static struct {
	struct file_source file;
	struct unwind_table *table;
	struct unwind_mapping mappings[MAX_MAPPINGS];
	size_t mapping_count;
} program;

static void open_program(void)
{
	struct guest_elf_source source;
	const Elf32_Ehdr *header;
	const Elf32_Phdr *segments;

	file_source_open(USER32, &program.file);
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

/* The function that ADDRESS is in. */
static const char *name_of(uint64_t address)
{
	const uint8_t *data = program.file.file.data;
	const Elf32_Ehdr *header = (const void *)data;
	const Elf32_Shdr *sections = (const void *)(data + header->e_shoff);

	for (size_t i = 0; i < header->e_shnum; i++) {
		const Elf32_Sym *symbols = (const void *)(data + sections[i].sh_offset);
		const char *names = (const char *)data + sections[sections[i].sh_link].sh_offset;

		for (size_t j = 0; sections[i].sh_type == SHT_SYMTAB && j < sections[i].sh_size / sizeof(*symbols); j++)
			if (ELF32_ST_TYPE(symbols[j].st_info) == STT_FUNC &&
			    address - symbols[j].st_value < symbols[j].st_size)
				return names + symbols[j].st_name;
	}
	return "";
}

/* 0: this machine runs no 32-bit programs, or lets none be traced. */
static pid_t start(void)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		if (!ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			execl(USER32, "user32", NULL);
		_exit(1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFSTOPPED(status))
		return 0;
	/* It ends with this process, also where a check fails. */
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL), 0);
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

/* Which functions have called each other, the innermost first. */
static void check_chain(pid_t child, size_t *counts)
{
	static const char *const functions[] = { "hot32", "middle32", "_start" };
	uint8_t bytes[STACK_BYTES];
	struct unwind_frame frames[8];
	struct unwind_chain chain = { .frames = frames, .capacity = 8 };
	struct unwind_program code = { .mappings = program.mappings, .count = program.mapping_count };
	struct unwind_registers registers;
	struct unwind_stack stack;
	struct user_regs_struct saved;
	struct iovec to = { bytes, sizeof(bytes) }, from;
	ssize_t got;
	size_t first;

	assert_int_equal(ptrace(PTRACE_GETREGS, child, NULL, &saved), 0);
	from = (struct iovec){ (void *)saved.rsp, sizeof(bytes) };
	got = process_vm_readv(child, &to, 1, &from, 1, 0);
	assert_true(got > 0);
	registers = (struct unwind_registers){ .ip = saved.rip, .sp = saved.rsp, .bp = saved.rbp };
	stack = (struct unwind_stack){ GVA(saved.rsp), (uint64_t)got, bytes, GVA(saved.rsp + (uint64_t)got) };
	unwind_run_user(&code, &registers, &stack, 1, &chain);
	first = 3 - chain.count;
	assert_true(chain.count >= 1 && chain.count <= 3);
	for (size_t i = 0; i < chain.count; i++)
		assert_string_equal(name_of(frames[i].address - (i > 0)), functions[first + i]);
	assert_int_equal(chain.end, UNWIND_COMPLETE);
	counts[first]++;
}

static void chains_of_a_running_program(void **state)
{
	size_t counts[3] = { 0 };
	pid_t child;

	(void)state;
	child = start();
	if (!child)
		skip();
	open_program();
	for (int i = 0; i < STOPS; i++) {
		stop_somewhere(child);
		check_chain(child, counts);
	}
	assert_true(counts[0] >= STOPS / 2);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	unwind_table_destroy(program.table);
	file_source_close(&program.file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_of_a_running_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
