/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads guest pages from the VMM's memory. Slots and registers come from BPF (vm_memory_bpf.c),
 * which supports every VMM, or, if that is not available, from QEMU's monitor (vm_memory_qmp.c),
 * which takes longer and pauses vCPUs.
 */
#include "host/vm/vm_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "host/system/process.h"
#include "host/vm/vm_memory_bpf.h"
#include "host/vm/vm_memory_qmp.h"

struct vm_memory_finder {
	struct vm_memory_bpf *bpf;
	struct error *no_bpf; /* why BPF is NULL */
	struct memory_reader *reader;
};

void host_vm_memory_deinit(struct host_vm_memory *memory)
{
	vector_deinit(&memory->slots);
	vector_deinit(&memory->registers);
	memory_reader_release(memory->reader);
	memory->reader = NULL;
}

/* The address of guest page FROM in the VMM; 0: not in any slot. */
static uint64_t hva_of(const struct host_vm_memory *memory, struct gpa from)
{
	for (size_t i = 0; i < memory->slots.count; i++) {
		const struct host_vm_slot *slot = &memory->slots.items[i];

		if (from.value >= slot->start.value && from.value - slot->start.value < slot->bytes)
			return slot->hva + (from.value - slot->start.value);
	}
	return 0;
}

static bool read_pages(void *context, const struct gpa *from, size_t count, void *pages)
{
	const struct host_vm_memory *memory = context;
	uint64_t addresses[MEMORY_READER_PIECES];

	if (count > MEMORY_READER_PIECES)
		return false;
	for (size_t i = 0; i < count; i++) {
		addresses[i] = hva_of(memory, from[i]);
		if (!addresses[i])
			return false;
	}
	/* The layout comes last: what was read before it changed was the VMM's. */
	return memory_reader_read(memory->reader, memory->pid, addresses, count, GUEST_PAGE_BYTES,
				  pages) &&
	       host_process_layout(memory->pid, NULL) == memory->layout;
}

struct guest_memory_source host_vm_memory_source(struct host_vm_memory *memory)
{
	return (struct guest_memory_source){ read_pages, memory };
}

struct vm_memory_finder *vm_memory_finder_create(void)
{
	struct vm_memory_finder *finder = memory_calloc(1, sizeof(*finder));

	finder->no_bpf = vm_memory_bpf_create(&finder->bpf);
	finder->reader = memory_reader_create(0);
	return finder;
}

void vm_memory_finder_destroy(struct vm_memory_finder *finder)
{
	if (!finder)
		return;
	vm_memory_bpf_destroy(finder->bpf);
	error_destroy(finder->no_bpf);
	memory_reader_release(finder->reader);
	free(finder);
}

const struct error *vm_memory_finder_lacks(const struct vm_memory_finder *finder)
{
	return finder->no_bpf;
}

/* Uses the error code of what would help for every VMM: more rights, or another kernel or build. */
static struct error *out_of_reach(const struct vm_memory_finder *finder, const char *reason)
{
	return error_hint(
		error_create(error_code(finder->no_bpf), "%s; and %s",
			     error_message(finder->no_bpf), reason),
		"run as root, or with CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE; or give QEMU a QMP "
		"socket that nobody else uses: -qmp unix:PATH,server=on,wait=off");
}

static struct error *find_by_monitor(const struct vm_memory_finder *finder,
				     const struct host_vm *vm, struct host_vm_memory *ret)
{
	_cleanup_error_ struct error *error = NULL;

	if (strcmp(vm->vmm, "qemu"))
		return out_of_reach(finder, "only QEMU could be asked instead");
	error = vm_memory_qmp_find(vm->pid, ret);
	if (!error)
		return NULL;
	error = error_prefix(take_pointer(error), "QEMU cannot be asked");
	return out_of_reach(finder, error_message(error));
}

struct error *vm_memory_find(struct vm_memory_finder *finder, const struct host_vm *vm,
			     struct host_vm_memory *ret)
{
	struct error *error;

	if (vm->emulated) /* KVM does not know it */
		error = vm_memory_qmp_find(vm->pid, ret);
	else if (finder->bpf)
		error = vm_memory_bpf_find(finder->bpf, vm, ret);
	else
		error = find_by_monitor(finder, vm, ret);
	if (error)
		return error_prefix(error, "could not find guest memory");
	ret->reader = memory_reader_share(finder->reader);
	return NULL;
}
