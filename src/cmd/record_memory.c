/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest kernel symbols from the guest's memory, where the user gave none. A guest whose kernel
 * cannot be found (a unikernel, one that boots just now) is recorded all the same, and said to be
 * without names once.
 *
 * The list of VMs belongs to the thread from _start() until _finish() or _destroy() has joined it;
 * VMs that appear meanwhile wait on a list of their own.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/progress.h"
#include "cmd/record.h"
#include "host/guest_view.h"
#include "symbol/table.h"

#define TABLE_MAX_BYTES ((size_t)64 << 20)

struct vm_table {
	uint32_t pid;
	struct buffer bytes;
};

struct record_memory {
	struct vm_memory_finder *finder; /* NULL: not tried, or not to be had */
	struct host_vms vms;		 /* as of the last look */
	bool tried;
	size_t failures;
	VECTOR(uint32_t) pids; /* to be read; those before `next` were */
	size_t next;
	VECTOR(uint32_t) later;
	VECTOR(struct vm_table) tables;
	pthread_t thread;
	bool running;
	atomic_bool stop;
};

struct record_memory *record_memory_create(void)
{
	return memory_calloc(1, sizeof(struct record_memory));
}

static void join(struct record_memory *memory)
{
	if (!memory->running)
		return;
	atomic_store(&memory->stop, true);
	pthread_join(memory->thread, NULL);
	memory->running = false;
}

void record_memory_destroy(struct record_memory *memory)
{
	if (!memory)
		return;
	join(memory);
	vm_memory_finder_destroy(memory->finder);
	host_vms_deinit(&memory->vms);
	for (size_t i = 0; i < memory->tables.count; i++)
		buffer_deinit(&memory->tables.items[i].bytes);
	vector_deinit(&memory->tables);
	vector_deinit(&memory->pids);
	vector_deinit(&memory->later);
	free(memory);
}

void record_memory_add(struct record_memory *memory, uint32_t pid)
{
	if (memory->running)
		vector_append(&memory->later, pid);
	else
		vector_append(&memory->pids, pid);
}

static const struct host_vm *find_vm(const struct host_vms *vms, uint32_t pid)
{
	for (size_t i = 0; i < vms->items.count; i++)
		if (vms->items.items[i].pid == pid)
			return &vms->items.items[i];
	return NULL;
}

/* The VM may have come after the last look; NULL: it is gone. */
static const struct host_vm *look_for_vm(struct record_memory *memory, uint32_t pid)
{
	_cleanup_error_ struct error *error = NULL;
	const struct host_vm *vm = find_vm(&memory->vms, pid);

	if (vm)
		return vm;
	host_vms_deinit(&memory->vms);
	error = host_vms_find(&memory->vms);
	return error ? NULL : find_vm(&memory->vms, pid);
}

/* Once a recording: without a finder there is no guest memory, and one note says why. */
static bool have_finder(struct record_memory *memory)
{
	_cleanup_error_ struct error *error = NULL;

	if (memory->tried)
		return memory->finder;
	memory->tried = true;
	error = vm_memory_finder_create(&memory->finder);
	if (error)
		log_note("guest kernels stay without names: %s", error_message(error));
	return !error;
}

static struct error *read_table(struct record_memory *memory, const struct host_vm *vm,
				struct buffer *ret)
{
	_cleanup_symbol_table_ struct symbol_table *checked = NULL;
	_cleanup_guest_view_ struct guest_view *view = NULL;
	struct error *error = guest_view_open(memory->finder, vm, &view);

	if (!error)
		error = guest_view_symbols(view, ret);
	/* It goes into a file that others trust: what the caged parser gave must be a table. */
	if (!error)
		error = symbol_table_decode(ret->data, ret->size, &checked);
	if (!error)
		log_detail("VM '%s' runs Linux %s: %zu symbols, %llu KiB of its memory read",
			   vm->name, guest_view_get_kernel(view)->release,
			   symbol_table_count(checked),
			   (unsigned long long)guest_view_bytes_read(view) >> 10);
	return error;
}

/* Of hundreds of unikernels one stands for all. */
static void note_failure(struct record_memory *memory, const struct host_vm *vm,
			 const struct error *error)
{
	if (!memory->failures++)
		log_note("the guest kernel of VM '%s' stays without names: %s%s", vm->name,
			 error_message(error),
			 log_enabled(LOG_DETAIL) ? "" : " (of further VMs -v says it)");
	else
		log_detail("the guest kernel of VM '%s' stays without names: %s", vm->name,
			   error_message(error));
}

static void read_vm(struct record_memory *memory, uint32_t pid)
{
	_cleanup_error_ struct error *error = NULL;
	const struct host_vm *vm = look_for_vm(memory, pid);
	struct vm_table table = { .pid = pid };

	if (!vm)
		return;
	buffer_init(&table.bytes, TABLE_MAX_BYTES);
	error = read_table(memory, vm, &table.bytes);
	if (!error) {
		vector_append(&memory->tables, table);
		return;
	}
	note_failure(memory, vm, error);
	buffer_deinit(&table.bytes);
}

/* Until DEADLINE_NS (0: none), or until the owner wants to go on. */
static void read_list(struct record_memory *memory, uint64_t deadline_ns)
{
	while (memory->next < memory->pids.count && have_finder(memory) &&
	       !atomic_load(&memory->stop) &&
	       (!deadline_ns || clock_monotonic_ns() < deadline_ns))
		read_vm(memory, memory->pids.items[memory->next++]);
}

static void *run_thread(void *context)
{
	read_list(context, 0);
	return NULL;
}

void record_memory_start(struct record_memory *memory)
{
	if (memory->pids.count)
		memory->running =
			!pthread_create(&memory->thread, NULL, run_thread, memory);
}

void record_memory_finish(struct record_memory *memory, double seconds,
			  void (*store)(void *context, uint32_t pid, const struct buffer *table),
			  void *context)
{
	join(memory);
	atomic_store(&memory->stop, false);
	for (size_t i = 0; i < memory->later.count; i++)
		vector_append(&memory->pids, memory->later.items[i]);
	vector_deinit(&memory->later);
	read_list(memory, clock_monotonic_ns() + (uint64_t)(seconds * 1e9));
	for (size_t i = 0; i < memory->tables.count; i++)
		store(context, memory->tables.items[i].pid, &memory->tables.items[i].bytes);
}
