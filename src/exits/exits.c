/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairs the beginnings and ends of exits, thread by thread, in the order of time. What begins and
 * what ends is perf's (tools/perf/builtin-kvm.c and arch/ARCH/util/kvm-stat.c), with one
 * difference: perf's times of arm64 are those that a guest ran before it exited; here they are
 * those until it runs again, everywhere. Its counts are the same: on arm64, an exit counts even if
 * no entry follows.
 *
 * When a thread ends, so does what began there: the next thread with its tid is another vCPU.
 */
#include "exits/exits.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cursor.h"
#include "base/map.h"
#include "exits/exit_reason.h"
#include "exits/exit_table.h"
#include "session/context.h"
#include "session/ordered.h"
#include "session/resolver.h"

#define MMIO_READ 1 /* KVM_TRACE_MMIO_READ: one that is done */
#define MMIO_WRITE 2
#define REASON_BYTES_MAX 256

/* A thread of a vCPU. */
struct thread {
	bool known;  /* an entry was seen … */
	bool inside; /* … since the last exit */
	bool begun;  /* something that has not ended */
	bool named;  /* of which KEY is known */
	bool counts; /* and which counts even if it has no end */
	struct exits_row key;
	uint64_t begin_ns;
	uint64_t ip; /* of the guest, at the last exit */
	uint32_t vcpu;
};

struct counting {
	struct session *session;
	const struct exit_sources *sources;
	const struct exits_options *options;
	struct resolver *resolver; /* NULL: functions are not wanted */
	struct context_cache contexts;
	VECTOR(struct thread) threads;
	struct map by_tid; /* pid and tid -> index + 1 in threads */
	struct exit_table table;
	uint64_t unpaired;
};

static struct thread *find_thread(struct counting *counting, uint32_t pid, uint32_t tid)
{
	uint64_t *place = map_insert(&counting->by_tid, (uint64_t)pid << 32 | tid, NULL);

	if (!*place) {
		vector_append(&counting->threads, (struct thread){ .vcpu = EXIT_NO_VCPU });
		*place = counting->threads.count;
	}
	return &counting->threads.items[*place - 1];
}

/* The VM is that of the process: its VMM. NULL: it has none. */
static struct machine *vm_of(struct session *session, struct context_cache *contexts,
			     const struct session_sample *sample)
{
	const struct context *context = context_find(contexts, sample);
	uint32_t pid = sample->decoded.sample.pid;

	if (context->vm)
		return context->vm;
	return pid && pid != UINT32_MAX ? session_machine(session, pid) : NULL;
}

void exits_find_vms(struct session *session, const struct exit_sources *sources)
{
	struct context_cache *contexts = memory_calloc(1, sizeof(*contexts));
	struct session_sample sample;
	struct exit_hit hit;

	context_cache_init(contexts, session);
	session_rewind(session);
	while (session_next_sample(session, &sample) == PERFDATA_RECORD)
		if (exit_sources_read(sources, &sample, &hit))
			vm_of(session, contexts, &sample);
	session_rewind(session);
	free(contexts);
}

static bool takes_vm(const struct exits_options *options, const struct machine *vm)
{
	for (size_t i = 0; i < options->vm_count; i++)
		if (options->vms[i] == vm)
			return true;
	return !options->vm_count;
}

static bool takes_vcpu(const struct exits_options *options, const struct thread *thread)
{
	return !options->vcpus.count || (thread->vcpu != EXIT_NO_VCPU &&
					 ranges_admit(&options->vcpus, thread->vcpu));
}

/*
 * The name of the guest's function at IP, or the address: a number in the session's strings. Which
 * process ran is unknown, so only the kernel has names, and what runs without one.
 */
static uint32_t symbol_of(struct counting *counting, struct machine *vm, uint64_t ip,
			  uint64_t time)
{
	struct intern *strings = counting->session->strings;
	const char *name = NULL;
	char address[24];

	if (vm && (ip >> 63 || !vm->processes)) {
		struct resolved place =
			resolver_find(counting->resolver, vm, &vm->kernel, ip, time);

		name = resolver_symbol_name(counting->resolver, place.location);
	}
	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)ip);
	return intern_text(strings, name ? name : address);
}

static struct exits_row key_of(struct counting *counting, const struct thread *thread,
			       const struct exit_hit *hit, struct machine *vm, uint64_t time)
{
	unsigned int keys = counting->options->keys;
	struct exits_row key = { 0 };

	if (keys & EXITS_BY_REASON) {
		key.isa = hit->isa;
		key.code = hit->key;
		key.info = hit->info;
	}
	if (keys & EXITS_BY_SYMBOL)
		key.symbol = symbol_of(counting, vm, hit->ip ? hit->ip : thread->ip, time);
	if (keys & EXITS_BY_VCPU) {
		key.vm = vm;
		key.vcpu = thread->vcpu;
	}
	return key;
}

/* What HIT is for the event that is counted. */
enum step { STEP_NONE, STEP_BEGIN, STEP_BEGIN_UNNAMED, STEP_END, STEP_END_NAMED };

static enum step step_of_mmio(const struct exit_hit *hit)
{
	if (hit->role == EXIT_OF_GUEST)
		return STEP_BEGIN_UNNAMED; /* perhaps of a read */
	if (hit->role != EXIT_MMIO)
		return hit->role == EXIT_ENTRY ? STEP_END : STEP_NONE;
	if (hit->info == MMIO_WRITE)
		return STEP_BEGIN;
	return hit->info == MMIO_READ ? STEP_END_NAMED : STEP_NONE;
}

static enum step step_of(const struct counting *counting, const struct exit_hit *hit)
{
	static const enum exit_role begins[] = {
		[EXITS_VMEXIT] = EXIT_OF_GUEST,
		[EXITS_IOPORT] = EXIT_PORT,
		[EXITS_MSR] = EXIT_MSR,
		[EXITS_HYPERCALL] = EXIT_HYPERCALL,
	};
	enum exits_event event = counting->options->event;
	bool own_end = event == EXITS_HYPERCALL &&
		       exit_sources_have(counting->sources, EXIT_HYPERCALL_END);

	if (event == EXITS_MMIO)
		return step_of_mmio(hit);
	if (hit->role == begins[event])
		return STEP_BEGIN;
	return hit->role == (own_end ? EXIT_HYPERCALL_END : EXIT_ENTRY) ? STEP_END : STEP_NONE;
}

/* What has begun in THREAD will not end. */
static void give_up(struct counting *counting, struct thread *thread)
{
	if (!thread->begun || !thread->named)
		return;
	thread->begun = false;
	if (thread->counts)
		exit_table_count(&counting->table, &thread->key);
	else
		counting->unpaired++;
}

static void end(struct counting *counting, struct thread *thread, const struct exits_row *key,
		uint64_t time)
{
	if (!thread->begun || (!thread->named && !key))
		return;
	thread->begun = false;
	if (time >= thread->begin_ns) /* always, but in a damaged file */
		exit_table_count_timed(&counting->table, thread->named ? &thread->key : key,
				       time - thread->begin_ns);
}

static void begin(struct counting *counting, struct thread *thread, const struct exits_row *key,
		  uint64_t time)
{
	give_up(counting, thread);
	thread->begun = true;
	thread->named = key;
	if (key)
		thread->key = *key;
	thread->begin_ns = time;
}

static void take_step(struct counting *counting, struct thread *thread,
		      const struct exit_hit *hit, struct machine *vm, uint64_t time)
{
	enum step step = step_of(counting, hit);
	bool named = step == STEP_BEGIN || step == STEP_END_NAMED;
	bool counts = counting->options->event == EXITS_VMEXIT && hit->isa == EXIT_ISA_ARM64;
	struct exits_row key = { 0 };

	if (step == STEP_NONE)
		return;
	if (!thread->known || (counts && step == STEP_BEGIN && !thread->inside)) {
		give_up(counting, thread);
		counting->unpaired += step == STEP_BEGIN;
		return;
	}
	if (named)
		key = key_of(counting, thread, hit, vm, time);
	if (step == STEP_END || step == STEP_END_NAMED) {
		end(counting, thread, named ? &key : NULL, time);
		return;
	}
	begin(counting, thread, named ? &key : NULL, time);
	thread->counts = counts;
}

static void take_sample(struct counting *counting, const struct session_sample *sample)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	struct machine *vm;
	struct thread *thread;
	struct exit_hit hit;

	if (!exit_sources_read(counting->sources, sample, &hit))
		return;
	vm = vm_of(counting->session, &counting->contexts, sample);
	if (!takes_vm(counting->options, vm))
		return;
	thread = find_thread(counting, fields->pid, fields->tid);
	if (hit.vcpu == EXIT_NO_VCPU)
		hit.vcpu = context_find(&counting->contexts, sample)->vcpu;
	if (hit.role == EXIT_ENTRY) {
		thread->known = true;
		thread->vcpu = hit.vcpu;
	} else if (hit.role == EXIT_OF_GUEST) {
		thread->ip = hit.ip;
	}
	if (takes_vcpu(counting->options, thread))
		take_step(counting, thread, &hit, vm, sample->time);
	if (hit.role == EXIT_ENTRY || hit.role == EXIT_OF_GUEST)
		thread->inside = hit.role == EXIT_ENTRY;
}

/* PERF_RECORD_EXIT: pid, ppid, tid, ptid, time (struct perf_record_fork). */
static void take_end_of_thread(struct counting *counting, const struct perfdata_record *record)
{
	struct cursor cursor = cursor_make(record->body, record->body_bytes,
					   perfdata_reader_swap(counting->session->reader));
	uint32_t pid = cursor_u32(&cursor), tid;
	uint64_t *place;

	cursor_skip(&cursor, sizeof(uint32_t));
	tid = cursor_u32(&cursor);
	place = map_find(&counting->by_tid, (uint64_t)pid << 32 | tid);
	if (cursor.failed || !place || !*place)
		return;
	give_up(counting, &counting->threads.items[*place - 1]);
	counting->threads.items[*place - 1] = (struct thread){ .vcpu = EXIT_NO_VCPU };
}

static void name_rows(struct counting *counting, struct exits *exits)
{
	struct buffer text;

	buffer_init(&text, REASON_BYTES_MAX);
	for (size_t i = 0; i < exits->rows.count; i++) {
		struct exits_row *row = &exits->rows.items[i];

		if (!(counting->options->keys & EXITS_BY_REASON))
			break;
		buffer_clear(&text);
		exit_reason_append(counting->options->event, row, &text);
		row->reason = intern_bytes(counting->session->strings, (const char *)text.data,
					   text.size);
	}
	buffer_deinit(&text);
}

static void read_all(struct counting *counting)
{
	struct ordered *ordered = ordered_create(counting->session, 1u << PERF_RECORD_EXIT);
	struct perfdata_record record;
	struct session_sample sample;

	while (ordered_next_record(ordered, &record, &sample) == PERFDATA_RECORD) {
		if (record.type == PERF_RECORD_SAMPLE)
			take_sample(counting, &sample);
		else
			take_end_of_thread(counting, &record);
	}
	ordered_destroy(ordered);
	for (size_t i = 0; i < counting->threads.count; i++)
		give_up(counting, &counting->threads.items[i]);
}

void exits_count(struct session *session, const struct exit_sources *sources,
		 const struct exits_options *options, struct exits *ret)
{
	struct counting *counting = memory_calloc(1, sizeof(*counting));

	*ret = (struct exits){ 0 };
	counting->session = session;
	counting->sources = sources;
	counting->options = options;
	context_cache_init(&counting->contexts, session);
	map_init(&counting->by_tid);
	exit_table_init(&counting->table);
	if (options->keys & EXITS_BY_SYMBOL)
		counting->resolver = resolver_create(session);
	read_all(counting);
	exit_table_finish(&counting->table, ret);
	ret->unpaired = counting->unpaired;
	name_rows(counting, ret);
	resolver_destroy(counting->resolver);
	exit_table_deinit(&counting->table);
	vector_deinit(&counting->threads);
	map_deinit(&counting->by_tid);
	free(counting);
}

void exits_deinit(struct exits *exits)
{
	for (size_t i = 0; i < exits->rows.count; i++)
		free(exits->rows.items[i].histogram);
	vector_deinit(&exits->rows);
}
