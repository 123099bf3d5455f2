/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sampling vCPU threads: events in, decoded samples out, each with its thread.
 *
 *	capture_create(&config, &capture);
 *	capture_add_thread(capture, &thread, &index) …   also later
 *	capture_enable(capture);
 *	while (…) {
 *		capture_wait(capture, timeout_ms);
 *		capture_drain(capture);               one pass over everything
 *	}
 *	capture_finish(capture);                      stops, last pass, exact losses
 *	capture_destroy(capture);
 *
 * The engines do the work (capture_engine.h); the cheapest that works is used.
 */
#ifndef HOST_CAPTURE_CAPTURE_H
#define HOST_CAPTURE_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/error.h"
#include "base/ranges.h"
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
	struct gva start, end; /* END is the stack's (exclusive); BYTES from START on were copied */
	uint32_t bytes;
	const uint8_t *data; /* valid during the callback; may be unaligned */
};

/*
 * Frame records copied from further up the user's stack: COUNT pairs of two words, where the first
 * word is the address of the next pair. They are followed by the ABOVE_BYTES above the last pair in
 * memory.
 */
struct capture_links {
	struct gva first;
	uint32_t count, above_bytes;
	const uint8_t *data; /* valid as long as a stack's */
};

/* What a guest's call chain is built from. */
#define CAPTURE_KERNEL_STACKS 2
struct capture_stacks {
	const uint64_t *registers; /* SAMPLER_REGISTERS of src/bpf/guest_sampler.h */
	/*
	 * SP is not among the registers: only what is above BP was copied, if BP is in a stack, or:
	 */
	bool sp_unknown;
	/* kernel stacks are whole, and contained SP, except in some code (unwind/table/calls.h) */
	bool whole;
	struct capture_stack kernel[CAPTURE_KERNEL_STACKS]; /* innermost first; 0 bytes: none */
	/* user code's stack; the only stack of a guest that is not Linux */
	struct capture_stack user;
	struct capture_links links;
};

/* What an engine that looks into vCPUs reports for a guest sample. */
struct capture_guest {
	bool at_exit; /* the time is that of a VM exit, caused by the instruction at IP */
	bool nested;  /* from a guest in the guest, with another kernel and other processes */
	bool has_task;
	bool loading; /* the task has no user code yet: its program is being loaded */
	struct gva task, mm; /* the running thread's task_struct and mm_struct */
	uint32_t pid, tgid;  /* the guest's own numbers for the thread and process */
	char comm[16];	     /* the raw bytes: may be unterminated or contain anything */
	/* low bits of struct sampler_vm's version at the sample; 0: nothing was known */
	uint32_t version;
	const struct capture_stacks *stacks; /* NULL: none were copied */
};

struct sampler_areas; /* bpf/guest_sampler.h */

/* Threads are numbered from 0 in the order they were added. Numbers are not reused. */
#define CAPTURE_NO_THREAD SIZE_MAX

struct capture_sink {
	void *context;
	/*
	 * SAMPLE is valid during the call; its id is the kernel's. GUEST is what else is known of a
	 * guest sample; NULL: nothing, or not a guest sample. COUNTS: for the leader of a group
	 * whose values are read, what each of its events has counted since the sample before, in
	 * their order; otherwise NULL. What a lost sample had counted is in the next one.
	 */
	void (*sample)(void *context, size_t event, size_t thread,
		       const struct perfdata_sample *sample, const struct capture_guest *guest,
		       const uint64_t *counts);
	/*
	 * COUNT more samples were taken and lost, up to about TIME_NS (0: not known). THREAD is
	 * CAPTURE_NO_THREAD if not known. Each lost sample is reported once, some of them only by
	 * capture_finish().
	 */
	void (*lost)(void *context, size_t event, size_t thread, uint64_t count, uint64_t time_ns);
	/*
	 * At TIME_NS, before a sample of GUEST's task: AREAS are the executable mappings of its
	 * process. NULL: they are not wanted.
	 */
	void (*mappings)(void *context, size_t thread, uint64_t time_ns,
			 const struct capture_guest *guest, const struct sampler_areas *areas);
};

struct capture_engine;
extern const struct capture_engine capture_threads_engine; /* an event per thread */
extern const struct capture_engine capture_cpus_engine;    /* an event per CPU, and a filter */
extern const struct capture_engine capture_qmp_engine;     /* asks a QEMU; never chosen by cost */

struct capture_config {
	const struct host_event *events; /* borrowed; probed, with their rate set */
	size_t event_count;
	size_t expected_threads;
	struct ranges cpus; /* sample threads only on these; none: on all. Borrowed */
	size_t ring_bytes; /* wanted, a power of two; 0: by the rate */
	struct capture_sink sink;
	bool stacks; /* copy guests' kernel stacks for call chains, and: */
	uint32_t user_stack_bytes;
	const struct capture_engine *engine; /* NULL: by cost */
	double max_overhead; /* share of a core that sampling may take on a thread; 0: unlimited */
	bool no_bpf;                         /* do not use BPF, even if available */
	uint32_t vmm; /* the VMM whose guest is sampled, for an engine that can sample only one */
};

/* An error if not all CPUS are online. */
struct error *capture_check_cpus(const struct ranges *cpus) MUST_CHECK;

struct capture;

struct error *capture_create(const struct capture_config *config, struct capture **ret) MUST_CHECK;
void capture_destroy(struct capture *capture); /* takes NULL */

/* Starts sampling a thread, at once if enabled. *RET is CAPTURE_NO_THREAD if it is gone. */
struct error *capture_add_thread(struct capture *capture, const struct capture_thread *thread,
				 size_t *ret) MUST_CHECK;
/* The thread is gone: reports its losses and frees its resources. */
void capture_remove_thread(struct capture *capture, size_t thread);

/*
 * Whether guest samples include their process, once capture_set_guest() has described the guest.
 * That call applies to the threads of VM number VM; any thread may make it. It returns false if
 * there is no room for another VM: there is room for twice as many as there were threads at the
 * start, but at least 1,024.
 */
bool capture_sees_guests(const struct capture *capture);
struct sampler_vm;
struct guest_cpus;
bool capture_set_guest(struct capture *capture, uint32_t vm, const struct sampler_vm *guest,
		       const struct guest_cpus *cpus);
/*
 * Whether all registers needed to find stacks are known for guests that are seen; otherwise SP is
 * not.
 */
bool capture_sees_registers(const struct capture *capture);

/* Events are disabled at first. What is enabled is so on threads that are added later, too. */
struct error *capture_enable(struct capture *capture) MUST_CHECK;
void capture_set_enabled(struct capture *capture, size_t event, bool enabled);
bool capture_is_enabled(const struct capture *capture); /* some event is */
/*
 * capture_wait() also returns when FD can be read, or has hung up. False: FD cannot be waited for
 * (a regular file).
 */
bool capture_watch(struct capture *capture, int fd);
void capture_unwatch(struct capture *capture, int fd);
/* Waits until a ring is half full, a thread ends, a signal arrives, or TIMEOUT_MS pass. */
void capture_wait(struct capture *capture, int timeout_ms);
void capture_drain(struct capture *capture);
void capture_finish(struct capture *capture);

/*
 * To be called now and then after a drain: lowers the rate, with a message, if sampling exceeds
 * max_overhead.
 */
void capture_keep_budget(struct capture *capture);
/*
 * Multiplies the rate of events that have one by FACTOR (above 0, at most 1). First delivers the
 * samples taken so far.
 */
void capture_lower_rate(struct capture *capture, double factor);

struct capture_stats {
	uint64_t throttled;   /* times the kernel paused an event and took no samples */
	uint64_t undecodable; /* records that could not be read */
	uint64_t due;         /* samples due by the kernel's own counts, for events with a fixed
			       * period on threads; complete after capture_finish() */
	uint64_t lost_seen;   /* lost so far, as far as is known while recording */
	size_t ring_bytes;
	bool ring_reduced; /* the mlock limit did not allow the wanted size */
	/* For an engine that looks at all vCPUs at once. */
	struct {
		/* by the timer; without a sample because QEMU did not answer */
		uint64_t due, failed;
		uint64_t paused;      /* found the guest paused by somebody else */
		uint64_t halted;      /* halted vCPUs, summed over all looks */
		uint64_t elapsed_ns;  /* time while enabled; complete after capture_finish() */
	} looks;
};
struct capture_stats capture_stats(const struct capture *capture);
/*
 * The cost of guest samples taken by a BPF program, or how long looks paused the guest; otherwise
 * all 0.
 */
struct sampler_cost capture_cost(const struct capture *capture);
/* How samples are taken, for -v: "an event per thread", "an event per CPU, filtered by BPF". */
const char *capture_description(const struct capture *capture);

DEFINE_CLEANUP(cleanup_capture, struct capture *, capture_destroy)
#define _cleanup_capture_ _cleanup_(cleanup_capture)

#endif
