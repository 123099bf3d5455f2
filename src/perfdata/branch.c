/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flags of a branch are bit-fields of a 64-bit word. Compilers of big-endian machines lay them
 * out from its highest bit on.
 */
#include "perfdata/branch.h"

#include <string.h>

/* BITS bits of the flags after the first BEFORE ones. */
static uint64_t flag_bits(uint64_t word, bool big_endian, unsigned int before, unsigned int bits)
{
	unsigned int shift = big_endian ? 64 - before - bits : before;

	return word >> shift & ((1ULL << bits) - 1);
}

struct perfdata_branch perfdata_branch_take(const struct perfdata_sample *sample, bool swap,
					    uint64_t number)
{
	bool big = swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	uint64_t words[3];

	memcpy(words, (const uint8_t *)sample->branches + number * sizeof(words), sizeof(words));
	for (int i = 0; swap && i < 3; i++)
		words[i] = __builtin_bswap64(words[i]);
	return (struct perfdata_branch){
		.from = words[0],
		.to = words[1],
		.mispredicted = flag_bits(words[2], big, 0, 1),
		.predicted = flag_bits(words[2], big, 1, 1),
		.in_transaction = flag_bits(words[2], big, 2, 1),
		.abort = flag_bits(words[2], big, 3, 1),
		.cycles = flag_bits(words[2], big, 4, 16),
		.type = flag_bits(words[2], big, 20, 4),
	};
}

bool perfdata_branch_is_call_stack(const struct perf_event_attr *attr)
{
	return (attr->sample_type & PERF_SAMPLE_BRANCH_STACK) &&
	       (attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
}

/* Words of the chain up to the mark of the program's part, that included; 0: there is none. */
static uint64_t kernel_words(const struct perfdata_sample *sample)
{
	for (uint64_t i = 0; i < sample->callchain_count; i++)
		if (sample->callchain[i] == PERF_CONTEXT_USER)
			return i + 1;
	return 0;
}

void perfdata_branch_chain(const struct perf_event_attr *attr, bool swap, struct buffer *scratch,
			   struct perfdata_sample *sample)
{
	uint64_t kept, count = sample->branch_count;
	uint64_t *chain;

	if (!count || !perfdata_branch_is_call_stack(attr))
		return;
	kept = kernel_words(sample);
	if (!kept)
		return;
	if ((const void *)sample->callchain != scratch->data) {
		buffer_clear(scratch);
		buffer_append(scratch, sample->callchain, kept * sizeof(uint64_t));
	}
	scratch->size = kept * sizeof(uint64_t);
	chain = buffer_extend(scratch, (count + 1) * sizeof(uint64_t));
	if (!chain)
		return;
	/* Where the newest call led to is where the sample was taken; then who called. */
	chain[0] = perfdata_branch_take(sample, swap, 0).to;
	for (uint64_t i = 0; i < count; i++)
		chain[i + 1] = perfdata_branch_take(sample, swap, i).from;
	sample->callchain = (const uint64_t *)scratch->data;
	sample->callchain_count = kept + 1 + count;
}
