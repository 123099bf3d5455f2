/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sample decoder: the input starts with the attr's fields that determine the layout of a
 * sample, the rest is the record's body. Samples that can be decoded and encoded must come out the
 * same.
 */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "perfdata/branch.h"
#include "perfdata/sample.h"

struct head {
	uint64_t sample_type, read_format, branch_sample_type, sample_regs_user, sample_regs_intr;
	uint8_t swap, sample_id_all;
} __attribute__((packed));

static void encode_again(const struct perf_event_attr *attr, const struct perfdata_sample *sample)
{
	_cleanup_buffer_ struct buffer bytes, scratch;
	struct perfdata_sample again;

	buffer_init(&bytes, 1 << 16);
	buffer_init(&scratch, 1 << 16);
	if (!perfdata_sample_encode(attr, sample, &bytes))
		return;
	assert(perfdata_sample_decode(attr, bytes.data + 8, bytes.size - 8, sample->misc, false,
				      &scratch, &again));
	assert(again.ip == sample->ip && again.id == sample->id);
	assert(again.callchain_count == sample->callchain_count);
	assert(again.raw_bytes >= sample->raw_bytes);
}

/* Registers and stack are inside the record. */
static void read_user(const struct perf_event_attr *attr, const struct perfdata_sample *sample,
		      const uint8_t *body, size_t size)
{
	size_t bytes = __builtin_popcountll(attr->sample_regs_user) * sizeof(uint64_t);
	const uint8_t *registers = sample->user_registers, *stack = sample->user_stack;

	assert(!registers || (registers >= body && registers + bytes <= body + size));
	assert(!stack || (stack >= body && stack + sample->user_stack_bytes <= body + size));
}

/* All branches lie within the sample, whatever they say. */
static void take_branches(const struct perfdata_sample *sample, bool swap)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < sample->branch_count; i++) {
		struct perfdata_branch branch = perfdata_branch_take(sample, swap, i);

		sum += branch.from + branch.to + branch.cycles;
	}
	for (uint64_t i = 0; i < sample->callchain_count; i++)
		sum += sample->callchain[i];
	__asm__ volatile("" : : "r"(sum));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buffer_ struct buffer scratch;
	struct perf_event_attr attr = { 0 };
	struct perfdata_sample sample;
	struct head head;

	buffer_init(&scratch, 1 << 16);
	if (size < sizeof(head))
		return 0;
	memcpy(&head, data, sizeof(head));
	attr.sample_type = head.sample_type;
	attr.read_format = head.read_format;
	attr.branch_sample_type = head.branch_sample_type;
	attr.sample_regs_user = head.sample_regs_user;
	attr.sample_regs_intr = head.sample_regs_intr;
	attr.sample_id_all = head.sample_id_all;
	if (perfdata_sample_decode(&attr, data + sizeof(head), size - sizeof(head), 0,
				   head.swap & 1, &scratch, &sample)) {
		read_user(&attr, &sample, data + sizeof(head), size - sizeof(head));
		take_branches(&sample, head.swap & 1);
		encode_again(&attr, &sample);
	}
	if (perfdata_sample_id_decode(&attr, data + sizeof(head), size - sizeof(head),
				      head.swap & 1, &sample))
		assert(perfdata_sample_id_bytes(&attr) <= size - sizeof(head));
	return 0;
}
