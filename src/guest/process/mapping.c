/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappings of a process: struct vm_area_struct, in a maple tree (since 6.1) or a linked list
 * (before). Which one it is depends on the fields that struct mm_struct has.
 *
 * Names follow show_map_vma() (fs/proc/task_mmu.c): a file's path; the name of a special mapping
 * (vm_special_mapping, mm/mmap.c); [heap] if it touches brk; [stack] if it contains start_stack;
 * [anon:NAME] (CONFIG_ANON_VMA_NAME). The vsyscall page of x86-64 has no vm_area_struct: how it is
 * shown depends on vsyscall_mode (arch/x86/entry/vsyscall/vsyscall_64.c).
 */
#include "guest/process/mapping.h"

#include <elf.h>
#include <string.h>

#include "base/memory.h"
#include "guest/process/maple.h"

#define MAX_MAPPINGS 65536
#define SPECIAL_NAME_BYTES 64
#define ANON_NAME_BYTES 81 /* ANON_VMA_NAME_MAX_LEN, and a terminator */
#define PAGE_SHIFT 12

/* include/linux/mm.h */
#define VM_READ 1
#define VM_WRITE 2
#define VM_EXEC 4
#define VM_MAYSHARE 0x80

#define VSYSCALL_PAGE 0xffffffffff600000ULL
#define MM_CONTEXT_HAS_VSYSCALL 2 /* bit 1 of mm->context.flags (arch/x86/include/asm/mmu.h) */

struct layout {
	struct guest_btf_field start, end, flags, offset, file, operations, private_data, next,
		anon_name;
	struct guest_btf_field first, tree, brk, start_brk, start_stack, context_flags;
	struct guest_btf_field special_name;
};

#define ROW(structure, path, field) { structure, path, offsetof(struct layout, field), false }
#define MAYBE(structure, path, field) { structure, path, offsetof(struct layout, field), true }

static const struct guest_layout_row layout_rows[] = {
	ROW("vm_area_struct", "vm_start", start),
	ROW("vm_area_struct", "vm_end", end),
	ROW("vm_area_struct", "vm_flags", flags),
	ROW("vm_area_struct", "vm_pgoff", offset),
	ROW("vm_area_struct", "vm_file", file),
	ROW("vm_area_struct", "vm_ops", operations),
	ROW("vm_area_struct", "vm_private_data", private_data),
	MAYBE("vm_area_struct", "vm_next", next),
	MAYBE("vm_area_struct", "anon_name", anon_name),
	MAYBE("mm_struct", "mmap", first),
	MAYBE("mm_struct", "mm_mt", tree),
	ROW("mm_struct", "brk", brk),
	ROW("mm_struct", "start_brk", start_brk),
	ROW("mm_struct", "start_stack", start_stack),
	MAYBE("mm_struct", "context.flags", context_flags),
	ROW("vm_special_mapping", "name", special_name),
	{ 0 },
};

struct guest_mapping_reader {
	const struct guest_kernel *kernel;
	struct guest_space *space;
	struct intern *strings;
	struct guest_path_reader *paths;
	struct guest_program_reader *programs; /* NULL: no build-ids */
	struct layout layout;
	struct guest_maple_layout maple;
	struct gva special_operations; /* 0: unknown */
	/* Mappings of the same file are adjacent. */
	struct last_file {
		uint64_t at; /* 0: none */
		uint32_t path;
		struct guest_file file;
	} last_file;
	enum { VSYSCALL_NONE, VSYSCALL_EXECUTE, VSYSCALL_READ_EXECUTE } vsyscall;
};

/*
 * enum { EMULATE, XONLY, NONE } vsyscall_mode; a kernel without this variable has no vsyscall page.
 */
static void read_vsyscall_mode(struct guest_mapping_reader *reader)
{
	struct gva address;
	uint32_t mode;

	if (!guest_kernel_find_symbol(reader->kernel, "vsyscall_mode", &address) ||
	    !guest_space_read_u32(reader->space, address, &mode))
		return;
	reader->vsyscall = mode == 0   ? VSYSCALL_READ_EXECUTE
			   : mode == 1 ? VSYSCALL_EXECUTE
				       : VSYSCALL_NONE;
}

struct error *guest_mapping_reader_create(const struct guest_kernel *kernel,
					  struct intern *strings,
					  struct guest_program_reader *programs,
					  struct guest_mapping_reader **ret)
{
	_cleanup_guest_mapping_reader_ struct guest_mapping_reader *reader =
		memory_calloc(1, sizeof(*reader));
	struct error *error;

	reader->kernel = kernel;
	reader->space = guest_kernel_space(kernel);
	reader->strings = strings;
	reader->programs = programs;
	error = guest_kernel_layout(kernel, layout_rows, &reader->layout);
	if (!error)
		error = guest_maple_layout(kernel, &reader->maple);
	if (!error)
		error = guest_path_reader_create(kernel, &reader->paths);
	if (error)
		return error_prefix(error, "could not read the mappings of guest processes");
	guest_kernel_find_symbol(kernel, "special_mapping_vmops", &reader->special_operations);
	read_vsyscall_mode(reader);
	*ret = take_pointer(reader);
	return NULL;
}

void guest_mapping_reader_destroy(struct guest_mapping_reader *reader)
{
	if (!reader)
		return;
	guest_path_reader_destroy(reader->paths);
	free(reader);
}

static bool field(struct guest_mapping_reader *reader, struct gva base,
		  const struct guest_btf_field *at, uint64_t *ret)
{
	return guest_kernel_read_field(reader->kernel, base, at, ret);
}

/* All vm_area_structs; false if some seem to be missing. */
static bool find_areas(struct guest_mapping_reader *reader, struct gva mm,
		       struct guest_pointers *areas)
{
	uint64_t next;

	if (reader->layout.tree.size)
		return guest_maple_read(reader->kernel, &reader->maple,
					GVA(mm.value + reader->layout.tree.offset), MAX_MAPPINGS,
					areas);
	if (!field(reader, mm, &reader->layout.first, &next))
		return false;
	while (next) {
		if (areas->items.count == MAX_MAPPINGS)
			return false;
		vector_append(&areas->items, GVA(next));
		if (!field(reader, GVA(next), &reader->layout.next, &next))
			return false;
	}
	return true;
}

/* The fields of an mm that determine the names of its mappings. */
struct mm_limits {
	uint64_t brk, start_brk, start_stack;
};

static void set_file(struct guest_mapping_reader *reader, struct guest_mapping *mapping)
{
	const struct last_file *last = &reader->last_file;

	mapping->path = last->path;
	mapping->inode = last->file.inode;
	mapping->device_major = last->file.device_major;
	mapping->device_minor = last->file.device_minor;
}

static void name_file(struct guest_mapping_reader *reader, uint64_t file, uint64_t page_offset,
		      struct guest_mapping *mapping)
{
	struct last_file *last = &reader->last_file;

	mapping->kind = GUEST_MAPPING_FILE;
	mapping->file_offset = page_offset << PAGE_SHIFT;
	if (last->at != file) {
		last->at = 0;
		if (!guest_file_read(reader->paths, GVA(file), &last->file))
			return;
		last->at = file;
		last->path = intern_text(reader->strings, last->file.path);
	}
	set_file(reader, mapping);
}

/* SPECIAL is a struct vm_special_mapping. */
static bool set_special(struct guest_mapping_reader *reader, struct gva special,
			struct guest_mapping *mapping)
{
	char name[SPECIAL_NAME_BYTES];
	uint64_t text;

	if (!field(reader, special, &reader->layout.special_name, &text) ||
	    !guest_space_read_string(reader->space, GVA(text), name, sizeof(name)))
		return false;
	mapping->kind = GUEST_MAPPING_SPECIAL;
	mapping->path = intern_text(reader->strings, name);
	return true;
}

static bool name_special(struct guest_mapping_reader *reader, struct gva area,
			 struct guest_mapping *mapping)
{
	uint64_t operations, special;

	return reader->special_operations.value &&
	       field(reader, area, &reader->layout.operations, &operations) &&
	       operations == reader->special_operations.value &&
	       field(reader, area, &reader->layout.private_data, &special) &&
	       set_special(reader, GVA(special), mapping);
}

/* struct anon_vma_name: a kref, then the text. */
static void name_anonymous(struct guest_mapping_reader *reader, struct gva area,
			   struct guest_mapping *mapping)
{
	char name[ANON_NAME_BYTES];
	_cleanup_free_ char *text = NULL;
	uint64_t at;

	if (!field(reader, area, &reader->layout.anon_name, &at) || !at ||
	    !guest_space_read_string(reader->space, GVA(at + 4), name, sizeof(name)))
		return;
	text = memory_printf(mapping->shared ? "[anon_shmem:%s]" : "[anon:%s]", name);
	mapping->path = intern_text(reader->strings, text);
}

static void name_mapping(struct guest_mapping_reader *reader, struct gva area,
			 const struct mm_limits *limits, struct guest_mapping *mapping)
{
	uint64_t file, offset;

	if (field(reader, area, &reader->layout.file, &file) && file &&
	    field(reader, area, &reader->layout.offset, &offset)) {
		name_file(reader, file, offset, mapping);
	} else if (name_special(reader, area, mapping)) {
		return;
	} else if (mapping->start.value <= limits->brk && mapping->end.value >= limits->start_brk) {
		mapping->kind = GUEST_MAPPING_HEAP;
		mapping->path = intern_text(reader->strings, "[heap]");
	} else if (mapping->start.value <= limits->start_stack &&
		   mapping->end.value >= limits->start_stack) {
		mapping->kind = GUEST_MAPPING_STACK;
		mapping->path = intern_text(reader->strings, "[stack]");
	} else {
		name_anonymous(reader, area, mapping);
	}
}

static bool is_vdso(const struct guest_mapping_reader *reader, const struct guest_mapping *mapping)
{
	return mapping->kind == GUEST_MAPPING_SPECIAL &&
	       strcmp(intern_string(reader->strings, mapping->path), "[vdso]") == 0;
}

/* The program that AREA of MM maps; false: it maps no code from a file or a vDSO. */
static bool find_program(struct guest_mapping_reader *reader, struct gva mm, struct gva area,
			 const struct guest_mapping *mapping, struct guest_program *ret)
{
	struct gva file;

	if (!reader->programs)
		return false;
	if (mapping->kind == GUEST_MAPPING_FILE)
		return field(reader, area, &reader->layout.file, &file.value) &&
		       guest_program_in_file(reader->programs, file, ret);
	return is_vdso(reader, mapping) && guest_program_vdso(reader->programs, mm, ret);
}

static bool read_mapping(struct guest_mapping_reader *reader, struct gva area,
			 const struct mm_limits *limits, struct guest_mapping *ret)
{
	uint64_t start, end, flags;

	if (!field(reader, area, &reader->layout.start, &start) ||
	    !field(reader, area, &reader->layout.end, &end) ||
	    !field(reader, area, &reader->layout.flags, &flags) || end <= start)
		return false;
	*ret = (struct guest_mapping){ .start = GVA(start),
				       .end = GVA(end),
				       .read = flags & VM_READ,
				       .write = flags & VM_WRITE,
				       .execute = flags & VM_EXEC,
				       .shared = flags & VM_MAYSHARE };
	name_mapping(reader, area, limits, ret);
	return true;
}

static void add_vsyscall(struct guest_mapping_reader *reader, struct gva mm,
			 struct guest_mappings *ret)
{
	struct guest_mapping mapping = {
		.start = GVA(VSYSCALL_PAGE),
		.end = GVA(VSYSCALL_PAGE + GUEST_PAGE_BYTES),
		.read = reader->vsyscall == VSYSCALL_READ_EXECUTE,
		.execute = true,
		.kind = GUEST_MAPPING_SPECIAL,
	};
	uint64_t flags;

	if (reader->vsyscall == VSYSCALL_NONE || !reader->layout.context_flags.size ||
	    !field(reader, mm, &reader->layout.context_flags, &flags) ||
	    !(flags & MM_CONTEXT_HAS_VSYSCALL))
		return;
	mapping.path = intern_text(reader->strings, "[vsyscall]");
	vector_append(&ret->items, mapping);
}

void guest_mappings_read(struct guest_mapping_reader *reader, struct gva mm,
			 struct guest_mappings *ret)
{
	struct guest_pointers areas = { 0 };
	struct mm_limits limits = { 0 };

	*ret = (struct guest_mappings){ 0 };
	guest_path_reader_begin(reader->paths);
	reader->last_file = (struct last_file){ 0 };
	ret->cut = !find_areas(reader, mm, &areas) ||
		   !field(reader, mm, &reader->layout.brk, &limits.brk) ||
		   !field(reader, mm, &reader->layout.start_brk, &limits.start_brk) ||
		   !field(reader, mm, &reader->layout.start_stack, &limits.start_stack);
	for (size_t i = 0; i < areas.items.count; i++) {
		struct gva area = areas.items.items[i];
		struct guest_mapping mapping;

		if (!read_mapping(reader, area, &limits, &mapping)) {
			ret->cut = true;
			continue;
		}
		if (mapping.execute && find_program(reader, mm, area, &mapping, &mapping.program))
			mapping.build_id =
				guest_program_build_id(reader->programs, &mapping.program);
		vector_append(&ret->items, mapping);
	}
	vector_deinit(&areas.items);
	add_vsyscall(reader, mm, ret);
}

/* The file of AREA, if it is still the one that was mapped. */
static void name_copied_file(struct guest_mapping_reader *reader, const struct sampler_area *area,
			     struct guest_mapping *mapping)
{
	struct guest_program program = { .kind = GUEST_PROGRAM_FILE,
					 .generation = area->inode_generation,
					 .contents = GVA(area->contents),
					 .inode = area->inode_number };
	struct last_file *last = &reader->last_file;

	mapping->kind = GUEST_MAPPING_FILE;
	mapping->file_offset = area->page << PAGE_SHIFT;
	if (!reader->programs || !guest_program_is_there(reader->programs, &program) ||
	    !guest_file_read_at(reader->paths, GVA(area->dentry), GVA(area->mount),
				GVA(area->inode), &last->file))
		return;
	last->path = intern_text(reader->strings, last->file.path);
	set_file(reader, mapping);
	mapping->program = program;
}

static bool read_copied(struct guest_mapping_reader *reader, const struct sampler_area *area,
			struct gva vdso_image, struct guest_mapping *ret)
{
	if (area->end <= area->start)
		return false;
	*ret = (struct guest_mapping){ .start = GVA(area->start),
				       .end = GVA(area->end),
				       .read = area->flags & VM_READ,
				       .write = area->flags & VM_WRITE,
				       .execute = area->flags & VM_EXEC,
				       .shared = area->flags & VM_MAYSHARE };
	if (area->contents)
		name_copied_file(reader, area, ret);
	else if (vdso_image.value && area->private_data &&
		 set_special(reader, GVA(area->private_data), ret) && is_vdso(reader, ret))
		ret->program = (struct guest_program){ .kind = GUEST_PROGRAM_VDSO,
						       .contents = vdso_image };
	if (ret->program.kind)
		ret->build_id = guest_program_build_id(reader->programs, &ret->program);
	return true;
}

void guest_mappings_read_copied(struct guest_mapping_reader *reader,
				const struct sampler_areas *areas, struct guest_mappings *ret)
{
	struct guest_mapping mapping;

	*ret = (struct guest_mappings){ 0 };
	guest_path_reader_begin(reader->paths);
	for (uint32_t i = 0; i < areas->count && i < SAMPLER_AREAS; i++)
		if (read_copied(reader, &areas->items[i], GVA(areas->vdso_image), &mapping))
			vector_append(&ret->items, mapping);
	reader->last_file = (struct last_file){ 0 };
}

bool guest_mapping_find_program(struct guest_mapping_reader *reader, struct gva mm,
				struct gva start, struct guest_program *ret)
{
	static const struct mm_limits no_limits = { 0 };
	struct guest_pointers areas = { 0 };
	bool found = false;

	find_areas(reader, mm, &areas);
	for (size_t i = 0; i < areas.items.count && !found; i++) {
		struct gva area = areas.items.items[i];
		struct guest_mapping mapping;
		uint64_t its_start;

		found = field(reader, area, &reader->layout.start, &its_start) &&
			its_start == start.value &&
			read_mapping(reader, area, &no_limits, &mapping) &&
			find_program(reader, mm, area, &mapping, ret);
	}
	vector_deinit(&areas.items);
	return found;
}

void guest_mappings_deinit(struct guest_mappings *mappings)
{
	vector_deinit(&mappings->items);
}
