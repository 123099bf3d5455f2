/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's kernel by what an earlier run found of it (guest_cache.h). The caged parser is given
 * the old bytes, and holds them against the guest's memory: they are used where the very same
 * kernel runs at the very same place; modules are always read anew. Bytes that are no good are a
 * reason to look afresh.
 */
#ifndef HOST_INSPECT_GUEST_RECALL_H
#define HOST_INSPECT_GUEST_RECALL_H

#include "host/inspect/guest_cache.h"
#include "host/inspect/guest_client.h"

/* To be done before a kernel is opened. An error is the parser's end. */
struct error *guest_recall_kernel(struct guest_client *client,
				  const struct guest_cache_vm *vm) MUST_CHECK;
/* Keeps the kernel that is open. */
void guest_recall_keep_kernel(struct guest_client *client, const struct guest_cache_vm *vm);

/*
 * Asks QUESTION, GUEST_ASK_SYMBOLS or GUEST_ASK_UNWIND, whose answer is PART; RET, an initialised
 * buffer, gets the table, old or new, to be decoded with care.
 */
struct error *guest_recall_table(struct guest_client *client, const struct guest_cache_vm *vm,
				 enum guest_message question, enum guest_cache_part part,
				 struct buffer *ret) MUST_CHECK;

#endif
