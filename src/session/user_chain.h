/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call chains of samples that carry the program's registers and a copy of its stack
 * (`perf record --call-graph dwarf`): the kernel's part is in the sample, the program's is found
 * here.
 */
#ifndef SESSION_USER_CHAIN_H
#define SESSION_USER_CHAIN_H

#include "session/context.h"
#include "session/session.h"

struct user_chains; /* for one thread */

/* NULL: no sample of SESSION, which is borrowed, needs it. */
struct user_chains *user_chains_create(struct session *session);
/*
 * The architecture of a recording with stacks that cannot be walked, because its registers are not
 * known; NULL: there are no such stacks.
 */
const char *user_chains_unknown_arch(const struct session *session);
void user_chains_destroy(struct user_chains *chains); /* takes NULL */

/*
 * Adds the program's frames to the call chain of SAMPLE, whose context is CONTEXT, if the sample
 * has what is needed. The chain then belongs to CHAINS and is valid until the next call. The
 * address of a caller is one less than the return address, as in perf, so that it is in the call.
 * Returns the place of the first added word in the chain. Takes NULL as CHAINS.
 */
#define USER_CHAINS_NOTHING UINT64_MAX /* was added */
uint64_t user_chains_complete(struct user_chains *chains, const struct context *context,
			      struct session_sample *sample);

DEFINE_CLEANUP(cleanup_user_chains, struct user_chains *, user_chains_destroy)
#define _cleanup_user_chains_ _cleanup_(cleanup_user_chains)

#endif
