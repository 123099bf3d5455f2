/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether guest memory can be found and read, and how; tries one page of each guest. */
#include <errno.h>

#include "base/progress.h"
#include "host/doctor/diagnosis.h"
#include "host/vm/vm_memory.h"

#define LIMIT_NS 10000000000u /* after this, no further VMs are tried */

static struct error *read_page(struct host_vm_memory *memory)
{
	struct guest_memory_source source = host_vm_memory_source(memory);
	uint8_t page[GUEST_PAGE_BYTES];

	/* A VM that was just created has none. */
	if (!memory->slots.count ||
	    source.read_pages(source.context, &memory->slots.items[0].start, 1, page))
		return NULL;
	return error_hint(error_system(errno, "could not read the memory of the guest"),
			  HOST_MEND_RIGHTS);
}

static struct error *try_vm(struct vm_memory_finder *finder, const struct host_vm *vm)
{
	struct host_vm_memory memory;
	struct error *error = vm_memory_find(finder, vm, &memory);

	if (error)
		return error_prefix(error, "VM '%s'", vm->name);
	error = read_page(&memory);
	host_vm_memory_deinit(&memory);
	return error ? error_prefix(error, "VM '%s'", vm->name) : NULL;
}

/* How many of VMS can be read. *RET_FIRST: why the first of the others cannot. */
static size_t try_vms(struct vm_memory_finder *finder, const struct host_vms *vms,
		      struct error **ret_first)
{
	uint64_t start_ns = clock_monotonic_ns();
	size_t readable = 0;

	for (size_t i = 0; i < vms->items.count; i++) {
		struct error *error =
			clock_monotonic_ns() - start_ns < LIMIT_NS
				? try_vm(finder, &vms->items.items[i])
				: error_create(ERROR_SYSTEM, "the others take too long");

		readable += !error;
		if (!*ret_first)
			*ret_first = error;
		else
			error_destroy(error);
	}
	return readable;
}

void host_diagnose_guest_memory(struct host_diagnosis *diagnosis, const struct host_vms *vms)
{
	_cleanup_vm_memory_finder_ struct vm_memory_finder *finder = vm_memory_finder_create();
	bool by_bpf = !vm_memory_finder_lacks(finder);
	size_t count = vms ? vms->items.count : 0, readable;
	_cleanup_error_ struct error *first = NULL;
	const char *hint;

	if (!count && by_bpf)
		host_diagnosis_add(diagnosis, HOST_WORKS, "Guest memory", NULL, "found by BPF");
	else if (!count)
		host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "Guest memory", HOST_MEND_RIGHTS,
				   "without BPF, only QEMU's memory can be found (by QMP)");
	if (!count)
		return;
	readable = try_vms(finder, vms, &first);
	hint = first ? error_hint_text(first) : NULL;
	if (!first)
		host_diagnosis_add(diagnosis, HOST_WORKS, "Guest memory", NULL,
				   "of %zu of %zu VMs, found %s", readable, count,
				   by_bpf ? "by BPF" : "by asking QEMU (QMP), without BPF");
	else
		host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "Guest memory",
				   hint ? hint : "run perfvisor doctor again",
				   "of %zu of %zu VMs: %s", readable, count, error_message(first));
}
