/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of a guest, as its own kernel would have written them. In samples of the guest, the
 * cpumode and the call chain's contexts lose their GUEST bit, and the CPU is the vCPU's number.
 * Nothing of the host is kept.
 *
 * A nested guest is yet another machine. It has no symbols in the original, so it must not get any
 * here: its samples are kept with cpumode "hypervisor" and without call chains.
 *
 * If a thread is not known (tid -1, as always in a unikernel), its sample goes to a thread that
 * stands for the vCPU, numbered above any Linux thread. Tools that only look at the numbers, like
 * the Firefox profiler, would otherwise not see a thread.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/convert/convert.h"
#include "session/chain.h"
#include "session/context.h"
#include "session/ordered.h"

#define ROUND_SAMPLES 10000
#define FIRST_VCPU_TID 4194304 /* PID_MAX_LIMIT: above every Linux tid */
#define COPIED_FIELDS (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | \
		       PERF_SAMPLE_CALLCHAIN)

struct copier {
	struct native *native;
	struct context_cache *contexts;
	struct map comms;    /* tid of a vCPU thread -> string + 1; 1 for threads that we make up */
	struct buffer record; /* the sample being built */
	uint64_t *chain;
	struct resolver *resolver; /* for the filter … */
	struct filtering filtering;
};

/* The event's name without the modifiers for host and guest. */
static char *native_name(const char *name)
{
	const char *colon = strrchr(name, ':');
	char *copy = memory_strdup(name), *out = copy;

	if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "ukhpPGHSDIWeb")])
		return copy;
	for (const char *at = name; *at; at++)
		if (at <= colon || !strchr("GH", *at))
			*out++ = *at;
	*out = 0;
	if (out[-1] == ':')
		out[-1] = 0;
	return copy;
}

/* What a recorder inside the guest would have opened; only the fields used in samples matter. */
static struct perf_event_attr native_attr(const struct perf_event_attr *attr, bool timed)
{
	uint64_t fields = COPIED_FIELDS & (timed ? ~0ULL : ~(uint64_t)PERF_SAMPLE_TIME);

	return (struct perf_event_attr){
		.type = attr->type,
		.size = sizeof(*attr),
		.config = attr->config,
		.config1 = attr->config1,
		.config2 = attr->config2,
		.sample_period = attr->sample_period,
		.freq = attr->freq,
		.sample_type = (attr->sample_type & fields) | PERF_SAMPLE_IDENTIFIER |
			       PERF_SAMPLE_CPU,
		.read_format = PERF_FORMAT_ID,
		.precise_ip = attr->precise_ip,
		.mmap = 1, .mmap2 = 1, .comm = 1, .comm_exec = 1, .task = 1, .sample_id_all = 1,
	};
}

/* Tracepoints are left out: they fire in the host. */
static struct error *create_writer(struct native *native, const char *path)
{
	const struct perfdata_reader *reader = native->session->reader;
	size_t old_count = perfdata_reader_event_count(reader), count = 0;
	struct perfdata_event *events = memory_calloc(old_count + 1, sizeof(*events));
	struct error *error;

	native->events = memory_calloc(old_count + 1, sizeof(*native->events));
	for (size_t i = 0; i < old_count; i++) {
		const struct perfdata_event *old = perfdata_reader_event(reader, i);

		if (old->attr.type == PERF_TYPE_TRACEPOINT)
			continue;
		events[count].attr = native_attr(&old->attr, native->session->timed);
		events[count].name = native_name(old->name);
		native->events[i] = ++count;
	}
	if (count)
		error = perfdata_writer_create(path, events, count, NATIVE_MAX_VCPUS,
					       &native->writer);
	else
		error = error_create(ERROR_UNSUPPORTED,
				     "the recording only has events of the host");
	for (size_t i = 0; i < count; i++)
		free(events[i].name);
	free(events);
	return error;
}

/*
 * Without this map, if nothing is known of the kernel, perf does not look for its symbols at all.
 */
static struct error *write_kernel_map(struct native *native)
{
	struct perfdata_mapping mapping = { .pid = UINT32_MAX, .misc = PERF_RECORD_MISC_KERNEL,
					    .path = "[kernel.kallsyms]_text" };
	uint64_t end;

	if (!native_kernel_range(native, &mapping.start, &end))
		return NULL;
	mapping.file_offset = native->kernel_text;
	mapping.length = end - mapping.start;
	return perfdata_writer_mmap2(native->writer, &mapping, 0);
}

struct error *native_find_id(struct native *native, size_t old_event, uint32_t vcpu, uint64_t *ret)
{
	uint32_t event = native->events[old_event] - 1;
	bool added;
	uint64_t *id = map_insert(&native->ids, (uint64_t)event << 32 | vcpu, &added);
	struct perfdata_id spec = { .vcpu = PERFDATA_NO_VCPU, .cpu = vcpu };
	struct error *error = NULL;

	if (added)
		error = perfdata_writer_add_id(native->writer, event, &spec, id);
	if (!error)
		*ret = *id;
	return error;
}

/*
 * Copies the guest's part of a chain to copier->chain and returns the number of words. Guessed
 * frames (each follows a repeated mark) are left out, since they could not be recognized as
 * guesses.
 */
static size_t copy_chain(struct copier *copier, const struct perfdata_sample *sample)
{
	/* the context of the next word, and of the last one */
	uint64_t *chain = copier->chain, mark = 0, last = 0;
	/* session/chain.h */
	bool of_guest = sample->callchain_count && !chain_is_guest_mark(sample->callchain[0]);
	bool guest = false;
	size_t count = 0;

	for (uint64_t i = 0; i < sample->callchain_count; i++) {
		uint64_t word = sample->callchain[i];

		if (word < (uint64_t)PERF_CONTEXT_MAX) {
			last = mark;
			if (guest)
				chain[count++] = word;
			continue;
		}
		mark = word;
		guest = word != last;
		if (!guest)
			continue;
		if (word == (uint64_t)PERF_CONTEXT_GUEST_USER ||
		    (of_guest && word == (uint64_t)PERF_CONTEXT_USER))
			chain[count++] = (uint64_t)PERF_CONTEXT_USER;
		else if (word == (uint64_t)PERF_CONTEXT_GUEST_KERNEL ||
			 word == (uint64_t)PERF_CONTEXT_GUEST ||
			 (of_guest && word == (uint64_t)PERF_CONTEXT_KERNEL))
			chain[count++] = (uint64_t)PERF_CONTEXT_KERNEL;
		else
			guest = false;
	}
	return count;
}

/*
 * Names a thread after its vCPU's thread if the recording does not know the name from inside the
 * guest.
 */
static struct error *write_vcpu_comm(struct copier *copier, const struct context *context,
				     const struct session_sample *sample)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	uint64_t *comm;

	if (context->process || context->comm == TIMELINE_NO_COMM)
		return NULL;
	comm = map_insert(&copier->comms, fields->tid, NULL);
	if (*comm == context->comm + 1ULL)
		return NULL;
	*comm = context->comm + 1ULL;
	return perfdata_writer_comm(copier->native->writer, fields->pid, fields->tid,
				    intern_string(copier->native->session->strings, context->comm),
				    fields->time_ns);
}

static struct error *take_vcpu_thread(struct copier *copier, struct perfdata_sample *copy)
{
	char name[16];
	bool added;

	copy->pid = FIRST_VCPU_TID;
	copy->tid = FIRST_VCPU_TID + copy->cpu;
	map_insert(&copier->comms, copy->tid, &added);
	if (!added)
		return NULL;
	snprintf(name, sizeof(name), "vCPU %" PRIu32, copy->cpu);
	return perfdata_writer_comm(copier->native->writer, copy->pid, copy->tid, name,
				    copy->time_ns);
}

static struct error *write_sample(struct copier *copier, const struct context *context,
				  const struct session_sample *sample)
{
	struct native *native = copier->native;
	const struct perfdata_event *old =
		perfdata_reader_event(native->session->reader, sample->decoded.event_index);
	struct perf_event_attr attr = native_attr(&old->attr, native->session->timed);
	struct perfdata_sample copy = sample->decoded.sample;
	struct error *error;

	copy.misc &= PERF_RECORD_MISC_EXACT_IP;
	copy.misc |= context->cpumode == PERF_RECORD_MISC_GUEST_USER ? PERF_RECORD_MISC_USER
								     : PERF_RECORD_MISC_KERNEL;
	copy.cpu = native_cpu(context->vcpu);
	copy.callchain = copier->chain;
	copy.callchain_count = copy_chain(copier, &sample->decoded.sample);
	if (context->special & PERFDATA_NESTED) {
		copy.misc = PERF_RECORD_MISC_HYPERVISOR;
		copy.callchain_count = 0;
		native->nested++;
	}
	if (copy.cpu >= native->vcpus)
		native->vcpus = copy.cpu + 1;
	error = copy.tid == UINT32_MAX ? take_vcpu_thread(copier, &copy)
				       : write_vcpu_comm(copier, context, sample);
	if (!error)
		error = native_find_id(native, sample->decoded.event_index, copy.cpu, &copy.id);
	if (error)
		return error;
	buffer_clear(&copier->record);
	if (!perfdata_sample_encode(&attr, &copy, &copier->record))
		return error_create(ERROR_BAD_DATA, "a sample is larger than a record can be");
	native->samples++;
	return perfdata_writer_append(native->writer, copier->record.data, copier->record.size);
}

static struct error *copy_sample(struct copier *copier, const struct session_sample *sample)
{
	struct native *native = copier->native;
	struct context *context;

	if (!sample->valid || !native->events[sample->decoded.event_index])
		return NULL;
	context = context_find(copier->contexts, sample);
	if (context->machine != native->machine)
		return NULL;
	if (native->filter.any && filtering_judge(&copier->filtering, native->session, sample,
						  context) != FILTER_TAKES) {
		native->left_out++;
		return NULL;
	}
	if (!native_has_time(native, sample->time)) {
		native->other_boots++;
		return NULL;
	}
	return write_sample(copier, context, sample);
}

/*
 * Writes all records in order of time. The recorder writes a thread's records when it finds the
 * thread, which may be after the thread's first samples; perf applies such a record when it reaches
 * it.
 */
static struct error *copy_all(struct copier *copier)
{
	struct native_side *side = native_side_create(copier->native);
	struct ordered *ordered = ordered_create(copier->native->session, 0);
	struct session_sample sample;
	struct error *error = NULL;
	uint64_t count = 0;

	while (!error && ordered_next(ordered, &sample) == PERFDATA_RECORD) {
		error = native_side_copy_until(side, sample.time);
		if (!error)
			error = copy_sample(copier, &sample);
		if (!error && ++count % ROUND_SAMPLES == 0)
			error = perfdata_writer_round(copier->native->writer);
	}
	if (!error)
		error = native_side_copy_until(side, UINT64_MAX);
	ordered_destroy(ordered);
	native_side_destroy(side);
	return error;
}

struct error *native_write_records(struct native *native, const char *path)
{
	struct copier copier = { .native = native };
	struct error *error = create_writer(native, path);

	buffer_init(&copier.record, UINT16_MAX);
	map_init(&copier.comms);
	copier.chain = memory_alloc(UINT16_MAX);
	copier.contexts = memory_alloc(sizeof(*copier.contexts));
	context_cache_init(copier.contexts, native->session);
	copier.resolver = resolver_create(native->session);
	filtering_init(&copier.filtering, &native->filter, copier.resolver);
	if (!error)
		error = write_kernel_map(native);
	if (!error)
		error = copy_all(&copier);
	buffer_deinit(&copier.record);
	map_deinit(&copier.comms);
	free(copier.chain);
	free(copier.contexts);
	filtering_deinit(&copier.filtering);
	resolver_destroy(copier.resolver);
	return error;
}
