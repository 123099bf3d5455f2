/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Linux 5.17 to 6.8 labels samples of x86 guests wrongly (perfdata/guest_mode.h): one in ten may
 * be. The kernel's symbols show which one it is: before, KVM had kvm_is_user_mode(); afterwards,
 * the old behaviour is called kvm_arch_vcpu_preempted_in_kernel().
 *
 * Limit: samples of a program before the first sample of its kernel keep their label.
 */
#include "host/record/guest_mode.h"

#include "perfdata/guest_mode.h"

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
	if (!mode->doubtful)
		return sample->misc;
	vm->high_kernel |= perfdata_guest_mode_is_high(sample->misc, sample->ip);
	return perfdata_guest_mode_at(sample->misc, sample->ip, vm->high_kernel);
}
