/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording that is large enough to be counted in several threads. Together they must find what
 * the test has put in, and exactly what one thread finds. The test sees how many threads there are
 * when they take their samples (the linker interposes a function of this test, see
 * tests/unit/meson.build).
 */
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "profile/fixture.h"
#include "profile/calltree.h"

#define WEB 5000
#define DB 6000
#define WEB_KERNEL 0xffffffff81000000ULL
#define DB_KERNEL 0xffffffffa2000000ULL /* the same kernel at another address */
#define FUNCTIONS 40
#define PROGRAM 0x401000ULL
#define PLACES 3000 /* in the program, which has no symbols */
#define SAMPLES 80000
#define DEPTH_MAX 12

#define THREADS_MAX 8
#define MEET_SECONDS 60 /* after this, there is no other thread */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t arrived;
	unsigned wanted; /* must have arrived before any continues */
	unsigned count;
	pthread_t threads[THREADS_MAX];
	uint64_t samples[THREADS_MAX]; /* for each thread */
} counters = { .lock = PTHREAD_MUTEX_INITIALIZER, .arrived = PTHREAD_COND_INITIALIZER };

static uint64_t own[2][FUNCTIONS], with_callees[2][FUNCTIONS]; /* samples of each VM */
static uint64_t state = 88172645463325252ULL;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void wait_for_others(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += MEET_SECONDS;
	pthread_cond_broadcast(&counters.arrived);
	while (counters.count < counters.wanted)
		if (pthread_cond_timedwait(&counters.arrived, &counters.lock, &until))
			return;
}

/* The caller's number among the threads that count. */
static unsigned arrive(void)
{
	unsigned number = 0;

	pthread_mutex_lock(&counters.lock);
	while (number < counters.count && !pthread_equal(counters.threads[number], pthread_self()))
		number++;
	if (number == counters.count && number < THREADS_MAX) {
		counters.threads[counters.count++] = pthread_self();
		wait_for_others();
	}
	pthread_mutex_unlock(&counters.lock);
	return number;
}

enum perfdata_status __real_session_next_in_part(const struct session *session,
						 struct perfdata_reader *part,
						 struct session_sample *ret);
enum perfdata_status __wrap_session_next_in_part(const struct session *session,
						 struct perfdata_reader *part,
						 struct session_sample *ret);

enum perfdata_status __wrap_session_next_in_part(const struct session *session,
						 struct perfdata_reader *part,
						 struct session_sample *ret)
{
	unsigned number = arrive();
	enum perfdata_status status = __real_session_next_in_part(session, part, ret);

	if (status == PERFDATA_RECORD && number < THREADS_MAX)
		counters.samples[number]++;
	return status;
}

/* At least COUNT threads each counted some of the samples. */
static void were_counted_by(unsigned count)
{
	uint64_t all = 0;

	assert_in_range(counters.count, count, THREADS_MAX);
	for (unsigned i = 0; i < counters.count; i++) {
		assert_true(counters.samples[i] > 0);
		all += counters.samples[i];
	}
	assert_int_equal(all, SAMPLES);
}

/*
 * A chain through the kernel of VM and a program; the sample's address is not always the start of
 * the chain.
 */
static void add_sample(struct perfdata_writer *writer, uint64_t id, unsigned vm)
{
	static const uint64_t kernels[] = { WEB_KERNEL, DB_KERNEL };
	struct perfdata_event described = event();
	uint64_t words[2 * DEPTH_MAX + 2] = { PERF_CONTEXT_GUEST_KERNEL };
	unsigned kernel = 1 + next_random() % DEPTH_MAX, count = 1;
	uint64_t seen = 0;
	struct buffer record;

	for (unsigned i = 0; i < kernel; i++) {
		unsigned function = next_random() % (i ? FUNCTIONS : 7);

		words[count++] = kernels[vm] + function * 0x100 + next_random() % 0x100;
		own[vm][function] += !i;
		with_callees[vm][function] += !(seen >> function & 1);
		seen |= 1ULL << function;
	}
	words[count++] = PERF_CONTEXT_GUEST_USER;
	for (unsigned i = next_random() % DEPTH_MAX; i; i--)
		words[count++] = PROGRAM + next_random() % PLACES;
	struct perfdata_sample sample = { .id = id, .ip = words[1], .time_ns = clock_ns += 10,
					  .pid = vm ? DB : WEB, .tid = vm ? DB + 1 : WEB + 1,
					  .period = 1000, .misc = PERF_RECORD_MISC_GUEST_KERNEL,
					  .callchain = words, .callchain_count = count };
	buffer_init(&record, UINT16_MAX);
	if (next_random() % 50 == 0) /* its chain begins with its caller */
		memmove(&words[1], &words[2], (--sample.callchain_count - 1) * sizeof(*words));
	assert_true(perfdata_sample_encode(&described.attr, &sample, &record));
	assert_no_error(perfdata_writer_append(writer, record.data, record.size));
	buffer_deinit(&record);
}

static void encode_symbols(uint64_t kernel, struct buffer *ret)
{
	struct symbol_builder *builder = symbol_builder_create();
	struct symbol_table *table;
	char name[16];

	for (unsigned i = 0; i < FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "function_%u", i);
		symbol_builder_add(builder, kernel + i * 0x100, kernel + (i + 1) * 0x100, 'T', name,
				   NULL);
	}
	table = symbol_builder_finish(builder);
	buffer_init(ret, 1 << 20);
	symbol_table_encode(table, ret);
	symbol_table_destroy(table);
}

static int record(void **unused)
{
	struct perfdata_event described;
	struct perfdata_writer *writer;
	struct perfdata_inventory inventory;
	struct buffer kernels[2];
	uint64_t web, db;

	(void)unused;
	more_fields = PERF_SAMPLE_CALLCHAIN;
	described = event();
	close(mkstemp(path));
	assert_no_error(perfdata_writer_create(path, &described, 1, 16, &writer));
	web = add_id(writer, WEB, 0);
	db = add_id(writer, DB, 0);
	for (unsigned i = 0; i < SAMPLES; i++)
		add_sample(writer, i % 3 ? web : db, i % 3 ? 0 : 1);
	perfdata_inventory_init(&inventory);
	inventory.guest = inventory.guest_sampled = true;
	perfdata_inventory_add(&inventory, WEB, "web", "qemu");
	perfdata_inventory_add(&inventory, DB, "db", "qemu");
	encode_symbols(WEB_KERNEL, &kernels[0]);
	encode_symbols(DB_KERNEL, &kernels[1]);
	finish_two_vms(writer, &inventory, (const uint32_t[]){ WEB, DB }, kernels);
	return 0;
}

static int remove_recording(void **unused)
{
	(void)unused;
	return unlink(path);
}

/* By function, and also by VM if BY_VM. */
static void open_all(struct opened *opened, bool by_vm, bool chains)
{
	memset(opened, 0, sizeof(*opened));
	if (by_vm)
		profile_keys_add(&opened->options.keys, PROFILE_VM);
	profile_keys_add(&opened->options.keys, PROFILE_SYMBOL);
	opened->options.chains = opened->options.children = chains;
	assert_no_error(session_open(path, &symbol_options, &opened->session));
	memset(counters.samples, 0, sizeof(counters.samples));
	counters.count = 0;
	/* A file of 9 MB has that many parts; otherwise nothing would be tested. */
	assert_in_range(session_part_count(opened->session), 8, 20);
	opened->profile = profile_create(opened->session, &opened->options);
	assert_int_equal(opened->profile->totals.guest_kernel, SAMPLES);
}

static void open_on_one_cpu(struct opened *opened, bool by_vm, bool chains)
{
	cpu_set_t all, one;
	int cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	counters.wanted = 1;
	open_all(opened, by_vm, chains);
	were_counted_by(1);
	assert_int_equal(counters.count, 1);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

/* False: this machine has only one CPU. */
static bool open_on_several_cpus(struct opened *opened, bool by_vm, bool chains)
{
	cpu_set_t all;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	counters.wanted = CPU_COUNT(&all) < 2 ? 1 : 2;
	open_all(opened, by_vm, chains);
	were_counted_by(counters.wanted);
	return counters.wanted > 1;
}

static const char *name_of(const struct opened *opened, const struct profile_row *row)
{
	const char *name = resolver_symbol_name(opened->profile->resolver, row->location);

	return name ? name : "";
}

static void every_sample_counts_once(void **unused)
{
	struct opened opened;
	uint64_t counted = 0;
	unsigned named = 0;

	(void)unused;
	open_all(&opened, true, true);
	for (size_t i = 0; i < opened.profile->events[0].rows.count; i++) {
		const struct profile_row *row = &opened.profile->events[0].rows.items[i];
		unsigned vm = !strcmp(row->vm->name, "db"), function;

		counted += row->count;
		if (sscanf(name_of(&opened, row), "function_%u", &function) != 1)
			continue;
		named++;
		assert_in_range(function, 0, FUNCTIONS - 1);
		assert_int_equal(row->count, own[vm][function]);
		assert_int_equal(row->children, 1000 * with_callees[vm][function]);
	}
	assert_int_equal(counted, SAMPLES);
	assert_int_equal(named, 2 * FUNCTIONS);
	close_profile(&opened);
}

static void rows_are_equal(const struct opened *one, const struct opened *many)
{
	const struct profile_event *left = &one->profile->events[0];
	const struct profile_event *right = &many->profile->events[0];

	assert_int_equal(left->rows.count, right->rows.count);
	for (size_t i = 0; i < left->rows.count; i++) {
		const struct profile_row *a = &left->rows.items[i], *b = &right->rows.items[i];

		assert_string_equal(name_of(one, a), name_of(many, b));
		assert_int_equal(resolver_location(one->profile->resolver, a->location)->address,
				 resolver_location(many->profile->resolver, b->location)->address);
		assert_int_equal(a->count, b->count);
		assert_int_equal(a->children, b->children);
		assert_int_equal(a->depth, b->depth);
	}
}

/* Where the rows with each number are. */
static size_t *places_of(const struct profile *profile)
{
	size_t *places = calloc(profile->row_count, sizeof(*places));

	for (size_t i = 0; i < profile->events[0].rows.count; i++)
		places[profile->events[0].rows.items[i].number] = i;
	return places;
}

static void trees_are_equal(const struct profile *one, const struct profile *many)
{
	size_t *places_of_one = places_of(one), *places_of_many = places_of(many);

	assert_int_equal(one->tree->nodes.count, many->tree->nodes.count);
	assert_int_equal(one->tree->frames.count, many->tree->frames.count);
	for (size_t i = 0; i < one->tree->nodes.count; i++) {
		const struct calltree_node *a = &one->tree->nodes.items[i];
		const struct calltree_node *b = &many->tree->nodes.items[i];

		assert_int_equal(a->parent, b->parent);
		assert_int_equal(a->frame, b->frame);
		assert_int_equal(a->count, b->count);
		assert_int_equal(a->self_period, b->self_period);
		if (a->parent != CALLTREE_NONE)
			assert_int_equal(places_of_one[a->row], places_of_many[b->row]);
	}
	free(places_of_one);
	free(places_of_many);
}

/* It must not matter which thread is quicker, so this runs several times. */
static void many_threads_find_what_one_finds(void **unused)
{
	bool several = true;

	(void)unused;
	for (int kind = 0; kind < 4; kind++) {
		bool by_vm = kind & 1, chains = kind & 2;
		struct opened one;

		open_on_one_cpu(&one, by_vm, chains);
		for (int i = 0; i < 3; i++) {
			struct opened many;

			several &= open_on_several_cpus(&many, by_vm, chains);
			rows_are_equal(&one, &many);
			if (chains)
				trees_are_equal(one.profile, many.profile);
			close_profile(&many);
		}
		close_profile(&one);
	}
	if (!several)
		skip_because("this machine has one CPU");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_sample_counts_once),
		cmocka_unit_test(many_threads_find_what_one_finds),
	};

	return cmocka_run_group_tests(tests, record, remove_recording);
}
