/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel or user: what the address of a guest sample says of its mode, for hosts that record the
 * wrong one.
 *
 * On x86, KVM of Linux 5.17 to 6.8 reports to perf whether the guest was in user mode when the vCPU
 * was last scheduled out, not when the sample was taken (kvm_guest_state() calls
 * kvm_arch_vcpu_in_kernel(), which returns vcpu->arch.preempted_in_kernel). Before, KVM used the
 * CPL; since 6.9 it does again.
 *
 * The upper half of the address space belongs to the kernel in every x86-64 system with user
 * programs (except for Linux's vsyscall page). The lower half belongs to programs, once the guest
 * has been seen in the upper half. A unikernel that lives in the lower half has no user mode, so
 * its label cannot be wrong.
 *
 * Limit: a 32-bit program whose address range overlaps an old kernel's cannot be recognized.
 */
#ifndef PERFDATA_GUEST_MODE_H
#define PERFDATA_GUEST_MODE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a sample at IP is a guest's, in the upper half, where only kernels are. */
bool perfdata_guest_mode_is_high(uint16_t misc, uint64_t ip);

/*
 * The misc of a sample at IP whose host is such a one: MISC, with another cpumode if that of a
 * guest in it is wrong. HIGH_KERNEL: some sample of the guest is in the
 * upper half (perfdata_guest_mode_is_high()).
 */
uint16_t perfdata_guest_mode_at(uint16_t misc, uint64_t ip, bool high_kernel);

/*
 * Whether a host of that release ("6.1.0-13-amd64") and machine ("x86_64"), as uname prints them,
 * is such a one. NULL: unknown, and so false.
 */
bool perfdata_guest_mode_doubtful(const char *release, const char *machine);

#endif
