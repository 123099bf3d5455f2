/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples laid out by hand according to the comment above PERF_RECORD_SAMPLE in perf_event.h, in
 * both byte orders, truncated to every length; and encode() against decode().
 */
#include "test.h"

#include <string.h>

#include "base/memory.h"
#include "perfdata/sample.h"

/* A record body, in this machine's byte order or the other one. */
struct body {
	uint8_t bytes[1024] __attribute__((aligned(8)));
	size_t size;
	bool swap;
};

static void put(struct body *body, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		size_t at = body->swap ? size - 1 - i : i;

		body->bytes[body->size + at] = value >> 8 * i;
	}
	body->size += size;
}

#define EVERYTHING (PERF_SAMPLE_MAX - 1)

static const struct perf_event_attr full_attr = {
	.sample_type = EVERYTHING & ~PERF_SAMPLE_WEIGHT,
	.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED,
	.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX,
	.sample_regs_user = 0x7,
	.sample_regs_intr = 0x1,
	.sample_id_all = 1,
};

static void put_behind_callchain(struct body *body)
{
	put(body, 12, 4); /* raw: 12 bytes, not swapped */
	memcpy(body->bytes + body->size, "raw raw raw.", 12);
	body->size += 12;
	put(body, 2, 8);  /* branch stack: 2 entries, hw_idx, from to flags each */
	put(body, 0, 8);
	for (int i = 0; i < 6; i++)
		put(body, 0xbbbb, 8);
	put(body, PERF_SAMPLE_REGS_ABI_64, 8);
	for (int i = 0; i < 3; i++)
		put(body, 0xaaaa, 8);
	put(body, 16, 8); /* user stack: 16 bytes, 10 of them valid */
	put(body, 0xcccc, 8);
	put(body, 0xcccc, 8);
	put(body, 10, 8);
	put(body, 0x0002000100000077, 8); /* weight struct: var1 is 0x77 */
	put(body, 0xd5, 8);
	put(body, 0x7a, 8);
	put(body, PERF_SAMPLE_REGS_ABI_NONE, 8); /* none follow */
	put(body, 0x1234000, 8);
	put(body, 99, 8);
	put(body, 4096, 8);
	put(body, 2097152, 8);
}

static struct body full_body(bool swap)
{
	struct body body = { .swap = swap };

	put(&body, 7001, 8); /* identifier */
	put(&body, 0xffffffff81000010, 8);
	put(&body, 41, 4);
	put(&body, 42, 4);
	put(&body, 123456789012, 8);
	put(&body, 0xadd7, 8);
	put(&body, 7001, 8);
	put(&body, 7009, 8);
	put(&body, 3, 4);
	put(&body, 0, 4);
	put(&body, 250000, 8);
	put(&body, 2, 8); /* read: group of 2, time enabled, value and id each */
	for (int i = 0; i < 5; i++)
		put(&body, 0xeeee, 8);
	put(&body, 3, 8); /* call chain */
	put(&body, PERF_CONTEXT_KERNEL, 8);
	put(&body, 0xffffffff81000010, 8);
	put(&body, 0xffffffff81000020, 8);
	put_behind_callchain(&body);
	put(&body, 0, 8); /* no AUX data */
	return body;
}

static void assert_full(const struct perfdata_sample *sample)
{
	assert_int_equal(sample->id, 7001);
	assert_int_equal(sample->ip, 0xffffffff81000010);
	assert_int_equal(sample->pid, 41);
	assert_int_equal(sample->tid, 42);
	assert_int_equal(sample->time_ns, 123456789012);
	assert_int_equal(sample->addr, 0xadd7);
	assert_int_equal(sample->stream_id, 7009);
	assert_int_equal(sample->cpu, 3);
	assert_int_equal(sample->period, 250000);
	assert_int_equal(sample->callchain_count, 3);
	assert_int_equal(sample->callchain[0], PERF_CONTEXT_KERNEL);
	assert_int_equal(sample->callchain[2], 0xffffffff81000020);
	assert_int_equal(sample->raw_bytes, 12);
	assert_memory_equal(sample->raw, "raw raw raw.", 12);
	assert_int_equal(sample->user_abi, PERF_SAMPLE_REGS_ABI_64);
	assert_non_null(sample->user_registers);
	/* between the registers and the stack is its size */
	assert_ptr_equal(sample->user_stack, (const uint8_t *)sample->user_registers + 4 * 8);
	assert_int_equal(sample->user_stack_bytes, 10);
	assert_int_equal(sample->weight, 0x77);
	assert_int_equal(sample->data_src, 0xd5);
	assert_int_equal(sample->transaction, 0x7a);
	assert_int_equal(sample->phys_addr, 0x1234000);
	assert_int_equal(sample->cgroup, 99);
	assert_int_equal(sample->data_page_size, 4096);
	assert_int_equal(sample->code_page_size, 2097152);
	assert_int_equal(sample->misc, PERF_RECORD_MISC_GUEST_KERNEL);
}

static void decodes_every_field(void **state)
{
	_cleanup_buffer_ struct buffer scratch;

	(void)state;
	buffer_init(&scratch, 65536);
	for (int swap = 0; swap < 2; swap++) {
		struct body body = full_body(swap);
		struct perfdata_sample sample;

		assert_true(perfdata_sample_decode(&full_attr, body.bytes, body.size,
						   PERF_RECORD_MISC_GUEST_KERNEL, swap, &scratch,
						   &sample));
		assert_full(&sample);
		/* Unaligned: the same, and UBSan sees no misaligned load. */
		memmove(body.bytes + 4, body.bytes, body.size);
		assert_true(perfdata_sample_decode(&full_attr, body.bytes + 4, body.size,
						   PERF_RECORD_MISC_GUEST_KERNEL, swap, &scratch,
						   &sample));
		assert_full(&sample);
	}
}

/* Only data after the last wanted field (AUX data) may be missing. */
static void refuses_what_is_cut_short(void **state)
{
	struct body body = full_body(false);
	_cleanup_buffer_ struct buffer scratch;

	(void)state;
	buffer_init(&scratch, 65536);
	for (size_t size = 0; size < body.size; size++) {
		void *exact = memory_dup(body.bytes, size + 1); /* ASan sees one byte too far */
		struct perfdata_sample sample = { .ip = 1 };
		bool complete = size >= body.size - 8;

		assert_int_equal(perfdata_sample_decode(&full_attr, exact, size, 0, false,
							&scratch, &sample),
				 complete);
		if (!complete)
			assert_int_equal(sample.ip, 1);
		free(exact);
	}
}

static void refuses_counts_that_overflow(void **state)
{
	static const uint64_t fields[] = { PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_BRANCH_STACK,
					   PERF_SAMPLE_STACK_USER, PERF_SAMPLE_READ };
	static const uint64_t counts[] = { UINT64_MAX, UINT64_MAX / 8 + 1, 1ULL << 61, 1ULL << 32,
					   0x0aaaaaaaaaaaaaabULL, 2 };
	_cleanup_buffer_ struct buffer scratch;

	(void)state;
	buffer_init(&scratch, 65536);
	for (size_t f = 0; f < sizeof(fields) / sizeof(*fields); f++) {
		for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
			struct perf_event_attr attr = {
				.sample_type = fields[f] | PERF_SAMPLE_PHYS_ADDR,
				.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
			};
			uint64_t body[2] = { counts[c] };
			struct perfdata_sample sample;

			assert_false(perfdata_sample_decode(&attr, body, sizeof(body), 0, false,
							    &scratch, &sample));
		}
	}
}

static void takes_the_period_from_the_attr(void **state)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_IP, .sample_period = 4000 };
	uint64_t ip = 5;
	struct perfdata_sample sample;

	(void)state;
	assert_true(perfdata_sample_decode(&attr, &ip, 8, 0, false, NULL, &sample));
	assert_int_equal(sample.period, 4000);
}

static void encodes_what_it_decodes(void **state)
{
	static const uint64_t chain[] = { PERF_CONTEXT_KERNEL, 1, 2 };
	struct perf_event_attr attr = full_attr;
	struct perfdata_sample in = {
		.id = 5, .ip = 0x1000, .pid = 1, .tid = 2, .time_ns = 3, .addr = 4, .stream_id = 6,
		.cpu = 7, .period = 8, .weight = 9, .data_src = 10, .transaction = 11,
		.phys_addr = 12, .misc = PERF_RECORD_MISC_GUEST_USER, .callchain = chain,
		.callchain_count = 3, .raw = "hello", .raw_bytes = 5,
	};
	struct perfdata_sample out;
	struct perf_event_header header;
	_cleanup_buffer_ struct buffer bytes, scratch;

	(void)state;
	buffer_init(&bytes, 65536);
	buffer_init(&scratch, 65536);
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			   PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
			   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			   PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_WEIGHT |
			   PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR;
	assert_true(perfdata_sample_encode(&attr, &in, &bytes));
	memcpy(&header, bytes.data, sizeof(header));
	assert_int_equal(header.type, PERF_RECORD_SAMPLE);
	assert_int_equal(header.misc, PERF_RECORD_MISC_GUEST_USER);
	assert_int_equal(header.size, bytes.size);
	assert_int_equal(header.size % 8, 0);
	assert_true(perfdata_sample_decode(&attr, bytes.data + 8, bytes.size - 8, header.misc,
					   false, &scratch, &out));
	assert_int_equal(out.raw_bytes, 12); /* 4 + 12 is a multiple of 8 */
	assert_memory_equal(out.raw, "hello\0\0\0\0\0\0\0", 12);
	assert_memory_equal(out.callchain, chain, sizeof(chain));
	in.raw = out.raw;
	in.raw_bytes = out.raw_bytes;
	in.callchain = out.callchain;
	assert_memory_equal(&in, &out, offsetof(struct perfdata_sample, raw_bytes));
}

static void encodes_nothing_that_does_not_fit(void **state)
{
	static const uint64_t chain[8192];
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_CALLCHAIN };
	struct perfdata_sample sample = { .callchain = chain };
	_cleanup_buffer_ struct buffer bytes;

	(void)state;
	buffer_init(&bytes, 1 << 20);
	sample.callchain_count = 8189; /* 8 + 8 + 8 * 8189 = 65,528 */
	assert_true(perfdata_sample_encode(&attr, &sample, &bytes));
	assert_int_equal(bytes.size, 65528);
	sample.callchain_count = 8190;
	assert_false(perfdata_sample_encode(&attr, &sample, &bytes));
	sample.callchain_count = UINT64_MAX / 8 + 2;
	assert_false(perfdata_sample_encode(&attr, &sample, &bytes));
	attr.sample_type = PERF_SAMPLE_REGS_USER;
	assert_false(perfdata_sample_encode(&attr, &sample, &bytes));
	assert_int_equal(bytes.size, 65528);
}

static void reads_and_writes_trailers(void **state)
{
	struct perf_event_attr attr = full_attr;
	struct perfdata_sample in = { .id = 77, .pid = 1, .tid = 2, .time_ns = 3, .stream_id = 4,
				      .cpu = 5 };
	struct perfdata_sample out;
	_cleanup_buffer_ struct buffer bytes;

	(void)state;
	buffer_init(&bytes, 4096);
	buffer_append_u64(&bytes, 0xffff); /* what the record itself says */
	perfdata_sample_id_encode(&attr, &in, &bytes);
	assert_int_equal(perfdata_sample_id_bytes(&attr), 48);
	assert_int_equal(bytes.size, 8 + 48);
	assert_true(perfdata_sample_id_decode(&attr, bytes.data, bytes.size, false, &out));
	assert_memory_equal(&in, &out, sizeof(in));
	assert_false(perfdata_sample_id_decode(&attr, bytes.data, 47, false, &out));

	attr.sample_id_all = 0;
	assert_int_equal(perfdata_sample_id_bytes(&attr), 0);
	assert_false(perfdata_sample_id_decode(&attr, bytes.data, bytes.size, false, &out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes_every_field),
		cmocka_unit_test(refuses_what_is_cut_short),
		cmocka_unit_test(refuses_counts_that_overflow),
		cmocka_unit_test(takes_the_period_from_the_attr),
		cmocka_unit_test(encodes_what_it_decodes),
		cmocka_unit_test(encodes_nothing_that_does_not_fit),
		cmocka_unit_test(reads_and_writes_trailers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
