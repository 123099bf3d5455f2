/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this process may do: its effective capabilities and its pid namespace. */
#ifndef HOST_SYSTEM_CAPABILITY_H
#define HOST_SYSTEM_CAPABILITY_H

#include <stdbool.h>

/* CAPABILITY: CAP_… of linux/capability.h. Those of a user namespace of a container count
 * here, too, though they open nothing that belongs to the host. */
bool host_capability_have(int capability);
/* CAP_BPF and CAP_PERFMON, or what was asked before Linux 5.8: CAP_SYS_ADMIN. */
bool host_capability_bpf(void);
bool host_capability_perf(void);

/* True where pids are the host's own, false in a container's pid namespace. */
bool host_capability_initial_pids(void);
/* False in a user namespace, whose capabilities do not reach the host. */
bool host_capability_initial_user(void);

#endif
