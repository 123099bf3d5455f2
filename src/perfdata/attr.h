/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One event of a recording: its perf_event_attr, its name, the ids in its samples, and which VM and
 * vCPU each id belongs to.
 *
 * Formats: include/uapi/linux/perf_event.h (struct perf_event_attr, ABI sizes 64 (VER0) to the
 * newest) and tools/perf/Documentation/perf.data-file-format.txt.
 */
#ifndef PERFDATA_ATTR_H
#define PERFDATA_ATTR_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

/* Where the samples with one id come from; the ids of a host event have machine_pid 0. */
struct perfdata_id {
	uint64_t id;
	uint32_t machine_pid; /* host pid of the VMM process: identifies the guest. 0: the host */
	uint32_t vcpu;	      /* vCPU number in the guest, PERFDATA_NO_VCPU if unknown */
	uint32_t tid;	      /* host thread that the event was opened on, 0 if unknown */
	uint32_t cpu;	      /* host CPU that the event was opened on, UINT32_MAX: any */
};

#define PERFDATA_NO_VCPU UINT32_MAX

#define PERFDATA_BUILD_ID_BYTES 20 /* that fit into records */

/* What a table of guest symbols belongs to. Code (symbol/code_pieces.h) is stored like a table. */
enum perfdata_symbols_kind {
	PERFDATA_SYMBOLS_KERNEL = 0, /* a guest's kernel and its modules; by address */
	PERFDATA_SYMBOLS_FILE = 1,   /* a file that guest processes map; by file offset */
	PERFDATA_CODE_KERNEL = 2,    /* code of the kernel and its modules … */
	PERFDATA_CODE_FILE = 3,	     /* … and of such a file */
};

struct perfdata_event {
	struct perf_event_attr attr; /* in this machine's byte order; newer fields cut off */
	char *name;		     /* "cpu-clock", "cycles:G"; owned; never NULL */
	struct perfdata_id *ids;     /* owned */
	size_t id_count;
	/* Events of a group are next to each other. An event without a group has 0 here. */
	uint32_t group_rank; /* 0: the group's leader; 1: the event after it … */
	uint32_t group_size; /* of the leader: of how many events, itself included */
	char *group_name;    /* of the leader; owned; NULL: the group has none */
};

#endif
