/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The properties of this host's KVM, from /sys/module. */
#ifndef HOST_SYSTEM_KVM_H
#define HOST_SYSTEM_KVM_H

#include <stdbool.h>

enum host_kvm_vendor { HOST_KVM_NONE, HOST_KVM_AMD, HOST_KVM_INTEL, HOST_KVM_OTHER };

/*
 * PERFVISOR_TEST_KVM=intel in the environment pretends to be on Intel, for tests without an Intel
 * host (CONTRIBUTING.md).
 */
enum host_kvm_vendor host_kvm_vendor(void);
/*
 * PERFVISOR_TEST_KVM=compare, only in the sanitized build: an AMD host also searches for what an
 * Intel host would have to find, and counts the mistakes.
 */
#if CAN_COMPARE
bool host_kvm_compares(void);
#else
static inline bool host_kvm_compares(void)
{
	return false;
}
#endif

/* How VMs get the counters of their PMU. */
enum host_vpmu {
	HOST_VPMU_NONE,	    /* not at all, or it is not known */
	HOST_VPMU_EVENTS,   /* KVM opens pinned host events for them (x86: kvm.enable_pmu) */
	HOST_VPMU_MEDIATED, /* they own the PMU while they run (x86, since 7.0) */
};

/* MODULES is the folder /sys/module, except in tests. */
#define HOST_KVM_MODULES "/sys/module"
enum host_vpmu host_kvm_vpmu(const char *modules);
/*
 * Whether a VM may get a mediated vPMU. A host event that can see guests then keeps such VMs from
 * starting, so software events are the default.
 */
bool host_kvm_mediated_pmu(void);

#endif
