/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Synthesized records, modelled on tools/perf/util/synthetic-events.c. The kernel is a mapping of
 * process -1 named "[kernel.kallsyms]_text", from _text (or else _stext) to _etext; its file offset
 * is the address of that symbol. Modules follow with their file, or as "[name]" if no file is
 * found. Executable mappings of processes are taken from /proc/PID/maps. All have time 0: they are
 * valid from the beginning.
 *
 * Files of a process are opened by their mappings, or through /proc/PID/root, since a VMM may have
 * its own file system, by a process of its own, and parsed by another one, in a cage
 * (elf/elf_client.h). Each (device, inode) is read once.
 */
#include "host/record/host_maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>

#include "base/map.h"
#include "base/vector.h"
#include "elf/build_id.h"

#define KERNEL_PID UINT32_MAX
#define LINE_MAX_BYTES 8192
#define MAPPINGS_MAX 65536 /* per process: the kernel's default limit */

struct known_file {
	char *path;
	struct build_id id;
	uint16_t misc;
	uint32_t pid; /* of the VMM whose guest's kernel it is; UINT32_MAX: it is the host's */
};

struct host_maps {
	struct elf_client *elf;
	VECTOR(struct known_file) files;
	VECTOR(struct perfdata_writer_build_id) build_ids; /* for host_maps_build_ids() */
	struct map by_inode; /* hash of device and inode -> index in files + 1 */
};

struct host_maps *host_maps_create(struct elf_client *elf)
{
	struct host_maps *maps = memory_calloc(1, sizeof(*maps));

	maps->elf = elf;
	map_init(&maps->by_inode);
	return maps;
}

void host_maps_destroy(struct host_maps *maps)
{
	if (!maps)
		return;
	for (size_t i = 0; i < maps->files.count; i++)
		free(maps->files.items[i].path);
	vector_deinit(&maps->files);
	vector_deinit(&maps->build_ids);
	map_deinit(&maps->by_inode);
	free(maps);
}

const struct perfdata_writer_build_id *host_maps_build_ids(struct host_maps *maps,
							   size_t *ret_count)
{
	maps->build_ids.count = 0;
	for (size_t i = 0; i < maps->files.count; i++) {
		const struct known_file *file = &maps->files.items[i];

		if (file->id.size)
			vector_append(&maps->build_ids,
				      (struct perfdata_writer_build_id){ .path = file->path,
									 .bytes = file->id.bytes,
									 .size = file->id.size,
									 .misc = file->misc,
									 .pid = file->pid });
	}
	*ret_count = maps->build_ids.count;
	return maps->build_ids.items;
}

static const struct build_id *remember(struct host_maps *maps, const char *path,
				       const struct build_id *id, uint16_t misc)
{
	vector_append(&maps->files,
		      (struct known_file){ .path = memory_strdup(path),
					   .id = *id,
					   .misc = misc,
					   .pid = UINT32_MAX });
	return &maps->files.items[maps->files.count - 1].id;
}

/* The name is perf's: machine__mmap_name() in tools/perf/util/machine.c. */
void host_maps_add_guest_kernel(struct host_maps *maps, uint32_t pid, const uint8_t *build_id,
				size_t bytes)
{
	struct build_id id = { .size = bytes };

	if (!bytes || bytes > sizeof(id.bytes))
		return;
	memcpy(id.bytes, build_id, bytes);
	for (size_t i = 0; i < maps->files.count; i++)
		if (maps->files.items[i].pid == pid && maps->files.items[i].id.size == bytes &&
		    !memcmp(maps->files.items[i].id.bytes, build_id, bytes))
			return;
	vector_append(&maps->files,
		      (struct known_file){ .path = memory_printf("[guest.kernel.kallsyms.%u]", pid),
					   .id = id,
					   .misc = PERF_RECORD_MISC_GUEST_KERNEL,
					   .pid = pid });
}

static struct error *write_mapping(struct perfdata_writer *writer, struct perfdata_mapping *mapping,
				   const struct build_id *id)
{
	mapping->build_id = id->size ? id->bytes : NULL;
	mapping->build_id_bytes = id->size;
	return perfdata_writer_mmap2(writer, mapping, 0);
}

/* The paths of modules, from /lib/modules/RELEASE/modules.dep ("kernel/…/kvm.ko.xz: …"). */
struct module_files {
	char root[128];
	char *text; /* lines cut at their colons; NULL: no such file */
	size_t size;
};

static void load_module_files(struct module_files *files)
{
	_cleanup_fclose_ FILE *stream = NULL;
	_cleanup_free_ char *path = NULL;
	struct utsname system;
	char line[LINE_MAX_BYTES];
	_cleanup_buffer_ struct buffer text;

	buffer_init(&text, 16u << 20);
	uname(&system);
	snprintf(files->root, sizeof(files->root), "/lib/modules/%s", system.release);
	path = memory_printf("%s/modules.dep", files->root);
	stream = fopen(path, "re");
	while (stream && fgets(line, sizeof(line), stream)) {
		line[strcspn(line, ":\n")] = 0;
		buffer_append(&text, line, strlen(line) + 1);
	}
	files->text = memory_dup(text.data ? text.data : (const uint8_t *)"", text.size);
	files->size = text.size;
}

/* Whether PATH is the file of MODULE: '-' and '_' are the same, and any suffix may follow ".ko". */
static bool is_module_file(const char *path, const char *module)
{
	const char *name = strrchr(path, '/');

	for (name = name ? name + 1 : path; *module; name++, module++)
		if (*name != *module && !(*name == '-' && *module == '_'))
			return false;
	return !strncmp(name, ".ko", 3);
}

static char *module_path(const struct module_files *files, const char *module)
{
	for (size_t at = 0; at < files->size; at += strlen(files->text + at) + 1)
		if (is_module_file(files->text + at, module))
			return memory_printf("%s/%s", files->root, files->text + at);
	return memory_printf("[%s]", module);
}

static struct error *write_module(struct host_maps *maps, struct perfdata_writer *writer,
				  const struct module_files *files, const char *name,
				  uint64_t start, uint64_t size)
{
	_cleanup_free_ char *notes = memory_printf("/sys/module/%s/notes/.note.gnu.build-id", name);
	_cleanup_free_ char *path = module_path(files, name);
	struct perfdata_mapping mapping = { .pid = KERNEL_PID,
					    .start = start,
					    .length = size,
					    .prot = PROT_READ | PROT_EXEC,
					    .misc = PERF_RECORD_MISC_KERNEL,
					    .path = path };
	struct build_id id = { .size = 0 };

	build_id_of_notes(notes, &id);
	return write_mapping(writer, &mapping, remember(maps, path, &id, mapping.misc));
}

static struct error *write_modules(struct host_maps *maps, struct perfdata_writer *writer)
{
	_cleanup_fclose_ FILE *stream = fopen("/proc/modules", "re");
	struct module_files files = { .text = NULL };
	char line[LINE_MAX_BYTES], name[128];
	struct error *error = NULL;
	uint64_t start, size;

	load_module_files(&files);
	while (!error && stream && fgets(line, sizeof(line), stream))
		if (sscanf(line, "%127s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &size, &start) ==
			    3 &&
		    start && !strchr(name, '/'))
			error = write_module(maps, writer, &files, name, start, size);
	free(files.text);
	return error;
}

struct error *host_maps_write_kernel(struct host_maps *maps, struct perfdata_writer *writer,
				     const struct host_kernel_symbols *symbols)
{
	struct perfdata_mapping mapping = { .pid = KERNEL_PID,
					    .start = symbols->text_start,
					    .length = symbols->text_end - symbols->text_start,
					    .file_offset = symbols->text_start,
					    .prot = PROT_READ | PROT_EXEC,
					    .misc = PERF_RECORD_MISC_KERNEL,
					    .path = "[kernel.kallsyms]_text" };
	struct build_id id = { .size = 0 };
	struct error *error;

	if (!mapping.length)
		return NULL;
	build_id_of_notes("/sys/kernel/notes", &id);
	/*
	 * The build-id table contains the dso's name; the mapping also names its reference symbol.
	 */
	error = write_mapping(writer, &mapping,
			      remember(maps, "[kernel.kallsyms]", &id, mapping.misc));
	return error ? error : write_modules(maps, writer);
}

/* The build-id of a process's file, read when the file is first seen. */
static const struct build_id *file_build_id(struct host_maps *maps, uint32_t pid,
					    const struct perfdata_mapping *mapping)
{
	static const struct build_id none;
	const uint64_t file_of[] = { makedev(mapping->device_major, mapping->device_minor),
				     mapping->inode };
	/* Seeded: whoever runs a file system chooses the numbers of its files. */
	uint64_t key = hash_bytes_seeded(maps->by_inode.seed, file_of, sizeof(file_of));
	struct build_id id = { .size = 0 };
	const struct mapped_file file = { .pid = pid,
					  .start = mapping->start,
					  .end = mapping->start + mapping->length,
					  .path = mapping->path };
	uint64_t *index;
	bool added;

	if (*mapping->path != '/' || !mapping->inode)
		return &none;
	index = map_insert(&maps->by_inode, key, &added);
	if (!added)
		return &maps->files.items[*index].id;
	*index = maps->files.count;
	elf_client_build_id(maps->elf, &file, &id);
	return remember(maps, mapping->path, &id, PERF_RECORD_MISC_USER);
}

static uint32_t protection(const char *flags)
{
	return (flags[0] == 'r' ? PROT_READ : 0) | (flags[1] == 'w' ? PROT_WRITE : 0) |
	       (flags[2] == 'x' ? PROT_EXEC : 0);
}

/* Parses a line of /proc/PID/maps; false: malformed, or not executable. */
static bool parse_mapping(char *line, struct perfdata_mapping *ret)
{
	char flags[5];
	uint64_t end;
	int path_at = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &ret->start, &end, flags, &ret->file_offset, &ret->device_major,
		   &ret->device_minor, &ret->inode, &path_at) != 7 ||
	    !path_at || strlen(flags) != 4 || flags[2] != 'x' || end <= ret->start)
		return false;
	ret->length = end - ret->start;
	ret->prot = protection(flags);
	ret->flags = flags[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	ret->path = line[path_at] ? line + path_at : "//anon"; /* perf's name if there is no file */
	return true;
}

struct error *host_maps_write_process(struct host_maps *maps, struct perfdata_writer *writer,
				      uint32_t pid)
{
	_cleanup_free_ char *path = memory_printf("/proc/%" PRIu32 "/maps", pid);
	_cleanup_fclose_ FILE *stream = fopen(path, "re");
	char line[LINE_MAX_BYTES];
	struct error *error = NULL;
	size_t count = 0;

	while (!error && stream && count++ < MAPPINGS_MAX && fgets(line, sizeof(line), stream)) {
		struct perfdata_mapping mapping = { .pid = pid,
						    .tid = pid,
						    .misc = PERF_RECORD_MISC_USER };

		if (parse_mapping(line, &mapping))
			error = write_mapping(writer, &mapping, file_build_id(maps, pid, &mapping));
	}
	return error;
}

struct error *host_maps_write_comm(struct perfdata_writer *writer, uint32_t pid, uint32_t tid)
{
	_cleanup_free_ char *path =
		memory_printf("/proc/%" PRIu32 "/task/%" PRIu32 "/comm", pid, tid);
	_cleanup_fclose_ FILE *stream = fopen(path, "re");
	char name[64];

	if (!stream || !fgets(name, sizeof(name), stream))
		return NULL;
	name[strcspn(name, "\n")] = 0;
	return perfdata_writer_comm(writer, pid, tid, name, 0);
}
