/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses what QEMU's monitor prints for people: "info mtree -f", "gpa2hva", "info registers -a",
 * "info cpus" and "info status". Pure: works on a given text of any size and content.
 */
#ifndef HOST_VM_QEMU_TEXT_H
#define HOST_VM_QEMU_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "host/vm/vm_memory.h"

#define QEMU_TEXT_MAX_RANGES 4096
#define QEMU_TEXT_MAX_VCPUS 4096

/*
 * Appends the guest's RAM and ROM to MEMORY's slots, as seen by vCPUs outside of SMM, in whole
 * pages like KVM's slots; hva is 0. MMIO is left out, as is memory of passed-through devices, where
 * reading may have side effects.
 */
struct error *qemu_text_ranges(const char *text, size_t size, struct host_vm_memory *memory)
	MUST_CHECK;

/*
 * Parses the answers to gpa2hva for the first and the last page of each slot of MEMORY, in this
 * order. Slots without an answer are removed. ERROR_BAD_DATA: a slot is not contiguous in the VMM.
 */
struct error *qemu_text_addresses(const char *text, size_t size, struct host_vm_memory *memory)
	MUST_CHECK;

/* Appends the registers of the vCPUs to MEMORY; ERROR_UNSUPPORTED: they are not x86-64. */
struct error *qemu_text_registers(const char *text, size_t size, struct host_vm_memory *memory)
	MUST_CHECK;

/* Appends the vCPUs to VM, with QEMU's numbers and their threads, which the caller must check. */
struct error *qemu_text_cpus(const char *text, size_t size, struct host_vm *vm) MUST_CHECK;

/* Whether the guest runs according to "info status", that is, nobody has paused it. */
bool qemu_text_runs(const char *text, size_t size);

#endif
