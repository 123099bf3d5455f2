/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capset(2), setresuid(2), PR_SET_NO_NEW_PRIVS. */
#include "walls/rights.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

bool rights_have(int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	return data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

static struct error *keep(uint64_t kept)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, data) < 0)
		return error_system(errno, "could not read capabilities");
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted &= (uint32_t)(kept >> 32 * i);
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0; /* this empties the ambient set, too */
	}
	if (syscall(SYS_capset, &header, data) < 0)
		return error_system(errno, "could not drop capabilities");
	return NULL;
}

struct error *rights_keep(uint64_t kept)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_system(errno, "could not give up new privileges");
	return keep(kept);
}

struct error *rights_keep_as(unsigned int uid, uint64_t kept)
{
	if (!geteuid() &&
	    (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setgroups(0, NULL) < 0 ||
	     setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
		return error_system(errno, "could not drop root");
	return rights_keep(kept);
}
