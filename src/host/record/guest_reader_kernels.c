/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernels of guests over time. Later looks detect that a guest has rebooted (no vCPU maps its
 * kernel where it was, so its tables end there), that modules were loaded or unloaded, and that
 * memory slots have changed.
 */
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/progress.h"
#include "host/record/guest_reader_state.h"
#include "host/system/process.h"
#include "symbol/table.h"

#define LOOK_NS 1000000000ull
#define LOOK_SHARE 20
/* of the time, for a guest without a kernel, which may boot; doubled each time */
#define FIRST_RETRY_SHARE 2
#define MAX_RETRY_SHARE 256

/* With hundreds of unikernels, only the first one is reported. */
static void note_failure(struct guest_reader *reader, struct guest *guest, const char *name,
			 const struct error *error)
{
	if (guest->said) {
		log_detail("VM '%s': %s", name, error_message(error));
		return;
	}
	guest->said = true;
	if (!reader->failures++)
		log_note("no symbols for the guest kernel of VM '%s': %s%s", name,
			 error_message(error),
			 log_enabled(LOG_DETAIL) ? "" : " (-v reports this for other VMs, too)");
	else
		log_detail("no symbols for the guest kernel of VM '%s': %s", name,
			   error_message(error));
}

/* Reads call targets into TABLE; without them there is no search for stack pointers. */
static void read_calls(struct guest_reader *reader, const struct guest *guest,
		       struct unwind_table *table)
{
	_cleanup_error_ struct error *error = NULL;
	struct unwind_calls *calls;

	if (!reader->options.calls)
		return;
	error = guest_view_calls(guest->view, &calls);
	if (!error)
		unwind_table_set_calls(table, calls);
	else
		log_detail("not searching for stack pointers in the VM of pid %u: %s",
			   guest->pid, error_message(error));
}

/* For call chains: the unwind data of the kernel and its current modules. */
static void read_unwind_table(struct guest_reader *reader, const struct guest *guest)
{
	_cleanup_error_ struct error *error = NULL;
	struct unwind_table *table;

	if (!reader->options.unwind_data)
		return;
	error = guest_view_unwind_table(guest->view, &table);
	if (error) {
		log_note("the VM of pid %u has no kernel call chains: %s", guest->pid,
			 error_message(error));
		return;
	}
	read_calls(reader, guest, table);
	if (guest_reader_charge(reader, guest, unwind_table_bytes(table),
				"its kernel's unwind data"))
		guest_reader_tell_unwind_table(
			reader, &reader->kernel_unwind,
			&(struct unwind_change){ guest->vm, guest->version, table });
	else
		unwind_table_destroy(table);
}

/* From now on, samples no longer get processes from what was known of this guest. */
static void forget(struct guest_reader *reader, struct guest *guest)
{
	static const struct sampler_vm nothing = { 0 };
	static const struct guest_cpus none = { 0 };

	capture_set_guest(reader->capture, guest->vm, &nothing, &none);
	guest_reader_close_view(reader, guest);
}

static void end_table(struct guest_reader *reader, struct guest *guest, uint64_t until_ns)
{
	pthread_mutex_lock(&reader->lock);
	if (guest->kernel != SIZE_MAX)
		reader->kernels.items[guest->kernel].until_ns = until_ns;
	pthread_mutex_unlock(&reader->lock);
	guest->ended = guest->kernel;
	guest->kernel = SIZE_MAX;
}

void guest_reader_extend_ended(struct guest_reader *reader, struct guest *guest)
{
	const uint64_t *seen;

	pthread_mutex_lock(&reader->lock);
	seen = map_find(&reader->seen, guest->vm);
	if (guest->ended != SIZE_MAX && seen &&
	    *seen > reader->kernels.items[guest->ended].until_ns)
		reader->kernels.items[guest->ended].until_ns = *seen;
	pthread_mutex_unlock(&reader->lock);
}

/* Adds the guest's current symbols, valid from FROM_NS on. */
static struct error *add_table(struct guest_reader *reader, struct guest *guest, uint64_t from_ns)
{
	const struct guest_view_kernel *kernel = guest_view_get_kernel(guest->view);
	struct guest_reader_kernel added = { .vm = guest->vm,
					     .pid = guest->pid,
					     .from_ns = from_ns };
	struct error *error;
	size_t count;

	if (guest->table_bytes >= GUEST_READER_SYMBOL_BYTES)
		return error_create(ERROR_BAD_DATA,
				    "its kernel or modules have changed too often: no more symbols "
				    "are kept");
	buffer_init(&added.table, GUEST_READER_TABLE_MAX_BYTES);
	error = guest_view_symbols(guest->view, &added.table);
	if (!error)
		error = guest_reader_check_symbols(&added.table, &count);
	buffer_trim(&added.table);
	if (!error && !guest_reader_charge(reader, guest, added.table.capacity,
					   "its kernel's symbols"))
		error = error_create(ERROR_BAD_DATA, "its symbols exceed its limit of memory");
	if (error) {
		buffer_deinit(&added.table);
		return error;
	}
	log_detail("the kernel of the VM of pid %u has %zu symbols now", guest->pid,
		   count);
	memcpy(added.release, kernel->names.release, sizeof(added.release));
	memcpy(added.host_name, kernel->names.host_name, sizeof(added.host_name));
	memcpy(added.build_id, kernel->build_id, sizeof(added.build_id));
	added.build_id_bytes = kernel->build_id_bytes;
	guest->table_bytes += added.table.size;
	guest->kernel = reader->kernels.count;
	pthread_mutex_lock(&reader->lock);
	vector_append(&reader->kernels, added);
	pthread_mutex_unlock(&reader->lock);
	return NULL;
}

/* From now on samples of this guest include their process, if its kernel allows finding it. */
static void tell_capture(struct guest_reader *reader, struct guest *guest)
{
	_cleanup_error_ struct error *error = NULL;
	struct sampler_vm description;
	struct guest_cpus cpus;

	if (reader->options.kernel_only && !reader->options.unwind_data)
		return;
	error = guest_view_describe(guest->view, guest->version, &description, &cpus);
	if (error) {
		log_detail("the processes of the VM of pid %u are not recorded: %s", guest->pid,
			   error_message(error));
		return;
	}
	if (!capture_set_guest(reader->capture, guest->vm, &description, &cpus) &&
	    !reader->said_too_many) {
		reader->said_too_many = true;
		log_note("too many VMs have come and gone: the processes of new ones are not "
			 "recorded");
	}
	guest_cpus_deinit(&cpus);
}

/* In this order, so that unwind data exist before stacks are copied. */
static void begin_version(struct guest_reader *reader, struct guest *guest)
{
	guest->version++;
	guest->slots = guest_view_slots(guest->view);
	read_unwind_table(reader, guest);
	tell_capture(reader, guest);
}

static void note_contact(const struct guest *guest)
{
	const struct guest_view_kernel *kernel = guest_view_get_kernel(guest->view);

	log_detail("VM of pid %u runs Linux %s, %s; read %llu KiB of its memory", guest->pid,
		   kernel->names.release, kernel->recalled ? "already known" : "new",
		   (unsigned long long)guest_view_bytes_read(guest->view) >> 10);
}

/*
 * A booting guest is retried soon, a unikernel seldom. COST_NS: how long the failed attempt took.
 */
static void plan_retry(struct guest *guest, uint64_t cost_ns)
{
	uint64_t pause;

	guest->retry_share = guest->retry_share ? 2 * guest->retry_share : FIRST_RETRY_SHARE;
	if (guest->retry_share > MAX_RETRY_SHARE)
		guest->retry_share = MAX_RETRY_SHARE;
	pause = cost_ns * guest->retry_share;
	guest->retry_ns = clock_monotonic_ns() + (pause > LOOK_NS ? pause : LOOK_NS);
}

void guest_reader_make_contact(struct guest_reader *reader, struct guest *guest, uint64_t from_ns)
{
	const struct host_vm *vm = guest_reader_look_for_vm(reader, guest->pid);
	uint64_t begin = clock_monotonic_ns();
	_cleanup_error_ struct error *error = NULL;

	if (!vm)
		return;
	guest_reader_extend_ended(reader, guest);
	error = guest_reader_open_view(reader, guest, vm);
	if (!error)
		error = add_table(reader, guest, from_ns);
	if (error) {
		note_failure(reader, guest, vm->name, error);
		guest_reader_close_view(reader, guest);
		if (error_code(error) == ERROR_NOT_FOUND)
			guest_reader_look_at_image(reader, guest, vm);
		plan_retry(guest, clock_monotonic_ns() - begin);
		return;
	}
	guest->good_ns = clock_monotonic_ns();
	guest->retry_share = 0;
	guest->ended = SIZE_MAX; /* from here on tasks are found with the new kernel */
	guest->said = true;
	begin_version(reader, guest);
	note_contact(guest);
}

/*
 * Its memory slots have changed, or its parser is gone. If it turns out to be the same kernel, its
 * table continues; otherwise the table ended when the kernel was last seen.
 */
static void open_again(struct guest_reader *reader, struct guest *guest)
{
	const struct host_vm *vm = guest_reader_look_for_vm(reader, guest->pid);
	struct guest_state before = guest->state;
	uint64_t now = clock_monotonic_ns();
	struct error *error;

	forget(reader, guest);
	if (!vm)
		return;
	error = guest_reader_open_view(reader, guest, vm);
	if (!error && guest->state.kernel == before.kernel) {
		begin_version(reader, guest);
		return;
	}
	error_destroy(error);
	guest_reader_close_view(reader, guest);
	end_table(reader, guest, guest->good_ns);
	guest_reader_make_contact(reader, guest, now);
}

/* Another client may use QEMU's socket for a while: nothing is known of the guest, old or new. */
static bool is_out_of_reach(const struct error *error)
{
	return error_code(error) == ERROR_PERMISSION || error_code(error) == ERROR_UNSUPPORTED;
}

/* Later looks. */
static void check(struct guest_reader *reader, struct guest *guest)
{
	const struct host_vm *vm = guest_reader_look_for_vm(reader, guest->pid);
	struct guest_state before = guest->state;
	uint64_t now = clock_monotonic_ns();
	struct error *error;

	if (!vm)
		return;
	error = guest_reader_look_again(reader, guest, vm);
	if (error && is_out_of_reach(error)) {
		log_detail("VM of pid %u: %s", guest->pid, error_message(error));
		error_destroy(error);
	} else if (error) {
		error_destroy(error);
		open_again(reader, guest);
	} else if (guest->state.kernel != before.kernel) {
		log_detail("VM of pid %u now runs another kernel", guest->pid);
		forget(reader, guest);
		end_table(reader, guest, guest->good_ns);
		guest_reader_make_contact(reader, guest, now);
	} else if (guest->state.modules != before.modules) {
		/*
		 * Symbols in both tables are the same, so the new one can cover the time in
		 * between.
		 */
		end_table(reader, guest, guest->good_ns);
		guest->ended = SIZE_MAX;
		error_destroy(add_table(reader, guest, guest->good_ns));
		read_unwind_table(reader, guest);
		guest->good_ns = now;
	} else {
		guest->good_ns = now;
	}
}

bool guest_reader_need_view(struct guest_reader *reader, struct guest *guest)
{
	const struct host_vm *vm = guest_reader_look_for_vm(reader, guest->pid);
	struct guest_state before = guest->state;
	uint64_t begin = clock_monotonic_ns();
	struct error *error;

	guest->used_ns = begin;
	if (guest->view || guest->kernel == SIZE_MAX || !vm)
		return guest->view;
	error = guest_reader_open_view(reader, guest, vm);
	if (!error) {
		/* Changes since the last look are found as if the view had been open. */
		guest->state = before;
		if (guest->slots != guest_view_slots(guest->view))
			begin_version(reader, guest);
		check(reader, guest);
	} else if (is_out_of_reach(error)) {
		guest_reader_close_view(reader, guest);
	} else {
		open_again(reader, guest);
	}
	error_destroy(error);
	guest_reader_pause_opening(reader, clock_monotonic_ns() - begin);
	return guest->view;
}

static bool is_there(struct guest_reader *reader, struct guest *guest)
{
	if (!guest->gone && !host_process_has_thread(guest->pid, guest->pid)) {
		guest->gone = true;
		forget(reader, guest);
		guest_reader_end(reader, guest);
	}
	return !guest->gone;
}

/* Guests without a kernel may have booted in the meantime. */
void guest_reader_retry_all(struct guest_reader *reader)
{
	for (size_t i = 0; i < reader->guests.count; i++) {
		struct guest *guest = &reader->guests.items[i];
		uint64_t now = clock_monotonic_ns();

		if (guest->view || guest->kernel != SIZE_MAX || now < guest->retry_ns ||
		    !is_there(reader, guest))
			continue;
		guest_reader_make_contact(reader, guest, now);
		guest_reader_spend(guest, now);
	}
}

/*
 * Checks the guest with a closed view that was not looked at for the longest time. One that took
 * long rests first.
 */
static void check_one_without_view(struct guest_reader *reader)
{
	uint64_t begin = clock_monotonic_ns(), pause = reader->look_cost_ns * LOOK_SHARE;
	struct guest *oldest = NULL;

	if (begin - reader->looked_ns < (pause > LOOK_NS ? pause : LOOK_NS))
		return;

	for (size_t i = 0; i < reader->guests.count; i++) {
		struct guest *guest = &reader->guests.items[i];

		if (!guest->view && guest->kernel != SIZE_MAX && is_there(reader, guest) &&
		    begin >= guest->turn.rests_until_ns &&
		    (!oldest || guest->used_ns < oldest->used_ns))
			oldest = guest;
	}
	if (oldest) {
		guest_reader_need_view(reader, oldest);
		guest_reader_spend(oldest, begin);
	}
	reader->looked_ns = clock_monotonic_ns();
	reader->look_cost_ns = reader->looked_ns - begin;
	if (reader->look_cost_ns > LOOK_NS) /* that one rests; the others do not wait for it */
		reader->look_cost_ns = LOOK_NS;
}

/* All looks together take 1/LOOK_SHARE of the time, each guest's an equal part of that. */
static void check_if_due(struct guest_reader *reader, struct guest *guest)
{
	uint64_t begin = clock_monotonic_ns();
	uint64_t pause = guest->look_cost_ns * LOOK_SHARE * reader->views;

	if (begin - guest->looked_ns < (pause > LOOK_NS ? pause : LOOK_NS))
		return;
	check(reader, guest);
	guest_reader_spend(guest, begin);
	guest->looked_ns = clock_monotonic_ns();
	guest->look_cost_ns = guest->looked_ns - begin;
}

void guest_reader_check_all(struct guest_reader *reader)
{
	for (size_t i = 0; i < reader->guests.count; i++) {
		struct guest *guest = &reader->guests.items[i];

		if (guest->view && is_there(reader, guest))
			check_if_due(reader, guest);
	}
	check_one_without_view(reader);
}
