/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What QEMU's monitor prints for people, read by a program: "info mtree -f", "gpa2hva", "info
 * registers -a", "info cpus" and "info status". Pure: works on text that is given, of any size and
 * content.
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
 * Appends to MEMORY's slots the RAM and ROM of the guest as its vCPUs see it out of SMM, in whole
 * pages, as KVM's slots have it; hva is 0. Left out: MMIO, and the memory of devices that are
 * passed through, which may have side effects when it is read.
 */
struct error *qemu_text_ranges(const char *text, size_t size, struct host_vm_memory *memory)
	MUST_CHECK;

/*
 * The answers to gpa2hva for the first and the last page of each slot of MEMORY, in this order. A
 * slot without an answer is taken out. ERROR_BAD_DATA: a slot is not one piece in the VMM.
 */
struct error *qemu_text_addresses(const char *text, size_t size, struct host_vm_memory *memory)
	MUST_CHECK;

/* Appends to MEMORY the registers of the vCPUs; ERROR_UNSUPPORTED: they are not x86-64's. */
struct error *qemu_text_registers(const char *text, size_t size, struct host_vm_memory *memory)
	MUST_CHECK;

/* Appends to VM its vCPUs, by QEMU's numbers, with their threads, which are to be checked. */
struct error *qemu_text_cpus(const char *text, size_t size, struct host_vm *vm) MUST_CHECK;

/* Whether the guest runs by "info status": nobody has paused it. */
bool qemu_text_runs(const char *text, size_t size);

#endif
