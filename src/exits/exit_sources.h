/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracepoints that tell of exits, and what their fields are called: KVM's own for x86
 * (arch/x86/kvm/trace.h) and arm64 (arch/arm64/kvm/trace_arm.h, trace_handle_exit.h), and kvm_hv's
 * for powerpc (arch/powerpc/kvm/trace_hv.h). An event is known by its format in the recording: its
 * name, and the fields that only this architecture has.
 */
#ifndef EXITS_EXIT_SOURCES_H
#define EXITS_EXIT_SOURCES_H

#include "base/cleanup.h"
#include "base/error.h"
#include "session/session.h"

/* How KVM runs guests, which decides what a reason means. */
enum exit_isa {
	EXIT_ISA_NONE,
	EXIT_ISA_X86, /* not known which of the next two */
	EXIT_ISA_VMX,
	EXIT_ISA_SVM,
	EXIT_ISA_ARM64,
	EXIT_ISA_PPC64,
};

enum exit_role {
	EXIT_OF_GUEST,
	EXIT_ENTRY,
	EXIT_MMIO,
	EXIT_PORT,
	EXIT_MSR,
	EXIT_HYPERCALL,
	EXIT_HYPERCALL_END, /* where the next entry is not the end of one */
};

#define EXIT_NO_VCPU UINT32_MAX

/* One hit of such a tracepoint. Fields that it does not have are 0, vcpu is EXIT_NO_VCPU. */
struct exit_hit {
	enum exit_role role;
	enum exit_isa isa;
	uint64_t key;	/* the reason, address, port, MSR, or number of a hypercall */
	uint64_t info;	/* of arm64: the class of what trapped; else: whether it is a write */
	uint64_t ip;	/* where the guest was */
	uint32_t vcpu;
};

struct exit_sources;

/* Fails if SESSION has no tracepoints of exits and entries, or not their formats. */
struct error *exit_sources_create(const struct session *session,
				  struct exit_sources **ret) MUST_CHECK;
void exit_sources_destroy(struct exit_sources *sources); /* takes NULL */

/* Whether there is an event of that ROLE. */
bool exit_sources_have(const struct exit_sources *sources, enum exit_role role);
/* False: SAMPLE is of another event, or is malformed. */
bool exit_sources_read(const struct exit_sources *sources, const struct session_sample *sample,
		       struct exit_hit *ret);

DEFINE_CLEANUP(cleanup_exit_sources, struct exit_sources *, exit_sources_destroy)
#define _cleanup_exit_sources_ _cleanup_(cleanup_exit_sources)

#endif
