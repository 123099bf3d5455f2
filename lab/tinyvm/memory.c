/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest memory: two slots of anonymous memory that the host populates as it is touched, and
 * the page tables in the guest's low memory (Intel SDM volume 3, 4.5; AMD manual volume 2,
 * 5.3). guestabi.h has the map of both address spaces. Never huge pages on the host's side:
 * hundreds of VMs share a small host.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "tinyvm.h"

#define ENTRY_PRESENT 0x1ull
#define ENTRY_WRITE 0x2ull
#define ENTRY_USER 0x4ull
#define ENTRY_LARGE 0x80ull
#define ENTRY_NO_EXECUTE (1ull << 63)
#define ENTRY_ADDRESS 0x000ffffffffff000ull

#define LARGE_PAGE_BYTES (2 * MEBIBYTE)
#define TABLE_ENTRIES 512

void *memory_at(const struct memory *memory, uint64_t gpa, uint64_t size_bytes)
{
	for (int i = 0; i < SLOT_COUNT; i++) {
		const struct memory_slot *slot = &memory->slots[i];

		if (gpa >= slot->gpa && gpa - slot->gpa <= slot->size_bytes &&
		    size_bytes <= slot->size_bytes - (gpa - slot->gpa))
			return slot->host + (gpa - slot->gpa);
	}
	return NULL;
}

static int table_allocate(struct memory *memory, uint64_t *ret_gpa)
{
	if (memory->next_table_gpa >= TABLES_END_GPA) {
		complain("no room for page tables: the unikernel's segments are too big");
		return -1;
	}
	*ret_gpa = memory->next_table_gpa;
	memory->next_table_gpa += PAGE_BYTES;
	return 0;
}

/* The entry for gva in the table of the given level (1 maps 4 KiB); makes tables above it. */
static int entry_find(struct memory *memory, uint64_t gva, unsigned level, uint64_t **ret)
{
	uint64_t table_gpa = memory->root_gpa;

	for (unsigned at = memory->levels;; at--) {
		uint64_t *table = memory_at(memory, table_gpa, PAGE_BYTES);
		uint64_t *entry = &table[gva >> (12 + 9 * (at - 1)) & (TABLE_ENTRIES - 1)];

		if (at == level) {
			*ret = entry;
			return 0;
		}
		if (!(*entry & ENTRY_PRESENT)) {
			if (table_allocate(memory, &table_gpa))
				return -1;
			*entry = table_gpa | ENTRY_PRESENT | ENTRY_WRITE | ENTRY_USER;
		}
		table_gpa = *entry & ENTRY_ADDRESS;
	}
}

int memory_map(struct memory *memory, uint64_t gva, uint64_t gpa, unsigned page_flags)
{
	uint64_t *entry;

	if (entry_find(memory, gva, 1, &entry))
		return -1;
	if (*entry & ENTRY_PRESENT) {
		complain("two segments share the page at %#llx: align them to pages",
			 (unsigned long long)gva);
		return -1;
	}
	*entry = gpa | ENTRY_PRESENT;
	if (page_flags & PAGE_WRITE)
		*entry |= ENTRY_WRITE;
	if (page_flags & PAGE_USER)
		*entry |= ENTRY_USER;
	if (!(page_flags & PAGE_EXECUTE))
		*entry |= ENTRY_NO_EXECUTE;
	return 0;
}

static int map_identity(struct memory *memory)
{
	uint64_t *entry;

	for (uint64_t gpa = 0; gpa < memory->slots[SLOT_LOW].size_bytes; gpa += LARGE_PAGE_BYTES) {
		if (entry_find(memory, gpa, 2, &entry))
			return -1;
		*entry = gpa | ENTRY_PRESENT | ENTRY_WRITE | ENTRY_LARGE | ENTRY_NO_EXECUTE;
	}
	return 0;
}

uint64_t memory_stack_end_gva(const struct memory *memory, unsigned vcpu_index)
{
	uint64_t base = memory->levels == 5 ? STACK_GVA_LA57 : STACK_GVA;

	return base + (vcpu_index + 1ull) * STACK_STRIDE_BYTES;
}

/* Going down in virtual addresses, up in physical ones: see guestabi.h. */
static int map_stack(struct memory *memory, unsigned vcpu_index)
{
	uint64_t gva = memory_stack_end_gva(memory, vcpu_index);
	uint64_t gpa = STACK_GPA + (uint64_t)vcpu_index * STACK_BYTES;

	for (uint64_t i = 0; i < STACK_BYTES; i += PAGE_BYTES) {
		if (memory_map(memory, gva - PAGE_BYTES - i, gpa + i, PAGE_WRITE))
			return -1;
	}
	return 0;
}

static int slot_init(struct memory_slot *slot, uint64_t gpa, uint64_t size_bytes)
{
	void *host = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (host == MAP_FAILED) {
		complain("cannot map %llu MB of guest memory: %s: try a smaller --mem",
			 (unsigned long long)(size_bytes / MEBIBYTE), strerror(errno));
		return -1;
	}
	/* A kernel without huge pages refuses the advice and has none to fear. */
	madvise(host, size_bytes, MADV_NOHUGEPAGE);
	*slot = (struct memory_slot){ .gpa = gpa, .size_bytes = size_bytes, .host = host };
	return 0;
}

int memory_init(struct memory *memory, uint64_t size_bytes, unsigned vcpu_count, bool la57)
{
	uint64_t stacks_bytes = (uint64_t)vcpu_count * STACK_BYTES;

	stacks_bytes = (stacks_bytes + MEBIBYTE - 1) / MEBIBYTE * MEBIBYTE;
	*memory = (struct memory){ .levels = la57 ? 5 : 4, .next_table_gpa = TABLES_GPA };
	if (slot_init(&memory->slots[SLOT_LOW], 0, size_bytes - stacks_bytes) ||
	    slot_init(&memory->slots[SLOT_STACKS], STACK_GPA, stacks_bytes) ||
	    table_allocate(memory, &memory->root_gpa) || map_identity(memory))
		goto fail;
	for (unsigned i = 0; i < vcpu_count; i++) {
		if (map_stack(memory, i))
			goto fail;
	}
	return 0;
fail:
	memory_deinit(memory);
	return -1;
}

void memory_deinit(struct memory *memory)
{
	for (int i = 0; i < SLOT_COUNT; i++) {
		if (memory->slots[i].host)
			munmap(memory->slots[i].host, memory->slots[i].size_bytes);
		memory->slots[i].host = NULL;
	}
}

int memory_register(const struct memory *memory, int vm_fd)
{
	for (unsigned i = 0; i < SLOT_COUNT; i++) {
		const struct memory_slot *slot = &memory->slots[i];
		struct kvm_userspace_memory_region region = {
			.slot = i,
			.guest_phys_addr = slot->gpa,
			.memory_size = slot->size_bytes,
			.userspace_addr = (uint64_t)(uintptr_t)slot->host,
		};

		if (ioctl(vm_fd, KVM_SET_USER_MEMORY_REGION, &region)) {
			complain("KVM refused memory slot %u: %s", i, strerror(errno));
			return -1;
		}
	}
	return 0;
}
