/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capabilities; namespaces from their inode numbers, which the kernel fixes. */
#include "host/system/capability.h"

#include <linux/capability.h>
#include <sys/stat.h>

#include "walls/rights.h"

/* PROC_PID_INIT_INO and PROC_USER_INIT_INO, include/linux/proc_ns.h */
#define INITIAL_PID_NAMESPACE_INODE 0xeffffffcu
#define INITIAL_USER_NAMESPACE_INODE 0xeffffffdu

bool host_capability_have(int capability)
{
	return rights_have(capability);
}

bool host_capability_bpf(void)
{
	return host_capability_have(CAP_SYS_ADMIN) ||
	       (host_capability_have(CAP_BPF) && host_capability_have(CAP_PERFMON));
}

bool host_capability_perf(void)
{
	return host_capability_have(CAP_SYS_ADMIN) || host_capability_have(CAP_PERFMON);
}

static bool is_namespace(const char *path, ino_t inode)
{
	struct stat status;

	return stat(path, &status) < 0 || status.st_ino == inode;
}

bool host_capability_initial_pids(void)
{
	return is_namespace("/proc/self/ns/pid", INITIAL_PID_NAMESPACE_INODE);
}

bool host_capability_initial_user(void)
{
	return is_namespace("/proc/self/ns/user", INITIAL_USER_NAMESPACE_INODE);
}
