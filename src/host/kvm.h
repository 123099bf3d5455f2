/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What KVM on this host is, from /sys/module. */
#ifndef HOST_KVM_H
#define HOST_KVM_H

#include <stdbool.h>

enum host_kvm_vendor { HOST_KVM_NONE, HOST_KVM_AMD, HOST_KVM_INTEL, HOST_KVM_OTHER };

enum host_kvm_vendor host_kvm_vendor(void);
/*
 * Whether a VM may get the mediated vPMU (x86, since 7.0: kvm's parameter
 * enable_mediated_pmu of the vendor module). Then a host event that can see guests keeps such
 * VMs from starting, so software events are the default.
 */
bool host_kvm_mediated_pmu(void);

#endif
