/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups of samples: samples that are equal in all keys that do not depend on the address. Several
 * threads may look up groups at the same time. Afterwards the numbers are put into the order in
 * which a single thread would have met the groups. Part of profile.c.
 */
#ifndef PROFILE_GROUPS_H
#define PROFILE_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/vector.h"
#include "profile/profile.h"

/* Compared as bytes. */
struct profile_group {
	const struct machine *vm;
	size_t event;
	uint64_t time_ns;
	uint32_t vcpu, comm, pid, tid, guest_comm, guest_pid, cpu;
	uint32_t texts[PROFILE_TEXTS];
	uint16_t cpumode;
	uint16_t zero; /* instead of padding */
};

struct groups {
	struct session *session;
	struct intern *numbers; /* struct profile_group as bytes */
	VECTOR(uint64_t) met;	/* when each was first met */
};

void groups_init(struct groups *groups, struct session *session);
void groups_deinit(struct groups *groups);

/* The unique number of GROUP, which was met at MET; numbers start at 1. */
uint32_t groups_find(struct groups *groups, const struct profile_group *group, uint64_t met);
/* Not to be called while threads look up groups. */
struct profile_group groups_get(const struct groups *groups, uint32_t number);
/*
 * Sorts the groups by when they were met. Returns an array that maps old to new numbers; the caller
 * frees it.
 */
uint32_t *groups_order(struct groups *groups);

#endif
