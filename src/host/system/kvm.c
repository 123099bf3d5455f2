/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KVM's vendor module and how guests get counters, read from /sys/module. enable_pmu belongs to
 * kvm, and reads N if the host has no PMU. enable_mediated_pmu belongs to the vendor modules (seen:
 * kvm_amd of Linux 7.2); kernels without it have no mediated vPMU.
 */
#include "host/system/kvm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memory.h"

static bool pretends(const char *what)
{
	const char *pretended = secure_getenv("PERFVISOR_TEST_KVM");

	return pretended && !strcmp(pretended, what);
}

#if CAN_COMPARE
bool host_kvm_compares(void)
{
	return pretends("compare");
}
#endif

enum host_kvm_vendor host_kvm_vendor(void)
{
	if (pretends("intel"))
		return HOST_KVM_INTEL;
	if (!access("/sys/module/kvm_amd", F_OK))
		return HOST_KVM_AMD;
	if (!access("/sys/module/kvm_intel", F_OK))
		return HOST_KVM_INTEL;
	return access("/dev/kvm", F_OK) ? HOST_KVM_NONE : HOST_KVM_OTHER;
}

static bool parameter_is_on(const char *modules, const char *module, const char *name)
{
	_cleanup_free_ char *path = memory_printf("%s/%s/parameters/%s", modules, module, name);
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	int value = file ? fgetc(file) : EOF;

	return value == 'Y' || value == '1';
}

enum host_vpmu host_kvm_vpmu(const char *modules)
{
	if (parameter_is_on(modules, "kvm_amd", "enable_mediated_pmu") ||
	    parameter_is_on(modules, "kvm_intel", "enable_mediated_pmu"))
		return HOST_VPMU_MEDIATED;
	return parameter_is_on(modules, "kvm", "enable_pmu") ? HOST_VPMU_EVENTS : HOST_VPMU_NONE;
}

bool host_kvm_mediated_pmu(void)
{
	return host_kvm_vpmu(HOST_KVM_MODULES) == HOST_VPMU_MEDIATED;
}
