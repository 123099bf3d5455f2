/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who a sample belongs to: machine, VM, vCPU, thread name, address space. Has a small cache, since
 * a thread usually has many samples.
 */
#ifndef SESSION_CONTEXT_H
#define SESSION_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

enum context_taken { CONTEXT_NOT_ASKED, CONTEXT_TAKEN, CONTEXT_LEFT_OUT };

struct context {
	/* The key of the entry. */
	uint32_t pid, tid;
	const struct perfdata_id *id;
	uint16_t cpumode;
	uint64_t from, until; /* times, until exclusive; 0, 0: an empty entry */
	uint64_t stamp;	      /* the session's */

	struct machine *machine; /* the machine of the ip; NULL: unknown kind of sample */
	struct machine *vm;	 /* the VM that the thread works for; NULL: unknown */
	uint32_t special;	 /* enum perfdata_special: nested guest, sampled at an exit */
	uint32_t vcpu;		 /* PERFDATA_NO_VCPU if unknown */
	bool process;		 /* pid and tid are of the guest of VM; only for guest samples */
	uint32_t comm;		 /* string number; TIMELINE_NO_COMM: no name was known then */
	uint32_t final_comm;	 /* the same, or else the first later name */
	struct space *space;	 /* for looking up the ip; only NULL if machine is NULL */
	struct space *user_space; /* of the same thread in user mode; as above */
	uint8_t taken;		    /* by a filter (filter.c): enum context_taken */
	uint32_t row, chain_row; /* for the caller, initially 0; part of the entry */
};

#define CONTEXT_ENTRIES 1024

struct context_cache {
	struct session *session;
	struct context entries[CONTEXT_ENTRIES];
};

void context_cache_init(struct context_cache *cache, struct session *session);

/* Valid until the next call. */
struct context *context_find(struct context_cache *cache, const struct session_sample *sample);
/*
 * The space of another cpumode of the same thread, for a call chain that crosses privilege levels.
 */
struct space *context_space(struct session *session, const struct session_sample *sample,
			    uint16_t cpumode, struct machine **ret_machine);

/*
 * The space of ADDRESS, which is not the sample's own: of the kernel or the program, as the address
 * itself says on 64-bit machines (thread__find_map_fb() of tools/perf/util/event.c).
 */
struct space *context_address_space(struct session *session, const struct session_sample *sample,
				    uint64_t address, struct machine **ret_machine);

#endif
