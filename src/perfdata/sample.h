/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Encodes and decodes PERF_RECORD_SAMPLE: the fields that attr.sample_type selects, in the order
 * fixed by perf_event.h (PERF_SAMPLE_IDENTIFIER first).
 */
#ifndef PERFDATA_SAMPLE_H
#define PERFDATA_SAMPLE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* Fields not in sample_type are 0 (pointers NULL). */
struct perfdata_sample {
	uint64_t id;
	uint64_t ip;
	uint64_t time_ns;
	uint64_t addr;
	uint64_t stream_id;
	uint64_t period; /* attr.sample_period if samples have none, like perf */
	uint64_t weight;
	uint64_t data_src;
	uint64_t transaction;
	uint64_t phys_addr;
	uint64_t cgroup;
	uint64_t data_page_size;
	uint64_t code_page_size;
	uint32_t pid; /* host process, UINT32_MAX for a thread that has exited */
	uint32_t tid;
	uint32_t cpu;
	uint16_t misc; /* from the header; the cpumode is misc & PERF_RECORD_MISC_CPUMODE_MASK */
	uint16_t user_abi; /* of user_registers: PERF_SAMPLE_REGS_ABI_* */
	uint16_t interrupt_abi;
	uint16_t instruction_latency; /* in cycles; weight is the memory's then */

	/*
	 * Borrowed from the record (or from swapped scratch memory): valid until the next record.
	 */
	const uint64_t *callchain; /* with its PERF_CONTEXT_* marks; an aligned copy if need be */
	uint64_t callchain_count;
	const void *raw; /* tracepoint data in the recording machine's byte order */
	uint32_t raw_bytes;
	const void *branches;  /* for perfdata_branch_take(), newest first */
	uint64_t branch_count;
	const uint8_t *read; /* PERF_SAMPLE_READ, checked: for perfdata_reader_take_value() */
	uint32_t read_bytes;
	/* Of the thread in user mode; as the recording machine has them, of any alignment: */
	uint32_t user_stack_bytes;
	const void *user_registers; /* 8 bytes for each bit of attr.sample_regs_user, or NULL */
	const void *user_stack;     /* a copy from SP on, or NULL */
	const void *interrupt_registers; /* likewise of what was sampled; sample_regs_intr */
};

/*
 * Decodes the body of a PERF_RECORD_SAMPLE (BODY is after the 8-byte header, MISC is from that
 * header). SWAP: the recording machine has the other byte order. SCRATCH is cleared; the call chain
 * is copied there if it is swapped or not aligned in BODY: it needs room for 64 KiB. The call
 * chain of attr.branch_sample_type CALL_STACK goes by the branches (branch.h). AUX data are
 * ignored. False: the record is malformed.
 */
bool perfdata_sample_decode(const struct perf_event_attr *attr, const void *body,
			    size_t body_bytes, uint16_t misc, bool swap, struct buffer *scratch,
			    struct perfdata_sample *ret);

/*
 * Appends a whole PERF_RECORD_SAMPLE (with its header) in this machine's byte order to OUT.
 * sample_type may have IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD, READ (its bytes
 * as they are), CALLCHAIN, RAW, WEIGHT, DATA_SRC, TRANSACTION, PHYS_ADDR. False, and nothing
 * appended: it has other fields, or the record would exceed 65,535 bytes.
 */
bool perfdata_sample_encode(const struct perf_event_attr *attr,
			    const struct perfdata_sample *sample, struct buffer *out);

/*
 * Decodes the sample_id trailer of other records (attr.sample_id_all): pid, tid, time, id, stream
 * id, cpu as selected by attr.sample_type, into the fields of RET. BODY_BYTES as above.
 */
bool perfdata_sample_id_decode(const struct perf_event_attr *attr, const void *body,
			       size_t body_bytes, bool swap, struct perfdata_sample *ret);
/* The size of that trailer. */
size_t perfdata_sample_id_bytes(const struct perf_event_attr *attr);
void perfdata_sample_id_encode(const struct perf_event_attr *attr,
			       const struct perfdata_sample *sample, struct buffer *out);

#endif
