/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KVM's vendor module and the mediated vPMU, read from /sys/module. The parameter belongs to
 * the vendor modules (seen: kvm_amd of Linux 7.2); kernels without it cannot mediate.
 */
#include "host/kvm.h"

#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"

enum host_kvm_vendor host_kvm_vendor(void)
{
	if (!access("/sys/module/kvm_amd", F_OK))
		return HOST_KVM_AMD;
	if (!access("/sys/module/kvm_intel", F_OK))
		return HOST_KVM_INTEL;
	return access("/dev/kvm", F_OK) ? HOST_KVM_NONE : HOST_KVM_OTHER;
}

static bool parameter_is_on(const char *path)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	int value = file ? fgetc(file) : EOF;

	return value == 'Y' || value == '1';
}

bool host_kvm_mediated_pmu(void)
{
	return parameter_is_on("/sys/module/kvm_amd/parameters/enable_mediated_pmu") ||
	       parameter_is_on("/sys/module/kvm_intel/parameters/enable_mediated_pmu");
}
