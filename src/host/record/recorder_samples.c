/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples on their way into the file. Each gets the id of its event and vCPU, by which readers find
 * its VM. Samples in modes that are not wanted are counted per VM but not written, so that totals
 * are exact even for events that cannot exclude the host (all software events).
 */
#include "host/record/recorder_state.h"

static struct perfdata_vm *vm_of(struct recorder *recorder, size_t thread)
{
	return &recorder->inventory.vms.items[recorder->threads.items[thread].vm];
}

static void count_sample(struct perfdata_vm_counts *counts, unsigned mode, bool written,
			 enum recorder_kind kind)
{
	bool guest = HOST_MODES_GUEST >> mode & 1;

	if (!written)
		++*(guest ? &counts->guest_dropped : &counts->host_dropped);
	else if (mode == PERF_RECORD_MISC_GUEST_KERNEL)
		counts->guest_kernel++;
	else if (mode == PERF_RECORD_MISC_GUEST_USER)
		counts->guest_user++;
	else
		counts->host_written++;
	if (written && kind == RECORDER_NESTED)
		counts->nested++;
	else if (written && kind == RECORDER_AT_EXIT)
		counts->at_exit++;
}

void recorder_write_records(struct recorder *recorder)
{
	if (recorder->records.size && !recorder->error)
		recorder->error = perfdata_writer_append(recorder->writer, recorder->records.data,
							 recorder->records.size);
	buffer_clear(&recorder->records);
}

static enum recorder_kind kind_of(const struct capture_guest *guest)
{
	if (!guest)
		return RECORDER_PLAIN;
	if (guest->nested)
		return RECORDER_NESTED;
	return guest->at_exit ? RECORDER_AT_EXIT : RECORDER_PLAIN;
}

uint64_t recorder_id(struct recorder *recorder, struct recorder_thread *thread, size_t event,
		     enum recorder_kind kind, enum perfdata_chain_end chain_end)
{
	static const uint32_t flags[RECORDER_KINDS] = { [RECORDER_AT_EXIT] = PERFDATA_AT_EXIT,
							[RECORDER_NESTED] = PERFDATA_NESTED };
	struct perfdata_id spec = { .machine_pid = thread->pid,
				    .vcpu = thread->vcpu,
				    .tid = thread->tid,
				    .cpu = UINT32_MAX };
	uint64_t *id = &thread->ids[event * RECORDER_IDS + kind * PERFDATA_CHAIN_ENDS + chain_end];
	uint32_t special = flags[kind] | chain_end << PERFDATA_CHAIN_END_SHIFT;
	struct error *error;

	if (*id)
		return *id;
	recorder_write_records(recorder);
	error = perfdata_writer_add_id(recorder->writer, event, &spec, id);
	if (!error && special)
		perfdata_inventory_add_special(&recorder->inventory, *id, special);
	error_destroy(error);
	return *id;
}

/* Sets the sample's pid and tid to the guest's, in a recording that contains guest processes. */
static struct recorder_process *set_process(struct recorder *recorder, size_t vm,
					    const struct capture_guest *guest,
					    struct perfdata_sample *sample)
{
	if (!recorder->inventory.guest_processes)
		return NULL;
	sample->pid = sample->tid = UINT32_MAX;
	if (!guest || !guest->has_task || guest->nested)
		return NULL;
	sample->pid = guest->tgid;
	sample->tid = guest->pid;
	return recorder_note_task(recorder, vm, guest, sample);
}

/* Completes a guest sample: sets its process and its chain. Returns how the chain ends. */
static enum perfdata_chain_end complete(struct recorder *recorder, size_t vm,
					const struct capture_guest *guest,
					struct perfdata_sample *sample)
{
	struct recorder_process *process = set_process(recorder, vm, guest, sample);
	enum perfdata_chain_end end = PERFDATA_CHAIN_COMPLETE;
	uint64_t user_ip = 0; /* not set in kernel code without chains */

	if ((sample->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_GUEST_USER)
		user_ip = sample->ip;
	if (recorder->chain)
		end = recorder_chain(recorder, vm, guest, process, sample, &user_ip);
	if (process && user_ip)
		recorder_want_mappings(recorder, vm, guest->tgid, process, user_ip,
				       sample->time_ns);
	return end;
}

void recorder_on_sample(void *context, size_t event, size_t thread,
			const struct perfdata_sample *sample, const struct capture_guest *guest,
			const uint64_t *counts)
{
	if (!recorder_wait_sample(context, event, thread, sample, guest, counts))
		recorder_take_sample(context, event, thread, sample, guest, counts);
}

void recorder_take_sample(struct recorder *recorder, size_t event, size_t thread,
			  const struct perfdata_sample *sample, const struct capture_guest *guest,
			  const uint64_t *counts)
{
	struct recorder_thread *its = &recorder->threads.items[thread];
	enum recorder_kind kind = kind_of(guest);
	enum perfdata_chain_end chain_end = PERFDATA_CHAIN_COMPLETE;
	struct perfdata_sample own = *sample;
	unsigned mode;
	bool written;

	if (!guest) /* else the engine knows the mode */
		own.misc = guest_mode_correct(&recorder->guest_mode,
					      &recorder->vms.items[its->vm].guest_mode, sample);
	mode = own.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	written = recorder->config.modes[event] >> mode & 1;
	if (sample->time_ns > recorder->newest_ns)
		recorder->newest_ns = sample->time_ns;
	if (written && HOST_MODES_GUEST >> mode & 1) {
		recorder_note_code(recorder, its->vm, guest, &own);
		chain_end = complete(recorder, its->vm, guest, &own);
	}
	own.time_ns += recorder->clock_shift_ns;
	own.id = its->ids ? recorder_id(recorder, its, event, kind, chain_end) : 0;
	if (!own.id ||
	    (written &&
	     (!recorder_put_values(recorder, its, event, kind, chain_end, counts, &own) ||
	      !perfdata_sample_encode(&recorder->config.events[event].attr, &own,
				      &recorder->records)))) {
		vm_of(recorder, thread)->counts.lost++; /* the file had no room for it */
		return;
	}
	count_sample(&vm_of(recorder, thread)->counts, mode, written, kind);
	if (recorder->records.size >= RECORDER_RECORDS_BYTES)
		recorder_write_records(recorder);
}

/* The id of EVENT for records that belong to no known thread. */
static struct error *host_id(struct recorder *recorder, size_t event, uint64_t *ret)
{
	struct perfdata_id spec = { .vcpu = PERFDATA_NO_VCPU, .cpu = UINT32_MAX };
	struct error *error = NULL;

	if (!recorder->host_ids[event])
		error = perfdata_writer_add_id(recorder->writer, event, &spec,
					       &recorder->host_ids[event]);
	if (!error)
		*ret = recorder->host_ids[event];
	return error;
}

void recorder_on_lost(void *context, size_t event, size_t thread, uint64_t count, uint64_t time_ns)
{
	if (!recorder_wait_lost(context, event, thread, count, time_ns))
		recorder_take_lost(context, event, thread, count, time_ns);
}

void recorder_take_lost(struct recorder *recorder, size_t event, size_t thread, uint64_t count,
			uint64_t time_ns)
{
	struct error *error = NULL;
	uint64_t id;

	if (thread == CAPTURE_NO_THREAD) {
		recorder->inventory.other.lost += count;
		error = host_id(recorder, event, &id);
	} else {
		vm_of(recorder, thread)->counts.lost += count;
		if (!recorder->threads.items[thread].ids)
			return;
		id = recorder->threads.items[thread].ids[event * RECORDER_IDS];
	}
	recorder_write_records(recorder); /* keeps the order */
	if (!error)
		error = perfdata_writer_lost(recorder->writer, id, count,
					     time_ns ? time_ns : recorder->newest_ns);
	if (recorder->error)
		error_destroy(error);
	else
		recorder->error = error;
}
