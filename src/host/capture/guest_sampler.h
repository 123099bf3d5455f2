/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A BPF program on perf events (src/bpf/guest_sampler.bpf.c). It lets only samples of known threads
 * pass. Guest samples it takes itself, with what perf cannot report: who ran in the guest, whether
 * it was a nested guest, and whether the sample was taken at an exit. There is one per event.
 */
#ifndef HOST_CAPTURE_GUEST_SAMPLER_H
#define HOST_CAPTURE_GUEST_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/guest_sampler.h"
#include "guest/process/cpus.h"
#include "host/capture/capture.h"

struct guest_sampler;

struct guest_sampler_options {
	uint32_t vms; /* maximum number of VMs, up to SAMPLER_MAX_VMS; each takes about 1 KiB */
	size_t ring_bytes; /* for each CPU, rounded up to a power of two */
	bool stacks;       /* copy kernel stacks */
	uint32_t user_stack_bytes; /* and at most this much of user stacks */
	bool mappings; /* of processes, when they are first sampled */
};

/*
 * Fails if BPF is not built in, not permitted, or not useful (in a container with its own pids). If
 * guests cannot be seen (old kernels), it only filters threads, and guest_sampler_sees_guests() is
 * false. If some of their registers cannot be seen (Intel), tasks are found but stack pointers are
 * not: guest_sampler_sees_registers() is false, and the copied stacks are either whole or what is
 * above BP.
 */
struct error *guest_sampler_create(const struct guest_sampler_options *options,
				   struct guest_sampler **ret) MUST_CHECK;
void guest_sampler_destroy(struct guest_sampler *sampler); /* takes NULL */
bool guest_sampler_sees_guests(const struct guest_sampler *sampler);
bool guest_sampler_sees_registers(const struct guest_sampler *sampler);

/*
 * Attaches the program to a perf event, hardware or software. Not to tracepoints, where it would
 * also filter events of other users. False: see errno.
 */
bool guest_sampler_attach(struct guest_sampler *sampler, int event_fd);
/* Samples of the thread will carry NUMBER. False: see errno. */
bool guest_sampler_add(struct guest_sampler *sampler, const struct capture_thread *thread,
		       uint32_t number);
void guest_sampler_remove(struct guest_sampler *sampler, const struct capture_thread *thread);
/* Samples of the thread that have passed so far, into either ring. */
uint64_t guest_sampler_passed(const struct guest_sampler *sampler,
			      const struct capture_thread *thread);
/* Time that guest samples took on the thread so far, in ns: only that of the program itself. */
uint64_t guest_sampler_cost_ns(const struct guest_sampler *sampler,
			       const struct capture_thread *thread);
/* Adds the cost of each guest sample of all threads to SUM. */
void guest_sampler_add_cost(const struct guest_sampler *sampler, struct sampler_cost *sum);
/*
 * Applies from now on to VM number VM, whose vCPUs have their per-CPU variables where CPUS says.
 * May be called by any thread. False: there is no room for another VM (see the options).
 */
bool guest_sampler_set_vm(struct guest_sampler *sampler, uint32_t vm,
			  const struct sampler_vm *description, const struct guest_cpus *cpus);

/* Becomes readable when a ring is a quarter full; -1: there are no rings. */
int guest_sampler_epoll_fd(const struct guest_sampler *sampler);
/*
 * All are valid during the call. STACKS is followed by its bytes, and NULL if there are none. With
 * AREAS, it is not a sample: these are the executable mappings of RECORD's process.
 */
typedef void guest_sampler_take(void *context, const struct sampler_record *record,
				const struct sampler_stacks *stacks,
				const struct sampler_areas *areas);
/* Passes all records in the rings to TAKE; those of a thread are in order. */
void guest_sampler_drain(struct guest_sampler *sampler, guest_sampler_take *take, void *context);

#endif
