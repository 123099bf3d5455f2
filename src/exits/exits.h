/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics of exits, as `perf kvm stat report` has them (tools/perf/builtin-kvm.c): how often
 * guests exited, why, and how long it took until they ran again. An exit begins with one tracepoint
 * and ends with a later one of the same thread, that of the vCPU, on whatever CPU:
 *
 *	vmexit     the exit … the next entry
 *	mmio       a write … the next entry; the exit … the end of a read
 *	ioport, msr, hypercall   the access … the next entry (powerpc: the end of the hypercall)
 *
 * Nothing is counted of a thread before its first entry, nor what has no end, as in perf. Exits of
 * nested guests are exits of the vCPU that runs them: KVM's events about what the guest hypervisor
 * is made to believe are not counted.
 */
#ifndef EXITS_EXITS_H
#define EXITS_EXITS_H

#include "base/ranges.h"
#include "base/vector.h"
#include "exits/exit_sources.h"

enum exits_event { EXITS_VMEXIT, EXITS_MMIO, EXITS_IOPORT, EXITS_MSR, EXITS_HYPERCALL };

/* What rows are told apart by. */
enum exits_key {
	EXITS_BY_REASON = 1,
	EXITS_BY_SYMBOL = 2, /* the guest's function */
	EXITS_BY_VCPU = 4,   /* and VM */
};

struct exits_options {
	enum exits_event event;
	unsigned int keys; /* enum exits_key */
	struct ranges vcpus;
	const struct machine **vms; /* of the session */
	size_t vm_count;	    /* 0: all */
};

#define EXITS_BUCKETS 65

struct exits_row {
	/* Those of the keys; otherwise 0. Names are numbers in the session's strings. */
	enum exit_isa isa;
	uint64_t code, info;
	uint32_t reason, symbol;
	const struct machine *vm; /* NULL: unknown */
	uint32_t vcpu;		  /* EXIT_NO_VCPU: unknown */

	uint64_t count;
	uint64_t timed; /* how many of them have an end, and so a time: */
	uint64_t total_ns, min_ns, median_ns, p99_ns, max_ns;
	double mean_ns;
	double error; /* of the mean: per cent of it, as perf's +- */
	/*
	 * EXITS_BUCKETS numbers: how many took 0 ns; from 1 on: 2^(index - 1) ns or more, and less
	 * than twice that. NULL: none has a time. Owned.
	 */
	uint64_t *histogram;
};

struct exits {
	VECTOR(struct exits_row) rows;
	uint64_t count, total_ns;
	uint64_t unpaired; /* exits left out, because their end or what came before is missing */
};

/*
 * Adds the VMs that SESSION's exits are of, which the recording may say nothing else about, and
 * reads all of it for that.
 */
void exits_find_vms(struct session *session, const struct exit_sources *sources);

/* Reads all of SESSION. RET is to be freed with exits_deinit(). */
void exits_count(struct session *session, const struct exit_sources *sources,
		 const struct exits_options *options, struct exits *ret);
void exits_deinit(struct exits *exits);

#endif
