/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked of the host kernel's symbols, read in one pass. */
#ifndef HOST_SYSTEM_KERNEL_SYMBOLS_H
#define HOST_SYSTEM_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct host_kernel_symbols {
	uint64_t text_start, text_end; /* addresses; the end is exclusive; 0, 0: hidden */
	/* functions of KVM, in the kernel or a module */
	bool has_kvm_is_user_mode;
	bool has_kvm_arch_vcpu_in_kernel;
	bool has_kvm_arch_vcpu_preempted_in_kernel;
};

/* Reads KALLSYMS, text like /proc/kallsyms. A file that cannot be read has no symbols. */
#define HOST_KALLSYMS "/proc/kallsyms"
void host_kernel_symbols_read(const char *kallsyms, struct host_kernel_symbols *ret);

#endif
