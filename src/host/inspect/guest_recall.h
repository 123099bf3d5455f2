/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds a guest's kernel again using what an earlier run found (guest_cache.h). The caged parser
 * gets the old bytes and compares them with guest memory. They are used only if the very same
 * kernel runs at the very same place; modules are always read again. If the bytes are bad, it
 * searches again.
 */
#ifndef HOST_INSPECT_GUEST_RECALL_H
#define HOST_INSPECT_GUEST_RECALL_H

#include "host/inspect/guest_cache.h"
#include "host/inspect/guest_client.h"

/* To be called before a kernel is opened. An error means that the parser has ended. */
struct error *guest_recall_kernel(struct guest_client *client,
				  const struct guest_cache_vm *vm) MUST_CHECK;
/* Stores the kernel that is open. */
void guest_recall_keep_kernel(struct guest_client *client, const struct guest_cache_vm *vm);

/*
 * Asks QUESTION, GUEST_ASK_SYMBOLS or GUEST_ASK_UNWIND, whose answer is PART. RET, an initialised
 * buffer, gets the table, old or new. It is untrusted and must be decoded with care.
 */
struct error *guest_recall_table(struct guest_client *client, const struct guest_cache_vm *vm,
				 enum guest_message question, enum guest_cache_part part,
				 struct buffer *ret) MUST_CHECK;

#endif
