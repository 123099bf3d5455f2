/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On x86, KVM of Linux 5.17 to 6.8 reports to perf whether the guest was in user mode when the vCPU
 * was last scheduled out, not when the sample was taken (kvm_guest_state() calls
 * kvm_arch_vcpu_in_kernel(), which returns vcpu->arch.preempted_in_kernel). One sample in ten may
 * be labelled wrongly. Before, KVM used the CPL (kvm_is_user_mode()); later kernels use it again in
 * kvm_arch_vcpu_in_kernel(), and the old behaviour is called kvm_arch_vcpu_preempted_in_kernel().
 * The kernel's symbols therefore show which one it is.
 *
 * If labels are doubtful, the address decides. The upper half of the address space belongs to the
 * kernel in every x86-64 system with user programs (except for Linux's vsyscall page). The lower
 * half belongs to programs, once the guest has been seen in the upper half. A unikernel that lives
 * in the lower half has no user mode, so its label cannot be wrong.
 *
 * Limits: samples of a program before the first sample of its kernel keep their label. A 32-bit
 * program whose address range overlaps an old kernel's cannot be recognized.
 */
#include "host/record/guest_mode.h"

#define VSYSCALL_START 0xffffffffff600000ull
#define VSYSCALL_END 0xffffffffff601000ull

void guest_mode_init(struct guest_mode *mode, const struct host_kernel_symbols *symbols)
{
	*mode = (struct guest_mode){ .doubtful = false };
#if defined(__x86_64__)
	mode->doubtful = symbols->has_kvm_arch_vcpu_in_kernel && !symbols->has_kvm_is_user_mode &&
			 !symbols->has_kvm_arch_vcpu_preempted_in_kernel;
#else
	(void)symbols;
#endif
}

uint16_t guest_mode_correct(const struct guest_mode *mode, struct guest_mode_vm *vm,
			    const struct perfdata_sample *sample)
{
	unsigned cpumode = sample->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	bool vsyscall = sample->ip >= VSYSCALL_START && sample->ip < VSYSCALL_END;

	if (!mode->doubtful || vsyscall ||
	    (cpumode != PERF_RECORD_MISC_GUEST_KERNEL && cpumode != PERF_RECORD_MISC_GUEST_USER))
		return sample->misc;
	if (sample->ip >> 63) {
		vm->high_kernel = true;
		cpumode = PERF_RECORD_MISC_GUEST_KERNEL;
	} else if (vm->high_kernel) {
		cpumode = PERF_RECORD_MISC_GUEST_USER;
	}
	return (sample->misc & ~PERF_RECORD_MISC_CPUMODE_MASK) | cpumode;
}
