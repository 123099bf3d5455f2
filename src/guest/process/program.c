/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs as ELF sources: a file, through the page cache of its struct address_space
 * (file->f_mapping, which is the lower file's on overlayfs, as for page faults); a vDSO, through
 * its struct vdso_image (arch/x86/include/asm/vdso.h), which has all of its contents, whether the
 * process has touched them or not.
 */
#include "guest/process/program.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/vector.h"
#include "guest/process/page_cache.h"
#include "symbol/table.h"

#define MAX_PROGRAMS 8192 /* between two calls of _forget(); a process has a few hundred at most */

struct layout {
	struct guest_btf_field file_mapping, inode_number, inode_generation;
	struct guest_btf_field vdso_image, vdso_data, vdso_size;
};

#define ROW(structure, path, field) { structure, path, offsetof(struct layout, field), false }
#define MAYBE(structure, path, field) { structure, path, offsetof(struct layout, field), true }

static const struct guest_layout_row layout_rows[] = {
	ROW("file", "f_mapping", file_mapping),
	ROW("inode", "i_ino", inode_number),
	ROW("inode", "i_generation", inode_generation),
	MAYBE("mm_struct", "context.vdso_image", vdso_image),
	MAYBE("vdso_image", "data", vdso_data),
	MAYBE("vdso_image", "size", vdso_size),
	{ 0 },
};

struct guest_program_reader {
	const struct guest_kernel *kernel;
	struct guest_page_cache cache;
	struct layout layout;
	struct map numbers; /* address_space or vdso_image -> index of its build-id */
	VECTOR(struct guest_build_id) build_ids;
};

struct error *guest_program_reader_create(const struct guest_kernel *kernel,
					  struct guest_program_reader **ret)
{
	_cleanup_guest_program_reader_ struct guest_program_reader *reader =
		memory_calloc(1, sizeof(*reader));
	struct error *error = guest_kernel_layout(kernel, layout_rows, &reader->layout);

	map_init(&reader->numbers);
	if (!error)
		error = guest_page_cache_init(&reader->cache, kernel);
	if (error)
		return error;
	reader->kernel = kernel;
	*ret = take_pointer(reader);
	return NULL;
}

void guest_program_reader_forget(struct guest_program_reader *reader)
{
	map_deinit(&reader->numbers);
	map_init(&reader->numbers);
	vector_deinit(&reader->build_ids);
}

void guest_program_reader_destroy(struct guest_program_reader *reader)
{
	if (!reader)
		return;
	guest_program_reader_forget(reader);
	map_deinit(&reader->numbers);
	free(reader);
}

/* A program being read; it must not move, since the source points into it. */
struct opened {
	struct guest_elf_source source;
	struct guest_cached_file file; /* for a file */
	struct guest_space *space;     /* for a vDSO, with the next field */
	struct gva data;
};

static bool read_file(void *context, uint64_t offset, void *data, size_t size)
{
	return guest_cached_file_read(context, offset, data, size);
}

static bool read_vdso(void *context, uint64_t offset, void *data, size_t size)
{
	const struct opened *vdso = context;

	return guest_space_read(vdso->space, GVA(vdso->data.value + offset), data, size);
}

static bool field(struct guest_program_reader *reader, uint64_t base,
		  const struct guest_btf_field *at, uint64_t *ret)
{
	return guest_kernel_read_field(reader->kernel, GVA(base), at, ret);
}

/* Which inode CONTENTS, a struct address_space, belongs to at the moment. */
static bool read_identity(struct guest_program_reader *reader, struct gva contents,
			  uint64_t *ret_inode, uint32_t *ret_generation)
{
	uint64_t inode, generation;

	if (!field(reader, contents.value, &reader->cache.layout.host, &inode) ||
	    !field(reader, inode, &reader->layout.inode_number, ret_inode) ||
	    !field(reader, inode, &reader->layout.inode_generation, &generation))
		return false;
	*ret_generation = generation;
	return true;
}

bool guest_program_in_file(struct guest_program_reader *reader, struct gva file,
			   struct guest_program *ret)
{
	struct guest_program program = { .kind = GUEST_PROGRAM_FILE };

	if (!field(reader, file.value, &reader->layout.file_mapping, &program.contents.value) ||
	    !program.contents.value ||
	    !read_identity(reader, program.contents, &program.inode, &program.generation))
		return false;
	*ret = program;
	return true;
}

bool guest_program_vdso(struct guest_program_reader *reader, struct gva mm,
			struct guest_program *ret)
{
	struct guest_program program = { .kind = GUEST_PROGRAM_VDSO };

	if (!field(reader, mm.value, &reader->layout.vdso_image, &program.contents.value) ||
	    !program.contents.value)
		return false;
	*ret = program;
	return true;
}

bool guest_program_is_there(struct guest_program_reader *reader,
			    const struct guest_program *program)
{
	uint32_t generation;
	uint64_t inode;

	return read_identity(reader, program->contents, &inode, &generation) &&
	       inode == program->inode && generation == program->generation;
}

static bool open_file(struct guest_program_reader *reader, const struct guest_program *program,
		      struct opened *ret)
{
	if (!guest_program_is_there(reader, program) ||
	    !guest_cached_file_open(&reader->cache, program->contents, &ret->file))
		return false;
	ret->source = (struct guest_elf_source){ read_file, &ret->file, ret->file.bytes };
	return true;
}

static bool open_program(struct guest_program_reader *reader, const struct guest_program *program,
			 struct opened *ret)
{
	const struct layout *layout = &reader->layout;
	uint64_t contents = program->contents.value;

	*ret = (struct opened){ 0 };
	if (program->kind == GUEST_PROGRAM_FILE)
		return open_file(reader, program, ret);
	if (program->kind != GUEST_PROGRAM_VDSO)
		return false;
	ret->space = guest_kernel_space(reader->kernel);
	ret->source = (struct guest_elf_source){ .read = read_vdso, .context = ret };
	return field(reader, contents, &layout->vdso_data, &ret->data.value) &&
	       field(reader, contents, &layout->vdso_size, &ret->source.bytes);
}

static struct guest_build_id read_build_id(struct guest_program_reader *reader,
					   const struct guest_program *program)
{
	struct guest_build_id ret = { 0 };
	struct opened opened;

	if (open_program(reader, program, &opened))
		ret = guest_elf_build_id(&opened.source);
	guest_cached_file_close(&opened.file);
	return ret;
}

struct guest_build_id guest_program_build_id(struct guest_program_reader *reader,
					     const struct guest_program *program)
{
	uint64_t *number;
	bool added;

	if (reader->build_ids.count == MAX_PROGRAMS)
		return (struct guest_build_id){ 0 };
	number = map_insert(&reader->numbers, program->contents.value, &added);
	if (added) {
		*number = reader->build_ids.count;
		vector_append(&reader->build_ids, read_build_id(reader, program));
	}
	return reader->build_ids.items[*number];
}

/* RET must be closed in either case. */
static struct error *begin_reading(struct guest_program_reader *reader,
				   const struct guest_program *program, struct opened *ret)
{
	if (open_program(reader, program, ret))
		return NULL;
	return error_create(ERROR_NOT_FOUND, "it cannot be read from memory");
}

/* Returns ERROR, or a new error if the file has changed since it was read. */
static struct error *end_reading(const struct guest_program *program, struct opened *opened,
				 struct error *error)
{
	/* A vDSO is part of the kernel's image, which does not move. */
	if (!error && program->kind == GUEST_PROGRAM_FILE &&
	    !guest_cached_file_unchanged(&opened->file))
		error = error_create(ERROR_NOT_FOUND,
				     "it was evicted from memory while being read");
	guest_cached_file_close(&opened->file);
	return error;
}

struct error *guest_program_symbols(struct guest_program_reader *reader,
				    const struct guest_program *program, struct symbol_table **ret)
{
	_cleanup_symbol_table_ struct symbol_table *table = NULL;
	struct opened opened;
	struct error *error = begin_reading(reader, program, &opened);

	if (!error)
		error = guest_elf_symbols(&opened.source, &table);
	error = end_reading(program, &opened, error);
	if (!error)
		*ret = take_pointer(table);
	return error;
}

struct error *guest_program_frames(struct guest_program_reader *reader,
				   const struct guest_program *program,
				   struct guest_elf_frames *ret)
{
	struct guest_elf_frames frames = { 0 };
	struct opened opened;
	struct error *error = begin_reading(reader, program, &opened);

	if (!error)
		error = guest_elf_frames_read(&opened.source, &frames);
	error = end_reading(program, &opened, error);
	if (error)
		guest_elf_frames_deinit(&frames);
	else
		*ret = frames;
	return error;
}

struct error *guest_program_read(struct guest_program_reader *reader,
				 const struct guest_program *program,
				 struct guest_program_part *parts, size_t count)
{
	struct opened opened;
	struct error *error = begin_reading(reader, program, &opened);

	for (size_t i = 0; !error && i < count; i++) {
		struct guest_program_part *part = &parts[i];
		uint64_t all = opened.source.bytes;

		part->there = part->offset <= all && part->bytes <= all - part->offset &&
			      opened.source.read(opened.source.context, part->offset, part->data,
						 part->bytes);
	}
	return end_reading(program, &opened, error);
}
