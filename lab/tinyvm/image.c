/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the unikernel: a static ELF64 executable for x86-64 (System V ABI, chapters 4 and 5;
 * elf(5)). PT_LOAD segments go to p_paddr in the low slot and are mapped at p_vaddr; the
 * symbol vcpu_areas tells where the vCPUs' areas are. Every field of the file is checked
 * against the file's size, the guest's memory and the addresses that guestabi.h leaves to
 * the image. Limits: MAX_FILE_BYTES, MAX_SEGMENTS; segments share no page.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tinyvm.h"

#define MAX_FILE_BYTES (64 * MEBIBYTE)
#define MAX_SEGMENTS 64
#define AREAS_SYMBOL "vcpu_areas"

#define USER_END_GVA (1ull << 47)
#define KERNEL_START_GVA 0xffffffff80000000ull

struct file {
	const char *path;
	uint8_t *bytes;
	uint64_t size_bytes;
};

static int refuse(const struct file *file, const char *reason)
{
	complain("%s: %s", file->path, reason);
	return -1;
}

static int file_fill(int fd, struct file *file)
{
	uint64_t done = 0;

	while (done < file->size_bytes) {
		ssize_t got = read(fd, file->bytes + done, file->size_bytes - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return refuse(file, got ? strerror(errno) : "shrank while it was read");
		done += (uint64_t)got;
	}
	return 0;
}

/* file->bytes is the caller's to free, also after a failure. */
static int file_read(struct file *file)
{
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	int result = -1;

	if (fd < 0 || fstat(fd, &status)) {
		complain("cannot open %s: %s", file->path, strerror(errno));
	} else if (!S_ISREG(status.st_mode)) {
		refuse(file, "not a regular file");
	} else if ((uint64_t)status.st_size > MAX_FILE_BYTES) {
		refuse(file, "larger than 64 MB: not a unikernel for tinyvm");
	} else {
		file->size_bytes = (uint64_t)status.st_size;
		file->bytes = malloc(file->size_bytes + 1);
		result = file->bytes ? file_fill(fd, file) : refuse(file, "out of memory");
	}
	if (fd >= 0)
		close(fd);
	return result;
}

/* Copies size bytes at the offset out of the file; false if they are not all inside. */
static bool file_get(const struct file *file, uint64_t offset, void *ret, uint64_t size_bytes)
{
	if (offset > file->size_bytes || size_bytes > file->size_bytes - offset)
		return false;
	memcpy(ret, file->bytes + offset, size_bytes);
	return true;
}

static int header_check(const struct file *file, Elf64_Ehdr *ret)
{
	Elf64_Ehdr header;

	if (file->size_bytes < SELFMAG || memcmp(file->bytes, ELFMAG, SELFMAG) != 0)
		return refuse(file, "not an ELF file: expected a unikernel built for tinyvm");
	if (!file_get(file, 0, &header, sizeof(header)))
		return refuse(file, "truncated ELF header");
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    header.e_machine != EM_X86_64)
		return refuse(file, "not an ELF for x86-64");
	if (header.e_type != ET_EXEC)
		return refuse(file, "not a static executable (ET_EXEC): link with -static -no-pie");
	if (header.e_phentsize != sizeof(Elf64_Phdr))
		return refuse(file, "program headers of an unknown size");
	if (header.e_phnum == 0 || header.e_phnum > MAX_SEGMENTS)
		return refuse(file, "no program headers, or more than 64");
	*ret = header;
	return 0;
}

/* Header i < e_phnum; the offset cannot wrap in file_get's check, only here. */
static bool segment_get(const struct file *file, const Elf64_Ehdr *header, unsigned i,
			Elf64_Phdr *ret)
{
	uint64_t offset;

	return !__builtin_add_overflow(header->e_phoff, i * sizeof(*ret), &offset) &&
	       file_get(file, offset, ret, sizeof(*ret));
}

static int segment_refuse(const struct file *file, unsigned i, const char *reason)
{
	complain("%s: segment %u %s", file->path, i, reason);
	return -1;
}

static bool gva_allowed(uint64_t gva, uint64_t size_bytes)
{
	if (gva >= KERNEL_START_GVA) /* the last page stays out, so that ends do not wrap */
		return size_bytes <= UINT64_MAX - PAGE_BYTES + 1 - gva;
	return gva >= IDENTITY_END_GVA && gva <= USER_END_GVA && size_bytes <= USER_END_GVA - gva;
}

static int segment_check(const struct file *file, const struct memory *memory, unsigned i,
			 const Elf64_Phdr *segment)
{
	uint64_t low_bytes = memory->slots[SLOT_LOW].size_bytes;

	if (segment->p_filesz > segment->p_memsz)
		return segment_refuse(file, i, "is larger in the file than in memory");
	if (segment->p_offset > file->size_bytes ||
	    segment->p_filesz > file->size_bytes - segment->p_offset)
		return segment_refuse(file, i, "is not all in the file: is it truncated?");
	if (segment->p_vaddr % PAGE_BYTES || segment->p_paddr % PAGE_BYTES)
		return segment_refuse(file, i, "does not start on a page");
	if (segment->p_paddr < IMAGE_GPA)
		return segment_refuse(file, i, "lies below the first MB of physical memory");
	if (segment->p_paddr > low_bytes || segment->p_memsz > low_bytes - segment->p_paddr) {
		complain("%s: segment %u needs %#llx bytes at %#llx, the guest has %#llx: "
			 "try a larger --mem",
			 file->path, i, (unsigned long long)segment->p_memsz,
			 (unsigned long long)segment->p_paddr, (unsigned long long)low_bytes);
		return -1;
	}
	if (!gva_allowed(segment->p_vaddr, segment->p_memsz))
		return segment_refuse(file, i,
				      "has virtual addresses that tinyvm does not map: "
				      "1 GB to 2^47, or the last 2 GB");
	return 0;
}

static int segment_load(const struct file *file, struct memory *memory, const Elf64_Phdr *segment)
{
	unsigned flags = (segment->p_flags & PF_W ? PAGE_WRITE : 0) |
			 (segment->p_flags & PF_X ? PAGE_EXECUTE : 0) |
			 (segment->p_vaddr < USER_END_GVA ? PAGE_USER : 0);

	for (uint64_t at = 0; at < segment->p_memsz; at += PAGE_BYTES) {
		if (memory_map(memory, segment->p_vaddr + at, segment->p_paddr + at, flags))
			return -1;
	}
	/* The rest of p_memsz is zero: nothing wrote there before. */
	if (segment->p_filesz)
		memcpy(memory_at(memory, segment->p_paddr, segment->p_filesz),
		       file->bytes + segment->p_offset, segment->p_filesz);
	return 0;
}

/* Loads all PT_LOAD segments, and finds the one that holds the entry. */
static int segments_load(const struct file *file, const Elf64_Ehdr *header, struct memory *memory)
{
	bool entry_found = false;

	for (unsigned i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;

		if (!segment_get(file, header, i, &segment))
			return refuse(file, "truncated program headers");
		if (segment.p_type != PT_LOAD || segment.p_memsz == 0)
			continue;
		if (segment_check(file, memory, i, &segment) ||
		    segment_load(file, memory, &segment))
			return -1;
		if (segment.p_flags & PF_X && header->e_entry >= segment.p_vaddr &&
		    header->e_entry - segment.p_vaddr < segment.p_filesz)
			entry_found = true;
	}
	if (!entry_found)
		return refuse(file, "the entry is in no executable segment");
	return 0;
}

/* The physical address of the object if it lies in one writable segment. */
static bool gva_to_gpa(const struct file *file, const Elf64_Ehdr *header, uint64_t gva,
		       uint64_t size_bytes, uint64_t *ret_gpa)
{
	for (unsigned i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;

		if (!segment_get(file, header, i, &segment) || segment.p_type != PT_LOAD ||
		    !(segment.p_flags & PF_W) || gva < segment.p_vaddr)
			continue;
		if (gva - segment.p_vaddr <= segment.p_memsz &&
		    size_bytes <= segment.p_memsz - (gva - segment.p_vaddr)) {
			*ret_gpa = segment.p_paddr + (gva - segment.p_vaddr);
			return true;
		}
	}
	return false;
}

static bool symbol_is_named(const struct file *file, const Elf64_Shdr *strings,
			    const Elf64_Sym *symbol, const char *name)
{
	char text[sizeof(AREAS_SYMBOL)];
	uint64_t offset;

	return symbol->st_name < strings->sh_size &&
	       sizeof(text) <= strings->sh_size - symbol->st_name &&
	       !__builtin_add_overflow(strings->sh_offset, symbol->st_name, &offset) &&
	       file_get(file, offset, text, sizeof(text)) && memcmp(text, name, sizeof(text)) == 0;
}

static bool section_get(const struct file *file, const Elf64_Ehdr *header, unsigned i,
			Elf64_Shdr *ret)
{
	uint64_t offset;

	return i < header->e_shnum && header->e_shentsize == sizeof(*ret) &&
	       !__builtin_add_overflow(header->e_shoff, i * sizeof(*ret), &offset) &&
	       file_get(file, offset, ret, sizeof(*ret));
}

/* The symbol AREAS_SYMBOL in the table; the loop ends with the file's bytes at the latest. */
static bool symbol_find(const struct file *file, const Elf64_Shdr *table, const Elf64_Shdr *strings,
			Elf64_Sym *ret)
{
	uint64_t offset;
	Elf64_Sym symbol;

	for (uint64_t at = 0; at < table->sh_size; at += sizeof(symbol)) {
		if (__builtin_add_overflow(table->sh_offset, at, &offset) ||
		    !file_get(file, offset, &symbol, sizeof(symbol)))
			return false;
		if (symbol_is_named(file, strings, &symbol, AREAS_SYMBOL)) {
			*ret = symbol;
			return true;
		}
	}
	return false;
}

static int areas_find(const struct file *file, const Elf64_Ehdr *header, struct image *image)
{
	Elf64_Shdr table, strings;
	Elf64_Sym symbol;

	for (unsigned i = 0; section_get(file, header, i, &table); i++) {
		if (table.sh_type != SHT_SYMTAB ||
		    !section_get(file, header, table.sh_link, &strings) ||
		    !symbol_find(file, &table, &strings, &symbol))
			continue;
		if (symbol.st_size != MAX_VCPUS * sizeof(struct vcpu_area) ||
		    !gva_to_gpa(file, header, symbol.st_value, symbol.st_size, &image->areas_gpa))
			return refuse(file, "the symbol " AREAS_SYMBOL " is not what guestabi.h "
					    "says: build the unikernel again");
		image->areas_gva = symbol.st_value;
		return 0;
	}
	return refuse(file, "no symbol " AREAS_SYMBOL ": stripped, or not a unikernel for tinyvm");
}

int image_load(const char *path, struct memory *memory, struct image *ret)
{
	struct file file = { .path = path };
	struct image image = { 0 };
	Elf64_Ehdr header;
	int result = -1;

	if (file_read(&file) == 0 && header_check(&file, &header) == 0 &&
	    segments_load(&file, &header, memory) == 0 && areas_find(&file, &header, &image) == 0) {
		image.entry_gva = header.e_entry;
		*ret = image;
		result = 0;
	}
	free(file.bytes);
	return result;
}
