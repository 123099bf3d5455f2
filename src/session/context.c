/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out who a sample belongs to. A guest sample's VM is given by its id's machine pid
 * (PERF_RECORD_ID_INDEX), otherwise by the pid of the process whose vCPU was interrupted. If the
 * recording has the guest's processes, its pid and tid are theirs, otherwise the vCPU thread's. A
 * host sample belongs to a VM if its process is that VM's VMM. Nothing is known about a nested
 * guest, whatever its addresses would mean in the guest.
 */
#include "session/context.h"

#include <linux/perf_event.h>
#include <string.h>

void context_cache_init(struct context_cache *cache, struct session *session)
{
	memset(cache, 0, sizeof(*cache));
	cache->session = session;
}

static struct machine *guest_of(struct session *session, const struct perfdata_decoded *decoded)
{
	uint32_t pid = session_guest_pid(decoded);

	/* Machines of samples are known since the recording was opened. */
	return pid ? session_find_machine(session, pid) : NULL;
}

/* The space in which to look up an address of SPAN's thread in CPUMODE. */
static struct space *space_of(struct machine *machine, const struct timeline_span *span,
			      uint16_t cpumode)
{
	switch (cpumode) {
	case PERF_RECORD_MISC_KERNEL:
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return &machine->kernel;
	default:
		return span->space ? span->space : &machine->nowhere;
	}
}

static void fill_names(struct context *context, const struct timeline_span *span)
{
	context->comm = span->comm;
	context->final_comm = span->final_comm;
	context->from = span->from > context->from ? span->from : context->from;
	context->until = span->until < context->until ? span->until : context->until;
}

static uint32_t special_of(const struct session *session, const struct perfdata_id *id)
{
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(session->reader);

	return id && inventory ? perfdata_inventory_special(inventory, id->id) : 0;
}

static void fill_guest(struct session *session, struct context *context,
		       const struct session_sample *sample)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	struct machine *host = session->machines.items[0];
	struct timeline_span span;

	context->machine = context->vm = guest_of(session, &sample->decoded);
	if (!context->machine)
		return;
	span = timeline_find(&context->machine->timeline, fields->pid, fields->tid, sample->time);
	fill_names(context, &span);
	/*
	 * perf inject adds a guest's threads to a recording, but not its samples: those remain the
	 * host's.
	 */
	context->process = context->machine->processes && context->id && context->id->machine_pid;
	context->special = special_of(session, context->id);
	context->space = space_of(context->machine, &span, context->cpumode);
	context->user_space = space_of(context->machine, &span, PERF_RECORD_MISC_GUEST_USER);
	if (context->special & PERFDATA_NESTED)
		context->space = context->user_space = &session->nested;
	if (!context->process && span.final_comm == TIMELINE_NO_COMM) {
		span = timeline_find(&host->timeline, fields->pid, fields->tid, sample->time);
		fill_names(context, &span);
	}
}

static void fill_host(struct session *session, struct context *context,
		      const struct session_sample *sample)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	const struct perfdata_id *id = sample->decoded.id;
	struct machine *host = session->machines.items[0];
	struct timeline_span span =
		timeline_find(&host->timeline, fields->pid, fields->tid, sample->time);

	fill_names(context, &span);
	if (context->cpumode == PERF_RECORD_MISC_KERNEL ||
	    context->cpumode == PERF_RECORD_MISC_USER) {
		context->machine = host;
		context->space = space_of(host, &span, context->cpumode);
		context->user_space = space_of(host, &span, PERF_RECORD_MISC_USER);
	}
	context->vm = session_find_machine(session, id && id->machine_pid ? id->machine_pid
									  : fields->pid);
	if (context->vm == host)
		context->vm = NULL;
}

/* The vCPU of the thread, according to the recording's inventory. */
static uint32_t vcpu_of_thread(const struct session *session, uint32_t vm_pid, uint32_t tid)
{
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(session->reader);
	const struct perfdata_vm *vm = inventory ? perfdata_inventory_find(inventory, vm_pid)
						 : NULL;

	for (size_t i = 0; vm && i < vm->vcpus.count; i++)
		if (vm->vcpus.items[i].tid == tid)
			return vm->vcpus.items[i].number;
	return PERFDATA_NO_VCPU;
}

struct context *context_find(struct context_cache *cache, const struct session_sample *sample)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	uint16_t cpumode = fields->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	/*
	 * Several guests have threads with the same tid; using the id keeps them in different
	 * slots.
	 */
	uintptr_t place = (uintptr_t)sample->decoded.id / sizeof(*sample->decoded.id);
	uint32_t at = (fields->tid * 8 + cpumode + place * 61) % CONTEXT_ENTRIES;
	struct context *context = &cache->entries[at];

	if (context->tid == fields->tid && context->pid == fields->pid &&
	    context->id == sample->decoded.id && context->cpumode == cpumode &&
	    sample->time >= context->from && sample->time < context->until &&
	    context->stamp == cache->session->stamp)
		return context;
	*context = (struct context){ .pid = fields->pid, .tid = fields->tid,
				     .id = sample->decoded.id, .cpumode = cpumode,
				     .stamp = cache->session->stamp,
				     .until = SPACE_FOREVER, .comm = TIMELINE_NO_COMM,
				     .final_comm = TIMELINE_NO_COMM };
	if (cpumode_is_guest(cpumode))
		fill_guest(cache->session, context, sample);
	else
		fill_host(cache->session, context, sample);
	context->vcpu = PERFDATA_NO_VCPU;
	if (context->vm && context->id && context->id->machine_pid)
		context->vcpu = context->id->vcpu;
	if (context->vm && context->vcpu == PERFDATA_NO_VCPU && !context->process)
		context->vcpu = vcpu_of_thread(cache->session, context->vm->pid, fields->tid);
	return context;
}

struct space *context_space(struct session *session, const struct session_sample *sample,
			    uint16_t cpumode, struct machine **ret_machine)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	struct machine *machine = cpumode_is_guest(cpumode)
					  ? guest_of(session, &sample->decoded)
					  : session->machines.items[0];
	struct timeline_span span;

	*ret_machine = machine;
	if (!machine)
		return NULL;
	if (machine_is_guest(machine) &&
	    (special_of(session, sample->decoded.id) & PERFDATA_NESTED))
		return &session->nested;
	span = timeline_find(&machine->timeline, fields->pid, fields->tid, sample->time);
	return space_of(machine, &span, cpumode);
}

struct space *context_address_space(struct session *session, const struct session_sample *sample,
				    uint64_t address, struct machine **ret_machine)
{
	bool kernel = address >> 63;
	uint16_t cpumode = kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;

	if (cpumode_is_guest(sample->decoded.sample.misc & PERF_RECORD_MISC_CPUMODE_MASK))
		cpumode = kernel ? PERF_RECORD_MISC_GUEST_KERNEL : PERF_RECORD_MISC_GUEST_USER;
	return context_space(session, sample, cpumode, ret_machine);
}
