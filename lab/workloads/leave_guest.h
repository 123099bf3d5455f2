/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For workloads that only compute: leaves the guest for a moment, as CPUID does under KVM.
 *
 * QEMU's emulation of SVM (seen with 10.0.2, under Linux 6.1 and 7.2) now and then enters a guest
 * with the global interrupt flag clear, which VMRUN is to set. The host's CPU then gets neither
 * interrupts nor NMIs until the guest exits by itself; one that never does has taken that CPU for
 * good. In emulation it takes some 50 us, which samples show as the caller's: once in some 10 ms is
 * often enough. What is known of the cause says that it happens on the host's first CPU alone,
 * where no guest runs any more (lab/host/init).
 */
#ifndef LAB_LEAVE_GUEST_H
#define LAB_LEAVE_GUEST_H

static inline void leave_guest(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned int eax = 0, ebx, ecx = 0, edx;

	__asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
#endif
}

#endif
