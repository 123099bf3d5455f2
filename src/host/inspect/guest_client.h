/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest as its caged parser sees it: the privileged side, which serves guest pages inside the
 * VM's memory slots, and nothing else, to the parser, and takes its answers.
 *
 * An answer comes from code that reads hostile data: whoever uses it checks it (cursors, decoders).
 * A parser that dies, lies about lengths, reads too much or takes too long is ended; the call and
 * all later ones fail with the reason.
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
 * Starts a parser. SOURCE reads pages that lie in SLOTS (checked here), until guest_client_stop().
 */
struct error *guest_client_start(const struct guest_memory_source *source,
				 const struct guest_slot *slots, size_t slot_count,
				 const struct guest_client_limits *limits,
				 struct guest_client **ret) MUST_CHECK;
/*
 * Opens the kernel that a vCPU with the registers MMU sees; to be asked first. RET gets the answer
 * of GUEST_ASK_OPEN (wire.h). ERROR_NOT_FOUND: no Linux kernel is mapped there.
 */
struct error *guest_client_open(struct guest_client *client, const struct arch_mmu *mmu,
				struct buffer *ret) MUST_CHECK;
/* Asks only for release and host name (GUEST_ASK_NAMES), which takes much less; else likewise. */
struct error *guest_client_ask_names(struct guest_client *client, const struct arch_mmu *mmu,
				     struct buffer *ret) MUST_CHECK;
/* Asks for COUNT pages from GVA on (GUEST_ASK_CODE), by a vCPU's own page tables. */
struct error *guest_client_ask_code(struct guest_client *client, const struct arch_mmu *mmu,
				    struct gva gva, uint32_t count, struct buffer *ret) MUST_CHECK;
void guest_client_stop(struct guest_client *client); /* takes NULL */

/* Asks QUESTION with SIZE bytes of DATA; the answer comes into RET, an initialised buffer. */
struct error *guest_client_ask(struct guest_client *client, enum guest_message question,
			       const void *data, size_t size, struct buffer *ret) MUST_CHECK;

/* Of an answer that is not as wire.h has it. */
struct error *guest_client_malformed(void) MUST_CHECK;

uint64_t guest_client_bytes_read(const struct guest_client *client); /* of guest memory, in all */

DEFINE_CLEANUP(cleanup_guest_client, struct guest_client *, guest_client_stop)
#define _cleanup_guest_client_ _cleanup_(cleanup_guest_client)

#endif
