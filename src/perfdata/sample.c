/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fields of a PERF_RECORD_SAMPLE and of the sample_id trailer.
 *
 * Source: the comment above PERF_RECORD_SAMPLE in include/uapi/linux/perf_event.h and
 * perf_output_sample() in kernel/events/core.c, which fix the order. Fields are swapped as the C
 * type that the kernel writes: pid and tid, cpu, and the length of raw data are 32-bit, so each is
 * swapped by itself and not as part of a 64-bit word.
 *
 * sample_type bits newer than this code stand for fields after all those known here, which are
 * ignored.
 */
#include "perfdata/sample.h"

#include "base/cursor.h"
#include "perfdata/branch.h"
#include "perfdata/sample_fields.h"

/* Newer than the headers that this may be built with (Linux 6.8). */
#define BRANCH_COUNTERS (1ULL << 19)

#define BRANCH_ENTRY_BYTES PERFDATA_BRANCH_BYTES
#define RECORD_MAX_BYTES UINT16_MAX

/* All fields after the call chain. */
#define BEHIND_CALLCHAIN                                                                           \
	(PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |                      \
	 PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT |                 \
	 PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR |                  \
	 PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE |                 \
	 PERF_SAMPLE_CODE_PAGE_SIZE)

#define ENCODABLE                                                                                  \
	(SAMPLE_FIRST_BITS | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |          \
	 PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION |                     \
	 PERF_SAMPLE_PHYS_ADDR)

static void skip_words(struct cursor *cursor, uint64_t count)
{
	if (count > cursor_left(cursor) / 8)
		cursor->failed = true;
	else
		cursor_skip(cursor, count * 8);
}

/* Reads 64 bits at *AT and moves past them. The caller has checked that they are there. */
static inline uint64_t take_u64(const uint8_t **at, bool swap)
{
	uint64_t value;

	memcpy(&value, *at, sizeof(value));
	*at += sizeof(value);
	return swap ? __builtin_bswap64(value) : value;
}

/* Two 32-bit fields in 64 bits. */
static inline void take_u32_pair(const uint8_t **at, bool swap, uint32_t *first, uint32_t *second)
{
	uint32_t values[2];

	memcpy(values, *at, sizeof(values));
	*at += sizeof(values);
	*first = swap ? __builtin_bswap32(values[0]) : values[0];
	*second = swap ? __builtin_bswap32(values[1]) : values[1];
}

/* The size of the fixed-size fields, which come first. */
static inline size_t fixed_bytes(uint64_t type)
{
	return 8 * __builtin_popcountll(type & SAMPLE_FIRST_BITS);
}

#define TAKE_WORD(bit, member)                                                                     \
	if (type & PERF_SAMPLE_##bit)                                                              \
		sample->member = take_u64(&at, swap);
#define TAKE_PAIR(bit, first, second)                                                              \
	if (type & PERF_SAMPLE_##bit)                                                              \
		take_u32_pair(&at, swap, &sample->first, &sample->second);
#define TAKE_HALF(bit, member)                                                                     \
	if (type & PERF_SAMPLE_##bit)                                                              \
		take_u32_pair(&at, swap, &sample->member, &nothing);

/* Decodes those fields, fixed_bytes() of them at AT, into SAMPLE, which is zeroed. */
static inline __attribute__((always_inline)) void
decode_fixed(const uint8_t *at, const struct perf_event_attr *attr, bool swap,
	     struct perfdata_sample *sample)
{
	uint64_t type = attr->sample_type;
	uint32_t nothing;

	sample->period = attr->sample_period;
	SAMPLE_FIRST_FIELDS(TAKE_WORD, TAKE_PAIR, TAKE_HALF)
}

/* struct read_format of perf_event.h. */
static void skip_read(struct cursor *cursor, uint64_t format)
{
	bool group = format & PERF_FORMAT_GROUP;
	uint64_t first = cursor_u64(cursor);
	unsigned per_value = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);

	skip_words(cursor, !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
				   !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING));
	if (!group)
		skip_words(cursor, per_value - 1);
	else if (first > cursor_left(cursor) / 8)
		cursor->failed = true;
	else
		skip_words(cursor, first * per_value);
}

static void decode_callchain(struct cursor *cursor, struct buffer *scratch,
			     struct perfdata_sample *sample)
{
	uint64_t count = cursor_u64(cursor);
	const uint8_t *frames = cursor->data + cursor->offset;
	uint64_t *copy;

	skip_words(cursor, count);
	if (cursor->failed)
		return;
	sample->callchain_count = count;
	sample->callchain = (const uint64_t *)frames;
	if (!count || (!cursor->swap && !((uintptr_t)frames % sizeof(uint64_t))))
		return;

	buffer_clear(scratch);
	copy = buffer_extend(scratch, count * sizeof(uint64_t));
	if (!copy) {
		cursor->failed = true;
		return;
	}
	memcpy(copy, frames, count * sizeof(uint64_t));
	for (uint64_t i = 0; cursor->swap && i < count; i++)
		copy[i] = __builtin_bswap64(copy[i]);
	sample->callchain = copy;
}

static void decode_raw(struct cursor *cursor, struct perfdata_sample *sample)
{
	uint32_t size = cursor_u32(cursor);

	sample->raw = cursor_bytes(cursor, size);
	sample->raw_bytes = sample->raw ? size : 0;
}

static void decode_branch_stack(struct cursor *cursor, uint64_t branch_type,
				struct perfdata_sample *sample)
{
	uint64_t count = cursor_u64(cursor);

	if (branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		cursor_skip(cursor, 8);
	if (count > cursor_left(cursor) / BRANCH_ENTRY_BYTES) {
		cursor->failed = true;
		return;
	}
	sample->branches = cursor->data + cursor->offset;
	sample->branch_count = count;
	cursor_skip(cursor, count * BRANCH_ENTRY_BYTES);
	if (branch_type & BRANCH_COUNTERS)
		skip_words(cursor, count);
}

/* The registers, NULL for none. */
static const void *take_registers(struct cursor *cursor, uint64_t mask, uint16_t *ret_abi)
{
	uint64_t abi = cursor_u64(cursor);

	*ret_abi = abi < UINT16_MAX ? abi : UINT16_MAX;
	return abi == PERF_SAMPLE_REGS_ABI_NONE
		       ? NULL
		       : cursor_bytes(cursor, __builtin_popcountll(mask) * sizeof(uint64_t));
}

/* A size; if it is not 0, that many bytes follow, and then the number of valid ones. */
static void decode_user_stack(struct cursor *cursor, struct perfdata_sample *sample)
{
	uint64_t size = cursor_u64(cursor), valid;
	const void *stack;

	if (!size)
		return;
	stack = cursor_bytes(cursor, size);
	valid = cursor_u64(cursor);
	if (valid > size)
		cursor->failed = true;
	if (cursor->failed || !valid)
		return;
	sample->user_stack = stack;
	sample->user_stack_bytes = valid;
}

static void decode_behind_callchain(struct cursor *cursor, const struct perf_event_attr *attr,
				    struct perfdata_sample *sample)
{
	uint64_t type = attr->sample_type;

	if (type & PERF_SAMPLE_RAW)
		decode_raw(cursor, sample);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		decode_branch_stack(cursor, attr->branch_sample_type, sample);
	if (type & PERF_SAMPLE_REGS_USER)
		sample->user_registers =
			take_registers(cursor, attr->sample_regs_user, &sample->user_abi);
	if (type & PERF_SAMPLE_STACK_USER)
		decode_user_stack(cursor, sample);
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		sample->weight = cursor_u64(cursor);
	if (type & PERF_SAMPLE_WEIGHT_STRUCT) { /* var1_dw, var2_w; then a third latency */
		sample->instruction_latency = sample->weight >> 32;
		sample->weight &= UINT32_MAX;
	}
	if (type & PERF_SAMPLE_DATA_SRC)
		sample->data_src = cursor_u64(cursor);
	if (type & PERF_SAMPLE_TRANSACTION)
		sample->transaction = cursor_u64(cursor);
	if (type & PERF_SAMPLE_REGS_INTR)
		sample->interrupt_registers = take_registers(cursor, attr->sample_regs_intr,
							     &sample->interrupt_abi);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		sample->phys_addr = cursor_u64(cursor);
	if (type & PERF_SAMPLE_CGROUP)
		sample->cgroup = cursor_u64(cursor);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		sample->data_page_size = cursor_u64(cursor);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		sample->code_page_size = cursor_u64(cursor);
}

/* In parts: for a larger one gcc emits a string instruction, which takes 10 ns to start. */
static inline void clear_sample(struct perfdata_sample *sample)
{
	const size_t first = offsetof(struct perfdata_sample, data_src);
	const size_t second = offsetof(struct perfdata_sample, pid);

	memset(sample, 0, first);
	memset((uint8_t *)sample + first, 0, second - first);
	memset((uint8_t *)sample + second, 0, sizeof(*sample) - second);
}

/*
 * The samples of nearly all recordings: fixed-size fields and perhaps an aligned call chain, in
 * this machine's byte order. Everything is checked before anything is written, so that the result
 * can go directly to the caller's memory: copying a sample is as slow as decoding it.
 */
static bool decode_common(const struct perf_event_attr *attr, const uint8_t *body,
			  size_t body_bytes, uint16_t misc, struct perfdata_sample *ret)
{
	size_t before_chain = fixed_bytes(attr->sample_type);
	bool has_chain = attr->sample_type & PERF_SAMPLE_CALLCHAIN;
	const uint8_t *chain = body + before_chain;
	uint64_t count = 0;

	if (body_bytes < before_chain + 8 * has_chain)
		return false;
	if (has_chain) {
		count = take_u64(&chain, false);
		if (count > (body_bytes - before_chain - 8) / sizeof(uint64_t))
			return false;
	}
	clear_sample(ret);
	decode_fixed(body, attr, false, ret);
	ret->misc = misc;
	ret->callchain = has_chain ? (const uint64_t *)chain : NULL;
	ret->callchain_count = count;
	return true;
}

static bool decode_any(const struct perf_event_attr *attr, struct cursor *cursor, uint16_t misc,
		       struct buffer *scratch, struct perfdata_sample *ret)
{
	const uint8_t *fixed = cursor_bytes(cursor, fixed_bytes(attr->sample_type));
	struct perfdata_sample sample;

	if (!fixed)
		return false;
	clear_sample(&sample);
	decode_fixed(fixed, attr, cursor->swap, &sample);
	sample.misc = misc;
	if (attr->sample_type & PERF_SAMPLE_READ) {
		sample.read = cursor->data + cursor->offset;
		skip_read(cursor, attr->read_format);
		sample.read_bytes = cursor->data + cursor->offset - sample.read;
	}
	if (attr->sample_type & PERF_SAMPLE_CALLCHAIN)
		decode_callchain(cursor, scratch, &sample);
	if (attr->sample_type & BEHIND_CALLCHAIN)
		decode_behind_callchain(cursor, attr, &sample);
	if (cursor->failed)
		return false;
	perfdata_branch_chain(attr, cursor->swap, scratch, &sample);
	*ret = sample;
	return true;
}

bool perfdata_sample_decode(const struct perf_event_attr *attr, const void *body,
			    size_t body_bytes, uint16_t misc, bool swap, struct buffer *scratch,
			    struct perfdata_sample *ret)
{
	struct cursor cursor = cursor_make(body, body_bytes, swap);

	if (!swap && !((uintptr_t)body % sizeof(uint64_t)) &&
	    !(attr->sample_type & (PERF_SAMPLE_READ | BEHIND_CALLCHAIN)))
		return decode_common(attr, body, body_bytes, misc, ret);
	return decode_any(attr, &cursor, misc, scratch, ret);
}

#define PUT_WORD(bit, member)                                                                      \
	if (type & PERF_SAMPLE_##bit)                                                              \
		buffer_append_u64(out, sample->member);
#define PUT_PAIR(bit, first, second)                                                               \
	if (type & PERF_SAMPLE_##bit) {                                                            \
		buffer_append_u32(out, sample->first);                                             \
		buffer_append_u32(out, sample->second);                                            \
	}
#define PUT_HALF(bit, member)                                                                      \
	if (type & PERF_SAMPLE_##bit) {                                                            \
		buffer_append_u32(out, sample->member);                                            \
		buffer_append_u32(out, 0);                                                         \
	}

static void encode_fixed(uint64_t type, const struct perfdata_sample *sample, struct buffer *out)
{
	SAMPLE_FIRST_FIELDS(PUT_WORD, PUT_PAIR, PUT_HALF)
}

/* The kernel pads raw data so that it ends on 8 bytes, and counts the padding as data. */
static uint32_t raw_padded_bytes(uint32_t raw_bytes)
{
	return (raw_bytes + sizeof(uint32_t) + 7) / 8 * 8 - sizeof(uint32_t);
}

static void encode_variable(uint64_t type, const struct perfdata_sample *sample,
			    struct buffer *out)
{
	static const uint8_t zeros[8];

	if (type & PERF_SAMPLE_READ)
		buffer_append(out, sample->read, sample->read_bytes);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		buffer_append_u64(out, sample->callchain_count);
		buffer_append(out, sample->callchain, sample->callchain_count * sizeof(uint64_t));
	}
	if (type & PERF_SAMPLE_RAW) {
		uint32_t padded = raw_padded_bytes(sample->raw_bytes);

		buffer_append_u32(out, padded);
		buffer_append(out, sample->raw, sample->raw_bytes);
		buffer_append(out, zeros, padded - sample->raw_bytes);
	}
	if (type & PERF_SAMPLE_WEIGHT)
		buffer_append_u64(out, sample->weight);
	if (type & PERF_SAMPLE_DATA_SRC)
		buffer_append_u64(out, sample->data_src);
	if (type & PERF_SAMPLE_TRANSACTION)
		buffer_append_u64(out, sample->transaction);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		buffer_append_u64(out, sample->phys_addr);
}

/* The size of the whole record; more than RECORD_MAX_BYTES if it does not fit. */
static size_t encoded_bytes(uint64_t type, const struct perfdata_sample *sample)
{
	uint64_t words = type & ~(uint64_t)(PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN |
					    PERF_SAMPLE_RAW);
	size_t size = sizeof(struct perf_event_header) + 8 * __builtin_popcountll(words);

	if ((type & PERF_SAMPLE_CALLCHAIN) && sample->callchain_count > RECORD_MAX_BYTES / 8)
		return SIZE_MAX;
	if ((type & PERF_SAMPLE_RAW) && sample->raw_bytes > RECORD_MAX_BYTES)
		return SIZE_MAX;
	if (type & PERF_SAMPLE_READ)
		size += sample->read_bytes;
	if (type & PERF_SAMPLE_CALLCHAIN)
		size += 8 + 8 * sample->callchain_count;
	if (type & PERF_SAMPLE_RAW)
		size += sizeof(uint32_t) + raw_padded_bytes(sample->raw_bytes);
	return size;
}

bool perfdata_sample_encode(const struct perf_event_attr *attr,
			    const struct perfdata_sample *sample, struct buffer *out)
{
	uint64_t type = attr->sample_type;
	size_t size = encoded_bytes(type, sample);
	struct perf_event_header header = { .type = PERF_RECORD_SAMPLE, .misc = sample->misc };

	if ((type & ~(uint64_t)ENCODABLE) || size > RECORD_MAX_BYTES ||
	    size > out->max_bytes - out->size)
		return false;
	header.size = size;
	buffer_append(out, &header, sizeof(header));
	encode_fixed(type, sample, out);
	encode_variable(type, sample, out);
	return true;
}

size_t perfdata_sample_id_bytes(const struct perf_event_attr *attr)
{
	return attr->sample_id_all
		       ? 8 * __builtin_popcountll(attr->sample_type & SAMPLE_TRAILER_BITS)
		       : 0;
}

static void decode_trailer(const uint8_t *at, uint64_t type, bool swap, struct perfdata_sample *ret)
{
	struct perfdata_sample found = { 0 }, *sample = &found;
	uint32_t nothing;

	SAMPLE_TRAILER_FIELDS(TAKE_WORD, TAKE_PAIR, TAKE_HALF)
	*ret = found;
}

bool perfdata_sample_id_decode(const struct perf_event_attr *attr, const void *body,
			       size_t body_bytes, bool swap, struct perfdata_sample *ret)
{
	size_t trailer_bytes = perfdata_sample_id_bytes(attr);

	if (!trailer_bytes || trailer_bytes > body_bytes)
		return false;
	decode_trailer((const uint8_t *)body + body_bytes - trailer_bytes, attr->sample_type, swap,
		       ret);
	return true;
}

void perfdata_sample_id_encode(const struct perf_event_attr *attr,
			       const struct perfdata_sample *sample, struct buffer *out)
{
	uint64_t type = attr->sample_type;

	if (!attr->sample_id_all)
		return;
	SAMPLE_TRAILER_FIELDS(PUT_WORD, PUT_PAIR, PUT_HALF)
}
