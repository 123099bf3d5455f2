/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Feeds a recorder from a replay: the stacks of a saved guest's sleeping tasks are passed as
 * samples, which are unwound and encoded into a file like those of a running guest.
 *
 *	replay_chains FOLDER FILE
 *
 * prints: chains per second of CPU time, bytes per sample in FILE, the share of complete chains;
 * then, fed at 20 kHz through a ring as large as the BPF sampler's: samples, lost samples, the
 * share of a core.
 *
 * The ring replaces the sampler's; the thread that fills it takes another core at times.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/progress.h"
#include "bpf/guest_sampler.h"
#include "cpu_time.h"
#include "host/record/recorder_state.h"
#include "perfdata/sample.h"
#include "sleepers.h"

#define CHAINS ((size_t)2000000)
#define RATE_HZ 20000
#define FED_SECONDS 5
#define FEED_NS 1000000 /* samples come this often, all that are due */
#define RING_BYTES ((size_t)16 << 20) /* capture.c: 16 MB for each CPU at such rates */
#define STEP_NS 200000000 /* a recorder that is not woken waits this long */
#define LOOK_NS 2000000	  /* here it is woken this soon */

/*
 * In the ring, before the bytes of the stack; SIZE includes them. Never wraps: PAD is skipped.
 */
struct fed {
	uint32_t size;
	uint32_t sleeper;
	uint64_t time_ns;
	bool pad;
};

struct ring_buffer {
	uint8_t *bytes;
	size_t head, tail; /* counted, not wrapped; the feeder's and the reader's */
	uint64_t fed, lost;
	bool over;
	const struct sleepers *sleepers;
};

struct replay {
	struct recorder recorder;
	struct perf_event_attr attr;
	uint64_t id, samples, complete;
};

static void fill_registers(const struct unwind_registers *from, uint64_t *ret)
{
	memset(ret, 0, SAMPLER_REGISTERS * sizeof(*ret));
	ret[UNWIND_SP] = from->sp; /* in KVM's order, too */
	ret[UNWIND_BP] = from->bp;
}

static void take(struct replay *replay, const struct sleeper *sleeper, const uint8_t *data,
		 uint64_t time_ns)
{
	uint64_t registers[SAMPLER_REGISTERS];
	struct capture_stacks stacks = { .registers = registers };
	struct capture_guest guest = { .version = 1, .stacks = &stacks };
	struct perfdata_sample sample = { .id = replay->id, .ip = sleeper->registers.ip,
					  .time_ns = time_ns, .period = 1000000000 / RATE_HZ,
					  .misc = PERF_RECORD_MISC_GUEST_KERNEL };
	struct recorder *recorder = &replay->recorder;
	uint64_t user_ip;

	fill_registers(&sleeper->registers, registers);
	stacks.kernel[0] = (struct capture_stack){ .start = sleeper->stack.start,
						   .end = sleeper->stack.end,
						   .bytes = (uint32_t)sleeper->stack.bytes,
						   .data = data };
	replay->samples++;
	replay->complete += recorder_chain(recorder, 0, &guest, NULL, &sample, &user_ip) ==
			    PERFDATA_CHAIN_COMPLETE;
	perfdata_sample_encode(&replay->attr, &sample, &recorder->records);
	if (recorder->records.size >= RECORDER_RECORDS_BYTES)
		recorder_write_records(recorder);
}

static struct error *open_replay(struct replay *replay, const char *path,
				 const struct sleepers *sleepers)
{
	struct recorder_vm vm = { .unwind = sleepers->table, .unwind_version = 1 };
	struct perfdata_id id = { .machine_pid = 1, .cpu = UINT32_MAX };
	struct perfdata_event event = { .name = (char *)"cpu-clock" };
	struct error *error;

	replay->attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(replay->attr),
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_CALLCHAIN,
		.read_format = PERF_FORMAT_ID,
		.sample_id_all = 1,
	};
	event.attr = replay->attr;
	replay->recorder.config.kernel_only = true; /* the guest's programs do not run */
	replay->recorder.chain = recorder_chain_create();
	vector_append(&replay->recorder.vms, vm);
	buffer_init(&replay->recorder.records, (size_t)1 << 20);
	error = perfdata_writer_create(path, &event, 1, 1, &replay->recorder.writer);
	return error ? error
		     : perfdata_writer_add_id(replay->recorder.writer, 0, &id, &replay->id);
}

static void close_replay(struct replay *replay)
{
	perfdata_writer_destroy(replay->recorder.writer);
	buffer_deinit(&replay->recorder.records);
	vector_deinit(&replay->recorder.vms);
	error_destroy(replay->recorder.error);
	free(replay->recorder.chain);
}

static struct error *end_round(struct replay *replay)
{
	struct error *error;

	recorder_write_records(&replay->recorder);
	error = take_pointer(replay->recorder.error);
	return error ? error : perfdata_writer_round(replay->recorder.writer);
}

static struct error *measure_rate(const struct sleepers *sleepers, const char *path)
{
	struct replay replay = { 0 };
	struct error *error = open_replay(&replay, path, sleepers);
	uint64_t begin = cpu_ns(), ns;

	for (size_t i = 0; !error && i < CHAINS; i++) {
		const struct sleeper *sleeper = &sleepers->items.items[i % sleepers->items.count];

		take(&replay, sleeper, sleeper->stack.data, i);
	}
	if (!error)
		error = end_round(&replay);
	if (!error)
		error = perfdata_writer_flush(replay.recorder.writer);
	ns = cpu_ns() - begin;
	if (!error)
		printf("%.0f %.1f %.4f", (double)CHAINS * 1e9 / (double)ns,
		       (double)perfdata_writer_bytes(replay.recorder.writer) / (double)CHAINS,
		       (double)replay.complete / (double)CHAINS);
	close_replay(&replay);
	return error;
}

static size_t used(const struct ring_buffer *ring)
{
	return __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE) -
	       __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
}

static void feed_one(struct ring_buffer *ring, uint32_t number)
{
	const struct sleeper *sleeper = &ring->sleepers->items.items[number];
	struct fed fed = { .sleeper = number, .time_ns = clock_monotonic_ns() };
	size_t at = ring->head % RING_BYTES, left = RING_BYTES - at;

	/* The rest of the sampler's record is not read, but takes space. */
	fed.size = (uint32_t)((sizeof(fed) + sizeof(struct sampler_record) +
			       sizeof(struct sampler_stacks) + sleeper->stack.bytes + 15) &
			      ~(size_t)15);
	ring->fed++;
	if (used(ring) + fed.size + (left < fed.size ? left : 0) > RING_BYTES) {
		ring->lost++;
		return;
	}
	if (left < fed.size) {
		struct fed pad = { .size = (uint32_t)left, .pad = true };

		if (left >= sizeof(pad))
			memcpy(ring->bytes + at, &pad, sizeof(pad));
		__atomic_store_n(&ring->head, ring->head + left, __ATOMIC_RELEASE);
		at = 0;
	}
	memcpy(ring->bytes + at, &fed, sizeof(fed));
	memcpy(ring->bytes + at + sizeof(fed), sleeper->stack.data, sleeper->stack.bytes);
	__atomic_store_n(&ring->head, ring->head + fed.size, __ATOMIC_RELEASE);
}

static void *feed(void *data)
{
	struct ring_buffer *ring = data;
	uint64_t begin = clock_monotonic_ns(), now = begin;
	struct timespec pause = { .tv_nsec = FEED_NS };

	while (now - begin < FED_SECONDS * 1000000000ull) {
		uint64_t due = (now - begin) * RATE_HZ / 1000000000;

		while (ring->fed < due)
			feed_one(ring, (uint32_t)(ring->fed % ring->sleepers->items.count));
		nanosleep(&pause, NULL);
		now = clock_monotonic_ns();
	}
	__atomic_store_n(&ring->over, true, __ATOMIC_RELEASE);
	return NULL;
}

static void drain(struct ring_buffer *ring, struct replay *replay)
{
	size_t end = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE), tail = ring->tail;

	while (tail < end) {
		const uint8_t *at = ring->bytes + tail % RING_BYTES;
		struct fed fed = { .size = (uint32_t)(RING_BYTES - tail % RING_BYTES),
				   .pad = true };

		if (fed.size >= sizeof(fed))
			memcpy(&fed, at, sizeof(fed));
		if (!fed.pad)
			take(replay, &ring->sleepers->items.items[fed.sleeper], at + sizeof(fed),
			     fed.time_ns);
		tail += fed.size;
		__atomic_store_n(&ring->tail, tail, __ATOMIC_RELEASE);
	}
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* A recorder is woken when a quarter of the ring is full, and also looks from time to time. */
static void wait_for_samples(const struct ring_buffer *ring)
{
	struct timespec pause = { .tv_nsec = LOOK_NS };

	for (uint64_t begin = clock_monotonic_ns();
	     clock_monotonic_ns() - begin < STEP_NS && used(ring) < RING_BYTES / 4 &&
	     !__atomic_load_n(&ring->over, __ATOMIC_ACQUIRE);)
		nanosleep(&pause, NULL);
}

static struct error *measure_losses(const struct sleepers *sleepers, const char *path)
{
	struct ring_buffer ring = { .bytes = memory_calloc(1, RING_BYTES), .sleepers = sleepers };
	struct replay replay = { 0 };
	struct error *error = open_replay(&replay, path, sleepers);
	uint64_t begin = thread_cpu_ns();
	pthread_t feeder;
	bool over = false;

	if (!error && pthread_create(&feeder, NULL, feed, &ring))
		error = error_create(ERROR_SYSTEM, "could not start a thread");
	if (error)
		over = true;
	while (!over) {
		struct error *failure;

		wait_for_samples(&ring);
		over = __atomic_load_n(&ring.over, __ATOMIC_ACQUIRE);
		drain(&ring, &replay);
		failure = end_round(&replay);
		if (error)
			error_destroy(failure);
		else
			error = failure;
		if (over)
			pthread_join(feeder, NULL);
	}
	if (!error)
		printf(" %" PRIu64 " %" PRIu64 " %.4f\n", ring.fed, ring.lost,
		       (double)(thread_cpu_ns() - begin) / (FED_SECONDS * 1e9));
	close_replay(&replay);
	free(ring.bytes);
	return error;
}

int main(int argc, char **argv)
{
	_cleanup_sleepers_ struct sleepers sleepers = { 0 };
	_cleanup_error_ struct error *error =
		argc == 3 ? sleepers_load(argv[1], &sleepers)
			  : error_create(ERROR_USAGE, "replay_chains FOLDER FILE");

	if (!error)
		error = measure_rate(&sleepers, argv[2]);
	if (!error)
		error = measure_losses(&sleepers, argv[2]);
	if (error)
		fprintf(stderr, "replay_chains: %s\n", error_message(error));
	return error != NULL;
}
