/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `perfvisor record` prints: at the start, while it records, and a summary of the samples. */
#include "base/log.h"
#include "base/memory.h"
#include "cmd/record/record.h"
#include "host/system/kvm.h"

#define NAMES_SHOWN 3

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* "2 VMs (db1, web), 6 vCPU threads" */
static char *describe_vms(const struct recorder *recorder)
{
	const struct perfdata_inventory *inventory = recorder_inventory(recorder);
	struct recorder_totals totals = recorder_totals(recorder);
	_cleanup_buffer_ struct buffer text;

	buffer_init(&text, 4096);
	buffer_printf(&text, "%zu VM%s", totals.vms, plural(totals.vms));
	for (size_t i = 0; i < inventory->vms.count && i < NAMES_SHOWN; i++)
		buffer_printf(&text, "%s%s", i ? ", " : " (", inventory->vms.items[i].name);
	if (inventory->vms.count)
		buffer_printf(&text, "%s)", inventory->vms.count > NAMES_SHOWN ? ", ..." : "");
	buffer_printf(&text, ", %zu %sthread%s", totals.threads,
		      totals.vcpus_unknown ? "" : "vCPU ", plural(totals.threads));
	return memory_strndup((const char *)text.data, text.size);
}

/* Where a group's values are read (S). */
static bool reads_values(const struct record_events *events)
{
	for (size_t i = 0; i < events->list.items.count; i++)
		if (events->list.items.items[i].values_read)
			return true;
	return false;
}

static void note_chains(const struct recorder *recorder, const struct record_events *events)
{
	if (reads_values(events) && recorder_inventory(recorder)->guest)
		log_note("with S, samples have neither guests' processes nor their call chains");
	else if (recorder_lacks_chains(recorder))
		log_note("guest samples have no call chains here: they need an AMD host with Linux "
			 "5.17 or later, or an Intel host with 6.3 or later, BPF, and guest memory "
			 "(see 'perfvisor doctor'); or --engine qmp, which pauses the guest");
	else if (recorder_lacks_sp(recorder))
		log_note("guests have call chains here only where their code keeps frame pointers, "
			 "and kernels also where memory proves the stack pointer, which cannot be "
			 "read on this host");
}

void record_note_beginning(const struct recorder *recorder, const struct record_events *events)
{
	_cleanup_free_ char *vms = describe_vms(recorder);
	const struct host_event *first = &events->list.items.items[0];
	struct capture_stats stats = recorder_capture_stats(recorder);

	if (*events->choice)
		log_note("event %s: %s", first->name, events->choice);
	log_note("recording %s", vms);
	if (recorder_totals(recorder).vcpus_unknown)
		log_note("which threads are vCPUs is not known here, so all threads of the VMs are "
			 "sampled; 'perfvisor doctor' shows why");
	if (stats.ring_reduced)
		log_note("the limit of locked memory leaves only %zu KiB per ring: samples may be "
			 "lost (kernel.perf_event_mlock_kb, ulimit -l, or cap_ipc_lock)",
			 stats.ring_bytes >> 10);
	note_chains(recorder, events);
	if (stats.ring_bytes)
		log_detail("%s, rings of %zu KiB", recorder_capture_description(recorder),
			   stats.ring_bytes >> 10);
}

void record_show_progress(struct progress *progress, const struct recorder *recorder,
			  uint64_t begin_ns)
{
	struct recorder_totals totals;

	if (!progress_due(progress))
		return;
	totals = recorder_totals(recorder);
	progress_show(progress,
		      "%zu VM%s, %zu thread%s: %llu sample%s, %llu lost, %.0f s (Ctrl-C stops)",
		      totals.vms_alive, plural(totals.vms_alive), totals.threads,
		      plural(totals.threads), (unsigned long long)totals.written,
		      plural(totals.written),
		      (unsigned long long)totals.lost, (clock_monotonic_ns() - begin_ns) / 1e9);
}

static struct perfdata_vm_counts sum_counts(const struct perfdata_inventory *inventory)
{
	struct perfdata_vm_counts sum = inventory->other;

	for (size_t i = 0; i < inventory->vms.count; i++)
		recorder_add_counts(&sum, &inventory->vms.items[i].counts);
	return sum;
}

static void warn_of_losses(const struct recorder *recorder, uint64_t lost, uint64_t all)
{
	struct capture_stats stats = recorder_capture_stats(recorder);
	struct recorder_totals totals = recorder_totals(recorder);

	if (lost)
		log_warning("lost %llu of %llu samples (%.1f %%): try a lower -F",
			    (unsigned long long)lost, (unsigned long long)all, 100.0 * lost / all);
	if (stats.throttled)
		log_warning("the kernel throttled the events %llu time%s: try a lower -F",
			    (unsigned long long)stats.throttled, plural(stats.throttled));
	if (stats.undecodable)
		log_warning("%llu records from the kernel could not be decoded",
			    (unsigned long long)stats.undecodable);
	if (totals.tables_refused)
		log_warning("%llu table%s of guests' symbols or unwind data left out: the "
			    "guests concerned have reached their limit of memory",
			    (unsigned long long)totals.tables_refused,
			    plural(totals.tables_refused));
	if (stats.due)
		log_detail("%llu samples were due according to the kernel's counts, %llu were "
			   "taken",
			   (unsigned long long)stats.due, (unsigned long long)all);
}

/*
 * What sampling cost the guests: the measured time of the BPF program, or the pauses that QEMU
 * made.
 */
static void note_cost(const struct recorder *recorder, const struct record_options *options)
{
	struct sampler_cost cost = recorder_cost(recorder);
	uint64_t samples = sampler_cost_samples(&cost);

	if (options->qmp) {
		record_qmp_note_pauses(recorder, options, &cost);
		return;
	}
	if (!samples) {
		log_detail("no guest sample was taken by BPF: their cost is not known, and "
			   "--max-overhead had no effect");
		return;
	}
	log_detail("a guest sample took its vCPU's thread %llu ns (p50), %llu ns (p99), %llu ns on "
		   "average: the BPF program alone, %llu samples",
		   (unsigned long long)sampler_cost_quantile(&cost, 0.5),
		   (unsigned long long)sampler_cost_quantile(&cost, 0.99),
		   (unsigned long long)(cost.total_ns / samples), (unsigned long long)samples);
}

static void note_waiting(const struct recorder *recorder)
{
	struct recorder_wait_counts counts = recorder_wait_counts(recorder);

	if (counts.asked)
		log_detail("the mappings of %llu address spaces were copied at their first "
			   "samples; for %llu their files were not read in time; at most %zu KiB "
			   "of samples waited for them", (unsigned long long)counts.asked,
			   (unsigned long long)counts.late, counts.most_bytes >> 10);
}

/* On hosts where SP cannot be read. */
static void note_stack_pointers(const struct recorder *recorder)
{
	struct recorder_sp_counts counts = recorder_sp_counts(recorder);

	if (counts.samples)
		log_detail("%llu kernel samples had no stack pointer: %llu did not need it, for "
			   "%llu it was found; for %llu there was none, for %llu several, for %llu "
			   "an uncertain one; %llu were in code with its own stacks",
			   (unsigned long long)counts.samples, (unsigned long long)counts.by_bp,
			   (unsigned long long)counts.found, (unsigned long long)counts.none,
			   (unsigned long long)counts.several, (unsigned long long)counts.unsure,
			   (unsigned long long)counts.not_certain);
	if (host_kvm_compares())
		log_detail("%llu of these chains were wrong", (unsigned long long)counts.wrong);
}

static void warn_of_nothing(const struct recorder *recorder, const struct record_options *options,
			    const struct perfdata_vm_counts *sum)
{
	struct recorder_totals totals = recorder_totals(recorder);
	struct capture_stats stats = recorder_capture_stats(recorder);
	const char *cause = "no sample was taken; idle vCPUs give none, nor does an event that "
			    "does not count in guests";

	if (!totals.vms)
		cause = "no VM was running";
	else if (!totals.sampled)
		cause = "the recording ended before sampling began";
	else if (!totals.vms_alive)
		cause = "no sample was taken before the VMs ended";
	else if (stats.looks.failed)
		cause = "QEMU could not be asked";
	else if (stats.looks.paused)
		cause = "the guest is paused";
	else if (stats.looks.halted)
		cause = "the vCPUs were halted";
	else if (!recorder_inventory(recorder)->vms.items[0].vcpus.count && totals.vms == 1 &&
		 !totals.vcpus_unknown)
		cause = "its vCPUs have not run yet";
	else if (sum->host_dropped)
		cause = "all samples were the host's; use --host to record those";
	else if (sum->guest_dropped)
		cause = "all samples were the guests'; use --guest to record those";
	else if (options->filters.count)
		cause = "no event that --filter lets pass was seen";
	log_warning("nothing was recorded: %s (see 'perfvisor doctor')", cause);
}

void record_note_end(const struct recorder *recorder, const struct record_options *options)
{
	struct perfdata_vm_counts sum = recorder_counts(recorder);
	uint64_t written = sum.guest_kernel + sum.guest_user + sum.host_written;

	if (!written)
		warn_of_nothing(recorder, options, &sum);
	warn_of_losses(recorder, sum.lost,
		       written + sum.host_dropped + sum.guest_dropped + sum.lost +
			       recorder_overwritten(recorder));
	note_cost(recorder, options);
	note_waiting(recorder);
	note_stack_pointers(recorder);
	if (recorder_overwritten(recorder))
		log_note("%llu older samples were overwritten by newer ones",
			 (unsigned long long)recorder_overwritten(recorder));
}

/* What was written, and where all the samples went: the numbers add up to the total. */
void record_note_file(const struct recorder *recorder, const struct record_options *options,
		      const char *path)
{
	struct perfdata_vm_counts sum = sum_counts(recorder_inventory(recorder));
	uint64_t written = sum.guest_kernel + sum.guest_user + sum.host_written;

	log_note("wrote %s: %.3f MB, %llu sample%s (guest kernel %llu, guest user %llu, "
		 "host %llu), %llu lost; %s%llu not written",
		 path, recorder_totals(recorder).file_bytes / 1e6,
		 (unsigned long long)written, plural(written),
		 (unsigned long long)sum.guest_kernel, (unsigned long long)sum.guest_user,
		 (unsigned long long)sum.host_written, (unsigned long long)sum.lost,
		 options->guest && !options->host ? "of the host " : "",
		 (unsigned long long)(sum.host_dropped + sum.guest_dropped));
}

void record_note_files(const struct recorder *recorder, size_t files)
{
	struct recorder_totals totals = recorder_totals(recorder);

	log_note("%zu files have %llu samples; %llu were lost", files,
		 (unsigned long long)totals.written, (unsigned long long)totals.lost);
}
