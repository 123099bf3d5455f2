/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One vCPU: its registers at the unikernel's entry, its thread, its exits. The unikernel makes
 * calls by port I/O, and accesses one device (guestabi.h); any other exit to here is an error
 * that shows the registers. A vCPU that sleeps waits on the VM's stop_fd, one that runs is kicked
 * out of KVM_RUN by KICK_SIGNAL with immediate_exit set, so that no kick is lost (api.rst,
 * KVM_RUN).
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tinyvm.h"

#define CR0_PE (1u << 0)
#define CR0_MP (1u << 1)
#define CR0_ET (1u << 4)
#define CR0_WP (1u << 16)
#define CR0_PG (1u << 31)
#define CR4_PAE (1u << 5)
#define CR4_LA57 (1u << 12)
#define EFER_SCE (1u << 0)
#define EFER_LME (1u << 8)
#define EFER_LMA (1u << 10)
#define EFER_NXE (1u << 11)
#define RFLAGS_FIXED 2

#define KICK_SIGNAL SIGUSR1
#define THREAD_STACK_BYTES (128 * 1024)

#define SEGMENT_CODE 0xb /* execute, read, accessed */
#define SEGMENT_DATA 0x3 /* read, write, accessed */
#define SEGMENT_BUSY_TSS 0xb

static struct kvm_segment segment_make(uint16_t selector, uint8_t type)
{
	return (struct kvm_segment){
		.limit = 0xffffffff,
		.selector = selector,
		.type = type,
		.present = 1,
		.s = 1,
		.g = 1,
		.l = type == SEGMENT_CODE,
		.db = type != SEGMENT_CODE,
	};
}

static void sregs_fill(const struct vcpu *vcpu, struct kvm_sregs *sregs)
{
	const struct vm *vm = vcpu->vm;

	sregs->cs = segment_make(KERNEL_CODE, SEGMENT_CODE);
	sregs->ds = sregs->es = sregs->ss = segment_make(KERNEL_DATA, SEGMENT_DATA);
	sregs->fs = sregs->gs = sregs->ds;
	sregs->gs.base = vm->image.areas_gva + vcpu->index * sizeof(struct vcpu_area);
	/* Intel wants a task register in every state; the guest loads its own. */
	sregs->tr = segment_make(0, SEGMENT_BUSY_TSS);
	sregs->tr.s = sregs->tr.g = sregs->tr.db = sregs->tr.l = 0;
	sregs->tr.limit = sizeof(struct task_state) - 1;
	sregs->ldt = (struct kvm_segment){ .unusable = 1 };
	sregs->gdt = sregs->idt = (struct kvm_dtable){ 0 };
	sregs->cr0 = CR0_PE | CR0_MP | CR0_ET | CR0_WP | CR0_PG;
	sregs->cr3 = vm->memory.root_gpa;
	sregs->cr4 = CR4_PAE | (vm->memory.levels == 5 ? CR4_LA57 : 0);
	sregs->efer = EFER_SCE | EFER_LME | EFER_LMA | EFER_NXE;
}

static int registers_set(struct vcpu *vcpu)
{
	struct kvm_regs regs = {
		.rip = vcpu->vm->image.entry_gva,
		.rsp = memory_stack_end_gva(&vcpu->vm->memory, vcpu->index),
		.rdi = BOOT_INFO_GPA,
		.rsi = vcpu->index,
		.rflags = RFLAGS_FIXED,
	};
	struct kvm_sregs sregs;

	if (ioctl(vcpu->fd, KVM_GET_SREGS, &sregs))
		return -1;
	sregs_fill(vcpu, &sregs);
	return ioctl(vcpu->fd, KVM_SET_SREGS, &sregs) || ioctl(vcpu->fd, KVM_SET_REGS, &regs) ? -1
											      : 0;
}

int vcpu_create(struct vm *vm, unsigned index, const struct kvm_cpuid2 *cpuid)
{
	struct vcpu *vcpu = &vm->vcpus[index];
	int run_bytes = ioctl(vm->kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0);
	void *run;

	*vcpu = (struct vcpu){ .vm = vm, .index = index };
	vcpu->fd = ioctl(vm->fd, KVM_CREATE_VCPU, index);
	if (vcpu->fd < 0 || run_bytes < (int)sizeof(*vcpu->run)) {
		complain("cannot create vCPU %u: %s", index, strerror(errno));
		return -1;
	}
	run = mmap(NULL, (size_t)run_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu->fd, 0);
	if (run == MAP_FAILED) {
		complain("cannot map the run area of vCPU %u: %s", index, strerror(errno));
		return -1;
	}
	vcpu->run = run;
	vcpu->run_bytes = (size_t)run_bytes;
	if (ioctl(vcpu->fd, KVM_SET_CPUID2, cpuid) || registers_set(vcpu)) {
		complain("KVM refused the registers of vCPU %u: %s", index, strerror(errno));
		return -1;
	}
	return 0;
}

void vcpu_destroy(struct vcpu *vcpu)
{
	if (vcpu->run)
		munmap(vcpu->run, vcpu->run_bytes);
	if (vcpu->fd > 0)
		close(vcpu->fd);
	*vcpu = (struct vcpu){ 0 };
}

static void registers_show(const struct vcpu *vcpu)
{
	struct kvm_regs regs;
	struct kvm_sregs sregs;

	if (ioctl(vcpu->fd, KVM_GET_REGS, &regs) || ioctl(vcpu->fd, KVM_GET_SREGS, &sregs))
		return;
	fprintf(stderr,
		"  rip %016" PRIx64 "  rsp %016" PRIx64 "  rbp %016" PRIx64 "  flg %016" PRIx64 "\n"
		"  rax %016" PRIx64 "  rbx %016" PRIx64 "  rcx %016" PRIx64 "  rdx %016" PRIx64 "\n"
		"  rsi %016" PRIx64 "  rdi %016" PRIx64 "  r8  %016" PRIx64 "  r9  %016" PRIx64 "\n"
		"  r10 %016" PRIx64 "  r11 %016" PRIx64 "  r12 %016" PRIx64 "  r13 %016" PRIx64 "\n"
		"  r14 %016" PRIx64 "  r15 %016" PRIx64 "  gs  %016" PRIx64 "  efr %016" PRIx64 "\n"
		"  cr0 %016" PRIx64 "  cr2 %016" PRIx64 "  cr3 %016" PRIx64 "  cr4 %016" PRIx64
		"\n",
		(uint64_t)regs.rip, (uint64_t)regs.rsp, (uint64_t)regs.rbp, (uint64_t)regs.rflags,
		(uint64_t)regs.rax, (uint64_t)regs.rbx, (uint64_t)regs.rcx, (uint64_t)regs.rdx,
		(uint64_t)regs.rsi, (uint64_t)regs.rdi, (uint64_t)regs.r8, (uint64_t)regs.r9,
		(uint64_t)regs.r10, (uint64_t)regs.r11, (uint64_t)regs.r12, (uint64_t)regs.r13,
		(uint64_t)regs.r14, (uint64_t)regs.r15, (uint64_t)sregs.gs.base,
		(uint64_t)sregs.efer, (uint64_t)sregs.cr0, (uint64_t)sregs.cr2, (uint64_t)sregs.cr3,
		(uint64_t)sregs.cr4);
}

/* The frame is on the guest's fault stack, in one page or two: read only if all in memory. */
static bool fault_frame_get(const struct vcpu *vcpu, struct fault_frame *ret)
{
	struct kvm_translation translation = { 0 };
	struct kvm_regs regs;
	const void *frame;

	if (ioctl(vcpu->fd, KVM_GET_REGS, &regs))
		return false;
	translation.linear_address = regs.rsp;
	if (ioctl(vcpu->fd, KVM_TRANSLATE, &translation) || !translation.valid)
		return false;
	frame = memory_at(&vcpu->vm->memory, translation.physical_address, sizeof(*ret));
	if (!frame)
		return false;
	memcpy(ret, frame, sizeof(*ret));
	return true;
}

static const char *vector_name(uint64_t vector)
{
	static const char *const names[] = {
		[0] = "#DE divide error",   [1] = "#DB debug",
		[3] = "#BP breakpoint",     [6] = "#UD invalid instruction",
		[7] = "#NM no FPU",         [8] = "#DF double fault",
		[10] = "#TS invalid TSS",   [11] = "#NP segment not present",
		[12] = "#SS stack segment", [13] = "#GP general protection",
		[14] = "#PF page fault",
	};

	return vector < sizeof(names) / sizeof(names[0]) && names[vector] ? names[vector] : "other";
}

static int fault_report(const struct vcpu *vcpu)
{
	struct fault_frame frame;

	flockfile(stderr);
	if (fault_frame_get(vcpu, &frame))
		complain("vcpu %u: guest exception %" PRIu64 " (%s) at rip %#" PRIx64
			 ", error code %#" PRIx64 ", cpl %u, rsp %#" PRIx64,
			 vcpu->index, frame.vector, vector_name(frame.vector), frame.rip,
			 frame.error, (unsigned)(frame.cs & 3), frame.rsp);
	else
		complain("vcpu %u: guest exception with an unreadable frame", vcpu->index);
	registers_show(vcpu);
	funlockfile(stderr);
	return -1;
}

static const char *exit_name(uint32_t reason)
{
	switch (reason) {
	case KVM_EXIT_EXCEPTION:
		return "EXCEPTION";
	case KVM_EXIT_IO:
		return "IO";
	case KVM_EXIT_HLT:
		return "HLT";
	case KVM_EXIT_MMIO:
		return "MMIO";
	case KVM_EXIT_SHUTDOWN:
		return "SHUTDOWN (triple fault)";
	case KVM_EXIT_FAIL_ENTRY:
		return "FAIL_ENTRY";
	case KVM_EXIT_INTERNAL_ERROR:
		return "INTERNAL_ERROR";
	default:
		return "other";
	}
}

static int exit_report(const struct vcpu *vcpu)
{
	flockfile(stderr);
	complain("vcpu %u: unexpected exit %u (%s)", vcpu->index, vcpu->run->exit_reason,
		 exit_name(vcpu->run->exit_reason));
	registers_show(vcpu);
	funlockfile(stderr);
	return -1;
}

static void sleep_us(const struct vm *vm, uint32_t time_us)
{
	struct timespec time = { .tv_sec = time_us / 1000000,
				 .tv_nsec = time_us % 1000000 * 1000L };
	struct pollfd stop = { .fd = vm->stop_fd, .events = POLLIN };

	ppoll(&stop, 1, &time, NULL);
}

static int io_handle(const struct vcpu *vcpu)
{
	const struct kvm_run *run = vcpu->run;
	uint64_t offset = run->io.data_offset;
	uint32_t value;

	if (run->io.direction != KVM_EXIT_IO_OUT || run->io.size != sizeof(value) ||
	    run->io.count != 1 || offset > vcpu->run_bytes - sizeof(value))
		return exit_report(vcpu);
	memcpy(&value, (const uint8_t *)run + offset, sizeof(value));
	switch (run->io.port) {
	case PORT_SLEEP:
		sleep_us(vcpu->vm, value);
		return 0;
	case PORT_NOTHING:
		return 0;
	case PORT_FAULT:
		return fault_report(vcpu);
	default:
		return exit_report(vcpu);
	}
}

/* The device forgets what is written to it; what is read is 0. */
static int device_handle(const struct vcpu *vcpu)
{
	struct kvm_run *run = vcpu->run;

	if (run->mmio.phys_addr < DEVICE_GPA || run->mmio.phys_addr >= DEVICE_GPA + PAGE_BYTES)
		return exit_report(vcpu);
	if (!run->mmio.is_write)
		memset(run->mmio.data, 0, sizeof(run->mmio.data));
	return 0;
}

static int vcpu_run(struct vcpu *vcpu)
{
	while (!atomic_load(&vcpu->vm->stop)) {
		if (ioctl(vcpu->fd, KVM_RUN, 0)) {
			if (errno == EINTR || errno == EAGAIN)
				continue;
			complain("vcpu %u: KVM_RUN: %s", vcpu->index, strerror(errno));
			return -1;
		}
		if (vcpu->run->exit_reason == KVM_EXIT_INTR)
			continue;
		if (vcpu->run->exit_reason != KVM_EXIT_IO &&
		    vcpu->run->exit_reason != KVM_EXIT_MMIO)
			return exit_report(vcpu);
		if (vcpu->run->exit_reason == KVM_EXIT_IO ? io_handle(vcpu) : device_handle(vcpu))
			return -1;
	}
	return 0;
}

static void *vcpu_thread(void *argument)
{
	struct vcpu *vcpu = argument;
	char name[16];

	snprintf(name, sizeof(name), "tinyvm-vcpu%u", vcpu->index);
	pthread_setname_np(pthread_self(), name);
	if (vcpu_run(vcpu)) {
		atomic_store(&vcpu->vm->failed, true);
		vm_stop(vcpu->vm);
	}
	return NULL;
}

static void kick_ignore(int number)
{
	(void)number;
}

int vcpu_start(struct vcpu *vcpu)
{
	struct sigaction action = { .sa_handler = kick_ignore };
	pthread_attr_t attributes;
	int error;

	sigaction(KICK_SIGNAL, &action, NULL);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES);
	error = pthread_create(&vcpu->thread, &attributes, vcpu_thread, vcpu);
	pthread_attr_destroy(&attributes);
	if (error) {
		complain("cannot start the thread of vCPU %u: %s", vcpu->index, strerror(error));
		return -1;
	}
	vcpu->started = true;
	return 0;
}
