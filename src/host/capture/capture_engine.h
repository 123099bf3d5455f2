/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What capture.c and its engines share. How to add an engine: write capture_NAME.c with a
 * `const struct capture_engine`, declare it in capture.h, and add it to engines[] in capture.c.
 * An engine delivers samples by capture_deliver() and losses by capture_report_lost(); how it
 * comes by them (perf rings as these here, or a BPF program's own ring) is its affair.
 */
#ifndef HOST_CAPTURE_CAPTURE_ENGINE_H
#define HOST_CAPTURE_CAPTURE_ENGINE_H

#include "base/buffer.h"
#include "base/map.h"
#include "base/vector.h"
#include "host/capture/capture.h"
#include "host/capture/guest_sampler.h"
#include "host/capture/ring.h"
#include "host/capture/sampling_budget.h"

struct capture_engine {
	/*
	 * What sampling THREADS threads would cost, in a unit of one event on one thread; SIZE_MAX:
	 * cannot be done. The cheapest engine whose create() succeeds is used.
	 */
	size_t (*cost)(const struct capture *capture, size_t threads);
	struct error *(*create)(struct capture *capture)MUST_CHECK; /* sets capture->state */
	void (*destroy)(struct capture *capture);
	/* THREAD is capture->threads' last. *RET_GONE: there is no such thread any more. */
	struct error *(*add_thread)(struct capture *capture, size_t thread,
				    bool *ret_gone)MUST_CHECK;
	void (*remove_thread)(struct capture *capture, size_t thread);
	void (*enable)(struct capture *capture);
	void (*disable)(struct capture *capture);
	void (*set_rate)(struct capture *capture); /* as capture_rate() has become */
	/*
	 * As capture_set_guest(), of an engine that looks into guests itself; NULL: samplers do
	 * that.
	 */
	bool (*set_guest)(struct capture *capture, const struct sampler_vm *guest,
			  const struct guest_cpus *cpus);
	void (*drain)(struct capture *capture);
	void (*finish)(struct capture *capture); /* after the last drain: losses not yet told */
	const char *(*description)(const struct capture *capture);
};

struct capture_slot;

struct capture {
	struct capture_config config;
	const struct capture_engine *engine;
	void *state; /* the engine's */
	VECTOR(struct capture_thread) threads;
	VECTOR(uint64_t) received; /* samples delivered: thread * event_count + event */
	struct map by_tid;         /* tid -> thread + 1; 0: removed */
	struct capture_stats stats;
	double rate_share; /* of the rates in config.events that is in force, at most 1 */
	struct sampling_budget budget; /* share 0: none */
	VECTOR(uint64_t) cost_seen;    /* ns at the last look: thread * event_count + event */
	struct sampler_cost pauses;    /* of all threads at once, by the engine; 0: none */
	uint64_t budget_ns;	       /* time of that look */
	bool budget_exceeded;	       /* and was told to be */
	struct guest_sampler **samplers; /* by event; NULL: no BPF for it */
	bool sampler_missing; /* on a thread or CPU: their counts are none of all samples */
	size_t open_files_max;
	int epoll_fd;
	bool enabled;
	struct buffer callchain; /* scratch of the sample decoder */
	uint8_t *record;         /* scratch of ring_next() */
};

/* For an engine with perf rings, before its first slot: how many there are going to be. */
void capture_size_rings(struct capture *capture, size_t rings);

/* Of an event that has a rate (attr.freq): as it is now, in Hz, and for a clock's timer. */
uint64_t capture_rate(const struct capture *capture, size_t event);
uint64_t capture_clock_period_ns(const struct capture *capture, size_t event);
/* The period of a sample whose period the kernel says to be TOLD. */
uint64_t capture_period(const struct capture *capture, size_t event, uint64_t told);

/* GUEST as in struct capture_sink. */
void capture_deliver(struct capture *capture, size_t event, size_t thread,
		     const struct perfdata_sample *sample, const struct capture_guest *guest);
void capture_report_lost(struct capture *capture, size_t event, size_t thread, uint64_t count,
			 uint64_t time_ns);
/* A guest's sample of thread number RECORD->number. */
void capture_deliver_record(struct capture *capture, size_t event,
			    const struct sampler_record *record,
			    const struct sampler_stacks *stacks);

/*
 * Samplers of events (capture_samplers.c). A thread is to be added before a slot of its own is
 * opened, its samples are told apart by capture's thread number.
 */
void capture_samplers_create(struct capture *capture, size_t ring_bytes);
void capture_samplers_destroy(struct capture *capture);
/* To all counters of SLOT that have one. */
void capture_samplers_attach(struct capture *capture, struct capture_slot *slot);
struct error *capture_samplers_add(struct capture *capture, size_t thread) MUST_CHECK;
void capture_samplers_remove(struct capture *capture, size_t thread);
void capture_samplers_drain(struct capture *capture);
/* Whether all samples are counted by samplers, so that what is missing is known per thread. */
bool capture_samplers_count_all(const struct capture *capture);
/* What passed and was not received; only right after a drain while the thread does not run. */
void capture_samplers_tell_lost(struct capture *capture, size_t thread);

/*
 * A slot: all events on one thread or one CPU, in one ring (or, where the kernel does not let
 * them share, several).
 */
struct capture_counter {
	int fd;
	uint64_t id;
	uint64_t lost; /* told so far */
	struct ring ring;
};

struct capture_slot {
	size_t thread; /* CAPTURE_NO_THREAD: of a CPU; samples are told apart by their tid */
	bool hung_up;
	bool losses_elsewhere;            /* the engine knows them better than the rings do */
	struct capture_counter *counters; /* one per event */
};

/* Opens the events on thread TID, or on CPU where TID is -1. *RET is NULL where it is gone. */
struct error *capture_slot_open(struct capture *capture, pid_t tid, int cpu, size_t thread,
				struct capture_slot **ret) MUST_CHECK;
void capture_slot_destroy(const struct capture *capture, struct capture_slot *slot);
void capture_slot_enable(const struct capture *capture, struct capture_slot *slot, bool enable);
void capture_slot_set_rate(const struct capture *capture, struct capture_slot *slot);
void capture_slot_drain(struct capture *capture, struct capture_slot *slot);
/* Tells the losses that the kernel has counted since the last time (where it counts them). */
void capture_slot_tell_lost(struct capture *capture, struct capture_slot *slot, uint64_t time_ns);
/* Once, after the slot's last drain: its last losses and its counts. */
void capture_slot_finish(struct capture *capture, struct capture_slot *slot);

#endif
