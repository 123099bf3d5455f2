/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMUs that run their guests without KVM, found by their names in /proc: those in which KVM has no
 * VM. That a process has none is known by BPF, or by its descriptors.
 */
#include <dirent.h>
#include <stdlib.h>

#include "base/memory.h"
#include "host/vm/vm.h"

static bool may_see_files(uint32_t pid)
{
	_cleanup_free_ char *path = memory_printf("/proc/%u/fd", pid);
	DIR *folder = opendir(path);

	if (folder)
		closedir(folder);
	return folder;
}

void host_vms_add_all_emulated(struct host_vms *vms)
{
	bool all_seen = vms->vcpu_source == HOST_VCPU_BPF;
	DIR *folder = opendir("/proc");
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		char *end;
		unsigned long pid = strtoul(entry->d_name, &end, 10);

		if (!pid || *end || pid > INT32_MAX || host_vms_of_process(vms, pid))
			continue;
		/* Most processes are no QEMU: that is no error here. */
		if (all_seen || may_see_files(pid))
			error_destroy(host_vms_add_emulated(vms, pid));
	}
	if (folder)
		closedir(folder);
}
