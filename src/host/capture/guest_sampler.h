/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A BPF program on perf events (src/bpf/guest_sampler.bpf.c) that lets pass the samples of known
 * threads only, and takes those of guests itself, with what perf cannot tell: who ran in the guest,
 * whether a nested guest ran, whether the sample is of an exit. One for each event.
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
	uint32_t vms; /* how many VMs there may be, SAMPLER_MAX_VMS at most; about 1 KiB each */
	size_t ring_bytes; /* for each CPU, rounded up to a power of two */
	bool stacks;       /* copies those of the kernel */
	uint32_t user_stack_bytes; /* and as much of the user's, at most */
};

/*
 * An error where BPF is not built in, not permitted, or not of use (a container's pids). Where
 * guests are out of reach (old kernels), it filters threads, and guest_sampler_sees_guests() is
 * false. Where some of their registers are (Intel), their tasks are found, but no stack pointers:
 * guest_sampler_sees_registers() is false, and stacks are whole, or what is above BP.
 */
struct error *guest_sampler_create(const struct guest_sampler_options *options,
				   struct guest_sampler **ret) MUST_CHECK;
void guest_sampler_destroy(struct guest_sampler *sampler); /* takes NULL */
bool guest_sampler_sees_guests(const struct guest_sampler *sampler);
bool guest_sampler_sees_registers(const struct guest_sampler *sampler);

/* Attaches the program to a perf event (hardware or software; not to tracepoints, where it would
 * filter other people's events, too). False: errno. */
bool guest_sampler_attach(struct guest_sampler *sampler, int event_fd);
/* NUMBER comes back with the thread's samples. False: errno. */
bool guest_sampler_add(struct guest_sampler *sampler, const struct capture_thread *thread,
		       uint32_t number);
void guest_sampler_remove(struct guest_sampler *sampler, const struct capture_thread *thread);
/* Samples of the thread that have passed so far, to either ring. */
uint64_t guest_sampler_passed(const struct guest_sampler *sampler,
			      const struct capture_thread *thread);
/* ns that its guest samples took on the thread so far, those of the program itself. */
uint64_t guest_sampler_cost_ns(const struct guest_sampler *sampler,
			       const struct capture_thread *thread);
/* Adds what each of these samples took, of all threads. */
void guest_sampler_add_cost(const struct guest_sampler *sampler, struct sampler_cost *sum);
/*
 * From now on, in VM number VM, whose vCPUs have their per-CPU variables where CPUS says; may be
 * called by any thread. False: the options left no room for it.
 */
bool guest_sampler_set_vm(struct guest_sampler *sampler, uint32_t vm,
			  const struct sampler_vm *description, const struct guest_cpus *cpus);

/* Becomes readable when a ring is a quarter full; -1: it has no rings. */
int guest_sampler_epoll_fd(const struct guest_sampler *sampler);
/* Both are valid during the call; STACKS, which its bytes follow, is NULL where there are none. */
typedef void guest_sampler_take(void *context, const struct sampler_record *record,
				const struct sampler_stacks *stacks);
/* Passes all records of the rings to TAKE, those of one thread in their order. */
void guest_sampler_drain(struct guest_sampler *sampler, guest_sampler_take *take, void *context);

#endif
