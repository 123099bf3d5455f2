/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers from a QEMU monitor, all in one text, and a command line. */
#include <assert.h>

#include "fuzz.h"
#include "host/vm/qemu_monitor.h"
#include "host/vm/qemu_text.h"

static void check_slots(const struct host_vm_memory *memory)
{
	uint64_t end = 0;

	for (size_t i = 0; i < memory->slots.count; i++) {
		const struct host_vm_slot *slot = &memory->slots.items[i];

		assert(slot->bytes && slot->bytes % GUEST_PAGE_BYTES == 0);
		assert(slot->start.value >= end && slot->start.value + slot->bytes > end);
		end = slot->start.value + slot->bytes;
		assert(slot->hva + slot->bytes > slot->hva);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct host_vm_memory memory = { 0 };
	struct qemu_monitors monitors;
	struct host_vm vm = { 0 };
	const char *text = (const char *)data;
	struct error *error = qemu_text_ranges(text, size, &memory);

	check_slots(&memory);
	if (!error)
		error = qemu_text_addresses(text, size, &memory);
	if (!error)
		check_slots(&memory);
	if (!error)
		error = qemu_text_registers(text, size, &memory);
	error_destroy(error);
	host_vm_memory_deinit(&memory);
	error_destroy(qemu_text_cpus(text, size, &vm));
	for (size_t i = 0; i < vm.vcpus.count; i++)
		assert(vm.vcpus.items[i].tid && vm.vcpus.items[i].number < QEMU_TEXT_MAX_VCPUS);
	vector_deinit(&vm.vcpus);
	qemu_text_runs(text, size);
	qemu_monitors_find(&(struct vm_command){ text, size }, &monitors);
	qemu_monitors_deinit(&monitors);
	return 0;
}
