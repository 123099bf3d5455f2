/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The VM inventory, in memory and as the bytes of its feature section.
 *
 * The format is described in docs/perfvisor-sections.md: a magic, a version, a header, and an entry
 * per VM. The last two start with their size, so that a later writer can append fields that this
 * reader skips. Integers are in the byte order of the file.
 *
 * Limits: those of inventory.h and section.h. The encoder drops anything beyond them, so that it
 * never writes anything that the decoder rejects.
 */
#include "perfdata/inventory.h"

#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/search.h"
#include "perfdata/section.h"

#define INVENTORY_MAGIC "pvvmlist"
#define INVENTORY_MAGIC_BYTES 8
#define INVENTORY_VERSION 1

#define MAX_VMS 65536
#define MAX_VCPUS 4096
#define MAX_SPECIAL_IDS (1 << 22)

enum inventory_flag {
	FLAG_GUEST = 1,
	FLAG_HOST = 2,
	FLAG_HOST_SAMPLED = 4,
	FLAG_GUEST_SAMPLED = 8,
	FLAG_GUEST_PROCESSES = 16,
	FLAG_NO_MEMORY = 32,
	FLAG_KERNEL_ONLY = 64,
	FLAG_GUEST_CHAINS = 128,
};

void perfdata_inventory_init(struct perfdata_inventory *inventory)
{
	*inventory = (struct perfdata_inventory){ .event_choice = memory_strdup("") };
	map_init(&inventory->newest_of_pid);
}

static void vm_deinit(struct perfdata_vm *vm)
{
	free(vm->name);
	free(vm->vmm);
	free(vm->kernel_release);
	free(vm->host_name);
	vector_deinit(&vm->vcpus);
}

void perfdata_inventory_deinit(struct perfdata_inventory *inventory)
{
	for (size_t i = 0; i < inventory->vms.count; i++)
		vm_deinit(&inventory->vms.items[i]);
	vector_deinit(&inventory->vms);
	map_deinit(&inventory->newest_of_pid);
	vector_deinit(&inventory->special_ids);
	free(inventory->event_choice);
	*inventory = (struct perfdata_inventory){ 0 };
}

/* For VM number INDEX, whose pid may be another VM's, too: then the newer one counts. */
static void list_pid(struct perfdata_inventory *inventory, size_t index)
{
	uint64_t *newest = map_insert(&inventory->newest_of_pid,
				      inventory->vms.items[index].pid, NULL);

	if (*newest <= index)
		*newest = index + 1;
}

struct perfdata_vm *perfdata_inventory_add(struct perfdata_inventory *inventory, uint32_t pid,
					   const char *name, const char *vmm)
{
	vector_append(&inventory->vms, (struct perfdata_vm){
					       .pid = pid,
					       .name = memory_strdup(name),
					       .vmm = memory_strdup(vmm),
					       .kernel_release = memory_strdup(""),
					       .host_name = memory_strdup(""),
				       });
	list_pid(inventory, inventory->vms.count - 1);
	return &inventory->vms.items[inventory->vms.count - 1];
}

struct perfdata_vm *perfdata_inventory_find(const struct perfdata_inventory *inventory,
					    uint32_t pid)
{
	const uint64_t *newest = map_find(&inventory->newest_of_pid, pid);
	struct perfdata_vm *vm = newest ? &inventory->vms.items[*newest - 1] : NULL;

	/* News may have made it another process's. */
	return vm && vm->pid == pid ? vm : NULL;
}

/* The index of ID, or where to insert it: the first entry that is not below it. */
static size_t special_place(const struct perfdata_inventory *inventory, uint64_t id)
{
	return SEARCH_COUNT(i, inventory->special_ids.count,
			    inventory->special_ids.items[i].id < id);
}

void perfdata_inventory_add_special(struct perfdata_inventory *inventory, uint64_t id,
				    uint32_t flags)
{
	struct perfdata_special_id special = { .id = id, .flags = flags };
	size_t place = special_place(inventory, id);
	struct perfdata_special_id *at;

	vector_append(&inventory->special_ids, special);
	at = &inventory->special_ids.items[place];
	/* The writer's ids ascend, so there is rarely anything to move. */
	memmove(at + 1, at, (inventory->special_ids.count - 1 - place) * sizeof(*at));
	*at = special;
}

uint32_t perfdata_inventory_special(const struct perfdata_inventory *inventory, uint64_t id)
{
	size_t place = special_place(inventory, id);

	return place < inventory->special_ids.count &&
			       inventory->special_ids.items[place].id == id
		       ? inventory->special_ids.items[place].flags
		       : 0;
}

enum perfdata_chain_end perfdata_special_chain_end(uint32_t flags)
{
	uint32_t end = flags >> PERFDATA_CHAIN_END_SHIFT & ((1 << PERFDATA_CHAIN_END_BITS) - 1);

	return end < PERFDATA_CHAIN_ENDS ? end : PERFDATA_CHAIN_BAD;
}

static size_t limit(size_t count, size_t maximum)
{
	return count < maximum ? count : maximum;
}

static void encode_counts(struct buffer *out, const struct perfdata_vm_counts *counts)
{
	buffer_append_u64(out, counts->guest_kernel);
	buffer_append_u64(out, counts->guest_user);
	buffer_append_u64(out, counts->host_written);
	buffer_append_u64(out, counts->host_dropped);
	buffer_append_u64(out, counts->guest_dropped);
	buffer_append_u64(out, counts->lost);
	buffer_append_u64(out, counts->nested);
	buffer_append_u64(out, counts->at_exit);
}

static void encode_vm(struct buffer *out, const struct perfdata_vm *vm)
{
	size_t part = section_begin_part(out);
	size_t vcpu_count = limit(vm->vcpus.count, MAX_VCPUS);

	buffer_append_u32(out, vm->pid);
	buffer_append_u64(out, vm->memory_bytes);
	buffer_append_u64(out, vm->start_time_ns);
	encode_counts(out, &vm->counts);
	section_put_string(out, vm->name);
	section_put_string(out, vm->vmm);
	section_put_string(out, vm->kernel_release);
	section_put_string(out, vm->host_name);
	buffer_append_u32(out, vcpu_count);
	for (size_t i = 0; i < vcpu_count; i++) {
		buffer_append_u32(out, vm->vcpus.items[i].number);
		buffer_append_u32(out, vm->vcpus.items[i].tid);
	}
	section_end_part(out, part);
}

/* From number FIRST on. */
static void encode_special_ids(struct buffer *out, const struct perfdata_inventory *inventory,
			       size_t first)
{
	size_t count = limit(inventory->special_ids.count, MAX_SPECIAL_IDS);

	buffer_append_u32(out, count - first);
	for (size_t i = first; i < count; i++) {
		buffer_append_u64(out, inventory->special_ids.items[i].id);
		buffer_append_u32(out, inventory->special_ids.items[i].flags);
	}
}

static void encode_head(struct buffer *out, const struct perfdata_inventory *inventory)
{
	size_t part = section_begin_part(out);

	buffer_append_u32(out, (inventory->guest ? FLAG_GUEST : 0) |
				       (inventory->host ? FLAG_HOST : 0) |
				       (inventory->host_sampled ? FLAG_HOST_SAMPLED : 0) |
				       (inventory->guest_sampled ? FLAG_GUEST_SAMPLED : 0) |
				       (inventory->guest_processes ? FLAG_GUEST_PROCESSES : 0) |
				       (inventory->no_memory ? FLAG_NO_MEMORY : 0) |
				       (inventory->kernel_only ? FLAG_KERNEL_ONLY : 0) |
				       (inventory->guest_chains ? FLAG_GUEST_CHAINS : 0));
	encode_counts(out, &inventory->other);
	section_put_string(out, inventory->event_choice);
	section_end_part(out, part);
}

void perfdata_inventory_encode(const struct perfdata_inventory *inventory, struct buffer *out)
{
	size_t vm_count = limit(inventory->vms.count, MAX_VMS);

	buffer_append(out, INVENTORY_MAGIC, INVENTORY_MAGIC_BYTES);
	buffer_append_u32(out, INVENTORY_VERSION);
	encode_head(out, inventory);
	buffer_append_u32(out, vm_count);
	for (size_t i = 0; i < vm_count; i++)
		encode_vm(out, &inventory->vms.items[i]);
	encode_special_ids(out, inventory, 0);
}

/* VM number INDEX, unless it was told as it is. */
static bool encode_news_of_vm(struct buffer *out, const struct perfdata_inventory *inventory,
			      size_t index, struct perfdata_inventory_told *told)
{
	size_t before = out->size;
	uint64_t hash;

	buffer_append_u32(out, index);
	encode_vm(out, &inventory->vms.items[index]);
	if (out->overflow)
		return false;
	hash = hash_bytes(out->data + before, out->size - before);
	if (index == told->vms.count) {
		vector_append(&told->vms, hash);
		return true;
	}
	if (told->vms.items[index] == hash) {
		out->size = before;
		return false;
	}
	told->vms.items[index] = hash;
	return true;
}

void perfdata_inventory_encode_news(const struct perfdata_inventory *inventory,
				    struct perfdata_inventory_told *told, struct buffer *out)
{
	size_t vm_count = limit(inventory->vms.count, MAX_VMS), at;
	uint32_t news = 0;

	encode_head(out, inventory);
	at = out->size;
	buffer_append_u32(out, 0);
	for (size_t i = 0; i < vm_count; i++)
		news += encode_news_of_vm(out, inventory, i, told);
	if (!out->overflow)
		memcpy(out->data + at, &news, sizeof(news));
	encode_special_ids(out, inventory, told->special_ids);
	told->special_ids = limit(inventory->special_ids.count, MAX_SPECIAL_IDS);
}

static void decode_counts(struct cursor *cursor, struct perfdata_vm_counts *ret)
{
	ret->guest_kernel = cursor_u64(cursor);
	ret->guest_user = cursor_u64(cursor);
	ret->host_written = cursor_u64(cursor);
	ret->host_dropped = cursor_u64(cursor);
	ret->guest_dropped = cursor_u64(cursor);
	ret->lost = cursor_u64(cursor);
	ret->nested = cursor_u64(cursor);
	ret->at_exit = cursor_u64(cursor);
}

static bool decode_vm(struct cursor *cursor, struct perfdata_vm *ret)
{
	struct cursor part = section_part(cursor);
	uint32_t vcpu_count;

	ret->pid = cursor_u32(&part);
	ret->memory_bytes = cursor_u64(&part);
	ret->start_time_ns = cursor_u64(&part);
	decode_counts(&part, &ret->counts);
	ret->name = section_string(&part);
	ret->vmm = section_string(&part);
	ret->kernel_release = section_string(&part);
	ret->host_name = section_string(&part);
	vcpu_count = cursor_u32(&part);
	if (vcpu_count > MAX_VCPUS)
		return false;
	for (uint32_t i = 0; i < vcpu_count && !part.failed; i++) {
		struct perfdata_vcpu vcpu = { .number = cursor_u32(&part) };

		vcpu.tid = cursor_u32(&part);
		vector_append(&ret->vcpus, vcpu);
	}
	return !part.failed;
}

static struct error *decode_vms(struct cursor *cursor, struct perfdata_inventory *inventory)
{
	uint32_t vm_count = cursor_u32(cursor);

	if (cursor->failed || vm_count > MAX_VMS)
		return error_create(ERROR_BAD_DATA,
				    "the VM inventory has an invalid number of VMs");
	for (uint32_t i = 0; i < vm_count; i++) {
		struct perfdata_vm vm = { 0 };
		bool good = decode_vm(cursor, &vm);

		vector_append(&inventory->vms, vm);
		list_pid(inventory, inventory->vms.count - 1);
		if (!good)
			return error_create(ERROR_BAD_DATA,
					    "the VM inventory is malformed at VM %u of %u", i + 1,
					    vm_count);
	}
	return NULL;
}

static struct error *decode_special_ids(struct cursor *cursor,
					struct perfdata_inventory *inventory)
{
	size_t before = inventory->special_ids.count;
	uint32_t count = cursor_u32(cursor);
	uint64_t last = before ? inventory->special_ids.items[before - 1].id : 0;

	cursor->failed |= count > MAX_SPECIAL_IDS - before;
	for (uint32_t i = 0; i < count && !cursor->failed; i++) {
		struct perfdata_special_id special = { .id = cursor_u64(cursor) };

		special.flags = cursor_u32(cursor);
		cursor->failed |= special.id <= last;
		last = special.id;
		if (!cursor->failed)
			vector_append(&inventory->special_ids, special);
	}
	if (cursor->failed)
		return error_create(ERROR_BAD_DATA,
				    "the VM inventory's list of special ids is malformed");
	return NULL;
}

static struct error *decode_head(struct cursor *cursor, struct perfdata_inventory *inventory)
{
	struct cursor part = section_part(cursor);
	uint32_t flags = cursor_u32(&part);

	inventory->guest = flags & FLAG_GUEST;
	inventory->host = flags & FLAG_HOST;
	inventory->host_sampled = flags & FLAG_HOST_SAMPLED;
	inventory->guest_sampled = flags & FLAG_GUEST_SAMPLED;
	inventory->guest_processes = flags & FLAG_GUEST_PROCESSES;
	inventory->no_memory = flags & FLAG_NO_MEMORY;
	inventory->kernel_only = flags & FLAG_KERNEL_ONLY;
	inventory->guest_chains = flags & FLAG_GUEST_CHAINS;
	decode_counts(&part, &inventory->other);
	free(inventory->event_choice);
	inventory->event_choice = section_string(&part);
	if (part.failed)
		return error_create(ERROR_BAD_DATA, "the header of the VM inventory is malformed");
	return NULL;
}

/* A VM that is new is the next one. */
static bool decode_news_of_vm(struct cursor *cursor, struct perfdata_inventory *inventory)
{
	uint32_t index = cursor_u32(cursor);
	struct perfdata_vm vm = { 0 };

	if (index > inventory->vms.count || index >= MAX_VMS || !decode_vm(cursor, &vm)) {
		vm_deinit(&vm);
		return false;
	}
	if (index == inventory->vms.count) {
		vector_append(&inventory->vms, vm);
	} else {
		vm_deinit(&inventory->vms.items[index]);
		inventory->vms.items[index] = vm;
	}
	list_pid(inventory, index);
	return true;
}

struct error *perfdata_inventory_decode_news(struct cursor *cursor,
					     struct perfdata_inventory *inventory)
{
	struct error *error = decode_head(cursor, inventory);
	uint32_t count = cursor_u32(cursor);

	for (uint32_t i = 0; i < count && !error; i++)
		if (!decode_news_of_vm(cursor, inventory))
			error = error_create(ERROR_BAD_DATA,
					     "the news of the VM inventory are malformed");
	return error ? error : decode_special_ids(cursor, inventory);
}

static struct error *decode_all(struct cursor *cursor, struct perfdata_inventory *inventory)
{
	const void *magic = cursor_bytes(cursor, INVENTORY_MAGIC_BYTES);
	uint32_t version = cursor_u32(cursor);
	struct error *error;

	if (cursor->failed || memcmp(magic, INVENTORY_MAGIC, INVENTORY_MAGIC_BYTES) != 0)
		return error_create(ERROR_BAD_DATA, "the VM inventory has the wrong magic number");
	if (version != INVENTORY_VERSION)
		return error_create(ERROR_UNSUPPORTED, "the VM inventory has unknown version %u",
				    version);
	error = decode_head(cursor, inventory);
	if (!error)
		error = decode_vms(cursor, inventory);
	return error ? error : decode_special_ids(cursor, inventory);
}

struct error *perfdata_inventory_decode(const void *data, size_t size, bool swap,
					struct perfdata_inventory *ret)
{
	struct cursor cursor = cursor_make(data, size, swap);
	struct perfdata_inventory inventory;
	struct error *error;

	perfdata_inventory_init(&inventory);
	error = decode_all(&cursor, &inventory);
	if (error)
		perfdata_inventory_deinit(&inventory);
	else
		*ret = inventory;
	return error;
}
