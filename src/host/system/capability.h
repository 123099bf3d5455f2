/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this process may do: its effective capabilities and its pid namespace. */
#ifndef HOST_SYSTEM_CAPABILITY_H
#define HOST_SYSTEM_CAPABILITY_H

#include <stdbool.h>

/*
 * CAPABILITY: CAP_… of linux/capability.h. Capabilities of a container's user namespace count here,
 * too, though they give no access to anything of the host.
 */
bool host_capability_have(int capability);
/* CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN, which was required before Linux 5.8. */
bool host_capability_bpf(void);
/* CAP_PERFMON, or CAP_SYS_ADMIN. */
bool host_capability_perf(void);

/* True if pids are the host's own, false in a container's pid namespace. */
bool host_capability_initial_pids(void);
/* False in a user namespace, whose capabilities have no effect on the host. */
bool host_capability_initial_user(void);

#endif
