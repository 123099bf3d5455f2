/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For workloads that only compute: leaves the guest for a moment with CPUID, which exits under KVM.
 *
 * QEMU's emulation of SVM (seen with 10.0.2, under Linux 6.1 and 7.2) sometimes enters a guest with
 * the global interrupt flag clear, although VMRUN has to set it. The host's CPU then gets neither
 * interrupts nor NMIs until the guest exits by itself; a guest that never exits blocks this CPU
 * forever. In emulation an exit takes about 50 us, which samples attribute to the caller; once in
 * about 10 ms is often enough. As far as the cause is known, this happens only on the host's first
 * CPU, where no guest runs any more (lab/host/init).
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
