/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups of samples: what the keys that do not depend on the address tell apart. Several threads
 * may look for them at once; the numbers are then put into the order in which one thread would have
 * met them. Part of profile.c.
 */
#ifndef PROFILE_GROUPS_H
#define PROFILE_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/vector.h"
#include "session/session.h"

/* Compared as bytes. */
struct profile_group {
	const struct machine *vm;
	size_t event;
	uint32_t vcpu, comm, pid, tid, guest_comm, guest_pid;
	uint16_t cpumode;
	uint16_t zero[3]; /* instead of padding */
};

struct groups {
	struct session *session;
	struct intern *numbers; /* struct profile_group as bytes */
	VECTOR(uint64_t) met;	/* when each was, first */
};

void groups_init(struct groups *groups, struct session *session);
void groups_deinit(struct groups *groups);

/* The number of GROUP, which was met at MET, which no other group is; from 1 on. */
uint32_t groups_find(struct groups *groups, const struct profile_group *group, uint64_t met);
/* While no thread looks for one. */
struct profile_group groups_get(const struct groups *groups, uint32_t number);
/*
 * Puts the groups in the order of the times that they were met at. Gives the new numbers by the old
 * ones, to be freed by the caller.
 */
uint32_t *groups_order(struct groups *groups);

#endif
