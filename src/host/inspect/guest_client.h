/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest as its caged parser sees it. This is the privileged side: it serves the parser guest
 * pages from the VM's memory slots, nothing else, and receives its answers.
 *
 * An answer comes from code that reads hostile data, so its user must check it (cursors, decoders).
 * A parser that dies, sends wrong lengths, reads too much or takes too long is killed; that call
 * and all later ones fail with the reason.
 */
#ifndef HOST_INSPECT_GUEST_CLIENT_H
#define HOST_INSPECT_GUEST_CLIENT_H

#include "arch/arch.h"
#include "base/buffer.h"
#include "base/error.h"
#include "guest/memory/memory.h"
#include "guest/wire.h"

struct guest_client_limits {
	uint64_t bytes_per_call; /* of guest memory */
	double seconds_per_call;
};

struct guest_client;

/*
 * Starts a parser. SOURCE reads pages within SLOTS (which is checked here), until
 * guest_client_stop().
 */
struct error *guest_client_start(const struct guest_memory_source *source,
				 const struct guest_slot *slots, size_t slot_count,
				 const struct guest_client_limits *limits,
				 struct guest_client **ret) MUST_CHECK;
/*
 * Opens the kernel that a vCPU with the registers MMU sees. This must be the first question. RET
 * gets the answer to GUEST_ASK_OPEN (wire.h). ERROR_NOT_FOUND: no Linux kernel is mapped there.
 */
struct error *guest_client_open(struct guest_client *client, const struct arch_mmu *mmu,
				struct buffer *ret) MUST_CHECK;
/*
 * Asks only for the release and host name (GUEST_ASK_NAMES), which is much faster; otherwise the
 * same.
 */
struct error *guest_client_ask_names(struct guest_client *client, const struct arch_mmu *mmu,
				     struct buffer *ret) MUST_CHECK;
/* Asks for COUNT pages from GVA on (GUEST_ASK_CODE), using a vCPU's own page tables. */
struct error *guest_client_ask_code(struct guest_client *client, const struct arch_mmu *mmu,
				    struct gva gva, uint32_t count, struct buffer *ret) MUST_CHECK;
void guest_client_stop(struct guest_client *client); /* takes NULL */

/* Asks QUESTION with SIZE bytes of DATA. RET, an initialised buffer, gets the answer. */
struct error *guest_client_ask(struct guest_client *client, enum guest_message question,
			       const void *data, size_t size, struct buffer *ret) MUST_CHECK;

/* The error for an answer that does not conform to wire.h. */
struct error *guest_client_malformed(void) MUST_CHECK;

/* bytes of guest memory, in total */
uint64_t guest_client_bytes_read(const struct guest_client *client);

DEFINE_CLEANUP(cleanup_guest_client, struct guest_client *, guest_client_stop)
#define _cleanup_guest_client_ _cleanup_(cleanup_guest_client)

#endif
