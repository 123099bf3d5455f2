/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who a sample belongs to: machine, VM, vCPU, thread name, address space; from a small
 * cache, since samples of one thread come in numbers.
 */
#ifndef SESSION_CONTEXT_H
#define SESSION_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

struct context {
	/* What it holds for. */
	uint32_t pid, tid;
	const struct perfdata_id *id;
	uint16_t cpumode;
	uint64_t from, until; /* times, until exclusive; 0, 0: an empty entry */

	struct machine *machine; /* whose address the ip is; NULL: unknown kind of sample */
	struct machine *vm;	 /* the VM that the thread works for; NULL: none is known */
	uint32_t special;	 /* enum perfdata_special: of a guest of the guest, at an exit */
	uint32_t vcpu;		 /* PERFDATA_NO_VCPU if not known */
	bool process;		 /* pid and tid are of the guest of VM; a guest sample's only */
	uint32_t comm;		 /* strings; TIMELINE_NO_COMM: no name was known then */
	uint32_t final_comm;	 /* likewise, or the first name that came later */
	struct space *space;	 /* to look the ip up in; never NULL if machine is not */
	struct space *user_space; /* of the same thread in user mode; likewise */
	uint32_t row, chain_row; /* the caller's, 0 at first: they go with the entry */
};

#define CONTEXT_ENTRIES 1024

struct context_cache {
	struct session *session;
	struct context entries[CONTEXT_ENTRIES];
};

void context_cache_init(struct context_cache *cache, struct session *session);

/* Valid until the next call. */
struct context *context_find(struct context_cache *cache, const struct session_sample *sample);
/* The space of another cpumode of the same thread, for a call chain that crosses rings. */
struct space *context_space(struct session *session, const struct session_sample *sample,
			    uint16_t cpumode, struct machine **ret_machine);

#endif
