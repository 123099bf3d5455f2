/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens a recording: reads everything in it but the samples (session_events.c), and gives
 * each guest its name and, when it is asked for, its kernel's symbols: those that the user
 * named, else those in the recording, else kcore_dir__PID/kallsyms of a directory
 * recording.
 */
#include "profile/session.h"

#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "profile/session_events.h"

/* A recording may be larger than memory: every so many records what is read is let go. */
#define RELEASE_RECORDS 65536

struct machine *session_find_machine(const struct session *session, uint32_t pid)
{
	const uint64_t *place = map_find(&session->machine_by_pid, pid);

	return place ? session->machines.items[*place] : NULL;
}

/* The VM's name in the inventory; else what the VMM's process is called, and its pid. */
static const char *machine_name(struct session *session, uint32_t pid)
{
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(session->reader);
	const struct perfdata_vm *vm = inventory ? perfdata_inventory_find(inventory, pid) : NULL;
	_cleanup_free_ char *made = NULL;
	struct timeline_span vmm;

	if (!pid)
		return MACHINE_HOST_NAME;
	if (vm)
		return intern_string(session->strings, intern_text(session->strings, vm->name));
	vmm = timeline_find(&session->machines.items[0]->timeline, pid, pid, SPACE_FOREVER);
	if (vmm.final_comm == TIMELINE_NO_COMM)
		made = memory_printf("vm-%u", pid);
	else
		made = memory_printf("%s-%u", intern_string(session->strings, vmm.final_comm), pid);
	return intern_string(session->strings, intern_text(session->strings, made));
}

struct machine *session_machine(struct session *session, uint32_t pid)
{
	bool added;
	uint64_t *place = map_insert(&session->machine_by_pid, pid, &added);
	struct machine *machine;

	if (!added)
		return session->machines.items[*place];
	*place = session->machines.count;
	machine = memory_calloc(1, sizeof(*machine));
	machine->pid = pid;
	machine->name = machine_name(session, pid);
	timeline_init(&machine->timeline, session->arena, &session->space_numbers);
	space_init(&machine->kernel, session->space_numbers++);
	space_init(&machine->nowhere, session->space_numbers++);
	vector_append(&session->machines, machine);
	return machine;
}

static void machine_destroy(struct machine *machine)
{
	timeline_deinit(&machine->timeline);
	space_deinit(&machine->kernel);
	space_deinit(&machine->nowhere);
	symbol_table_destroy(machine->kernel_owned);
	free(machine->kernel_note);
	free(machine);
}

void session_close(struct session *session)
{
	if (!session)
		return;
	for (size_t i = 0; i < session->machines.count; i++)
		machine_destroy(session->machines.items[i]);
	vector_deinit(&session->machines);
	map_deinit(&session->machine_by_pid);
	map_deinit(&session->lost_by_vm);
	map_deinit(&session->build_ids);
	kernel_loader_deinit(&session->kernel_loader);
	dsos_deinit(&session->dsos);
	symbol_table_destroy(session->shared_guest_table);
	error_destroy(session->symbols_error);
	intern_destroy(session->strings);
	arena_destroy(session->arena);
	perfdata_reader_close(session->reader);
	free(session);
}

/* In the pipe form the names come later than the machines: they are made at the end. */
static void name_machines(struct session *session)
{
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(session->reader);

	for (size_t i = 0; inventory && i < inventory->vms.count; i++)
		session_machine(session, inventory->vms.items[i].pid);
	for (size_t i = 0; i < session->machines.count; i++)
		session->machines.items[i]->name =
			machine_name(session, session->machines.items[i]->pid);
}

struct error *session_open_reader(struct perfdata_reader *reader,
				  const struct kernel_source_options *options,
				  struct session **ret)
{
	_cleanup_session_ struct session *session = memory_calloc(1, sizeof(*session));
	size_t event_count;
	struct error *error;

	session->reader = reader;
	session->arena = arena_create();
	session->strings = intern_create();
	session->guest_symbols = *options;
	dsos_init(&session->dsos, session->strings);
	map_init(&session->machine_by_pid);
	map_init(&session->lost_by_vm);
	map_init(&session->build_ids);
	session_machine(session, 0);
	error = session_events_read(session);
	if (error)
		return error;
	name_machines(session);
	event_count = perfdata_reader_event_count(session->reader);
	session->attrs = arena_alloc(session->arena, (event_count + 1) * sizeof(*session->attrs));
	for (size_t i = 0; i < event_count; i++)
		session->attrs[i] = &perfdata_reader_event(session->reader, i)->attr;
	session_rewind(session);
	*ret = take_pointer(session);
	return NULL;
}

struct error *session_open(const char *path, const struct kernel_source_options *options,
			   struct session **ret)
{
	struct perfdata_reader *reader;
	struct error *error = perfdata_reader_open(path, &reader);

	return error ? error : session_open_reader(reader, options, ret);
}

void session_rewind(struct session *session)
{
	perfdata_reader_rewind(session->reader);
	session->sequence = 0;
}

/* What a sample without these fields has in perf (evsel__parse_sample()). */
static void fill_defaults(const struct session *session, struct perfdata_decoded *decoded)
{
	const struct perf_event_attr *attr = session->attrs[decoded->event_index];

	if (!(attr->sample_type & PERF_SAMPLE_PERIOD))
		decoded->sample.period = attr->sample_period;
	if (!(attr->sample_type & PERF_SAMPLE_TID))
		decoded->sample.pid = decoded->sample.tid = UINT32_MAX;
}

void session_decode(struct session *session, const struct perfdata_record *record,
		    struct session_sample *ret)
{
	ret->valid = perfdata_reader_decode(session->reader, record, &ret->decoded);
	if (ret->valid)
		fill_defaults(session, &ret->decoded);
	ret->time = session->timed ? ret->decoded.sample.time_ns : session->sequence;
}

enum perfdata_status session_next_record(struct session *session, struct perfdata_record *ret)
{
	if (++session->sequence % RELEASE_RECORDS == 0)
		perfdata_reader_release(session->reader);
	return perfdata_reader_next(session->reader, ret);
}

enum perfdata_status session_next_sample(struct session *session, struct session_sample *ret)
{
	struct perfdata_record record;
	enum perfdata_status status;

	do {
		status = session_next_record(session, &record);
		if (status != PERFDATA_RECORD)
			return status;
	} while (record.type != PERF_RECORD_SAMPLE);
	session_decode(session, &record, ret);
	return PERFDATA_RECORD;
}

static void list_build_ids(struct session *session)
{
	const struct perfdata_features *features = perfdata_reader_features(session->reader);

	session->build_ids_listed = true;
	for (size_t i = 0; i < features->build_id_count; i++)
		*map_insert(&session->build_ids,
			    intern_text(session->strings, features->build_ids[i].path), NULL) = i;
}

void session_set_build_id(struct session *session, struct dso_entry *entry)
{
	const struct perfdata_build_id *found;
	const uint64_t *place;

	if (!session->build_ids_listed)
		list_build_ids(session);
	place = map_find(&session->build_ids, entry->path);
	if (!place)
		return;
	found = &perfdata_reader_features(session->reader)->build_ids[*place];
	if (found->size > sizeof(entry->build_id))
		return;
	memcpy(entry->build_id, found->bytes, found->size);
	entry->build_id_bytes = found->size;
}

void session_start_kernel(struct session *session)
{
	struct dso_names names = { .path = "[kernel.kallsyms]" };
	struct machine *host = session->machines.items[0];
	struct dso_request request = { .path = names.path,
				       .reference = session->kernel_reference };
	struct dso_entry *entry;

	host->kernel_dso = dsos_add_kernel(&session->dsos, &names);
	entry = session->dsos.items.items[host->kernel_dso];
	entry->loaded = true; /* by the loader */
	session_set_build_id(session, entry);
	if (entry->build_id_bytes) {
		request.build_id = entry->build_id;
		request.build_id_bytes = entry->build_id_bytes;
	}
	if (session->kernel_path)
		request.path = intern_string(session->strings, session->kernel_path);
	kernel_loader_start(&session->kernel_loader, &request);
}

static void load_host_kernel(struct session *session, struct machine *machine)
{
	struct dso_symbols found;
	struct error *error;

	if (!session->kernel_loader.started)
		session_start_kernel(session);
	error = kernel_loader_finish(&session->kernel_loader, &found);
	if (error) {
		machine->kernel_note = memory_strdup(error_message(error));
		error_destroy(error);
		return;
	}
	machine->kernel_table = machine->kernel_owned = take_pointer(found.table);
	dso_symbols_deinit(&found);
}

static void keep_first_error(struct session *session, struct error *error)
{
	if (session->symbols_error)
		error_destroy(error);
	else
		session->symbols_error = error;
}

/* True if the user's options have something for MACHINE (or failed to). */
static bool load_from_options(struct session *session, struct machine *machine)
{
	const char *source;
	struct error *error = NULL;
	struct symbol_table *table = NULL;

	if (!session->guest_symbols.guestmount) { /* what is named holds for every guest */
		if (!session->shared_guest_loaded)
			error = kernel_source_load(&session->guest_symbols, 0,
						   &session->shared_guest_table, &source);
		session->shared_guest_loaded = true;
		machine->kernel_table = session->shared_guest_table;
	} else {
		error = kernel_source_load(&session->guest_symbols, machine->pid, &table, &source);
		machine->kernel_owned = table;
		machine->kernel_table = table;
	}
	if (error)
		keep_first_error(session, error);
	return machine->kernel_table || error;
}

/* The newest stored table for MACHINE, one for every guest if it has none of its own. */
static bool load_from_recording(struct session *session, struct machine *machine)
{
	size_t count = perfdata_reader_symbols_count(session->reader);
	struct perfdata_symbols best = { 0 };
	struct error *error;

	for (size_t i = 0; i < count; i++) {
		struct perfdata_symbols symbols = perfdata_reader_symbols(session->reader, i);

		if (symbols.kind != PERFDATA_SYMBOLS_KERNEL)
			continue;
		if (symbols.machine_pid == machine->pid ||
		    (!symbols.machine_pid && (!best.data || !best.machine_pid)))
			best = symbols;
	}
	if (!best.data)
		return false;
	error = symbol_table_decode(best.data, best.size, &machine->kernel_owned);
	if (error) {
		keep_first_error(session,
				 error_prefix(error, "the recording's symbols of VM '%s'",
					      machine->name));
		return true;
	}
	machine->kernel_table = machine->kernel_owned;
	return true;
}

static bool load_from_directory(struct session *session, struct machine *machine)
{
	const char *directory = perfdata_reader_directory(session->reader);
	_cleanup_free_ char *kallsyms = NULL, *modules = NULL;
	struct kernel_source_options options = { 0 };
	const char *source;
	struct error *error;

	if (!directory)
		return false;
	kallsyms = memory_printf("%s/kcore_dir__%u/kallsyms", directory, machine->pid);
	modules = memory_printf("%s/kcore_dir__%u/modules", directory, machine->pid);
	if (access(kallsyms, F_OK))
		return false;
	options.guestkallsyms = kallsyms;
	if (!access(modules, F_OK))
		options.guestmodules = modules;
	error = kernel_source_load(&options, 0, &machine->kernel_owned, &source);
	if (error)
		keep_first_error(session, error);
	machine->kernel_table = machine->kernel_owned;
	return true;
}

static void load_guest_kernel(struct session *session, struct machine *machine)
{
	struct dso_names names = { .path = MACHINE_GUEST_KERNEL };

	machine->kernel_dso = dsos_add_kernel(&session->dsos, &names);
	/* The table comes from elsewhere: the dso must not look for a file of that name. */
	session->dsos.items.items[machine->kernel_dso]->loaded = true;
	if (load_from_options(session, machine) || load_from_recording(session, machine) ||
	    load_from_directory(session, machine))
		return;
	machine->kernel_note = memory_printf("the recording has no symbols of VM '%s', and no "
					     "option names any",
					     machine->name);
}

void session_load_kernel(struct session *session, struct machine *machine)
{
	if (machine->kernel_loaded)
		return;
	machine->kernel_loaded = true;
	if (machine_is_guest(machine))
		load_guest_kernel(session, machine);
	else
		load_host_kernel(session, machine);
}
