/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts of QEMU's monitor: as printed by QEMU 7.2, others that its sources can print, and hostile
 * ones.
 */
#include "test.h"

#include <string.h>

#include "base/memory.h"
#include "host/vm/qemu_text.h"

#define RANGE(range, type) "  " range " (prio 0, " type "): some.name\r\n"

/* QEMU 7.2, -accel kvm -M q35 -m 256 -nodefaults, with unwanted views before and after. */
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
	char *exact = memory_dup(text, strlen(text)); /* of exactly this size, for ASan */
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

/* kvm_align_section(): KVM only has whole pages. */
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
	/* QEMU's answers for memory that has gone in the meantime. */
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

/* The format of QEMU 7.2, with fewer lines: a vCPU in long mode, and one that has not started. */
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

/*
 * QEMU 10.0: a vCPU in the kernel, and one that runs 32-bit code in user mode, as in
 * x86_cpu_dump_state().
 */
static const char in_kernel[] =
	"\r\nCPU#0\r\n"
	"RAX=0000000000000001 RBX=ffff8ace1058ac80 RCX=0000000000000002 RDX=0000000000000003\r\n"
	"RSI=0000000000000004 RDI=ffff8ace1058ac81 RBP=0000000000000800 RSP=ffffd3b040593a18\r\n"
	"R8 =0000000000000801 R9 =ffffd3b040593a70 R10=ffff8ace01cd0048 R11=0000000000000005\r\n"
	"R12=0000000000000006 R13=00000000000007ff R14=ffff8ace10419000 R15=0000000000000007\r\n"
	"RIP=ffffffff81524370 RFL=00000246 [---Z-P-] CPL=0 II=0 A20=1 SMM=0 HLT=0\r\n"
	"ES =0000 0000000000000000 00000000 00000000\r\n"
	"CS =0010 0000000000000000 ffffffff 00a09b00 DPL=0 CS64 [-RA]\r\n"
	"FS =0000 000000003a75f380 00000000 00000000\r\n"
	"GS =0000 ffff8ace1ec00000 00000000 00000000\r\n"
	"LDT=0000 0000000000000000 00000000 00008200 DPL=0 LDT\r\n"
	"CR0=80050033 CR2=00007f6117775000 CR3=00000000103c0000 CR4=000006b0\r\n"
	"EFER=0000000000000d01\r\n";
static const char in_user32[] =
	"CPU#1\n"
	"EAX=00000001 EBX=00000002 ECX=00000003 EDX=00000004\n"
	"ESI=00000005 EDI=00000006 EBP=00000007 ESP=ffdd0010\n"
	"EIP=08049123 EFL=00000246 [---Z-P-] CPL=3 II=0 A20=1 SMM=0 HLT=0\n"
	"GS =0063 00000000 ffffffff 00c0f300 DPL=3 DS   [-WA]\n"
	"CR0=80050033 CR2=0000000000000000 CR3=00000000103c1000 CR4=000006b0\n"
	"EFER=0000000000000d01\n";

static void reads_state(void **state)
{
	static const uint64_t expected[HOST_VM_REGISTERS] = {
		1, 2, 3, 0xffff8ace1058ac80, 0xffffd3b040593a18, 0x800, 4, 0xffff8ace1058ac81,
		0x801, 0xffffd3b040593a70, 0xffff8ace01cd0048, 5, 6, 0x7ff, 0xffff8ace10419000, 7,
		0xffffffff81524370,
	};
	struct host_vm_memory memory;

	(void)state;
	assert_no_error(read_registers(in_kernel, &memory));
	assert_int_equal(memory.registers.count, 1);
	assert_true(memory.registers.items[0].has_state);
	assert_false(memory.registers.items[0].halted);
	assert_false(memory.registers.items[0].user);
	assert_int_equal(memory.registers.items[0].gs_base, 0xffff8ace1ec00000);
	assert_memory_equal(memory.registers.items[0].registers, expected, sizeof(expected));
	host_vm_memory_deinit(&memory);
	assert_no_error(read_registers(in_user32, &memory));
	assert_true(memory.registers.items[0].has_state);
	assert_true(memory.registers.items[0].user);
	assert_int_equal(memory.registers.items[0].registers[4], 0xffdd0010);
	assert_int_equal(memory.registers.items[0].registers[16], 0x8049123);
	assert_int_equal(memory.registers.items[0].gs_base, 0);
	host_vm_memory_deinit(&memory);
}

/* Missing values are not taken to be 0, nor copied from the previous vCPU. */
static void knows_no_state(void **state)
{
#define CONTROL "CR0=80050033 CR2=0 CR3=0 CR4=0\nEFER=0000000000000d01\n"
#define GENERAL "EAX=1 EBX=2 ECX=3 EDX=4\nESI=5 EDI=6 EBP=7 ESP=8\n"
	static const char *const texts[] = {
		"CPU#0\n" GENERAL "EIP=0 CPL=0 II=0 A20=1 SMM=1 HLT=0\n" CONTROL,
		"CPU#0\n" GENERAL "EIP=0 CPL=0 II=0 A20=1 SMM=0\n" CONTROL,
		"CPU#0\n" GENERAL "CPL=0 II=0 A20=1 SMM=0 HLT=0\n" CONTROL,
		"CPU#0\nEIP=0 CPL=0 II=0 A20=1 SMM=0 HLT=0\n" CONTROL,
		"CPU#0\n" GENERAL "EIP=0 CPL=0 II=0 A20=1 SMM=0 HLT=0\nCPU#1\n" CONTROL,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct host_vm_memory memory;

		assert_no_error(read_registers(texts[i], &memory));
		assert_int_equal(memory.registers.count, 1);
		assert_false(memory.registers.items[0].has_state);
		host_vm_memory_deinit(&memory);
	}
}

/* QEMU 10.0; QEMU 2.11, hmp_info_cpus(). */
static void reads_cpus(void **state)
{
	static const char now[] = "* CPU #0: thread_id=997\r\n  CPU #1: thread_id=998\r\n";
	static const char before[] = "* CPU #0: pc=0xffffffff81058e96 (halted) thread_id=997\r\n";
	static const char *const bad[] = {
		"",
		"CPU #0:\n",
		"CPU #0: thread_id=0\n",
		"CPU #0 thread_id=1\n",
		"CPU #: thread_id=\n",
		"CPU #99999: thread_id=5\n",
		"CPU #0: thread_id=99999999999999999999\n",
		"CPU #-1: thread_id=1\n",
	};
	struct host_vm vm = { 0 };

	(void)state;
	assert_no_error(qemu_text_cpus(now, strlen(now), &vm));
	assert_int_equal(vm.vcpus.count, 2);
	assert_int_equal(vm.vcpus.items[1].number, 1);
	assert_int_equal(vm.vcpus.items[1].tid, 998);
	vm.vcpus.count = 0;
	assert_no_error(qemu_text_cpus(before, strlen(before), &vm));
	assert_int_equal(vm.vcpus.items[0].tid, 997);
	vm.vcpus.count = 0;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_error(qemu_text_cpus(bad[i], strlen(bad[i]), &vm), ERROR_BAD_DATA);
	vector_deinit(&vm.vcpus);
}

static void reads_status(void **state)
{
	static const char paused[] = "VM status: paused (prelaunch)\r\n",
			  runs[] = "VM status: running\r\n";

	(void)state;
	assert_true(qemu_text_runs(runs, strlen(runs)));
	assert_false(qemu_text_runs(paused, strlen(paused)));
	assert_false(qemu_text_runs("", 0));
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
		cmocka_unit_test(reads_state),
		cmocka_unit_test(knows_no_state),
		cmocka_unit_test(reads_cpus),
		cmocka_unit_test(reads_status),
		cmocka_unit_test(refuses_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
