/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sampling vCPU threads: events in, decoded samples out, each with the thread that it is of.
 *
 *	capture_create(&config, &capture);
 *	capture_add_thread(capture, &thread, &index) …   also later
 *	capture_enable(capture);
 *	while (…) {
 *		capture_wait(capture, timeout_ms);
 *		capture_drain(capture);               one pass over everything
 *	}
 *	capture_finish(capture);                      stops, the last pass, the exact losses
 *	capture_destroy(capture);
 *
 * How it is done is an engine's affair (capture_engine.h); the cheapest that works is taken.
 */
#ifndef HOST_CAPTURE_CAPTURE_H
#define HOST_CAPTURE_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/error.h"
#include "host/capture/sampler_cost.h"
#include "host/event/event.h"
#include "perfdata/sample.h"

struct capture_thread {
	uint32_t pid; /* of the VMM */
	uint32_t tid;
	uint32_t vcpu; /* PERFDATA_NO_VCPU: not known */
	uint32_t vm;	      /* the owner's number for capture_set_guest() */
	uint64_t vcpu_object; /* struct host_vcpu's; 0: not known */
};

/* The part of a stack that was copied at a sample. */
struct capture_stack {
	struct gva start, end; /* END: of the stack, exclusive; copied were BYTES from START on */
	uint32_t bytes;
	const uint8_t *data; /* valid during the call that hands it over, of any alignment */
};

/*
 * What was copied further up in the user's stack: COUNT pairs of two words, the first of which is
 * where the next pair is, and behind the last pair ABOVE_BYTES that follow it in memory.
 */
struct capture_links {
	struct gva first;
	uint32_t count, above_bytes;
	const uint8_t *data; /* as a stack's */
};

/* What a guest's call chain is made of. */
#define CAPTURE_KERNEL_STACKS 2
struct capture_stacks {
	const uint64_t *registers; /* SAMPLER_REGISTERS of src/bpf/guest_sampler.h */
	/* SP is not among them: a stack is what is above BP, if that is in one, or */
	bool sp_unknown;
	/* kernel stacks are whole, and SP was in one, but for some code (unwind/table/calls.h) */
	bool whole;
	struct capture_stack kernel[CAPTURE_KERNEL_STACKS]; /* innermost first; 0 bytes: none */
	struct capture_stack user; /* of user code, and of a guest that is no Linux the only one */
	struct capture_links links;
};

/* What an engine that looks into vCPUs tells of a guest sample. */
struct capture_guest {
	bool at_exit; /* the time is that of a VM exit which the instruction at the IP made */
	bool nested;  /* of a guest in the guest: its kernel and processes are others */
	bool has_task;
	struct gva task, mm; /* of the thread that ran: its task_struct and mm_struct */
	uint32_t pid, tgid;  /* as the guest numbers threads and processes */
	char comm[16];	     /* as it is there: perhaps not terminated, anything in it */
	uint32_t version; /* low bits of struct sampler_vm's at the sample; 0: nothing was known */
	const struct capture_stacks *stacks; /* NULL: none were copied */
};

/* Threads are numbered from 0 in the order they were added; a number is never used again. */
#define CAPTURE_NO_THREAD SIZE_MAX

struct capture_sink {
	void *context;
	/*
	 * SAMPLE is valid during the call; its id is the kernel's. GUEST: what is known besides, of
	 * a guest sample; NULL: nothing, or it is none.
	 */
	void (*sample)(void *context, size_t event, size_t thread,
		       const struct perfdata_sample *sample, const struct capture_guest *guest);
	/*
	 * COUNT more samples were taken and lost, up to about TIME_NS (0: not known). Not known of
	 * which thread: CAPTURE_NO_THREAD. Each lost sample is told once, some only by
	 * capture_finish().
	 */
	void (*lost)(void *context, size_t event, size_t thread, uint64_t count, uint64_t time_ns);
};

struct capture_engine;
extern const struct capture_engine capture_threads_engine; /* an event per thread */
extern const struct capture_engine capture_cpus_engine;    /* an event per CPU, and a filter */
extern const struct capture_engine capture_qmp_engine;     /* a QEMU is asked; never by cost */

struct capture_config {
	const struct host_event *events; /* borrowed; probed, with their rate set */
	size_t event_count;
	size_t expected_threads;
	struct capture_sink sink;
	bool stacks; /* kernel stacks of guests are copied, for call chains, and: */
	uint32_t user_stack_bytes;
	const struct capture_engine *engine; /* NULL: by cost */
	double max_overhead; /* share of a core that sampling may take of a thread; 0: any */
	bool no_bpf;                         /* do without BPF, though it may be there */
	uint32_t vmm; /* whose guest the threads are of, for an engine that knows one alone */
};

struct capture;

struct error *capture_create(const struct capture_config *config, struct capture **ret) MUST_CHECK;
void capture_destroy(struct capture *capture); /* takes NULL */

/* Starts sampling a thread (at once, if enabled). *RET is CAPTURE_NO_THREAD if it is gone. */
struct error *capture_add_thread(struct capture *capture, const struct capture_thread *thread,
				 size_t *ret) MUST_CHECK;
/* The thread is gone: its losses are told, its resources given back. */
void capture_remove_thread(struct capture *capture, size_t thread);

/*
 * Whether guest samples say their process, once capture_set_guest() has told how it is found. The
 * latter holds for the threads of VM number VM; any thread may call it. False: there were more VMs
 * than it has room for, which is twice as many as there were threads at first, 1,024 at least.
 */
bool capture_sees_guests(const struct capture *capture);
struct sampler_vm;
struct guest_cpus;
bool capture_set_guest(struct capture *capture, uint32_t vm, const struct sampler_vm *guest,
		       const struct guest_cpus *cpus);
/*
 * Whether all registers are known, of which stacks are found, once guests are seen; else SP is not.
 */
bool capture_sees_registers(const struct capture *capture);

struct error *capture_enable(struct capture *capture) MUST_CHECK;
/* Until a ring is half full, a thread ends, a signal comes, or TIMEOUT_MS pass. */
void capture_wait(struct capture *capture, int timeout_ms);
void capture_drain(struct capture *capture);
void capture_finish(struct capture *capture);

/* Now and then after a drain: lowers the rate, and says so, where sampling exceeds max_overhead. */
void capture_keep_budget(struct capture *capture);
/*
 * Of events that have a rate, to FACTOR (above 0, at most 1) of what it is; delivers what came
 * before.
 */
void capture_lower_rate(struct capture *capture, double factor);

struct capture_stats {
	uint64_t throttled;   /* times that the kernel paused an event: samples not taken */
	uint64_t undecodable; /* records that could not be read */
	uint64_t due;         /* samples due by the kernel's own counts, of events with a fixed
			       * period on threads; complete after capture_finish() */
	uint64_t lost_seen;   /* lost so far, as far as is known while recording */
	size_t ring_bytes;
	bool ring_reduced; /* the mlock limit left no room for the size wanted */
	/* Of an engine that looks at all vCPUs at once. */
	struct {
		uint64_t due, failed; /* by the timer; that took no sample for want of an answer */
		uint64_t paused;      /* that met a guest that somebody else has paused */
		uint64_t halted;      /* vCPUs that were halted, of all looks */
		uint64_t elapsed_ns;  /* while it was enabled; complete after capture_finish() */
	} looks;
};
struct capture_stats capture_stats(const struct capture *capture);
/*
 * What guest samples took that a BPF program took, or how long looks paused the guest; else all 0.
 */
struct sampler_cost capture_cost(const struct capture *capture);
/* What samples, for -v: "an event per thread", "an event per CPU, filtered by BPF". */
const char *capture_description(const struct capture *capture);

DEFINE_CLEANUP(cleanup_capture, struct capture *, capture_destroy)
#define _cleanup_capture_ _cleanup_(cleanup_capture)

#endif
