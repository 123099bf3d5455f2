/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names from command lines: real ones of each VMM, and hostile ones. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "host/vm/vm_name.h"

/* COMMAND's arguments are separated by '|', which stands for the 0 byte after each. */
static void expect_of(const char *command, const char *comm, const char *program,
		      const char *expected_name, const char *expected_vmm)
{
	size_t size = strlen(command);
	char *bytes = memory_dup(command, size);
	struct vm_process process = { .pid = 42, .command = { bytes, size },
				      .comm = comm, .program = program };
	char *name, *vmm;

	for (size_t i = 0; i < size; i++)
		if (bytes[i] == '|')
			bytes[i] = 0;
	vm_name_find(&process, &name, &vmm);
	assert_string_equal(name, expected_name);
	assert_string_equal(vmm, expected_vmm);
	free(name);
	free(vmm);
	free(bytes);
}

static void expect(const char *command, const char *name, const char *vmm)
{
	expect_of(command, "", "", name, vmm);
}

static void reads_qemu(void **state)
{
	(void)state;
	/* As started by libvirt. */
	expect("/usr/bin/qemu-system-x86_64|-name|guest=web-1,debug-threads=on|-S|-m|512|",
	       "web-1", "qemu");
	expect("qemu-system-aarch64|-smp|2|-name|plain|", "plain", "qemu");
	expect("/usr/bin/kvm|--name|plain,process=x|", "plain", "qemu");
	expect("/usr/libexec/qemu-kvm|-name|debug-threads=on,guest=late|", "late", "qemu");
	expect("qemu-system-x86_64|-name|first|-name|guest=second|", "second", "qemu");
}

/* QemuOpts: a comma in a value is written twice. */
static void reads_commas_in_qemu_names(void **state)
{
	(void)state;
	expect("qemu-system-x86_64|-name|a,,b,process=p|", "a,b", "qemu");
	expect("qemu-system-x86_64|-name|guest=,,a,,,,b,,|", ",a,,b,", "qemu");
	expect("qemu-system-x86_64|-name|a b=c|", "qemu-system-x86_64-42", "qemu");
}

static void reads_other_vmms(void **state)
{
	(void)state;
	expect("/usr/bin/firecracker|--id|i-0abc|--api-sock|/run/x|", "i-0abc", "firecracker");
	expect("./firecracker-v1.7.0-x86_64|--id=i-0abc|", "i-0abc", "firecracker");
	expect("crosvm|run|--name|arc|--mem|512|", "arc", "crosvm");
	expect("lkvm|run|--name|guest-7|", "guest-7", "kvmtool");
	expect("cloud-hypervisor|--api-socket|/run/ch.sock|", "cloud-hypervisor-42",
	       "cloud-hypervisor");
	expect("/opt/stratovirt|-name|sv|", "sv", "stratovirt");
	expect("/opt/tinyvm|--name|what|", "tinyvm-42", "tinyvm");
}

static void takes_the_command_without_a_name(void **state)
{
	(void)state;
	expect("qemu-system-x86_64|-m|512|", "qemu-system-x86_64-42", "qemu");
	expect("qemu-system-x86_64|-name|", "qemu-system-x86_64-42", "qemu");
	expect("qemu-system-x86_64|-name||-m|", "qemu-system-x86_64-42", "qemu");
	expect("qemu-system-x86_64|-name|guest=|", "qemu-system-x86_64-42", "qemu");
	expect("qemu-system-x86_64|-nameless|x|", "qemu-system-x86_64-42", "qemu");
	expect("worker: job 7 of /a/b|", "worker-42", "worker");
}

static void knows_a_vmm_by_its_program(void **state)
{
	(void)state;
	expect_of("/lib/ld.so|-name|x|", "ld.so", "qemu-system-x86_64", "x", "qemu");
	expect_of("", "CPU thread", "", "CPU thread-42", "CPU thread");
	expect_of("", "", "", "?-42", "?");
	expect_of("///|", "comm", "", "comm-42", "comm");
}

static void makes_names_harmless(void **state)
{
	(void)state;
	expect("qemu-system-x86_64|-name|a\x1b]0;x\a\n\xff|", "a?]0;x???", "qemu");
	expect("/x/\x1b[31mred|", "?[31mred-42", "?[31mred");
}

static void survives_without_terminators(void **state)
{
	(void)state;
	expect("qemu-system-x86_64|-name|cut", "cut", "qemu");
	expect("qemu-system-x86_64|-name", "qemu-system-x86_64-42", "qemu");
	expect("firecracker|--id=", "firecracker-42", "firecracker");
	expect("||||", "?-42", "?");
}

static void bounds_names(void **state)
{
	const size_t size = 1 << 20;
	char *command = memory_alloc(size);
	struct vm_process process = { .pid = UINT32_MAX, .command = { command, size },
				      .comm = "", .program = "" };
	char *name, *vmm;

	(void)state;
	/* A million bytes in one argument: a single two-byte character, repeated. */
	for (size_t i = 0; i < size; i++)
		command[i] = i % 2 ? '\xa9' : '\xc3';
	vm_name_find(&process, &name, &vmm);
	assert_in_range(strlen(name), 200, VM_NAME_MAX_BYTES);
	assert_in_range(strlen(vmm), 200, VM_NAME_MAX_BYTES);
	assert_string_equal(name + strlen(name) - 11, "-4294967295");
	free(name);
	free(vmm);
	memcpy(command, "qemu-kvm\0-name", 15);
	vm_name_find(&process, &name, &vmm);
	assert_in_range(strlen(name), 200, VM_NAME_MAX_BYTES);
	free(name);
	free(vmm);
	free(command);
}

/* Random bytes from meaningful ones: must never crash, and results must be as in the header. */
static void survives_noise(void **state)
{
	static const char alphabet[] = "-=,|gusetnamid/ \xc3\x1b";
	uint32_t random = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char bytes[64];
		size_t size = random % sizeof(bytes);
		char *command, *name, *vmm;
		struct vm_process process = { .pid = 1, .comm = "c", .program = "qemu-kvm" };
		uint32_t character;

		for (size_t i = 0; i < size; i++) {
			random = random * 1664525 + 1013904223;
			bytes[i] = alphabet[random >> 24 & 15];
			bytes[i] = bytes[i] == '|' ? 0 : bytes[i];
		}
		random = random * 1664525 + 1013904223;
		command = memory_dup(bytes, size); /* of exactly this size, for ASan */
		process.command = (struct vm_command){ command, size };
		vm_name_find(&process, &name, &vmm);
		assert_in_range(strlen(name), 1, VM_NAME_MAX_BYTES);
		for (const char *at = name; *at; at += utf8_decode(at, 4, &character))
			assert_true(utf8_decode(at, strlen(at), &character) && character >= 0x20);
		free(name);
		free(vmm);
		free(command);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_qemu),
		cmocka_unit_test(reads_commas_in_qemu_names),
		cmocka_unit_test(reads_other_vmms),
		cmocka_unit_test(takes_the_command_without_a_name),
		cmocka_unit_test(knows_a_vmm_by_its_program),
		cmocka_unit_test(makes_names_harmless),
		cmocka_unit_test(survives_without_terminators),
		cmocka_unit_test(bounds_names),
		cmocka_unit_test(survives_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
