/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording from start to end: in which order things are opened, introduced, looked at and
 * closed.
 *
 * Records are ordered in perf's rounds: one pass over all rings, then FINISHED_ROUND.
 */
#include "host/record/recorder.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/progress.h"
#include "host/record/recorder_state.h"
#include "host/system/kvm.h"

#define FLUSH_NS 500000000u
#define RECORDS_MAX_BYTES (RECORDER_RECORDS_BYTES + (128u << 10))
#define VALUES_MAX_BYTES 65536
#define LOOK_SECONDS 0.1
#define SETTLE_SECONDS 0.5 /* rings have room for a second */
#define LAST_ANSWERS_SECONDS 4.0 /* as long as anything waits for them */
#define LAST_LOOK_SECONDS 10.0 /* for guests not reached while sampling */

static void start_reader(struct recorder *recorder)
{
	struct guest_reader_options options = { .kernel_only = recorder->config.kernel_only,
						.unwind_data = recorder->config.call_chains,
						.calls = recorder_lacks_sp(recorder) ||
							 host_kvm_compares(),
						.emulated = recorder->config.qmp };
	_cleanup_error_ struct error *no_image = NULL;

	if (recorder->config.call_chains && recorder->config.guest_image)
		no_image = guest_image_load(recorder->config.guest_image, &recorder->image);
	if (no_image) /* Linux guests do not need it */
		log_detail("not used for call chains: %s", error_message(no_image));
	options.image = recorder->image;

	recorder->reader = guest_reader_create(recorder->capture, &options);
	for (size_t i = 0; i < recorder->vms.count; i++)
		guest_reader_add(recorder->reader, i, recorder->inventory.vms.items[i].pid, false);
}

/* --vcpu and -t may have left no thread. */
static struct error *check_choice(const struct recorder *recorder, const struct host_vms *found)
{
	const struct recorder_config *config = &recorder->config;

	if (recorder->threads.count || (!config->vcpus.count && !config->threads.count))
		return NULL;
	if (config->vcpus.count && found->vcpu_source == HOST_VCPU_UNKNOWN)
		return error_hint(error_create(ERROR_UNSUPPORTED,
					       "which threads are vCPUs is not known here, so none "
					       "can be chosen by its number"),
				  "'perfvisor doctor' shows why; -t chooses a thread");
	return error_hint(error_create(ERROR_NOT_FOUND,
				       "no vCPU has the number or the thread asked for"),
			  "'perfvisor list' shows vCPUs and their threads");
}

static struct error *open_everything(struct recorder *recorder)
{
	const struct recorder_config *config = &recorder->config;
	struct capture_config capture = { .events = config->events,
					  .event_count = config->event_count,
					  .max_overhead = config->max_overhead,
					  .stacks = config->call_chains,
					  .user_stack_bytes = config->kernel_only
								      ? 0
								      : config->user_stack_bytes,
					  .sink = { recorder, recorder_on_sample,
						    recorder_on_lost } };
	_cleanup_host_vms_ struct host_vms found = { 0 };
	struct error *error = recorder_find_vms(recorder, &found);

	if (error)
		return error;
	capture.expected_threads = recorder_count_threads(recorder, &found);
	capture.ring_bytes = config->ring_bytes;
	capture.cpus = config->cpus;
	if (config->qmp) {
		capture.engine = &capture_qmp_engine;
		capture.no_bpf = true;
		capture.vmm = recorder->inventory.vms.items[0].pid;
	}
	if (config->guest && !config->no_memory && !config->kernel_only && !config->qmp)
		capture.sink.mappings = recorder_on_mappings;
	error = capture_create(&capture, &recorder->capture);
	if (!error && config->guest && !config->no_memory)
		start_reader(recorder);
	if (!error)
		error = recorder_add_vms(recorder, &found);
	if (!error && !config->may_begin_empty)
		error = check_choice(recorder, &found);
	if (!error)
		error = recorder_open_writer(recorder);
	if (error)
		return error;
	recorder_read_clock(recorder);
	return recorder_introduce_all(recorder);
}

struct error *recorder_create(const struct recorder_config *config, struct recorder **ret)
{
	struct recorder *recorder = memory_calloc(1, sizeof(*recorder));
	struct error *error;

	recorder->config = *config;
	recorder->host_ids = memory_calloc(config->event_count, sizeof(*recorder->host_ids));
	if (config->call_chains)
		recorder->chain = recorder_chain_create();
	if (recorder_writes_host(config))
		recorder->elf = elf_client_create(0);
	recorder->maps = host_maps_create(recorder->elf);
	host_kernel_symbols_read(HOST_KALLSYMS, &recorder->symbols);
	guest_mode_init(&recorder->guest_mode, &recorder->symbols);
	recorder->scan = vm_scan_create();
	map_init(&recorder->thread_of_tid);
	map_init(&recorder->files_mapped);
	buffer_init(&recorder->records, RECORDS_MAX_BYTES);
	buffer_init(&recorder->values, VALUES_MAX_BYTES);
	perfdata_inventory_init(&recorder->inventory);
	recorder->inventory.guest = config->guest;
	recorder->inventory.host = config->host;
	recorder->inventory.no_memory = config->no_memory;
	recorder->inventory.kernel_only = config->kernel_only;
	recorder->inventory.guest_chains = recorder->chain;
	free(recorder->inventory.event_choice);
	recorder->inventory.event_choice = memory_strdup(config->event_choice);
	for (size_t i = 0; i < config->event_count; i++) {
		recorder->inventory.host_sampled |= host_event_sees_host(&config->events[i]);
		recorder->inventory.guest_sampled |= host_event_sees_guest(&config->events[i]);
	}
	error = open_everything(recorder);
	if (error) {
		recorder_destroy(recorder);
		return error;
	}
	recorder->inventory.guest_processes = recorder->reader && !config->kernel_only &&
					      capture_sees_guests(recorder->capture);
	recorder->wait.enabled = recorder->inventory.guest_processes && !config->qmp;
	*ret = recorder;
	return NULL;
}

void recorder_destroy(struct recorder *recorder)
{
	if (!recorder)
		return;
	for (size_t i = 0; i < recorder->vms.count; i++) {
		recorder_forget_unwind_tables(recorder, i);
		recorder_forget_code(&recorder->vms.items[i]);
		recorder_forget_processes(&recorder->vms.items[i]);
	}
	guest_reader_destroy(recorder->reader);
	capture_destroy(recorder->capture);
	perfdata_writer_destroy(recorder->writer);
	perfdata_writer_destroy(recorder->previous);
	recorder_hold_deinit(recorder);
	recorder_wait_deinit(recorder);
	host_maps_destroy(recorder->maps);
	elf_client_destroy(recorder->elf);
	vm_scan_destroy(recorder->scan);
	perfdata_inventory_deinit(&recorder->inventory);
	for (size_t i = 0; i < recorder->threads.count; i++) {
		free(recorder->threads.items[i].ids);
		free(recorder->threads.items[i].totals);
	}
	guest_image_destroy(recorder->image);
	free(recorder->chain);
	vector_deinit(&recorder->threads);
	vector_deinit(&recorder->vms);
	map_deinit(&recorder->thread_of_tid);
	map_deinit(&recorder->files_mapped);
	buffer_deinit(&recorder->records);
	buffer_deinit(&recorder->values);
	error_destroy(recorder->error);
	free(recorder->host_ids);
	free(recorder);
}

bool recorder_lacks_chains(const struct recorder *recorder)
{
	return recorder->chain && !(recorder->reader && capture_sees_guests(recorder->capture));
}

bool recorder_lacks_sp(const struct recorder *recorder)
{
	return recorder->chain && !capture_sees_registers(recorder->capture);
}

struct recorder_sp_counts recorder_sp_counts(const struct recorder *recorder)
{
	return recorder->sp_counts;
}

bool recorder_look_at_guests(struct recorder *recorder)
{
	return !recorder->reader || (!recorder->inventory.guest_processes && !recorder->chain) ||
	       guest_reader_wait(recorder->reader, LOOK_SECONDS);
}

void recorder_set_enabled(struct recorder *recorder, size_t event, bool enabled)
{
	if (event != RECORDER_ALL_EVENTS) {
		capture_set_enabled(recorder->capture, event, enabled);
		return;
	}
	for (size_t i = 0; i < recorder->config.event_count; i++)
		capture_set_enabled(recorder->capture, i, enabled);
}

bool recorder_watch(struct recorder *recorder, int fd)
{
	return capture_watch(recorder->capture, fd);
}

void recorder_unwatch(struct recorder *recorder, int fd)
{
	capture_unwatch(recorder->capture, fd);
}

void recorder_complete_round(struct recorder *recorder)
{
	recorder_write_records(recorder);
	recorder->round_ns[0] = recorder->round_ns[1];
	recorder->round_ns[1] = recorder->newest_ns;
	if (!recorder->error)
		recorder->error = perfdata_writer_round(recorder->writer);
	recorder_hold_end_round(recorder);
}

/* Everything in the rings has been delivered. */
static struct error *end_round(struct recorder *recorder)
{
	recorder_exchange_with_reader(recorder);
	if (!recorder_wait_round(recorder))
		recorder_complete_round(recorder);
	return take_pointer(recorder->error);
}

/* Passes on all that waits, after SECONDS at most in which the reader may come to know it. */
static void end_waiting(struct recorder *recorder, double seconds)
{
	if (recorder->reader)
		guest_reader_settle(recorder->reader, seconds);
	recorder_take_unwind_tables(recorder);
	recorder_exchange_with_reader(recorder);
	recorder_wait_end(recorder);
}

struct error *recorder_settle(struct recorder *recorder)
{
	end_waiting(recorder, SETTLE_SECONDS);
	return end_round(recorder);
}

struct error *recorder_step(struct recorder *recorder, int timeout_ms)
{
	struct error *error;

	recorder->sampled |= capture_is_enabled(recorder->capture);
	capture_wait(recorder->capture, timeout_ms);
	recorder_read_clock(recorder);
	recorder_take_unwind_tables(recorder);
	capture_drain(recorder->capture);
	capture_keep_budget(recorder->capture);
	error = end_round(recorder);
	recorder_ask_code(recorder, false);
	if (!error && !recorder->config.overwrite &&
	    clock_monotonic_ns() - recorder->flushed_ns >= FLUSH_NS) {
		error = recorder_flush(recorder);
		recorder->flushed_ns = clock_monotonic_ns();
	}
	return error ? error : recorder_rescan(recorder);
}

struct error *recorder_stop(struct recorder *recorder)
{
	recorder_take_unwind_tables(recorder);
	capture_finish(recorder->capture);
	end_waiting(recorder, LAST_ANSWERS_SECONDS);
	recorder_ask_code(recorder, true);
	if (recorder->reader)
		guest_reader_finish(recorder->reader, LAST_LOOK_SECONDS);
	recorder_name_guests(recorder);
	return end_round(recorder);
}

bool recorder_kernel(const struct recorder *recorder, size_t number,
		     struct guest_reader_kernel *ret)
{
	return recorder->reader && guest_reader_kernel(recorder->reader, number, ret);
}

bool recorder_file(const struct recorder *recorder, size_t number, struct guest_reader_file *ret)
{
	return recorder->reader && guest_reader_file(recorder->reader, number, ret);
}

void recorder_drop_kernel(struct recorder *recorder, size_t number)
{
	guest_reader_drop_kernel(recorder->reader, number);
}

void recorder_drop_file(struct recorder *recorder, size_t number)
{
	guest_reader_drop_file(recorder->reader, number);
}

const struct perfdata_inventory *recorder_inventory(const struct recorder *recorder)
{
	return &recorder->inventory;
}

void recorder_add_counts(struct perfdata_vm_counts *sum, const struct perfdata_vm_counts *counts)
{
	sum->guest_kernel += counts->guest_kernel;
	sum->guest_user += counts->guest_user;
	sum->host_written += counts->host_written;
	sum->host_dropped += counts->host_dropped;
	sum->guest_dropped += counts->guest_dropped;
	sum->lost += counts->lost;
	sum->nested += counts->nested;
	sum->at_exit += counts->at_exit;
}

struct perfdata_vm_counts recorder_counts(const struct recorder *recorder)
{
	struct perfdata_vm_counts sum = recorder->earlier;

	for (size_t i = 0; i < recorder->inventory.vms.count; i++)
		recorder_add_counts(&sum, &recorder->inventory.vms.items[i].counts);
	recorder_add_counts(&sum, &recorder->inventory.other);
	recorder_hold_add_counts(recorder, &sum);
	return sum;
}

uint64_t recorder_overwritten(const struct recorder *recorder)
{
	return recorder->hold.overwritten;
}

struct recorder_totals recorder_totals(const struct recorder *recorder)
{
	struct perfdata_vm_counts sum = recorder_counts(recorder);
	struct recorder_totals totals = {
		.vms = recorder->vms.count,
		.written = sum.guest_kernel + sum.guest_user + sum.host_written,
		.dropped = sum.host_dropped + sum.guest_dropped,
		.lost = sum.lost,
	};
	uint64_t lost_seen = capture_stats(recorder->capture).lost_seen;

	for (size_t i = 0; i < recorder->vms.count; i++) {
		totals.vms_alive += recorder->vms.items[i].alive;
		totals.vcpus_unknown |= recorder->vms.items[i].all_threads;
	}
	for (size_t i = 0; i < recorder->threads.count; i++)
		totals.threads += recorder->threads.items[i].alive;
	if (totals.lost < lost_seen)
		totals.lost = lost_seen;
	totals.sampled = recorder->sampled;
	if (recorder->reader)
		totals.tables_refused = guest_reader_refused(recorder->reader);
	totals.file_bytes = perfdata_writer_bytes(recorder->writer);
	return totals;
}

struct capture_stats recorder_capture_stats(const struct recorder *recorder)
{
	return capture_stats(recorder->capture);
}

struct sampler_cost recorder_cost(const struct recorder *recorder)
{
	return capture_cost(recorder->capture);
}

const char *recorder_capture_description(const struct recorder *recorder)
{
	return capture_description(recorder->capture);
}
