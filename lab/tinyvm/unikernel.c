/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest that is not Linux: known functions, known call chains, known shares of time.
 *
 *	loop	main_loop > phase_one > step_a > hot_a	75 % of the time
 *		main_loop > phase_two > step_b > hot_b	25 %
 *	deep	main_loop > deep_start > DEEP_FRAMES times deep_call > deep_leaf
 *	idle	one pass of "loop", then asleep in the VMM for IDLE_SLEEP_US
 *	user	one pass of "loop", then as many rounds at CPL 3 (user.c):
 *		hot_a 37.5 %, hot_b 12.5 %, user_hot 50 %
 *	fault	an invalid instruction in raise_fault
 *	exits	asleep until the VMM's SIGUSR2, then as many exits of each kind as guestabi.h
 *		says, in functions of their own, and asleep again
 *
 * A pass is ROUNDS_A rounds to ROUNDS_B, times a random number: a loop of constant length
 * could run in step with a sampling timer, which then sees other shares (seen at 1,000 Hz).
 * Completed rounds are counted in vcpu_areas (guestabi.h). Interrupts stay off: the host's
 * own interrupts make the exits. An exception is reported to the VMM, which ends.
 */
#include "guestabi.h"
#include "work.h"
#include "../workloads/leave_guest.h"

#define ROUNDS_A 3
#define ROUNDS_B 1
#define ROUNDS_USER (ROUNDS_A + ROUNDS_B)
#define MAX_FACTOR 16
#define ROUNDS_DEEP 64
#define DEEP_FRAMES 100
#define IDLE_SLEEP_US 500000
#define GO_SLEEP_US 50000
#define PASSES_TO_LEAVE 256

#define VECTORS 32
#define VECTOR_ENTRY_BYTES 16

#define MSR_EFER 0xc0000080
#define MSR_STAR 0xc0000081
#define MSR_LSTAR 0xc0000082
#define MSR_SFMASK 0xc0000084

struct interrupt_gate {
	uint16_t offset_low;
	uint16_t selector;
	uint8_t ist;
	uint8_t type;
	uint16_t offset_middle;
	uint32_t offset_high;
	uint32_t reserved;
};

struct table_register {
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

extern const uint64_t user_main_gva, user_stacks_gva;
extern uint8_t exception_entries[];
void enter_user(uint64_t entry, uint64_t stack, uint64_t argument);
void syscall_entry(void);
void kernel_main(const struct boot_info *boot, uint64_t index);

/* The VMM finds it by name. */
struct vcpu_area vcpu_areas[MAX_VCPUS];

static void write_msr(uint32_t msr, uint64_t value)
{
	asm volatile("wrmsr" : : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)));
}

static void sleep_us(uint32_t time_us)
{
	asm volatile("outl %%eax, %1" : : "a"(time_us), "i"(PORT_SLEEP) : "memory");
}

KNOWN_FUNCTION static uint64_t hot_a(uint64_t rounds)
{
	return do_rounds(rounds);
}

KNOWN_FUNCTION static uint64_t hot_b(uint64_t rounds)
{
	return do_rounds(rounds);
}

static inline uint64_t read_ticks(void)
{
	uint32_t low, high;

	asm volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

KNOWN_FUNCTION static void step_a(struct vcpu_area *area, uint64_t factor)
{
	uint64_t begin = read_ticks();

	hot_a(ROUNDS_A * factor);
	area->ticks_a += read_ticks() - begin;
	area->rounds_a += ROUNDS_A * factor;
}

KNOWN_FUNCTION static void step_b(struct vcpu_area *area, uint64_t factor)
{
	uint64_t begin = read_ticks();

	hot_b(ROUNDS_B * factor);
	area->ticks_b += read_ticks() - begin;
	area->rounds_b += ROUNDS_B * factor;
}

KNOWN_FUNCTION static void phase_one(struct vcpu_area *area, uint64_t factor)
{
	step_a(area, factor);
}

KNOWN_FUNCTION static void phase_two(struct vcpu_area *area, uint64_t factor)
{
	step_b(area, factor);
}

KNOWN_FUNCTION static void deep_leaf(struct vcpu_area *area)
{
	do_rounds(ROUNDS_DEEP);
	area->rounds_a += ROUNDS_DEEP;
}

KNOWN_FUNCTION static void deep_call(struct vcpu_area *area, uint64_t frames)
{
	if (frames > 1)
		deep_call(area, frames - 1);
	else
		deep_leaf(area);
}

KNOWN_FUNCTION static void deep_start(struct vcpu_area *area)
{
	deep_call(area, DEEP_FRAMES);
}

KNOWN_FUNCTION static void run_user(struct vcpu_area *area, uint64_t factor)
{
	/* As after a call: the ABI wants RSP + 8 aligned to 16 at a function's entry. */
	uint64_t stack = user_stacks_gva + (area->index + 1) * PAGE_BYTES - 8;

	uint64_t begin = read_ticks();

	enter_user(user_main_gva, stack, ROUNDS_USER * factor);
	area->ticks_user += read_ticks() - begin;
	area->rounds_user += ROUNDS_USER * factor;
}

KNOWN_FUNCTION static void raise_fault(void)
{
	asm volatile("ud2");
}

KNOWN_FUNCTION static void write_ports(void)
{
	for (uint32_t i = 0; i < EXITS_PORT_WRITES; i++)
		asm volatile("outl %%eax, %1" : : "a"(i), "i"(PORT_NOTHING));
}

/* KVM takes all writes to this one, and it keeps its value. */
KNOWN_FUNCTION static void write_msrs(void)
{
	uint32_t low, high;

	asm volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(MSR_EFER));
	for (uint32_t i = 0; i < EXITS_MSR_WRITES; i++)
		asm volatile("wrmsr" : : "c"(MSR_EFER), "a"(low), "d"(high));
}

/* As AMD's CPUs have it, which the lab's are; elsewhere KVM tries to replace the instruction. */
KNOWN_FUNCTION static void call_hypervisor(void)
{
	for (uint32_t i = 0; i < EXITS_HYPERCALLS; i++) {
		uint64_t number = EXITS_HYPERCALL_NUMBER;

		asm volatile("vmmcall" : "+a"(number) : : "memory");
	}
}

KNOWN_FUNCTION static void write_device(volatile uint32_t *device)
{
	for (uint32_t i = 0; i < EXITS_DEVICE_WRITES; i++)
		*device = i;
}

KNOWN_FUNCTION static void read_device(const volatile uint32_t *device)
{
	for (uint32_t i = 0; i < EXITS_DEVICE_READS; i++)
		(void)*device;
}

KNOWN_FUNCTION static void make_exits(const volatile struct boot_info *boot)
{
	volatile uint32_t *device = (volatile uint32_t *)DEVICE_GVA;

	while (!boot->go)
		sleep_us(GO_SLEEP_US);
	write_ports();
	write_msrs();
	call_hypervisor();
	write_device(device);
	read_device(device + 1);
	for (;;)
		sleep_us(IDLE_SLEEP_US);
}

/* 1 to MAX_FACTOR, by a linear congruential generator (Knuth's MMIX constants). */
static uint64_t random_factor(uint64_t *state)
{
	*state = *state * 6364136223846793005 + 1442695040888963407;
	return 1 + (*state >> 33) % MAX_FACTOR;
}

KNOWN_FUNCTION static void main_loop(struct vcpu_area *area, uint64_t mode)
{
	uint64_t random = area->index;

	if (mode == BOOT_MODE_FAULT)
		raise_fault();
	if (mode == BOOT_MODE_EXITS)
		make_exits((const volatile struct boot_info *)BOOT_INFO_GPA);
	for (unsigned int pass = 1;; pass++) {
		uint64_t factor = random_factor(&random);

		if (pass % PASSES_TO_LEAVE == 0)
			leave_guest();
		if (mode == BOOT_MODE_DEEP) {
			deep_start(area);
			continue;
		}
		phase_one(area, factor);
		phase_two(area, factor);
		if (mode == BOOT_MODE_IDLE)
			sleep_us(IDLE_SLEEP_US);
		else if (mode == BOOT_MODE_USER)
			run_user(area, factor);
	}
}

/* The VMM gave flat segments without a table behind them; here are tables, and a TSS. */
static void load_segments(struct vcpu_area *area)
{
	uint64_t base = (uint64_t)&area->tss, limit = sizeof(area->tss) - 1;
	struct table_register gdtr = { sizeof(area->gdt) - 1, (uint64_t)area->gdt };

	area->gdt[KERNEL_CODE / 8] = 0x00af9b000000ffff;
	area->gdt[KERNEL_DATA / 8] = 0x00cf93000000ffff;
	area->gdt[USER_DATA / 8] = 0x00cff3000000ffff;
	area->gdt[USER_CODE / 8] = 0x00affb000000ffff;
	area->gdt[TASK_STATE / 8] =
		limit | (base & 0xffffff) << 16 | 0x89ull << 40 | (base >> 24 & 0xff) << 56;
	area->gdt[TASK_STATE / 8 + 1] = base >> 32;
	area->tss.ist[0] = (uint64_t)(area->fault_stack + sizeof(area->fault_stack));
	area->tss.io_map_offset = sizeof(area->tss);
	asm volatile("lgdt %0\n\tltr %w1" : : "m"(gdtr), "r"(TASK_STATE) : "memory");
}

/* Each vCPU writes the same values to the one table. */
static void load_interrupt_table(void)
{
	static struct interrupt_gate gates[VECTORS];
	struct table_register idtr = { sizeof(gates) - 1, (uint64_t)gates };

	for (int i = 0; i < VECTORS; i++) {
		uint64_t entry = (uint64_t)(exception_entries + i * VECTOR_ENTRY_BYTES);

		gates[i].offset_low = (uint16_t)entry;
		gates[i].offset_middle = (uint16_t)(entry >> 16);
		gates[i].offset_high = (uint32_t)(entry >> 32);
		gates[i].selector = KERNEL_CODE;
		gates[i].ist = 1;
		gates[i].type = 0x8e;
	}
	asm volatile("lidt %0" : : "m"(idtr));
}

static void prepare_syscalls(void)
{
	write_msr(MSR_STAR, (uint64_t)USER_BASE << 48 | (uint64_t)KERNEL_CODE << 32);
	write_msr(MSR_LSTAR, (uint64_t)syscall_entry);
	write_msr(MSR_SFMASK, 0xffffffff & ~2u);
}

void kernel_main(const struct boot_info *boot, uint64_t index)
{
	struct vcpu_area *area = &vcpu_areas[index];

	area->index = index;
	load_segments(area);
	load_interrupt_table();
	prepare_syscalls();
	main_loop(area, boot->mode);
}
