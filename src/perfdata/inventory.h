/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The VMs of a recording: perfvisor's own feature section, which other readers ignore.
 * docs/perfvisor-sections.md describes its format.
 */
#ifndef PERFDATA_INVENTORY_H
#define PERFDATA_INVENTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vector.h"

struct perfdata_vcpu {
	uint32_t number;
	uint32_t tid; /* host thread, 0 if unknown */
};

/* What became of one VM's samples. Every sample that the kernel took is in exactly one count. */
struct perfdata_vm_counts {
	uint64_t guest_kernel, guest_user; /* written */
	uint64_t host_written;
	uint64_t host_dropped; /* counted, not written (--guest with an event that sees the host) */
	uint64_t guest_dropped; /* likewise with --host */
	uint64_t lost;
	/*
	 * Parts of guest_kernel plus guest_user: taken while a nested guest ran; and taken while
	 * the vCPU was leaving the guest, so that the time does not belong to the sampled
	 * instruction.
	 */
	uint64_t nested, at_exit;
};

struct perfdata_vm {
	uint32_t pid; /* host pid of the VMM */
	char *name;   /* never NULL */
	char *vmm;    /* "qemu", "firecracker", …, or else the program's file name */
	char *kernel_release, *host_name; /* of the guest; "" if unknown, never NULL */
	uint64_t memory_bytes;
	uint64_t start_time_ns; /* wall clock since 1970, 0 if unknown */
	VECTOR(struct perfdata_vcpu) vcpus;
	struct perfdata_vm_counts counts;
};

/* Why a guest's call chain ends. */
enum perfdata_chain_end {
	PERFDATA_CHAIN_COMPLETE,     /* nothing called the last frame; or the sample has no chain */
	PERFDATA_CHAIN_CUT,	     /* the stack continues beyond the copied part */
	PERFDATA_CHAIN_NO_DATA,	     /* no unwind data for the last frame's code */
	PERFDATA_CHAIN_UNREADABLE,   /* part of the stack could not be read */
	PERFDATA_CHAIN_NO_REGISTERS, /* a register needed to continue is unknown */
	PERFDATA_CHAIN_REPLACED,     /* a tracer in the guest has the return address */
	PERFDATA_CHAIN_BAD,	     /* the stack is invalid, or has too many frames */
	PERFDATA_CHAIN_ENDS,
};

/* Special properties of all samples with an id. */
enum perfdata_special {
	PERFDATA_NESTED = 1,  /* a nested guest ran: the address belongs to that one */
	PERFDATA_AT_EXIT = 2, /* see at_exit above */
	PERFDATA_CHAIN_END_SHIFT = 4, /* from this bit, PERFDATA_CHAIN_END_BITS: */
	PERFDATA_CHAIN_END_BITS = 4,  /* enum perfdata_chain_end */
};

struct perfdata_special_id {
	uint64_t id;
	uint32_t flags; /* enum perfdata_special */
};

/* Extracts it from FLAGS; unknown values are PERFDATA_CHAIN_BAD. */
enum perfdata_chain_end perfdata_special_chain_end(uint32_t flags);

/* How a recording was made, for reports. */
struct perfdata_inventory {
	bool guest, host;    /* what was requested: --guest, --host */
	bool host_sampled;   /* false: the event cannot see the host; its count is "not sampled" */
	bool guest_sampled;  /* false: it cannot see guests */
	/*
	 * Guest samples have the guest's own pid and tid (UINT32_MAX: unknown) instead of the vCPU
	 * thread's.
	 */
	bool guest_processes;
	bool no_memory;	     /* --no-memory: guest memory was not read */
	bool kernel_only;    /* --kernel-only: guest processes were not read */
	bool guest_chains;   /* guest samples have call chains, and each has an end */
	char *event_choice;  /* why this event was chosen: one line; "" if the user named it */
	VECTOR(struct perfdata_vm) vms;
	struct map newest_of_pid; /* pid -> 1 + index of its newest VM */
	struct perfdata_vm_counts other; /* for samples that belong to no VM (-a --host …) */
	VECTOR(struct perfdata_special_id) special_ids; /* ascending, each id once */
};

void perfdata_inventory_init(struct perfdata_inventory *inventory);
void perfdata_inventory_deinit(struct perfdata_inventory *inventory);
/* Adds a VM with copies of the strings; the pointer is valid until the next call. */
struct perfdata_vm *perfdata_inventory_add(struct perfdata_inventory *inventory, uint32_t pid,
					   const char *name, const char *vmm);
struct perfdata_vm *perfdata_inventory_find(const struct perfdata_inventory *inventory,
					    uint32_t pid); /* the newest with that pid, or NULL */

/* Adds ID, which must not be in the list yet. */
void perfdata_inventory_add_special(struct perfdata_inventory *inventory, uint64_t id,
				    uint32_t flags);
/* The flags of ID; 0: it is not special. */
uint32_t perfdata_inventory_special(const struct perfdata_inventory *inventory, uint64_t id);

void perfdata_inventory_encode(const struct perfdata_inventory *inventory, struct buffer *out);
/*
 * What of an inventory was told, by perfdata_inventory_encode_news() with the same TOLD; all zero
 * at first. `vms` is to be freed.
 */
struct perfdata_inventory_told {
	VECTOR(uint64_t) vms; /* a hash of each */
	size_t special_ids;
};
/*
 * Appends what is new since the last time: how the recording is made, VMs that are new or have
 * changed, special ids. VMs and special ids are added behind the others, and stay.
 */
void perfdata_inventory_encode_news(const struct perfdata_inventory *inventory,
				    struct perfdata_inventory_told *told, struct buffer *out);
/*
 * Takes the news at CURSOR into INVENTORY, which perfdata_inventory_init() has made. What stands
 * before something malformed is taken.
 */
struct error *perfdata_inventory_decode_news(struct cursor *cursor,
					     struct perfdata_inventory *inventory) MUST_CHECK;
/* Initialises RET. Limits: 65,536 VMs, 4,096 vCPUs each, 4 Mi special ids. */
struct error *perfdata_inventory_decode(const void *data, size_t size, bool swap,
					struct perfdata_inventory *ret) MUST_CHECK;

#endif
