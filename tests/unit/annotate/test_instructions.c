/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text of single instructions. What is expected is what objdump (binutils 2.40) prints for these
 * bytes, but for what it calls (bad).
 */
#include "test.h"

#include <elf.h>
#include <string.h>

#include "annotate/instructions.h"
#include "annotate/vector_length.h"

static const char *no_name(void *context, uint64_t address, uint64_t *ret_offset)
{
	(void)context, (void)address, (void)ret_offset;
	return NULL;
}

static const char *one_name(void *context, uint64_t address, uint64_t *ret_offset)
{
	(void)context;
	*ret_offset = address - 0x1000;
	return address >= 0x1000 && address < 0x2000 ? "f" : NULL;
}

static void check(uint16_t machine, const char *bytes, size_t size, instruction_namer *namer,
		  const char *want)
{
	const struct instruction_code code = { .machine = machine, .size = size,
					       .bytes = (const uint8_t *)bytes,
					       .address = 0x1000 };
	struct instructions instructions;

	assert_no_error(instructions_decode(&code, namer, NULL, &instructions));
	assert_true(instructions.items.count > 0);
	assert_string_equal(instruction_text(&instructions, 0), want);
	instructions_deinit(&instructions);
}

#define CHECK(machine, bytes, want) check(machine, bytes, sizeof(bytes) - 1, no_name, want)

static void x86_is_written_as_objdump_does(void **state)
{
	(void)state;
	CHECK(EM_X86_64, "\x55", "push   %rbp");
	CHECK(EM_X86_64, "\x48\x89\xe5", "mov    %rsp,%rbp");
	CHECK(EM_X86_64, "\x48\x83\xec\x10", "sub    $0x10,%rsp");
	CHECK(EM_X86_64, "\x6a\x05", "push   $0x5");
	CHECK(EM_X86_64, "\x80\x3f\x00", "cmpb   $0x0,(%rdi)");
	CHECK(EM_X86_64, "\x48\x8b\x47\xf8", "mov    -0x8(%rdi),%rax");
	CHECK(EM_X86_64, "\x48\x8d\x0c\x30", "lea    (%rax,%rsi,1),%rcx");
	CHECK(EM_X86_64, "\x48\x8b\x04\xc8", "mov    (%rax,%rcx,8),%rax");
	CHECK(EM_X86_64, "\x64\x48\x8b\x04\x25\x28\x00\x00\x00", "mov    %fs:0x28,%rax");
	CHECK(EM_X86_64, "\xc3", "ret");
	CHECK(EM_X86_64, "\xff\xe0", "jmp    *%rax");
	CHECK(EM_X86_64, "\xff\x00", "incl   (%rax)");
	CHECK(EM_386, "\x8b\x44\x24\x04", "mov    0x4(%esp),%eax");
}

static void targets_have_names(void **state)
{
	static const char jump[] = "\x74\x10", call[] = "\xe8\xfb\xff\xff\xff";
	static const char data[] = "\x48\x8b\x05\x00\x10\x00\x00";

	(void)state;
	check(EM_X86_64, jump, 2, one_name, "je     1012 <f+0x12>");
	check(EM_X86_64, call, 5, one_name, "call   1000 <f>");
	check(EM_X86_64, data, 7, one_name, "mov    0x1000(%rip),%rax        # 2007");
	check(EM_AARCH64, "\x41\x00\x00\x54", 4, one_name, "b.ne   1008 <f+0x8>");
	check(EM_AARCH64, "\x00\x00\x00\x94", 4, one_name, "bl     1000 <f>");
	check(EM_PPC64, "\x01\x00\x00\x48", 4, one_name, "bl     1000 <f>");
}

static void check_second(const char *bytes, size_t size, const char *second)
{
	const struct instruction_code code = { .machine = EM_X86_64, .size = size,
					       .bytes = (const uint8_t *)bytes };
	struct instructions instructions;

	assert_no_error(instructions_decode(&code, no_name, NULL, &instructions));
	assert_int_equal(instructions.items.count, 2);
	assert_string_equal(instruction_text(&instructions, 1), second);
	instructions_deinit(&instructions);
}

/* Whether capstone knows the first instruction or not, what follows is where it is. */
static void unknown_ones_do_not_shift_the_rest(void **state)
{
	(void)state;
	check_second("\x62\xe1\xfe\x08\x6f\x06\xc3", 7, "ret"); /* vmovdqu64 (%rsi),%xmm16 */
	check_second("\x0f\x01\xee\xc3", 4, "ret"); /* rdpkru */
	check_second("\x67\x48\x0f\xb9\x3a\xc3", 6, "ret"); /* ud1 (%edx),%rdi: Linux's WARN */
}

#define LENGTH(bytes) vector_length((const uint8_t *)(bytes), sizeof(bytes) - 1, true)

/* As GNU as assembles them. */
static void lengths_of_vectors(void **state)
{
	(void)state;
	assert_int_equal(LENGTH("\xc5\xf8\x77\xc3"), 3);			 /* vzeroupper */
	assert_int_equal(LENGTH("\xc5\xfd\x6f\x07\xc3"), 4);			 /* (%rdi) */
	assert_int_equal(LENGTH("\xc4\xe2\x7d\x58\x04\x24\xc3"), 6);		 /* (%rsp) */
	assert_int_equal(LENGTH("\xc4\xe3\x75\x0f\xc0\x01\xc3"), 6);		 /* vpalignr $1 */
	assert_int_equal(LENGTH("\x62\xe1\xfe\x08\x6f\x46\x01\xc3"), 7);	 /* 0x10(%rsi) */
	assert_int_equal(LENGTH("\x62\xe1\xfe\x08\x6f\x05\x00\x01\x00\x00\xc3"), 10); /* (%rip) */
	assert_int_equal(LENGTH("\x0f\x01\xee\xc3"), 3);			 /* rdpkru */
	assert_int_equal(LENGTH("\xf3\x0f\x01\xea\xc3"), 4);			 /* saveprevssp */
	assert_int_equal(LENGTH("\xf2\x0f\x00\xf7\xc3"), 4);			 /* lkgs %edi */
	assert_int_equal(LENGTH("\x0f\x01\x10\xc3"), 0);			 /* lgdt (%rax) */
	assert_int_equal(LENGTH("\x62\xe1\xfe\x08"), 0);			 /* cut off */
	assert_int_equal(LENGTH("\x48\x89\xe5"), 0);
}

static void other_machines_are_refused(void **state)
{
	const struct instruction_code code = { .machine = EM_SPARC };
	struct instructions instructions;

	(void)state;
	assert_error(instructions_decode(&code, no_name, NULL, &instructions), ERROR_UNSUPPORTED);
	instructions_deinit(&instructions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_is_written_as_objdump_does),
		cmocka_unit_test(targets_have_names),
		cmocka_unit_test(unknown_ones_do_not_shift_the_rest),
		cmocka_unit_test(lengths_of_vectors),
		cmocka_unit_test(other_machines_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
