/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What KVM on this host is, from /sys/module. */
#ifndef HOST_SYSTEM_KVM_H
#define HOST_SYSTEM_KVM_H

#include <stdbool.h>

enum host_kvm_vendor { HOST_KVM_NONE, HOST_KVM_AMD, HOST_KVM_INTEL, HOST_KVM_OTHER };

/*
 * PERFVISOR_TEST_KVM=intel in the environment: for tests, which have no Intel host
 * (CONTRIBUTING.md).
 */
enum host_kvm_vendor host_kvm_vendor(void);
/*
 * PERFVISOR_TEST_KVM=compare, in the sanitized build alone: an AMD host also looks for what an
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

/* How VMs come by the counters of a PMU of their own. */
enum host_vpmu {
	HOST_VPMU_NONE,	    /* they get none, or it is not known */
	HOST_VPMU_EVENTS,   /* KVM opens pinned events of the host for them (x86: kvm.enable_pmu) */
	HOST_VPMU_MEDIATED, /* the PMU is theirs while they run (x86, since 7.0) */
};

/* MODULES is the folder /sys/module (tests have their own). */
#define HOST_KVM_MODULES "/sys/module"
enum host_vpmu host_kvm_vpmu(const char *modules);
/*
 * Whether a VM may get the mediated one. Then a host event that can see guests keeps such VMs from
 * starting, so software events are the default.
 */
bool host_kvm_mediated_pmu(void);

#endif
