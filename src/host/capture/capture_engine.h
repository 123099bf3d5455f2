/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by capture.c and its engines. To add an engine, write capture_NAME.c with a `const struct
 * capture_engine` and declare it in capture.h. An engine that may be chosen by cost goes into
 * engines[] in capture.c. An engine that is only used when the user names it (qmp) does not: set it
 * as config.engine for its value of --engine (src/cmd/record).
 *
 * An engine delivers samples with capture_deliver() and losses with capture_report_lost(). How it
 * gets them (from perf rings, as below, or from a BPF program's own ring) is up to the engine.
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
	 * The cost of sampling THREADS threads, in units of one event on one thread; SIZE_MAX:
	 * impossible. The cheapest engine whose create() succeeds is used. Not used for an engine
	 * that the user names.
	 */
	size_t (*cost)(const struct capture *capture, size_t threads);
	/* THREAD is the last of capture->threads. *RET_GONE: it no longer exists. */
	struct error *(*create)(struct capture *capture)MUST_CHECK;
	void (*destroy)(struct capture *capture);
	/* THREAD is the last of capture->threads. *RET_GONE: it no longer exists. */
	struct error *(*add_thread)(struct capture *capture, size_t thread,
				    bool *ret_gone)MUST_CHECK;
	void (*remove_thread)(struct capture *capture, size_t thread);
	void (*enable)(struct capture *capture); /* the events of event_enabled, no others */
	void (*disable)(struct capture *capture); /* all */
	void (*set_rate)(struct capture *capture); /* to what capture_rate() now returns */
	/*
	 * As capture_set_guest(), for an engine that looks into guests itself; NULL: samplers do
	 * it.
	 */
	bool (*set_guest)(struct capture *capture, const struct sampler_vm *guest,
			  const struct guest_cpus *cpus);
	void (*drain)(struct capture *capture);
	/* after the last drain: reports the remaining losses */
	void (*finish)(struct capture *capture);
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
	double rate_share; /* current fraction of the rates in config.events, at most 1 */
	struct sampling_budget budget; /* share 0: none */
	VECTOR(uint64_t) cost_seen;    /* ns at the last look: thread * event_count + event */
	struct sampler_cost pauses;    /* of all threads at once, from the engine; 0: none */
	uint64_t budget_ns;	       /* time of that look */
	bool budget_exceeded;	       /* and a warning was printed */
	struct guest_sampler **samplers; /* by event; NULL: no BPF for this event */
	/* from a thread or CPU: the samplers' counts do not cover all samples */
	bool sampler_missing;
	size_t open_files_max;
	int epoll_fd;
	bool enabled;	  /* some event is */
	bool *event_enabled; /* by event */
	struct buffer callchain; /* scratch of the sample decoder */
	uint8_t *record;         /* scratch of ring_next() */
	uint64_t *values; /* scratch of read(), and of what is read in samples */
};
/* So many words read() returns at most: a count, and three for each event of a group. */
#define CAPTURE_VALUES(events) (1 + 3 * (events))

/* For an engine with perf rings, before its first slot: how many rings there will be. */
void capture_size_rings(struct capture *capture, size_t rings);

/*
 * For an event with a rate (attr.freq): the current rate in Hz, and the period of a clock's timer.
 */
uint64_t capture_rate(const struct capture *capture, size_t event);
uint64_t capture_clock_period_ns(const struct capture *capture, size_t event);
/* The true period of a sample for which the kernel reports TOLD. */
uint64_t capture_period(const struct capture *capture, size_t event, uint64_t told);

/* GUEST and COUNTS are as in struct capture_sink. */
void capture_deliver(struct capture *capture, size_t event, size_t thread,
		     const struct perfdata_sample *sample, const struct capture_guest *guest,
		     const uint64_t *counts);
void capture_report_lost(struct capture *capture, size_t event, size_t thread, uint64_t count,
			 uint64_t time_ns);
/* A guest sample of thread number RECORD->number. */
void capture_deliver_record(struct capture *capture, size_t event,
			    const struct sampler_record *record,
			    const struct sampler_stacks *stacks);

/*
 * BPF samplers of events (capture_samplers.c). A thread must be added before its slot is opened.
 * Samples carry capture's thread number.
 */
void capture_samplers_create(struct capture *capture, size_t ring_bytes);
void capture_samplers_destroy(struct capture *capture);
/* Attaches samplers to all counters of SLOT that have one. */
void capture_samplers_attach(struct capture *capture, struct capture_slot *slot);
struct error *capture_samplers_add(struct capture *capture, size_t thread) MUST_CHECK;
void capture_samplers_remove(struct capture *capture, size_t thread);
void capture_samplers_drain(struct capture *capture);
/* Whether samplers count all samples, so that losses are known per thread. */
bool capture_samplers_count_all(const struct capture *capture);
/*
 * Reports the samples that passed but were not received. Only valid right after a drain, while the
 * thread does not run.
 */
void capture_samplers_tell_lost(struct capture *capture, size_t thread);

/*
 * A slot: all events on one thread or one CPU, sharing one ring (or several, where the kernel does
 * not allow that).
 */
struct capture_counter {
	int fd;
	uint64_t id;
	uint64_t lost; /* reported so far */
	uint64_t value; /* of an event whose values are read: at the last sample */
	struct ring ring;
};

struct capture_slot {
	size_t thread; /* CAPTURE_NO_THREAD: a CPU's slot, where samples are assigned by tid */
	bool hung_up;
	bool losses_elsewhere;            /* the engine knows the losses better than the rings do */
	struct capture_counter *counters; /* one per event */
};

/*
 * Opens the events on thread TID, or on CPU if TID is -1. *RET is NULL if the thread or CPU is
 * gone.
 */
struct error *capture_slot_open(struct capture *capture, pid_t tid, int cpu, size_t thread,
				struct capture_slot **ret) MUST_CHECK;
void capture_slot_destroy(const struct capture *capture, struct capture_slot *slot);
void capture_slot_enable(const struct capture *capture, struct capture_slot *slot, bool enable);
void capture_slot_set_rate(const struct capture *capture, struct capture_slot *slot);
void capture_slot_drain(struct capture *capture, struct capture_slot *slot);
/* Reports the losses counted by the kernel since the last call (where it counts them). */
void capture_slot_tell_lost(struct capture *capture, struct capture_slot *slot, uint64_t time_ns);
/*
 * What a counter says of itself (capture_values.c): false: it cannot be read. *RET_LOST is 0 if the
 * kernel does not count losses.
 */
bool capture_slot_read(struct capture *capture, const struct capture_slot *slot, size_t event,
		       uint64_t *ret_value, uint64_t *ret_lost);
/*
 * COUNTS for the sink, from a sample of the leader EVENT: valid until the next call; NULL: its
 * values are not read.
 */
const uint64_t *capture_slot_take_counts(struct capture *capture, struct capture_slot *slot,
					 size_t event, const struct perfdata_sample *sample);
/* Called once, after the slot's last drain: collects its last losses and its counts. */
void capture_slot_finish(struct capture *capture, struct capture_slot *slot);

#endif
