/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of a recording, from its beginning to its end, and the next one (--switch-output).
 *
 * Each file stands alone. What names its samples is written again as they need it: a task or a
 * process that was written to an earlier file has that file's number
 * (recorder_processes.c). Ids are numbered anew in each file, for what is alive.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/record/recorder_state.h"

#define IDS_BESIDES 4096 /* vCPUs that may appear later; the header keeps room for them */

bool recorder_writes_host(const struct recorder_config *config)
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

	if (!error && recorder_writes_host(&recorder->config))
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

struct error *recorder_open_writer(struct recorder *recorder)
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

struct error *recorder_introduce_all(struct recorder *recorder)
{
	struct error *error;

	error = host_maps_write_kernel(recorder->maps, recorder->writer, &recorder->symbols);
	for (size_t i = 0; i < recorder->vms.count && !error; i++)
		if (recorder->vms.items[i].alive)
			error = recorder_introduce_vm(recorder, i);
	for (size_t i = 0; i < recorder->threads.count && !error; i++)
		if (recorder->threads.items[i].alive)
			error = recorder_introduce_thread(recorder, i);
	if (!error)
		recorder_hold_begin(recorder);
	return error;
}

/* What the guests call themselves, as of the last look. */
void recorder_name_guests(struct recorder *recorder)
{
	struct guest_reader_kernel kernel;

	for (size_t i = 0; recorder_kernel(recorder, i, &kernel); i++) {
		struct perfdata_vm *vm = &recorder->inventory.vms.items[kernel.vm];

		free(vm->kernel_release);
		free(vm->host_name);
		vm->kernel_release = memory_strdup(kernel.release);
		vm->host_name = memory_strdup(kernel.host_name);
		host_maps_add_guest_kernel(recorder->maps, kernel.pid, kernel.build_id,
					   kernel.build_id_bytes);
	}
}

bool recorder_is_empty(const struct recorder *recorder)
{
	return !recorder->vms.count && !recorder->config.switches &&
	       !recorder->config.directory && !perfdata_writer_has_name(recorder->writer);
}

struct error *recorder_flush(struct recorder *recorder)
{
	const struct perfdata_writer_build_id *build_ids;
	struct error *error;
	size_t count;

	if (recorder_is_empty(recorder))
		return NULL;
	recorder_name_guests(recorder);
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
	if (error || recorder_is_empty(recorder))
		return error;
	return perfdata_writer_flush(recorder->writer);
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
	struct error *error;

	if (recorder_is_empty(recorder))
		return NULL;
	error = recorder_hold_write(recorder);
	fill_features(recorder, &own);
	return error ? error : perfdata_writer_finish(recorder->writer, &own);
}

/* What the file that is complete had, and the next one does not. */
static void forget_file(struct recorder *recorder)
{
	recorder->earlier = recorder_counts(recorder);
	for (size_t i = 0; i < recorder->vms.count; i++) {
		struct recorder_vm *vm = &recorder->vms.items[i];

		recorder->inventory.vms.items[i].counts = (struct perfdata_vm_counts){ 0 };
		vm->kernel_written = vm->mappings_cut = false;
		vm->mapping_bytes = vm->mapping_ns = 0;
	}
	recorder->inventory.other = (struct perfdata_vm_counts){ 0 };
	recorder->inventory.special_ids.count = 0;
	for (size_t i = 0; i < recorder->threads.count; i++) {
		free(take_pointer(recorder->threads.items[i].ids));
		free(take_pointer(recorder->threads.items[i].totals));
	}
	memset(recorder->host_ids, 0, recorder->config.event_count * sizeof(*recorder->host_ids));
	host_maps_destroy(recorder->maps);
	recorder->maps = host_maps_create(recorder->elf);
	map_deinit(&recorder->files_mapped);
	map_init(&recorder->files_mapped);
	recorder_begin_part(recorder);
	recorder->file_begin_ns = recorder->round_ns[0];
}

struct error *recorder_switch(struct recorder *recorder,
			      const struct perfdata_writer_features *features)
{
	struct perfdata_writer *complete = recorder->writer;
	struct error *error = recorder_open_writer(recorder);

	if (recorder->writer != complete) {
		perfdata_writer_destroy(recorder->previous);
		recorder->previous = complete;
	}
	if (error)
		return error;
	forget_file(recorder);
	recorder_read_clock(recorder); /* for the new writer */
	error = recorder_introduce_all(recorder);
	return error ? error : recorder_begin(recorder, features);
}

uint64_t recorder_file_begin_ns(const struct recorder *recorder)
{
	return recorder->file_begin_ns;
}
