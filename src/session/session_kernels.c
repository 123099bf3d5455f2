/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbols of kernels, loaded on first use. The host's come from symbol/dso.h, or from
 * kcore_dir/kallsyms of a directory recording. A guest's come from the user's options, or else from
 * the recording, where each table applies to a span of time, or else from kcore_dir__PID/kallsyms
 * of a directory recording.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/sort.h"
#include "session/session.h"
#include "session/session_private.h"
#include "symbol/kallsyms.h"

/* In the recording's folder. */
#define HOST_KALLSYMS "kcore_dir/kallsyms"
#define HOST_MODULES "kcore_dir/modules"
#define NOT_USABLE UINT64_MAX
#define MAX_KERNELS 1024 /* of a guest; far more than it has boots and changes of modules */

/* Whether the recording's folder has something called NAME, which may still be unusable. */
static bool has_part(const struct session *session, const char *name)
{
	const char *directory = perfdata_reader_directory(session->reader);
	_cleanup_free_ char *path = directory ? memory_printf("%s/%s", directory, name) : NULL;
	struct stat status;

	return path && !lstat(path, &status);
}

void session_start_kernel(struct session *session)
{
	struct machine *host = session->machines.items[0];
	struct dso_names names = { .path = "[kernel.kallsyms]" };
	struct dso_request request;

	session_identify_kernel(session, &request);
	host->kernel_dso = dsos_add_kernel(&session->dsos, &names);
	session->dsos.items.items[host->kernel_dso]->loaded = true; /* by the loader */
	request.recording = perfdata_reader_directory(session->reader);
	if (has_part(session, HOST_KALLSYMS))
		request.kallsyms = HOST_KALLSYMS;
	if (has_part(session, HOST_MODULES))
		request.modules = HOST_MODULES;
	host->kernel_came_along = request.kallsyms != NULL;
	kernel_loader_start(&session->kernel_loader, &request);
}

/* What came after the first sample may say more of the kernel: then once again. */
static void start_for_good(struct session *session)
{
	struct dso_request request;

	session_identify_kernel(session, &request);
	if (session->kernel_loader.started &&
	    !kernel_loader_fits(&session->kernel_loader, &request))
		kernel_loader_deinit(&session->kernel_loader);
	if (!session->kernel_loader.started)
		session_start_kernel(session);
}

static void load_host_kernel(struct session *session, struct machine *machine)
{
	struct dso_symbols found;
	struct error *error;

	start_for_good(session);
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

/* What is wrong with one guest's files costs that guest its names, and no other. */
static void note_error(struct machine *machine, struct error *error)
{
	if (!machine->kernel_note)
		machine->kernel_note = memory_printf("the symbols of VM '%s' cannot be used: %s",
						     machine->name, error_message(error));
	error_destroy(error);
}

/* True if the user's options have something for MACHINE (even if loading it failed). */
static bool load_from_options(struct session *session, struct machine *machine)
{
	struct error *error = NULL;
	struct symbol_table *table = NULL;
	const char *source = "";
	bool failed;

	if (!session->guest_symbols.guestmount) { /* other options apply to all guests */
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
	failed = error;
	if (error && !strcmp(source, KERNEL_SOURCE_GUESTMOUNT))
		note_error(machine, error);
	else if (error)
		keep_first_error(session, error);
	return machine->kernel_table || failed;
}

static bool load_from_directory(struct session *session, struct machine *machine)
{
	_cleanup_free_ char *kallsyms = memory_printf("kcore_dir__%u/kallsyms", machine->pid);
	_cleanup_free_ char *modules = memory_printf("kcore_dir__%u/modules", machine->pid);
	struct error *error;

	if (!has_part(session, kallsyms))
		return false;
	error = dsos_check_room(&session->dsos, 0);
	if (!error)
		error = kallsyms_load(perfdata_reader_directory(session->reader), kallsyms,
				      has_part(session, modules) ? modules : NULL,
				      &machine->kernel_owned);
	dsos_take_room(&session->dsos, machine->kernel_owned);
	if (error)
		note_error(machine, error);
	machine->kernel_table = machine->kernel_owned;
	return true;
}

static void load_guest_kernel(struct session *session, struct machine *machine)
{
	struct dso_names names = { .path = MACHINE_GUEST_KERNEL };

	machine->kernel_dso = dsos_add_kernel(&session->dsos, &names);
	/* The table comes from elsewhere: the dso must not look for a file with that name. */
	session->dsos.items.items[machine->kernel_dso]->loaded = true;
	if (load_from_options(session, machine) || machine->kernels->list.count ||
	    load_from_directory(session, machine))
		return;
	machine->kernel_note = memory_printf("the recording has no symbols for VM '%s', and no "
					     "option provides any",
					     machine->name);
}

static void load_kernel(struct session *session, struct machine *machine)
{
	if (machine->kernel_loaded)
		return;
	machine->kernel_loaded = true;
	if (machine_is_guest(machine))
		load_guest_kernel(session, machine);
	else
		load_host_kernel(session, machine);
}

void machine_kernels_deinit(struct machine_kernels *kernels)
{
	space_deinit(&kernels->times);
	for (size_t i = 0; i < kernels->list.count; i++)
		symbol_table_destroy(kernels->list.items[i].table);
	vector_deinit(&kernels->list);
}

static void add_kernel(struct session *session, struct machine_kernels *kernels, size_t place)
{
	struct perfdata_symbols symbols = perfdata_reader_symbols(session->reader, place);
	struct space_mapping span = { .start = symbols.from_ns, .end = symbols.until_ns,
				      .dso = kernels->list.count };

	if (!session->timed) /* only the last one is certain to have existed */
		span = (struct space_mapping){ .end = UINT64_MAX, .dso = kernels->list.count };
	vector_append(&kernels->list, (struct machine_kernel){ .symbols = place });
	if (span.start < span.end)
		space_add(&kernels->times, &span);
}

/* The newest tables of MACHINE_PID in the recording. */
static void add_kernels(struct session *session, struct machine_kernels *kernels,
			uint32_t machine_pid)
{
	const struct sort_key *places = session->kernels_by_pid.items;
	size_t first = 0, end = session->kernels_by_pid.count;

	for (size_t high = end; first < high;) {
		size_t middle = first + (high - first) / 2;

		if (places[middle].key < machine_pid)
			first = middle + 1;
		else
			high = middle;
	}
	for (end = first; end < session->kernels_by_pid.count && places[end].key == machine_pid;)
		end++;
	if (end - first > MAX_KERNELS)
		first = end - MAX_KERNELS;
	for (; first < end; first++)
		add_kernel(session, kernels, places[first].index);
}

/* Sorts the kernels' tables by guest, in the order in which they were written. */
static void list_all(struct session *session)
{
	size_t count = perfdata_reader_symbols_count(session->reader);

	session->kernels_listed = true;
	for (size_t i = 0; i < count; i++) {
		struct perfdata_symbols symbols = perfdata_reader_symbols(session->reader, i);
		struct sort_key key = { symbols.machine_pid, i };

		if (symbols.kind == PERFDATA_SYMBOLS_KERNEL)
			vector_append(&session->kernels_by_pid, key);
	}
	sort_keys(session->kernels_by_pid.items, session->kernels_by_pid.count);
}

void session_list_kernels(struct session *session, struct machine *machine)
{
	if (!machine_is_guest(machine))
		return;
	if (!session->kernels_listed) {
		list_all(session);
		add_kernels(session, &session->shared_kernels, 0);
	}
	add_kernels(session, &machine->own_kernels, machine->pid);
	if (!machine->own_kernels.list.count)
		machine->kernels = &session->shared_kernels;
	machine->kernel_number = session->space_numbers;
	session->space_numbers += machine->kernels->list.count;
}

/* Tables that were loaded stay, for locations point to them. */
static void list_again(struct session *session, struct machine_kernels *kernels,
		       uint32_t machine_pid)
{
	struct machine_kernels old = *kernels;

	*kernels = (struct machine_kernels){ 0 };
	space_init(&kernels->times, session->space_numbers++);
	add_kernels(session, kernels, machine_pid);
	/* Both are in the order of the reader's list. */
	for (size_t i = 0, at = 0; i < old.list.count; i++) {
		struct machine_kernel *from = &old.list.items[i];

		while (at < kernels->list.count && kernels->list.items[at].symbols < from->symbols)
			at++;
		if (at < kernels->list.count && kernels->list.items[at].symbols == from->symbols)
			kernels->list.items[at] = *from;
		else if (from->table)
			vector_append(&session->retired, from->table);
		from->table = NULL;
	}
	machine_kernels_deinit(&old);
}

void session_list_kernels_again(struct session *session)
{
	if (!session->kernels_listed)
		return;
	session->kernels_by_pid.count = 0;
	list_all(session);
	list_again(session, &session->shared_kernels, 0);
	for (size_t i = 1; i < session->machines.count; i++) {
		struct machine *machine = session->machines.items[i];

		list_again(session, &machine->own_kernels, machine->pid);
		machine->kernels = machine->own_kernels.list.count ? &machine->own_kernels
								   : &session->shared_kernels;
		machine->kernel_number = session->space_numbers;
		session->space_numbers += machine->kernels->list.count;
	}
}

uint32_t session_kernel_at(struct machine *machine, uint64_t time)
{
	const struct space_mapping *span;

	if (!machine->kernels->list.count)
		return MACHINE_NO_KERNEL;
	/* All were added as of time 0: the last of those that apply is the newest. */
	span = space_find(&machine->kernels->times, time, 0).mapping;
	return span ? span->dso : MACHINE_NO_KERNEL;
}

struct error *session_decode_symbols(struct session *session, size_t index,
				     struct symbol_table **ret)
{
	const void *data;
	size_t size;
	struct error *error = perfdata_reader_load_symbols(session->reader, index, &data, &size);
	bool whole = true;

	if (!error)
		error = dsos_check_room(&session->dsos,
					symbol_table_is_packed(data, size)
						? SYMBOL_TABLE_PACKED_FACTOR * (uint64_t)size
						: size);
	if (!error)
		error = symbol_table_decode(data, size, ret);
	if (!error) {
		dsos_take_room(&session->dsos, *ret);
		whole = symbol_table_is_whole(*ret);
	}
	if (whole)
		perfdata_reader_drop_symbols(session->reader, index);
	return error;
}

/* A recording may have hundreds of guests with the same kernel: they share one table. */
static struct error *decode_or_share(struct session *session, size_t symbols,
				     struct symbol_table **ret)
{
	struct error *error;
	uint64_t *place;
	size_t base;

	if (!perfdata_reader_symbols_common(session->reader, symbols, &base))
		return session_decode_symbols(session, symbols, ret);
	place = map_insert(&session->same_kernel_at, base, NULL);
	if (*place == NOT_USABLE)
		return error_create(ERROR_BAD_DATA, "nor can those of another guest, which are "
						    "the same");
	if (!*place) {
		error = session_decode_symbols(session, base, ret);
		if (error) {
			*place = NOT_USABLE;
			return error;
		}
		vector_append(&session->same_kernels, *ret);
		*place = session->same_kernels.count;
	}
	*ret = symbol_table_share(session->same_kernels.items[*place - 1]);
	return NULL;
}

static void load_recorded(struct session *session, struct machine *machine,
			  struct machine_kernel *kernel)
{
	struct error *error = decode_or_share(session, kernel->symbols, &kernel->table);

	kernel->loaded = true;
	if (error)
		note_error(machine, error);
}

const struct symbol_table *session_kernel_table(struct session *session, struct machine *machine,
						uint32_t kernel)
{
	load_kernel(session, machine);
	if (machine->kernel_table || kernel == MACHINE_NO_KERNEL)
		return machine->kernel_table;
	if (!machine->kernels->list.items[kernel].loaded)
		load_recorded(session, machine, &machine->kernels->list.items[kernel]);
	return machine->kernels->list.items[kernel].table;
}
