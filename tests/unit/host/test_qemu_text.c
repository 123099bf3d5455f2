/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of QEMU's monitor: as QEMU 7.2 prints them, what its sources can print, and hostile ones. */
#include "test.h"

#include <string.h>

#include "base/memory.h"
#include "host/qemu_text.h"

#define RANGE(range, type) "  " range " (prio 0, " type "): some.name\r\n"

/* QEMU 7.2, -accel kvm -M q35 -m 256 -nodefaults, with views before and behind that are not wanted. */
static const char q35[] =
	"FlatView #0\r\n"
	" AS \"KVM-SMRAM\", root: mem-smram\r\n"
	" Root memory region: mem-smram\r\n"
	"  0000000000000000-00000000000bffff (prio 0, ram): pc.ram KVM\r\n"
	"\r\n"
	"FlatView #1\r\n"
	" AS \"memory\", root: system\r\n"
	" AS \"cpu-memory-0\", root: system\r\n"
	" Root memory region: system\r\n"
	"  0000000000000000-00000000000bffff (prio 0, ram): pc.ram KVM\r\n"
	"  00000000000c0000-00000000000dffff (prio 1, rom): pc.rom KVM\r\n"
	"  00000000000e0000-00000000000fffff (prio 0, rom): pc.bios @0000000000020000 KVM\r\n"
	"  0000000000100000-000000000fffffff (prio 0, ram): pc.ram @0000000000100000 KVM\r\n"
	"  00000000fec00000-00000000fec00fff (prio 0, i/o): kvm-ioapic\r\n"
	"  00000000fee00000-00000000feefffff (prio 4096, i/o): kvm-apic-msi\r\n"
	"  00000000fffc0000-00000000ffffffff (prio 0, rom): pc.bios KVM\r\n"
	"\r\n"
	"FlatView #2\r\n"
	" AS \"I/O\", root: io\r\n"
	" Root memory region: io\r\n"
	"  0000000000000000-0000000000000007 (prio 0, ram): never\r\n"
	"\r\n";

static struct error *read_ranges(const char *text, struct host_vm_memory *ret)
{
	char *exact = memory_dup(text, strlen(text)); /* of just this size, for ASan */
	struct error *error;

	*ret = (struct host_vm_memory){ 0 };
	error = qemu_text_ranges(exact, strlen(text), ret);
	free(exact);
	return error;
}

static void expect_slot(const struct host_vm_memory *memory, size_t number, uint64_t start,
			uint64_t bytes)
{
	assert_in_range(number, 0, memory->slots.count - 1);
	assert_int_equal(memory->slots.items[number].start.value, start);
	assert_int_equal(memory->slots.items[number].bytes, bytes);
}

static void reads_ranges(void **state)
{
	struct host_vm_memory memory;

	(void)state;
	assert_no_error(read_ranges(q35, &memory));
	assert_int_equal(memory.slots.count, 5);
	expect_slot(&memory, 0, 0, 0xc0000);
	expect_slot(&memory, 1, 0xc0000, 0x20000);
	expect_slot(&memory, 3, 0x100000, 0xff00000);
	expect_slot(&memory, 4, 0xfffc0000, 0x40000);
	host_vm_memory_deinit(&memory);
}

static void reads_types(void **state)
{
	static const char text[] = "FlatView #0\n AS \"memory\", root: system\n"
				   RANGE("0000000000000000-0000000000000fff", "nv-ram")
				   RANGE("0000000000001000-0000000000001fff", "romd")
				   RANGE("0000000000002000-0000000000002fff", "ramd")
				   RANGE("0000000000003000-0000000000003fff", "i/o")
				   RANGE("0000000000004000-0000000000004fff", "container")
				   RANGE("0000000000005000-0000000000005fff", "rom");
	struct host_vm_memory memory;

	(void)state;
	assert_no_error(read_ranges(text, &memory));
	assert_int_equal(memory.slots.count, 3);
	expect_slot(&memory, 0, 0, 0x1000);
	expect_slot(&memory, 1, 0x1000, 0x1000);
	expect_slot(&memory, 2, 0x5000, 0x1000);
	host_vm_memory_deinit(&memory);
}

/* kvm_align_section(): KVM has whole pages only. */
static void trims_to_pages(void **state)
{
	static const char text[] = "FlatView #0\n AS \"memory\", root: system\n"
				   RANGE("0000000000000000-00000000000017ff", "ram")
				   RANGE("0000000000001800-00000000000043ff", "ram")
				   RANGE("0000000000005001-0000000000005fff", "ram")
				   RANGE("0000000000007000-0000000000007ffe", "ram")
				   RANGE("000ffffffffff000-000fffffffffffff", "ram");
	struct host_vm_memory memory;

	(void)state;
	assert_no_error(read_ranges(text, &memory));
	assert_int_equal(memory.slots.count, 3);
	expect_slot(&memory, 0, 0, 0x1000);
	expect_slot(&memory, 1, 0x2000, 0x2000);
	expect_slot(&memory, 2, 0xffffffffff000, 0x1000);
	host_vm_memory_deinit(&memory);
}

static void refuses_ranges(void **state)
{
#define IN_VIEW "FlatView #0\n AS \"memory\", root: system\n"
	static const char *const texts[] = {
		"",
		"\n\n\n",
		IN_VIEW,
		" AS \"memory\", root: system\n",
		"FlatView #0\n AS \"I/O\", root: io\n" RANGE("0000000000000000-0000000000000fff",
							      "ram"),
		IN_VIEW RANGE("0000000000000000-0010000000000000", "ram"),
		IN_VIEW RANGE("0000000000000000-ffffffffffffffff", "ram"),
		IN_VIEW RANGE("0000000000002000-0000000000003fff", "ram")
			RANGE("0000000000003000-0000000000004fff", "ram"),
		IN_VIEW RANGE("0000000000002000-0000000000003fff", "ram")
			RANGE("0000000000000000-0000000000000fff", "ram"),
		IN_VIEW RANGE("0000000000002000-0000000000001fff", "ram"),
		IN_VIEW RANGE("00000000000002000-0000000000003fff", "ram"),
		IN_VIEW RANGE("-", "ram"),
		IN_VIEW "  0000000000002000-0000000000003fff (prio 0",
		IN_VIEW "  0000000000002000-0000000000003fff (prio 0,",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct host_vm_memory memory;

		assert_error(read_ranges(texts[i], &memory), ERROR_BAD_DATA);
		host_vm_memory_deinit(&memory);
	}
}

static struct error *read_addresses(const char *text, struct host_vm_memory *ret)
{
	char *exact = memory_dup(text, strlen(text));
	struct error *error;

	*ret = (struct host_vm_memory){ 0 };
	vector_append(&ret->slots, (struct host_vm_slot){ GPA(0), 0xc0000 });
	vector_append(&ret->slots, (struct host_vm_slot){ GPA(0xc0000), 0x1000 });
	error = qemu_text_addresses(exact, strlen(text), ret);
	free(exact);
	return error;
}

#define AT(gpa, name, hva) "Host virtual address for " gpa " (" name ") is " hva "\r\n"

static void reads_addresses(void **state)
{
	struct host_vm_memory memory;

	(void)state;
	assert_no_error(read_addresses(AT("0x0", "pc.ram", "0x7fee83e00000") "\r\n"
				       AT("0xbf000", "pc.ram", "0x7fee83ebf000") "\r\n"
				       AT("0xc0000", "a) is 0x1 (b", "0x7fee83c00000") "\r\n"
				       AT("0xc0000", "a) is 0x1 (b", "0x7fee83c00000"), &memory));
	assert_int_equal(memory.slots.count, 2);
	assert_int_equal(memory.slots.items[0].hva, 0x7fee83e00000);
	assert_int_equal(memory.slots.items[1].hva, 0x7fee83c00000);
	host_vm_memory_deinit(&memory);
	/* As QEMU says of what has gone meanwhile. */
	assert_no_error(read_addresses("No memory is mapped at address 0x0\r\n"
				       "Memory at address 0xbf000is not RAM\r\n"
				       AT("0xc0000", "pc.rom", "0x7fee83c00000")
				       AT("0xc0000", "pc.rom", "0x7fee83c00000"), &memory));
	assert_int_equal(memory.slots.count, 1);
	expect_slot(&memory, 0, 0xc0000, 0x1000);
	assert_int_equal(memory.slots.items[0].hva, 0x7fee83c00000);
	host_vm_memory_deinit(&memory);
}

static void refuses_addresses(void **state)
{
	static const char *const texts[] = {
		"",
		AT("0x0", "pc.ram", "0x7fee83e00000"),
		AT("0x0", "pc.ram", "0x7fee83e00000") AT("0xbf000", "pc.ram", "0x7fee83ebe000"),
		AT("0x0", "pc.ram", "0x7fee83e00001") AT("0xbf000", "pc.ram", "0x7fee83ebf001"),
		AT("0x0", "pc.ram", "0xfffffffffff41000") AT("0xbf000", "pc.ram", "0x0"),
		AT("0x0", "pc.ram", "(nil)") AT("0xbf000", "pc.ram", "0xbf000"),
		AT("0x1000", "pc.ram", "0x7fee83e00000"),
		"Host virtual address for 0x",
		"Host virtual address for 0x0 is 0x",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct host_vm_memory memory;

		assert_error(read_addresses(texts[i], &memory), ERROR_BAD_DATA);
		host_vm_memory_deinit(&memory);
	}
}

/* The form of QEMU 7.2, with fewer lines: a vCPU in long mode, and one that has not started. */
static const char registers[] =
	"\r\nCPU#0\r\n"
	"RAX=0000000000000000 RBX=0000000000000000 RCX=0000000000000001 RDX=0000000000000000\r\n"
	"RIP=ffffffff9a1c9f0b RFL=00000246 [---Z-P-] CPL=0 II=0 A20=1 SMM=0 HLT=1\r\n"
	"CR0=80050033 CR2=00007f6c2a5a0010 CR3=0000000002a10006 CR4=00751ef0\r\n"
	"DR0=0000000000000000 DR1=0000000000000000 DR2=0000000000000000 DR3=0000000000000000 \r\n"
	"DR6=00000000ffff0ff0 DR7=0000000000000400\r\n"
	"EFER=0000000000000d01\r\n"
	"FCW=037f FSW=0000 [ST=0] FTW=00 MXCSR=00001f80\r\n"
	"\r\nCPU#12\r\n"
	"EAX=00000000 EBX=00000000 ECX=00000000 EDX=00060fb1\r\n"
	"CR0=60000010 CR2=00000000 CR3=00000000 CR4=00000000\r\n"
	"EFER=0000000000000000\r\n";

static struct error *read_registers(const char *text, struct host_vm_memory *ret)
{
	char *exact = memory_dup(text, strlen(text));
	struct error *error;

	*ret = (struct host_vm_memory){ 0 };
	error = qemu_text_registers(exact, strlen(text), ret);
	free(exact);
	return error;
}

static void reads_registers(void **state)
{
	struct host_vm_memory memory;

	(void)state;
	assert_no_error(read_registers(registers, &memory));
	assert_int_equal(memory.registers.count, 2);
	assert_int_equal(memory.registers.items[0].vcpu, 0);
	assert_ptr_equal(memory.registers.items[0].mmu.arch, &arch_x86_64);
	assert_int_equal(memory.registers.items[0].mmu.x86.cr0, 0x80050033);
	assert_int_equal(memory.registers.items[0].mmu.x86.cr3, 0x2a10006);
	assert_int_equal(memory.registers.items[0].mmu.x86.cr4, 0x751ef0);
	assert_int_equal(memory.registers.items[0].mmu.x86.efer, 0xd01);
	assert_int_equal(memory.registers.items[1].vcpu, 12);
	assert_int_equal(memory.registers.items[1].mmu.x86.cr0, 0x60000010);
	assert_int_equal(memory.registers.items[1].mmu.x86.efer, 0);
	host_vm_memory_deinit(&memory);
}

static void refuses_registers(void **state)
{
	static const char *const texts[] = {
		"", "CPU#0\n", "CPU#0\nEFER=0000000000000d01\n",
		"CPU#0\nCR0=80050033 CR2=0 CR3=0 CR4=0\n",
		"CPU#0\nXCR0=80050033 CR2=0 CR3=0 CR4=0\nEFER=1\n",
		"CPU#0\nCR0=80050033 CR2=0 CR4=0\nEFER=1\n",
		"CPU#0\nCR0=80050033 CR2=0 CR3=0 CR4=0\nCPU#1\nEFER=1\n",
		"CPU#0\n PC=ffff800010e5b2bc X00=0000000000000000 X01=0000000000000000\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct host_vm_memory memory;

		assert_error(read_registers(texts[i], &memory), ERROR_UNSUPPORTED);
		host_vm_memory_deinit(&memory);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_ranges),
		cmocka_unit_test(reads_types),
		cmocka_unit_test(trims_to_pages),
		cmocka_unit_test(refuses_ranges),
		cmocka_unit_test(reads_addresses),
		cmocka_unit_test(refuses_addresses),
		cmocka_unit_test(reads_registers),
		cmocka_unit_test(refuses_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
