/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On x86, from Linux 5.17 to 6.8, KVM tells perf whether the guest was in user mode by what
 * the vCPU was in when it was last scheduled out (kvm_guest_state() asks kvm_arch_vcpu_in_kernel(),
 * which gives vcpu->arch.preempted_in_kernel): one sample in ten may bear the wrong label.
 * Before, kvm_is_user_mode() asked for the CPL; since then kvm_arch_vcpu_in_kernel() does, and
 * kvm_arch_vcpu_preempted_in_kernel() is what the old one was. So the symbols tell.
 *
 * Where labels are doubtful, addresses decide: the upper half of the address space is the
 * kernel's in every x86-64 system that has user programs (but for Linux's vsyscall page). The lower
 * half is the programs', in a guest that has been seen in the upper one; a unikernel that lives
 * in the lower half has no user mode and its label cannot be wrong.
 *
 * Limits: samples of a program before the first one of its kernel keep their label, and a
 * program of 32 bits whose addresses an old kernel shares is not told apart.
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
