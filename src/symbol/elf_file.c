/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens ELF files with libelf. Everything that is looked up by name is looked up once, here, in one
 * pass over the sections.
 *
 * Files are read, not mapped, so that a file that shrinks in the meantime causes an error instead
 * of SIGBUS. libelf checks each section against the file's size before it reads it; counts are
 * checked against the limits in elf_private.h.
 */
#include "symbol/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cursor.h"
#include "base/files/elf_head.h"
#include "base/files/file.h"
#include "base/memory.h"
#include "base/files/untrusted.h"
#include "symbol/elf_private.h"

#define BUILD_ID_PERF_BYTES 20 /* recordings keep at most that many */
#define NOTE_ALIGNMENT 4
#define NOTE_MAX_BYTES ((uint64_t)64 << 10)
#define MAX_NOTES 256

struct build_id build_id_from_notes(const void *notes, size_t size, bool swap)
{
	struct cursor cursor = cursor_make(notes, size, swap);
	struct build_id id = { 0 };

	while (cursor_left(&cursor) && !cursor.failed) {
		uint32_t name_bytes = cursor_u32(&cursor);
		uint32_t data_bytes = cursor_u32(&cursor);
		uint32_t type = cursor_u32(&cursor);
		const char *name = cursor_bytes(&cursor, name_bytes);
		const void *data;

		cursor_skip(&cursor, -name_bytes % NOTE_ALIGNMENT);
		data = cursor_bytes(&cursor, data_bytes);
		if (type == NT_GNU_BUILD_ID && data && name_bytes == 4 && !memcmp(name, "GNU", 4) &&
		    data_bytes <= sizeof(id.data)) {
			memcpy(id.data, data, data_bytes);
			id.bytes = data_bytes;
			return id;
		}
		cursor_skip(&cursor, -data_bytes % NOTE_ALIGNMENT);
	}
	return id;
}

/* Recordings keep at most 20 bytes, and old ones pad shorter build-ids with zeros. */
bool build_id_equal(const struct build_id *build_id, const uint8_t *data, size_t bytes)
{
	size_t common = bytes < build_id->bytes ? bytes : build_id->bytes;

	if (!common || memcmp(build_id->data, data, common))
		return false;
	if (build_id->bytes > bytes)
		return bytes == BUILD_ID_PERF_BYTES;
	for (size_t i = common; i < bytes; i++)
		if (data[i] || bytes != BUILD_ID_PERF_BYTES)
			return false;
	return true;
}

const char *elf_file_name(const struct elf_file *file)
{
	return file->name;
}

const struct build_id *elf_file_build_id(const struct elf_file *file)
{
	return &file->build_id;
}

bool elf_file_has_symtab(const struct elf_file *file)
{
	return file->symtab;
}

bool elf_file_has_code(const struct elf_file *file)
{
	return file->has_code;
}

bool elf_file_has_lines(const struct elf_file *file)
{
	return file->has_lines;
}

int elf_file_dup(const struct elf_file *file)
{
	return file->fd < 0 ? -1 : fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
}

bool elf_file_to_address(const struct elf_file *file, uint64_t offset, uint64_t *ret)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct segment *segment = &file->segments[i];

		if (offset >= segment->offset && offset - segment->offset < segment->bytes) {
			*ret = segment->address + (offset - segment->offset);
			return true;
		}
	}
	return false;
}

bool elf_file_to_offset(const struct elf_file *file, uint64_t address, uint64_t *ret)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct segment *segment = &file->segments[i];

		if (address >= segment->address && address - segment->address < segment->bytes) {
			*ret = segment->offset + (address - segment->address);
			return true;
		}
	}
	return false;
}

uint16_t elf_file_machine(const struct elf_file *file)
{
	return file->header.e_machine;
}

bool elf_file_is_big_endian(const struct elf_file *file)
{
	return file->header.e_ident[EI_DATA] == ELFDATA2MSB;
}

uint64_t elf_file_stamp(const struct elf_file *file)
{
	return file->stamp;
}

const char *elf_file_debug_link(const struct elf_file *file)
{
	return file->debug_link;
}

void elf_file_close(struct elf_file *file)
{
	if (!file)
		return;
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	free(file->name);
	free(file->debug_link);
	free(file->segments);
	free(file->section_flags);
	free(file);
}

static bool starts_with(const uint8_t *head, size_t size, size_t offset, const char *magic,
			size_t magic_bytes)
{
	return size >= offset + magic_bytes && !memcmp(head + offset, magic, magic_bytes);
}

/* Explains why a file that starts with HEAD is not an ELF file. */
static struct error *not_elf(const char *name, const uint8_t *head, size_t size)
{
	bool kernel = starts_with(head, size, 0x202, "HdrS", 4) ||   /* x86 bzImage */
		      starts_with(head, size, 56, "ARM\x64", 4) ||   /* arm64 Image */
		      starts_with(head, size, 4, "zimg", 4) ||	     /* EFI zboot */
		      starts_with(head, size, 0, "\x1f\x8b", 2) ||   /* gzip */
		      starts_with(head, size, 0, "\xfd" "7zXZ", 5) || /* xz */
		      starts_with(head, size, 0, "\x28\xb5\x2f\xfd", 4); /* zstd */

	if (kernel)
		return error_hint(
			error_create(ERROR_UNSUPPORTED,
				     "'%s' is a compressed or bootable image, not an ELF file",
				     name),
			"use the vmlinux from the kernel's debug package, or the guest's "
			"/proc/kallsyms");
	return error_create(ERROR_BAD_DATA, "'%s' is not an ELF file", name);
}

static struct error *read_segments(struct elf_file *file)
{
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(file->elf, &count) < 0 || count > ELF_MAX_SEGMENTS)
		return error_create(ERROR_BAD_DATA, "'%s' has no usable program headers",
				    file->name);
	file->segments = memory_calloc(count + 1, sizeof(*file->segments));
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(file->elf, i, &header) && header.p_type == PT_LOAD)
			file->segments[file->segment_count++] = (struct segment){
				header.p_vaddr, header.p_offset, header.p_filesz };
	return NULL;
}

bool elf_file_is_foreign_order(const struct elf_file *file)
{
	return file->header.e_ident[EI_DATA] !=
	       (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
}

bool elf_file_section_fits(Elf_Scn *section, uint64_t max_bytes)
{
	GElf_Shdr header;

	return section && gelf_getshdr(section, &header) &&
	       (header.sh_type == SHT_NOBITS || header.sh_size <= max_bytes);
}

/* Sections may overlap, and libelf keeps a copy of each one that is read. */
static void read_notes(struct elf_file *file, Elf_Scn *section, uint64_t bytes)
{
	Elf_Data *data;

	if (file->build_id.bytes || bytes > NOTE_MAX_BYTES || file->notes++ >= MAX_NOTES)
		return;
	data = elf_rawdata(section, NULL);
	if (data && data->d_buf)
		file->build_id = build_id_from_notes(data->d_buf, data->d_size,
						     elf_file_is_foreign_order(file));
}

static void read_debug_link(struct elf_file *file, Elf_Scn *section)
{
	Elf_Data *data = elf_file_section_fits(section, NOTE_MAX_BYTES)
				 ? elf_rawdata(section, NULL)
				 : NULL;

	if (!data || !data->d_buf || file->debug_link || !memchr(data->d_buf, 0, data->d_size))
		return;
	if (*(char *)data->d_buf && !strchr(data->d_buf, '/'))
		file->debug_link = memory_strdup(data->d_buf);
}

static void find_names(struct elf_file *file, Elf_Scn *section)
{
	Elf_Data *data = elf_file_section_fits(section, ELF_MAX_SECTION_NAMES_BYTES)
				 ? elf_rawdata(section, NULL)
				 : NULL;

	if (data && data->d_buf) {
		file->section_names = data->d_buf;
		file->section_names_bytes = data->d_size;
	}
}

bool elf_file_section_name(const struct elf_file *file, const GElf_Shdr *header,
			   char to[ELF_SECTION_NAME_BYTES])
{
	size_t bytes;

	if (header->sh_name >= file->section_names_bytes)
		return false;
	bytes = file->section_names_bytes - header->sh_name;
	if (bytes > ELF_SECTION_NAME_BYTES - 1)
		bytes = ELF_SECTION_NAME_BYTES - 1;
	bytes = strnlen(file->section_names + header->sh_name, bytes);
	memcpy(to, file->section_names + header->sh_name, bytes);
	to[bytes] = 0;
	return true;
}

static uint8_t flags_of(const GElf_Shdr *header, const char *name)
{
	uint8_t flags = header->sh_flags & SHF_ALLOC ? SECTION_ALLOC : 0;

	if (strstr(name, "text"))
		flags |= SECTION_TEXT | SECTION_TEXT_DATA;
	if (strstr(name, "data"))
		flags |= SECTION_TEXT_DATA;
	if (strstr(name, "percpu"))
		flags |= SECTION_PERCPU;
	return flags;
}

static void take_section(struct elf_file *file, Elf_Scn *section, const GElf_Shdr *header,
			 const char *name)
{
	bool has_data = header->sh_type != SHT_NOBITS;

	if (has_data && header->sh_flags & SHF_EXECINSTR)
		file->has_code = true;
	if (header->sh_type == SHT_SYMTAB && !file->symtab) {
		file->symtab = section;
	} else if (header->sh_type == SHT_DYNSYM && !file->dynsym) {
		file->dynsym = section;
		file->dynsym_index = elf_ndxscn(section);
	} else if (header->sh_type == SHT_NOTE) {
		read_notes(file, section, header->sh_size);
	} else if (has_data && !strcmp(name, ".gnu_debuglink")) {
		read_debug_link(file, section);
	} else if (has_data && !strcmp(name, ".debug_info")) {
		file->has_lines = true;
	} else if (has_data && !strcmp(name, ".plt")) {
		file->plt = section;
	} else if (has_data && !strcmp(name, ".plt.sec")) {
		file->plt_sec = section;
	} else if (has_data && (!strcmp(name, ".rela.plt") || !strcmp(name, ".rel.plt"))) {
		file->plt_relocations = section;
	}
}

static struct error *read_sections(struct elf_file *file)
{
	size_t count, index;
	Elf_Scn *section = NULL;

	if (elf_getshdrnum(file->elf, &count) < 0 || elf_getshdrstrndx(file->elf, &index) < 0 ||
	    count > ELF_MAX_SECTIONS ||
	    (count && !elf_file_section_fits(elf_getscn(file->elf, index),
					     ELF_MAX_SECTION_NAMES_BYTES)))
		return error_create(ERROR_BAD_DATA, "'%s' has no usable section headers",
				    file->name);
	file->section_flags = memory_calloc(count + 1, 1);
	file->section_count = count;
	find_names(file, elf_getscn(file->elf, index));
	while ((section = elf_nextscn(file->elf, section))) {
		char name[ELF_SECTION_NAME_BYTES];
		GElf_Shdr header;

		index = elf_ndxscn(section);
		if (index >= count || !gelf_getshdr(section, &header) ||
		    !elf_file_section_name(file, &header, name))
			continue;
		file->section_flags[index] = flags_of(&header, name);
		take_section(file, section, &header, name);
	}
	return NULL;
}

/* Takes FILE, whose elf is open. */
static struct error *read_headers(struct elf_file *opened, struct elf_file **ret)
{
	_cleanup_elf_file_ struct elf_file *file = opened;
	struct error *error;

	if (elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &file->header))
		return error_create(ERROR_BAD_DATA, "'%s' is not an ELF file", file->name);
	error = read_segments(file);
	if (!error)
		error = read_sections(file);
	if (!error)
		*ret = take_pointer(file);
	return error;
}

/* Reads FILE, whose descriptor is open and which it takes. */
static struct error *read_file(struct elf_file *opened, struct elf_file **ret)
{
	_cleanup_elf_file_ struct elf_file *file = opened;
	uint8_t head[1024];
	struct stat stat;
	ssize_t bytes;

	if (fstat(file->fd, &stat) < 0)
		return error_system(errno, "could not open '%s'", file->name);
	file->stamp = file_stamp(&stat);
	bytes = pread(file->fd, head, sizeof(head), 0);
	if (bytes < 0)
		return error_system(errno, "could not read '%s'", file->name);
	if (!starts_with(head, bytes, 0, ELFMAG, SELFMAG))
		return not_elf(file->name, head, bytes);
	if (!elf_head_fits(file->fd, ELF_MAX_SECTIONS))
		return error_create(ERROR_BAD_DATA, "'%s' has no usable section headers",
				    file->name);
	elf_version(EV_CURRENT);
	file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
	if (!file->elf)
		return error_create(ERROR_BAD_DATA, "'%s' is damaged: %s", file->name,
				    elf_errmsg(-1));
	return read_headers(take_pointer(file), ret);
}

struct error *elf_file_open(const char *path, struct elf_file **ret)
{
	struct elf_file *file;
	int fd;
	struct error *error = open_untrusted(UNTRUSTED_ANYWHERE, path, UNTRUSTED_NOT_EMPTY, &fd);

	if (error)
		return error;
	file = memory_calloc(1, sizeof(*file));
	file->name = memory_strdup(path);
	file->fd = fd;
	return read_file(file, ret);
}

struct error *elf_file_open_below(const char *root, const char *path, struct elf_file **ret)
{
	struct elf_file *file;
	int fd;
	struct error *error = open_untrusted(root, path, UNTRUSTED_NOT_EMPTY, &fd);

	if (error)
		return error;
	file = memory_calloc(1, sizeof(*file));
	file->name = memory_printf("%s%s%s", strcmp(root, "/") ? root : "", *path == '/' ? "" : "/",
				   path);
	file->fd = fd;
	return read_file(file, ret);
}

struct error *elf_file_open_memory(const void *data, size_t size, const char *name,
				   struct elf_file **ret)
{
	_cleanup_elf_file_ struct elf_file *file = memory_calloc(1, sizeof(*file));

	file->fd = -1;
	file->name = memory_strdup(name);
	elf_version(EV_CURRENT);
	/* libelf only reads: it is not asked to write. */
	file->elf = elf_memory((char *)data, size);
	if (!file->elf)
		return error_create(ERROR_BAD_DATA, "'%s' is not an ELF file", name);
	return read_headers(take_pointer(file), ret);
}
