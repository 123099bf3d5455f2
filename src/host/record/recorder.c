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
#define LAST_LOOK_SECONDS 10.0 /* for guests not reached while sampling */
#define IDS_BESIDES 4096 /* vCPUs that may appear later; the header keeps room for them */

static bool writes_host(const struct recorder_config *config)
{
	for (size_t i = 0; i < config->event_count; i++)
		if (config->modes[i] & HOST_MODES_HOST & ~(1 << PERF_RECORD_MISC_CPUMODE_UNKNOWN))
			return true;
	return false;
}

struct error *recorder_introduce_vm(struct recorder *recorder, size_t vm)
{
	uint32_t pid = recorder->inventory.vms.items[vm].pid;
	struct error *error = host_maps_write_comm(recorder->writer, pid, pid);

	if (!error && writes_host(&recorder->config))
		error = host_maps_write_process(recorder->maps, recorder->writer, pid);
	return error;
}

/*
 * This record makes perf look for a guest kernel. In a recording that is a file, perf finds none
 * and uses the kernel of the host it runs on. perf only knows that there are guests after an id of
 * a guest.
 */
static struct error *write_guest_kernel(struct recorder *recorder, size_t vm)
{
	uint32_t pid = recorder->inventory.vms.items[vm].pid;
	_cleanup_free_ char *path = memory_printf("[guest.kernel.kallsyms.%u]", pid);
	struct perfdata_mapping mapping = { .pid = pid,
					    .length = UINT64_MAX,
					    .prot = PROT_EXEC,
					    .misc = PERF_RECORD_MISC_GUEST_KERNEL,
					    .path = path };

	if (!recorder->config.directory || recorder->vms.items[vm].kernel_written)
		return NULL;
	recorder->vms.items[vm].kernel_written = true;
	return perfdata_writer_guest_mmap2(recorder->writer, pid, &mapping, 0);
}

struct error *recorder_introduce_thread(struct recorder *recorder, size_t thread)
{
	struct recorder_thread *its = &recorder->threads.items[thread];
	struct error *error = NULL;

	its->ids = memory_calloc(recorder->config.event_count * RECORDER_IDS, sizeof(*its->ids));
	for (size_t i = 0; i < recorder->config.event_count; i++)
		if (!recorder_id(recorder, its, i, RECORDER_PLAIN, PERFDATA_CHAIN_COMPLETE))
			error = error_create(ERROR_SYSTEM, "the file has no room for more vCPUs");
	if (!error)
		error = write_guest_kernel(recorder, its->vm);
	if (!error && its->tid != its->pid)
		error = host_maps_write_comm(recorder->writer, its->pid, its->tid);
	return error;
}

/* In the form that was asked for, with room for so many ids of each event. */
static struct error *create_writer(struct recorder *recorder, const struct perfdata_event *events,
				   size_t max_ids)
{
	const struct recorder_config *config = &recorder->config;
	_cleanup_free_ char *file = NULL;
	struct error *error = NULL;

	if (config->pipe)
		return perfdata_writer_create_pipe(STDOUT_FILENO, events, config->event_count,
						   max_ids, &recorder->writer);
	if (config->directory)
		error = perfdata_directory_create(config->path, &file);
	if (error)
		return error;
	return perfdata_writer_create(file ? file : config->path, events, config->event_count,
				      max_ids, &recorder->writer);
}

static struct error *open_writer(struct recorder *recorder)
{
	size_t count = recorder->config.event_count;
	_cleanup_free_ struct perfdata_event *events = memory_calloc(count, sizeof(*events));
	struct error *error;

	recorder_describe_events(recorder, events);
	error = create_writer(recorder, events,
			      2 * RECORDER_KINDS * recorder->threads.count + IDS_BESIDES);
	if (!error && recorder->config.compress)
		error = perfdata_writer_compress(recorder->writer);
	return error;
}

static struct error *introduce_all(struct recorder *recorder)
{
	struct error *error;

	error = host_maps_write_kernel(recorder->maps, recorder->writer, &recorder->symbols);
	for (size_t i = 0; i < recorder->vms.count && !error; i++)
		error = recorder_introduce_vm(recorder, i);
	for (size_t i = 0; i < recorder->threads.count && !error; i++)
		error = recorder_introduce_thread(recorder, i);
	return error;
}

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
	error = capture_create(&capture, &recorder->capture);
	if (!error && config->guest && !config->no_memory)
		start_reader(recorder);
	if (!error)
		error = recorder_add_vms(recorder, &found);
	if (!error && !config->may_begin_empty)
		error = check_choice(recorder, &found);
	if (!error)
		error = open_writer(recorder);
	if (error)
		return error;
	recorder_read_clock(recorder);
	return introduce_all(recorder);
}

struct error *recorder_create(const struct recorder_config *config, struct recorder **ret)
{
	struct recorder *recorder = memory_calloc(1, sizeof(*recorder));
	struct error *error;

	recorder->config = *config;
	recorder->host_ids = memory_calloc(config->event_count, sizeof(*recorder->host_ids));
	if (config->call_chains)
		recorder->chain = recorder_chain_create();
	recorder->maps = host_maps_create();
	host_kernel_symbols_read(HOST_KALLSYMS, &recorder->symbols);
	guest_mode_init(&recorder->guest_mode, &recorder->symbols);
	recorder->scan = vm_scan_create();
	map_init(&recorder->thread_of_tid);
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
	*ret = recorder;
	return NULL;
}

void recorder_destroy(struct recorder *recorder)
{
	if (!recorder)
		return;
	for (size_t i = 0; i < recorder->vms.count; i++) {
		recorder_forget_unwind_tables(recorder, i);
		recorder_forget_processes(&recorder->vms.items[i]);
	}
	guest_reader_destroy(recorder->reader);
	capture_destroy(recorder->capture);
	perfdata_writer_destroy(recorder->writer);
	host_maps_destroy(recorder->maps);
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

/* A round is complete: everything in the rings has been delivered. */
static struct error *end_round(struct recorder *recorder)
{
	struct error *error;

	recorder_exchange_with_reader(recorder);
	recorder_write_records(recorder);
	recorder->round_ns[0] = recorder->round_ns[1];
	recorder->round_ns[1] = recorder->newest_ns;
	error = take_pointer(recorder->error);
	return error ? error : perfdata_writer_round(recorder->writer);
}

/* What the guests call themselves, as of the last look. */
static void name_guests(struct recorder *recorder)
{
	struct guest_reader_kernel kernel;

	for (size_t i = 0; recorder_kernel(recorder, i, &kernel); i++) {
		struct perfdata_vm *vm = &recorder->inventory.vms.items[kernel.vm];

		free(vm->kernel_release);
		free(vm->host_name);
		vm->kernel_release = memory_strdup(kernel.release);
		vm->host_name = memory_strdup(kernel.host_name);
	}
}

struct error *recorder_flush(struct recorder *recorder)
{
	const struct perfdata_writer_build_id *build_ids;
	struct error *error;
	size_t count;

	name_guests(recorder);
	error = perfdata_writer_inventory(recorder->writer, &recorder->inventory);
	if (error)
		return error;
	build_ids = host_maps_build_ids(recorder->maps, &count);
	error = perfdata_writer_build_ids(recorder->writer, build_ids, count);
	return error ? error : perfdata_writer_flush(recorder->writer);
}

static void fill_features(struct recorder *recorder, struct perfdata_writer_features *features)
{
	features->inventory = &recorder->inventory;
	features->build_ids = host_maps_build_ids(recorder->maps, &features->build_id_count);
}

struct error *recorder_begin(struct recorder *recorder,
			     const struct perfdata_writer_features *features)
{
	struct perfdata_writer_features own = *features;
	struct error *error;

	fill_features(recorder, &own);
	error = perfdata_writer_begin(recorder->writer, &own);
	return error ? error : perfdata_writer_flush(recorder->writer);
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
	if (!error && clock_monotonic_ns() - recorder->flushed_ns >= FLUSH_NS) {
		error = recorder_flush(recorder);
		recorder->flushed_ns = clock_monotonic_ns();
	}
	return error ? error : recorder_rescan(recorder);
}

struct error *recorder_stop(struct recorder *recorder)
{
	recorder_take_unwind_tables(recorder);
	capture_finish(recorder->capture);
	if (recorder->reader)
		guest_reader_finish(recorder->reader, LAST_LOOK_SECONDS);
	name_guests(recorder);
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

struct error *recorder_write_symbols(struct recorder *recorder,
				     const struct perfdata_writer_symbols *symbols,
				     uint32_t *ret_number)
{
	return perfdata_writer_symbols(recorder->writer, symbols, ret_number);
}

struct error *recorder_write_symbols_until(struct recorder *recorder, uint32_t number,
					   uint64_t until_ns)
{
	return perfdata_writer_symbols_until(recorder->writer, number, until_ns);
}

struct error *recorder_finish(struct recorder *recorder,
			      const struct perfdata_writer_features *features)
{
	struct perfdata_writer_features own = *features;

	fill_features(recorder, &own);
	return perfdata_writer_finish(recorder->writer, &own);
}

const struct perfdata_inventory *recorder_inventory(const struct recorder *recorder)
{
	return &recorder->inventory;
}

static void add_counts(struct recorder_totals *totals, const struct perfdata_vm_counts *counts)
{
	totals->written += counts->guest_kernel + counts->guest_user + counts->host_written;
	totals->dropped += counts->host_dropped + counts->guest_dropped;
	totals->lost += counts->lost;
}

struct recorder_totals recorder_totals(const struct recorder *recorder)
{
	struct recorder_totals totals = { .vms = recorder->vms.count };
	uint64_t lost_seen = capture_stats(recorder->capture).lost_seen;

	for (size_t i = 0; i < recorder->vms.count; i++) {
		add_counts(&totals, &recorder->inventory.vms.items[i].counts);
		totals.vms_alive += recorder->vms.items[i].alive;
		totals.vcpus_unknown |= recorder->vms.items[i].all_threads;
	}
	add_counts(&totals, &recorder->inventory.other);
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
