/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looking at guests. A view of a guest keeps a caged parser alive, which holds the kernel's symbols
 * and types: 30 MB and more. If there are more guests than MAX_VIEWS, the views that were unused
 * for the longest time are closed, and opened again when needed. Opening one takes a moment, and is
 * limited to a share of the time.
 */
#include <stdlib.h>
#include <time.h>

#include "base/progress.h"
#include "host/record/guest_reader_state.h"

#define MAX_VIEWS 64
#define REOPEN_SHARE 4
#define MAX_REOPEN_NS 1000000000ull
#define RECHECKS 5
#define RECHECK_NS 20000000

const struct host_vm *guest_reader_look_for_vm(struct guest_reader *reader, uint32_t pid)
{
	_cleanup_error_ struct error *error = NULL;
	const struct host_vm *vm = host_vms_of_process(&reader->vms, pid);

	if (vm)
		return vm;
	host_vms_deinit(&reader->vms);
	error = host_vms_find(&reader->vms);
	if (!error && reader->options.emulated && !host_vms_of_process(&reader->vms, pid))
		error = host_vms_add_emulated(&reader->vms, pid);
	return error ? NULL : host_vms_of_process(&reader->vms, pid);
}

/* Loading takes a moment, so it is only done if there is a guest. */
struct vm_memory_finder *guest_reader_finder(struct guest_reader *reader)
{
	if (!reader->finder)
		reader->finder = vm_memory_finder_create();
	return reader->finder;
}

void guest_reader_close_view(struct guest_reader *reader, struct guest *guest)
{
	if (!guest->view)
		return;
	guest_view_close(guest->view);
	guest->view = NULL;
	reader->views--;
}

/* Lets tests do without 64 guests (CONTRIBUTING.md). */
static size_t max_views(void)
{
	const char *number = secure_getenv("PERFVISOR_TEST_VIEWS");

	return number ? strtoul(number, NULL, 10) : MAX_VIEWS;
}

/* Makes room for one more view. */
static void make_room(struct guest_reader *reader)
{
	struct guest *oldest = NULL;

	if (reader->views < max_views())
		return;
	for (size_t i = 0; i < reader->guests.count; i++) {
		struct guest *guest = &reader->guests.items[i];

		if (guest->view && (!oldest || guest->used_ns < oldest->used_ns))
			oldest = guest;
	}
	if (oldest)
		guest_reader_close_view(reader, oldest);
}

struct error *guest_reader_look_again(struct guest_reader *reader, struct guest *guest,
				      const struct host_vm *vm)
{
	struct timespec pause = { .tv_nsec = RECHECK_NS };
	struct error *error = NULL;

	for (int i = 0; i < RECHECKS && !error; i++) {
		if (i)
			nanosleep(&pause, NULL);
		error = guest_view_check(guest->view, guest_reader_finder(reader), vm,
					 &guest->state);
		if (!error && guest->state.kernel)
			return NULL;
	}
	return error;
}

struct error *guest_reader_open_view(struct guest_reader *reader, struct guest *guest,
				     const struct host_vm *vm)
{
	struct error *error;

	make_room(reader);
	error = guest_view_open(guest_reader_finder(reader), vm, &guest->view);
	if (error)
		return error;
	reader->views++;
	guest->used_ns = guest->looked_ns = clock_monotonic_ns();
	error = guest_reader_look_again(reader, guest, vm);
	if (!error && !guest->state.kernel)
		error = error_create(ERROR_NOT_FOUND, "no vCPU runs the kernel that was found");
	return error;
}

bool guest_reader_may_open(const struct guest_reader *reader, const struct guest *guest)
{
	return guest->view || clock_monotonic_ns() >= reader->opening_ns;
}

void guest_reader_pause_opening(struct guest_reader *reader, uint64_t cost_ns)
{
	if (cost_ns > MAX_REOPEN_NS) /* then that guest rests; the others do not wait for it */
		cost_ns = MAX_REOPEN_NS;
	reader->opening_ns = clock_monotonic_ns() + REOPEN_SHARE * cost_ns;
}
