/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The smallest guest that the readers of guests accept: 1 MiB of physical memory with page tables,
 * kallsyms, our own BTF, two processes, a sleeping thread, two modules, unwind data and a few
 * mappings. Tests break it on purpose, and the fuzzer starts from it.
 *
 * The kernel is mapped in the last 2 MiB of its range, so that no reader looks further.
 */
#ifndef TESTS_GUEST_SMALL_GUEST_H
#define TESTS_GUEST_SMALL_GUEST_H

#include <elf.h>
#include <linux/btf.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "guest/memory/space.h"

#define SMALL_GUEST_BYTES 0x100000
#define SMALL_GUEST_PHYSICAL 0x10000		/* of the kernel */
#define SMALL_GUEST_KERNEL 0xffffffffbfe00000ULL /* a page of text */
#define SMALL_GUEST_READ_ONLY (SMALL_GUEST_KERNEL + 0x1000)
#define SMALL_GUEST_DATA (SMALL_GUEST_KERNEL + 0x40000)
#define SMALL_GUEST_END (SMALL_GUEST_KERNEL + 0xf0000)
#define SMALL_GUEST_CR3 0x1000
#define SMALL_GUEST_SYMBOLS 300

/* Positions of its structures. */
enum small_guest_place {
	PLACE_INIT_TASK = 0x100,
	PLACE_TASK = 0x200,
	PLACE_THREAD = 0x300,
	PLACE_SIGNALS = 0x400, /* 3 of 32 bytes */
	PLACE_PID = 0x500,
	PLACE_MM = 0x600,
	PLACE_NODE = 0x800, /* of the maple tree, 256-byte aligned */
	PLACE_AREAS = 0xa00, /* 3 of 128 bytes */
	PLACE_SPECIAL = 0xb80,
	PLACE_FILE = 0xc00,
	PLACE_DENTRIES = 0xc80, /* 2 of 64 bytes: the root, and "lib" */
	PLACE_MOUNT = 0xd00,
	PLACE_INODE = 0xd80,
	PLACE_SUPER_BLOCK = 0xdc0,
	PLACE_MODULE_LIST = 0xe00,
	PLACE_MODULES = 0x1000, /* 2 of 512 bytes */
	PLACE_MODULE_SYMBOLS = 0x1400, /* a mod_kallsyms, a kernel_symbol, a module_use */
	PLACE_SYMTAB = 0x1500,
	PLACE_TYPETAB = 0x1600,
	PLACE_STRTAB = 0x1640,
	PLACE_UTS = 0x1700,
	PLACE_CPU_OFFSETS = 0x1e00, /* SMALL_GUEST_CPUS of 8 bytes */
	PLACE_CPU_COUNT = 0x1e30,
	PLACE_CPU_INFO = 0x1e40, /* of each CPU 16 bytes, one after another */
	PLACE_VSYSCALL_MODE = 0x1f00,
	PLACE_CURRENT_TASK = 0x1f10,
	PLACE_TEXTS = 0x1f20,
	PLACE_PAGE_TABLES = 0x2000, /* the kernel's own: a copy of those at SMALL_GUEST_CR3 */
	PLACE_ORC_IPS = 0x4000, /* SMALL_GUEST_ORC_ROWS of 4 bytes */
	PLACE_ORC_ENTRIES = 0x4100, /* likewise, of 6 bytes */
	PLACE_STACK = 0x5000, /* the thread's: a page */
	PLACE_STACK_SP = 0x5e00, /* the part in use */
};

/* The kernel's functions, 16 bytes each, with one row each. */
#define SMALL_GUEST_ORC_ROWS 64
#define SMALL_GUEST_FUNCTION(n) (SMALL_GUEST_KERNEL + 0x200 + 16 * (n))
#define SMALL_GUEST_RET_FROM_FORK 63 /* its number; all others are called, with a word for locals */

#define SMALL_GUEST_CPUS 4

#define SMALL_GUEST_AT(place) (SMALL_GUEST_DATA + (place))

struct small_guest {
	uint8_t memory[SMALL_GUEST_BYTES];
	uint64_t btf_at, btf_end; /* gva */
};

static inline void small_guest_put(struct small_guest *guest, uint64_t gva, const void *data,
				   size_t size)
{
	memcpy(guest->memory + SMALL_GUEST_PHYSICAL + (gva - SMALL_GUEST_KERNEL), data, size);
}

static inline void small_guest_put64(struct small_guest *guest, uint64_t gva, uint64_t value)
{
	small_guest_put(guest, gva, &value, sizeof(value));
}

static inline void small_guest_put32(struct small_guest *guest, uint64_t gva, uint32_t value)
{
	small_guest_put(guest, gva, &value, sizeof(value));
}

static inline void small_guest_put_text(struct small_guest *guest, uint64_t gva, const char *text)
{
	small_guest_put(guest, gva, text, strlen(text) + 1);
}

/* A list of COUNT links, the first of which is its head. */
static inline void small_guest_link(struct small_guest *guest, const uint64_t *links, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		small_guest_put64(guest, links[i], links[(i + 1) % count]);
		small_guest_put64(guest, links[i] + 8, links[(i + count - 1) % count]);
	}
}

/* ---- page tables ---- */

static inline void small_guest_map(struct small_guest *guest)
{
	static const uint64_t present = 1, writable = 2, no_execute = 1ULL << 63;
	uint64_t *tables = (uint64_t *)(guest->memory + SMALL_GUEST_CR3);
	uint64_t address = SMALL_GUEST_KERNEL;

	for (int level = 3; level >= 1; level--, tables += 512)
		tables[address >> (12 + 9 * level) & 511] =
			((uint8_t *)(tables + 512) - guest->memory) | present | writable;
	for (; address < SMALL_GUEST_END; address += GUEST_PAGE_BYTES) {
		uint64_t entry = (address - SMALL_GUEST_KERNEL + SMALL_GUEST_PHYSICAL) | present;

		if (address >= SMALL_GUEST_DATA)
			entry |= writable;
		if (address >= SMALL_GUEST_READ_ONLY)
			entry |= no_execute;
		tables[address >> 12 & 511] = entry;
	}
	memcpy(guest->memory + SMALL_GUEST_PHYSICAL +
		       (SMALL_GUEST_AT(PLACE_PAGE_TABLES) - SMALL_GUEST_KERNEL),
	       guest->memory + SMALL_GUEST_CR3, GUEST_PAGE_BYTES);
}

/* ---- types ---- */

enum { TYPE_U8 = 1, TYPE_U32, TYPE_U64, TYPE_STRUCT, TYPE_ENUM = 4 };

struct small_guest_member {
	const char *name;
	uint32_t offset;
	int kind;
	uint32_t count; /* 0: no array */
	const char *structure;
};

static const struct small_guest_structure {
	const char *name;
	uint32_t bytes;
	struct small_guest_member members[16];
} small_guest_structures[] = {
	{ "list_head", 16, { { "next", 0, TYPE_U64 }, { "prev", 8, TYPE_U64 } } },
	{ "thread_struct", 8, { { "sp", 0, TYPE_U64 } } },
	{ "thread_union", 4096, { { "stack", 0, TYPE_U64, 512 } } },
	{ "inactive_task_frame", 56, { { "bp", 40, TYPE_U64 }, { "ret_addr", 48, TYPE_U64 } } },
	{ "orc_entry",
	  6,
	  { { "sp_reg", 4, TYPE_U8 }, { "type", 5, TYPE_U8 }, { "signal", 5, TYPE_U8 } } },
	{ "mod_arch_specific",
	  24,
	  { { "num_orcs", 0, TYPE_U32 },
	    { "orc_unwind_ip", 8, TYPE_U64 },
	    { "orc_unwind", 16, TYPE_U64 } } },
	{ "task_struct",
	  128,
	  { { "pid", 0, TYPE_U32 },
	    { "tgid", 4, TYPE_U32 },
	    { "flags", 8, TYPE_U32 },
	    { "__state", 12, TYPE_U32 },
	    { "comm", 16, TYPE_U8, 16 },
	    { "mm", 32, TYPE_U64 },
	    { "stack", 40, TYPE_U64 },
	    { "tasks", 48, TYPE_STRUCT, 0, "list_head" },
	    { "signal", 64, TYPE_U64 },
	    { "thread_pid", 72, TYPE_U64 },
	    { "thread_node", 80, TYPE_STRUCT, 0, "list_head" },
	    { "exit_state", 96, TYPE_U32 },
	    { "on_cpu", 100, TYPE_U32 },
	    { "nvcsw", 104, TYPE_U64 },
	    { "nivcsw", 112, TYPE_U64 },
	    { "thread", 120, TYPE_STRUCT, 0, "thread_struct" } } },
	{ "signal_struct", 16, { { "thread_head", 0, TYPE_STRUCT, 0, "list_head" } } },
	{ "maple_tree", 16, { { "ma_root", 0, TYPE_U64 } } },
	{ "mm_context", 8, { { "flags", 0, TYPE_U64 } } },
	{ "mm_struct",
	  64,
	  { { "pgd", 0, TYPE_U64 },
	    { "mm_mt", 8, TYPE_STRUCT, 0, "maple_tree" },
	    { "brk", 24, TYPE_U64 },
	    { "start_brk", 32, TYPE_U64 },
	    { "start_stack", 40, TYPE_U64 },
	    { "context", 48, TYPE_STRUCT, 0, "mm_context" } } },
	{ "upid", 16, { { "nr", 0, TYPE_U32 }, { "ns", 8, TYPE_U64 } } },
	{ "pid", 24, { { "level", 0, TYPE_U32 }, { "numbers", 8, TYPE_STRUCT, 1, "upid" } } },
	{ "vm_area_struct",
	  64,
	  { { "vm_start", 0, TYPE_U64 },
	    { "vm_end", 8, TYPE_U64 },
	    { "vm_flags", 16, TYPE_U64 },
	    { "vm_pgoff", 24, TYPE_U64 },
	    { "vm_file", 32, TYPE_U64 },
	    { "vm_ops", 40, TYPE_U64 },
	    { "vm_private_data", 48, TYPE_U64 } } },
	{ "vm_special_mapping", 8, { { "name", 0, TYPE_U64 } } },
	{ "maple_range_64",
	  256,
	  { { "pivot", 8, TYPE_U64, 15 }, { "slot", 128, TYPE_U64, 16 } } },
	{ "maple_arange_64",
	  256,
	  { { "pivot", 8, TYPE_U64, 9 }, { "slot", 80, TYPE_U64, 10 } } },
	{ "path", 16, { { "mnt", 0, TYPE_U64 }, { "dentry", 8, TYPE_U64 } } },
	{ "file", 24, { { "f_path", 0, TYPE_STRUCT, 0, "path" }, { "f_inode", 16, TYPE_U64 } } },
	{ "qstr", 8, { { "name", 0, TYPE_U64 } } },
	{ "hlist", 16, { { "next", 0, TYPE_U64 }, { "pprev", 8, TYPE_U64 } } },
	{ "dentry",
	  48,
	  { { "d_name", 0, TYPE_STRUCT, 0, "qstr" },
	    { "d_parent", 8, TYPE_U64 },
	    { "d_hash", 16, TYPE_STRUCT, 0, "hlist" },
	    { "d_op", 32, TYPE_U64 },
	    { "d_inode", 40, TYPE_U64 } } },
	{ "dentry_operations", 8, { { "d_dname", 0, TYPE_U64 } } },
	{ "vfsmount", 8, { { "mnt_root", 0, TYPE_U64 } } },
	{ "mount",
	  24,
	  { { "mnt_parent", 0, TYPE_U64 },
	    { "mnt_mountpoint", 8, TYPE_U64 },
	    { "mnt", 16, TYPE_STRUCT, 0, "vfsmount" } } },
	{ "inode", 16, { { "i_ino", 0, TYPE_U64 }, { "i_sb", 8, TYPE_U64 } } },
	{ "super_block", 8, { { "s_dev", 0, TYPE_U32 } } },
	{ "module_memory", 16, { { "base", 0, TYPE_U64 }, { "size", 8, TYPE_U32 } } },
	{ "module",
	  280,
	  { { "state", 0, TYPE_U32 },
	    { "list", 8, TYPE_STRUCT, 0, "list_head" },
	    { "name", 24, TYPE_U8, 56 },
	    { "kallsyms", 80, TYPE_U64 },
	    { "syms", 88, TYPE_U64 },
	    { "num_syms", 96, TYPE_U32 },
	    { "refcnt", 100, TYPE_U32 },
	    { "init", 104, TYPE_U64 },
	    { "exit", 112, TYPE_U64 },
	    { "taints", 120, TYPE_U64 },
	    { "source_list", 128, TYPE_STRUCT, 0, "list_head" },
	    { "mem", 144, TYPE_STRUCT, 7, "module_memory" },
	    { "arch", 256, TYPE_STRUCT, 0, "mod_arch_specific" } } },
	{ "topo", 8, { { "apicid", 4, TYPE_U32 } } },
	{ "cpuinfo_x86", 16, { { "topo", 8, TYPE_STRUCT, 0, "topo" } } },
	{ "mod_kallsyms",
	  32,
	  { { "symtab", 0, TYPE_U64 },
	    { "num_symtab", 8, TYPE_U32 },
	    { "strtab", 16, TYPE_U64 },
	    { "typetab", 24, TYPE_U64 } } },
	{ "kernel_symbol",
	  8,
	  { { "value_offset", 0, TYPE_U32 }, { "name_offset", 4, TYPE_U32 } } },
	{ "module_use",
	  24,
	  { { "source_list", 0, TYPE_STRUCT, 0, "list_head" }, { "source", 16, TYPE_U64 } } },
};
#define SMALL_GUEST_STRUCTURES (sizeof(small_guest_structures) / sizeof(*small_guest_structures))

struct small_guest_types {
	struct buffer types, strings;
	uint32_t count;
	uint32_t numbers[SMALL_GUEST_STRUCTURES]; /* of the structures written */
};

static inline uint32_t small_guest_add_string(struct small_guest_types *types, const char *text)
{
	uint32_t at = types->strings.size;

	buffer_append(&types->strings, text, strlen(text) + 1);
	return at;
}

static inline uint32_t small_guest_add_type(struct small_guest_types *types, const char *name,
					    uint32_t kind, uint32_t members, uint32_t size)
{
	buffer_append_u32(&types->types, *name ? small_guest_add_string(types, name) : 0);
	buffer_append_u32(&types->types, kind << 24 | members);
	buffer_append_u32(&types->types, size);
	return ++types->count;
}

static inline uint32_t small_guest_member_type(struct small_guest_types *types,
					       const struct small_guest_member *member)
{
	uint32_t element = member->kind;

	for (size_t i = 0; member->structure && i < SMALL_GUEST_STRUCTURES; i++)
		if (!strcmp(small_guest_structures[i].name, member->structure))
			element = types->numbers[i];
	if (!member->count)
		return element;
	small_guest_add_type(types, "", BTF_KIND_ARRAY, 0, 0);
	buffer_append_u32(&types->types, element);
	buffer_append_u32(&types->types, TYPE_U32);
	buffer_append_u32(&types->types, member->count);
	return types->count;
}

static inline void small_guest_add_structure(struct small_guest_types *types, size_t number)
{
	const struct small_guest_structure *structure = &small_guest_structures[number];
	uint32_t member_types[16], count = 0;

	for (; count < 16 && structure->members[count].name; count++)
		member_types[count] = small_guest_member_type(types, &structure->members[count]);
	types->numbers[number] = small_guest_add_type(types, structure->name, BTF_KIND_STRUCT,
						      count, structure->bytes);
	for (uint32_t i = 0; i < count; i++) {
		buffer_append_u32(&types->types,
				  small_guest_add_string(types, structure->members[i].name));
		buffer_append_u32(&types->types, member_types[i]);
		buffer_append_u32(&types->types, 8 * structure->members[i].offset);
	}
}

static inline void small_guest_add_btf(struct buffer *ret)
{
	struct small_guest_types types = { 0 };
	struct btf_header header = { .magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(header) };

	buffer_init(&types.types, 1 << 16);
	buffer_init(&types.strings, 1 << 16);
	buffer_append_u8(&types.strings, 0);
	for (uint32_t bytes = 1; bytes <= 8; bytes *= bytes == 1 ? 4 : 2) {
		small_guest_add_type(&types, bytes == 1 ? "u8" : bytes == 4 ? "u32" : "u64",
				     BTF_KIND_INT, 0, bytes);
		buffer_append_u32(&types.types, 8 * bytes);
	}
	small_guest_add_type(&types, "mod_mem_type", BTF_KIND_ENUM, 1, 4);
	buffer_append_u32(&types.types, small_guest_add_string(&types, "MOD_INIT_TEXT"));
	buffer_append_u32(&types.types, 4);
	for (size_t i = 0; i < SMALL_GUEST_STRUCTURES; i++)
		small_guest_add_structure(&types, i);
	header.type_len = header.str_off = types.types.size;
	header.str_len = types.strings.size;
	buffer_append(ret, &header, sizeof(header));
	buffer_append(ret, types.types.data, types.types.size);
	buffer_append(ret, types.strings.data, types.strings.size);
	buffer_pad(ret, 8);
	buffer_deinit(&types.types);
	buffer_deinit(&types.strings);
}

/* ---- kallsyms, in the format of 6.4; every byte is its own token ---- */

struct small_guest_symbol {
	const char *name;
	uint64_t address;
};

static inline void small_guest_add_name(struct buffer *ret, const char *name)
{
	buffer_append_u8(ret, strlen(name) + 1);
	buffer_append_u8(ret, 'D');
	buffer_append_string(ret, name);
}

static inline void small_guest_add_tokens(struct buffer *ret)
{
	uint16_t index[256], at = 0;

	for (int i = 0; i < 256; i++) {
		index[i] = at;
		if (i > 32 && i < 127) {
			buffer_append_u8(ret, i);
			at++;
		}
		buffer_append_u8(ret, 0);
		at++;
	}
	buffer_pad(ret, 8);
	buffer_append(ret, index, sizeof(index));
}

/* SYMBOLS are in ascending order; unused names come before them. */
static inline void small_guest_add_kallsyms(struct buffer *ret,
					    const struct small_guest_symbol *symbols, size_t count)
{
	size_t fillers = SMALL_GUEST_SYMBOLS - count, start;
	uint32_t markers[2] = { 0 };

	buffer_append_u32(ret, SMALL_GUEST_SYMBOLS);
	buffer_pad(ret, 8);
	start = ret->size;
	for (size_t i = 0; i < SMALL_GUEST_SYMBOLS; i++) {
		char name[16];

		if (i == 256)
			markers[1] = ret->size - start;
		snprintf(name, sizeof(name), "f%zu", i);
		small_guest_add_name(ret, i < fillers ? name : symbols[i - fillers].name);
	}
	buffer_pad(ret, 8);
	buffer_append(ret, markers, sizeof(markers));
	small_guest_add_tokens(ret);
	for (size_t i = 0; i < SMALL_GUEST_SYMBOLS; i++) {
		uint64_t address = i < fillers ? SMALL_GUEST_KERNEL + i
					       : symbols[i - fillers].address;

		/* Above the base: base - 1 - (negative offset). */
		buffer_append_u32(ret, SMALL_GUEST_KERNEL - 1 - address);
	}
	buffer_append_u64(ret, SMALL_GUEST_KERNEL);
}

static inline void small_guest_add_read_only(struct small_guest *guest)
{
	static const char banner[] = "Linux version 6.1.0-small (nobody) #1";
	static const uint32_t notes[] = { 4, 8, NT_GNU_BUILD_ID, 0x554e47, 0x01020304, 0x05060708 };
	struct buffer bytes;

	buffer_init(&bytes, SMALL_GUEST_DATA - SMALL_GUEST_READ_ONLY);
	buffer_append(&bytes, banner, sizeof(banner));
	buffer_pad(&bytes, 64);
	buffer_append(&bytes, notes, sizeof(notes));
	buffer_pad(&bytes, 64);
	guest->btf_at = SMALL_GUEST_READ_ONLY + bytes.size;
	small_guest_add_btf(&bytes);
	guest->btf_end = SMALL_GUEST_READ_ONLY + bytes.size;
	small_guest_add_kallsyms(
		&bytes,
		(const struct small_guest_symbol[]){
			{ "__sched_text_start", SMALL_GUEST_FUNCTION(3) },
			{ "__sched_text_end", SMALL_GUEST_FUNCTION(4) },
			{ "another_name", SMALL_GUEST_FUNCTION(4) },
			{ "ret_from_fork", SMALL_GUEST_FUNCTION(SMALL_GUEST_RET_FROM_FORK) },
			{ "linux_banner", SMALL_GUEST_READ_ONLY },
			{ "__start_notes", SMALL_GUEST_READ_ONLY + 64 },
			{ "__stop_notes", SMALL_GUEST_READ_ONLY + 64 + sizeof(notes) },
			{ "__start_BTF", guest->btf_at },
			{ "__stop_BTF", guest->btf_end },
			{ "init_task", SMALL_GUEST_AT(PLACE_INIT_TASK) },
			{ "special_mapping_vmops", SMALL_GUEST_AT(PLACE_SPECIAL) },
			{ "modules", SMALL_GUEST_AT(PLACE_MODULE_LIST) },
			{ "init_uts_ns", SMALL_GUEST_AT(PLACE_UTS) },
			{ "__per_cpu_offset", SMALL_GUEST_AT(PLACE_CPU_OFFSETS) },
			{ "nr_cpu_ids", SMALL_GUEST_AT(PLACE_CPU_COUNT) },
			{ "cpu_info", SMALL_GUEST_AT(PLACE_CPU_INFO) },
			{ "vsyscall_mode", SMALL_GUEST_AT(PLACE_VSYSCALL_MODE) },
			{ "current_task", SMALL_GUEST_AT(PLACE_CURRENT_TASK) },
			{ "init_top_pgt", SMALL_GUEST_AT(PLACE_PAGE_TABLES) },
			{ "__start_orc_unwind_ip", SMALL_GUEST_AT(PLACE_ORC_IPS) },
			{ "__stop_orc_unwind_ip",
			  SMALL_GUEST_AT(PLACE_ORC_IPS) + 4 * SMALL_GUEST_ORC_ROWS },
			{ "__start_orc_unwind", SMALL_GUEST_AT(PLACE_ORC_ENTRIES) },
			{ "__stop_orc_unwind",
			  SMALL_GUEST_AT(PLACE_ORC_ENTRIES) + 6 * SMALL_GUEST_ORC_ROWS },
		},
		23);
	small_guest_put(guest, SMALL_GUEST_READ_ONLY, bytes.data, bytes.size);
	buffer_deinit(&bytes);
}

/* ---- the kernel's data ---- */

static inline void small_guest_add_task(struct small_guest *guest, uint64_t at, uint32_t pid,
					uint32_t tgid, const char *comm, uint64_t signal)
{
	small_guest_put32(guest, at, pid);
	small_guest_put32(guest, at + 4, tgid);
	small_guest_put_text(guest, at + 16, comm);
	small_guest_put64(guest, at + 64, signal);
	small_guest_put64(guest, at + 72, SMALL_GUEST_AT(PLACE_PID));
}

static inline void small_guest_add_tasks(struct small_guest *guest)
{
	const uint64_t idle = SMALL_GUEST_AT(PLACE_INIT_TASK), task = SMALL_GUEST_AT(PLACE_TASK),
		       thread = SMALL_GUEST_AT(PLACE_THREAD),
		       signals = SMALL_GUEST_AT(PLACE_SIGNALS);

	small_guest_add_task(guest, idle, 0, 0, "swapper/0", signals);
	small_guest_add_task(guest, task, 7, 7, "worker", signals + 32);
	small_guest_add_task(guest, thread, 8, 7, "helper", signals + 32);
	small_guest_link(guest, (const uint64_t[]){ idle + 48, task + 48 }, 2);
	small_guest_link(guest, (const uint64_t[]){ signals, idle + 80 }, 2);
	small_guest_link(guest, (const uint64_t[]){ signals + 32, task + 80, thread + 80 }, 3);
	small_guest_put64(guest, task + 32, SMALL_GUEST_AT(PLACE_MM));
	small_guest_put64(guest, thread + 32, SMALL_GUEST_AT(PLACE_MM));
	small_guest_put32(guest, SMALL_GUEST_AT(PLACE_PID), 1);
	small_guest_put32(guest, SMALL_GUEST_AT(PLACE_PID) + 24, 3);
	small_guest_put64(guest, SMALL_GUEST_AT(PLACE_CURRENT_TASK), task);
}

static inline void small_guest_add_area(struct small_guest *guest, int number, uint64_t start,
					uint64_t flags, uint64_t file)
{
	uint64_t at = SMALL_GUEST_AT(PLACE_AREAS) + 128 * number;

	small_guest_put64(guest, at, start);
	small_guest_put64(guest, at + 8, start + 0x1000);
	small_guest_put64(guest, at + 16, flags);
	small_guest_put64(guest, at + 32, file);
	/* In the leaf, the pivot is the last address of its slot. */
	small_guest_put64(guest, SMALL_GUEST_AT(PLACE_NODE) + 8 + 16 * number, start - 1);
	small_guest_put64(guest, SMALL_GUEST_AT(PLACE_NODE) + 16 + 16 * number, start + 0xfff);
	small_guest_put64(guest, SMALL_GUEST_AT(PLACE_NODE) + 128 + 8 + 16 * number, at);
}

/* /lib at 0x10000, [vdso] at 0x20000, [stack] at 0x30000, and the vsyscall page. */
static inline void small_guest_add_mappings(struct small_guest *guest)
{
	const uint64_t mm = SMALL_GUEST_AT(PLACE_MM), root = SMALL_GUEST_AT(PLACE_DENTRIES),
		       lib = root + 64, mount = SMALL_GUEST_AT(PLACE_MOUNT),
		       file = SMALL_GUEST_AT(PLACE_FILE), texts = SMALL_GUEST_AT(PLACE_TEXTS);

	small_guest_put_text(guest, texts, "/");
	small_guest_put_text(guest, texts + 16, "lib");
	small_guest_put_text(guest, texts + 32, "[vdso]");
	small_guest_put64(guest, mm, SMALL_GUEST_AT(PLACE_PAGE_TABLES));
	small_guest_put64(guest, mm + 8, SMALL_GUEST_AT(PLACE_NODE) | 1 << 3 | 2);
	small_guest_put64(guest, mm + 40, 0x30800);
	small_guest_put64(guest, mm + 48, 2);
	small_guest_add_area(guest, 0, 0x10000, 5, file);
	small_guest_add_area(guest, 1, 0x20000, 5, 0);
	small_guest_add_area(guest, 2, 0x30000, 3, 0);
	small_guest_put64(guest, SMALL_GUEST_AT(PLACE_AREAS) + 128 + 40,
			  SMALL_GUEST_AT(PLACE_SPECIAL));
	small_guest_put64(guest, SMALL_GUEST_AT(PLACE_AREAS) + 128 + 48,
			  SMALL_GUEST_AT(PLACE_SPECIAL) + 16);
	small_guest_put64(guest, SMALL_GUEST_AT(PLACE_SPECIAL) + 16, texts + 32);
	small_guest_put64(guest, file, mount + 16);
	small_guest_put64(guest, file + 8, lib);
	small_guest_put64(guest, file + 16, SMALL_GUEST_AT(PLACE_INODE));
	small_guest_put64(guest, SMALL_GUEST_AT(PLACE_INODE), 77);
	small_guest_put64(guest, SMALL_GUEST_AT(PLACE_INODE) + 8,
			  SMALL_GUEST_AT(PLACE_SUPER_BLOCK));
	small_guest_put64(guest, root, texts);
	small_guest_put64(guest, root + 8, root);
	small_guest_put64(guest, lib, texts + 16);
	small_guest_put64(guest, lib + 8, root);
	small_guest_put64(guest, lib + 24, lib); /* it has a hash chain */
	small_guest_put64(guest, mount, mount);
	small_guest_put64(guest, mount + 16, root);
}

/* "beta" and "alpha", which beta uses; they share their symbols. */
static inline void small_guest_add_modules(struct small_guest *guest)
{
	const uint64_t beta = SMALL_GUEST_AT(PLACE_MODULES), alpha = beta + 512,
		       symbols = SMALL_GUEST_AT(PLACE_MODULE_SYMBOLS),
		       strings = SMALL_GUEST_AT(PLACE_STRTAB);
	Elf64_Sym symbol = { .st_name = 1, .st_value = 0xffffffffc0000010 };

	small_guest_link(guest,
			 (const uint64_t[]){ SMALL_GUEST_AT(PLACE_MODULE_LIST), beta + 8,
					     alpha + 8 },
			 3);
	small_guest_put_text(guest, beta + 24, "beta");
	small_guest_put_text(guest, alpha + 24, "alpha");
	for (uint64_t at = beta; at <= alpha; at += 512) {
		small_guest_put64(guest, at + 80, symbols);
		small_guest_put64(guest, at + 88, symbols + 64);
		small_guest_put32(guest, at + 96, 1);
		small_guest_put32(guest, at + 100, 1);
		small_guest_put64(guest, at + 144, 0xffffffffc0000000 + (at == alpha ? 0x4000 : 0));
		small_guest_put32(guest, at + 152, 0x1000);
	}
	small_guest_link(guest, (const uint64_t[]){ beta + 128 }, 1);
	small_guest_link(guest, (const uint64_t[]){ alpha + 128, symbols + 128 }, 2);
	small_guest_put64(guest, symbols + 128 + 16, beta);
	small_guest_put64(guest, symbols, SMALL_GUEST_AT(PLACE_SYMTAB));
	small_guest_put32(guest, symbols + 8, 2);
	small_guest_put64(guest, symbols + 16, strings);
	small_guest_put64(guest, symbols + 24, SMALL_GUEST_AT(PLACE_TYPETAB));
	small_guest_put32(guest, symbols + 64, symbol.st_value - (symbols + 64));
	small_guest_put32(guest, symbols + 68, strings + 1 - (symbols + 68));
	small_guest_put(guest, SMALL_GUEST_AT(PLACE_SYMTAB) + sizeof(symbol), &symbol,
			sizeof(symbol));
	small_guest_put(guest, SMALL_GUEST_AT(PLACE_TYPETAB), "?t", 2);
	small_guest_put_text(guest, strings + 1, "shared_function");
}

/* In the format of 6.4; a function's SP is 16 bytes below its caller's. */
static inline void small_guest_add_orc(struct small_guest *guest)
{
	for (uint64_t i = 0; i < SMALL_GUEST_ORC_ROWS; i++) {
		uint64_t at = SMALL_GUEST_AT(PLACE_ORC_IPS) + 4 * i;
		uint16_t call[] = { 16, 0, 5 | 2 << 8 }, end[] = { 0, 0, 1 << 8 };

		small_guest_put32(guest, at, SMALL_GUEST_FUNCTION(i) - at);
		small_guest_put(guest, SMALL_GUEST_AT(PLACE_ORC_ENTRIES) + 6 * i,
				i == SMALL_GUEST_RET_FROM_FORK ? end : call, 6);
	}
}

/* The thread sleeps in function 3, called by 2, by 1, by ret_from_fork. */
static inline void small_guest_add_stack(struct small_guest *guest)
{
	static const uint64_t callers[] = { 3, 2, 1, SMALL_GUEST_RET_FROM_FORK };
	const uint64_t thread = SMALL_GUEST_AT(PLACE_THREAD);

	small_guest_put32(guest, thread + 12, 1); /* interruptible */
	small_guest_put64(guest, thread + 40, SMALL_GUEST_AT(PLACE_STACK));
	small_guest_put64(guest, thread + 120, SMALL_GUEST_AT(PLACE_STACK_SP));
	for (uint64_t i = 0; i < 4; i++)
		small_guest_put64(guest, SMALL_GUEST_AT(PLACE_STACK_SP) + 48 + 16 * i,
				  SMALL_GUEST_FUNCTION(callers[i]) + 5);
}

/* APIC ids 0, 2 and 4; the last CPU never ran. */
static inline void small_guest_add_cpus(struct small_guest *guest)
{
	small_guest_put32(guest, SMALL_GUEST_AT(PLACE_CPU_COUNT), SMALL_GUEST_CPUS);
	for (uint32_t i = 0; i < SMALL_GUEST_CPUS; i++)
		small_guest_put64(guest, SMALL_GUEST_AT(PLACE_CPU_OFFSETS) + 8 * i, 16 * i);
	for (uint32_t i = 0; i < SMALL_GUEST_CPUS - 1; i++)
		small_guest_put32(guest, SMALL_GUEST_AT(PLACE_CPU_INFO) + 16 * i + 12, 2 * i);
}

static inline void small_guest_build(struct small_guest *guest)
{
	static const char *const names[] = { "Linux", "small", "6.1.0-small", "#1", "x86_64" };

	*guest = (struct small_guest){ 0 };
	small_guest_map(guest);
	small_guest_add_read_only(guest);
	small_guest_add_tasks(guest);
	small_guest_add_mappings(guest);
	small_guest_add_modules(guest);
	small_guest_add_orc(guest);
	small_guest_add_stack(guest);
	small_guest_add_cpus(guest);
	for (int i = 0; i < 5; i++) /* sysname, nodename, release, version, machine */
		small_guest_put_text(guest, SMALL_GUEST_AT(PLACE_UTS) + 65 * i, names[i]);
	small_guest_put32(guest, SMALL_GUEST_AT(PLACE_VSYSCALL_MODE), 1);
}

#endif
