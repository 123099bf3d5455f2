/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file is a struct header, which identifies its owner, followed by the bytes. It is called
 * PID-TICKS-FD.PART; it is written under a temporary name and then renamed. Whoever decodes the
 * bytes must check them.
 */
#include "host/inspect/guest_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/vector.h"
#include "host/system/process.h"

#define MAX_BYTES ((uint64_t)512 << 20)
#define MAX_ENTRY_BYTES (MAX_BYTES / 8)
#define MAX_FILES 3072
#define MAX_WRITING_SECONDS 60
#define WRITING ".writing."

static const char *const part_names[GUEST_CACHE_PARTS] = { "kernel", "symbols", "unwind" };

struct header {
	char magic[8];
	uint64_t program; /* another build may find different things */
	uint64_t start_ticks, pid_namespace;
	uint32_t pid, fd, part, reserved;
	char host_boot[40];
	/* From here on: fields that are not known before the file is read. */
	uint64_t key, bytes, checksum; /* checksum: of the bytes */
};

#define LANES 4

/*
 * Protects against disk errors, not against people. Uses lanes, so that no step waits for the
 * previous one.
 */
static uint64_t checksum(const uint8_t *data, size_t size)
{
	uint64_t lanes[LANES] = { 1, 2, 3, 4 };
	size_t at = 0;

	for (; size - at >= sizeof(lanes); at += sizeof(lanes)) {
		uint64_t words[LANES];

		memcpy(words, data + at, sizeof(words));
		for (size_t i = 0; i < LANES; i++)
			lanes[i] = (lanes[i] ^ words[i]) * 0x9e3779b97f4a7c15ULL;
	}
	return hash_bytes_seeded(hash_bytes(lanes, sizeof(lanes)), data + at, size - at);
}

static void read_host_boot(struct guest_cache_vm *vm)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file || !fgets(vm->host_boot, sizeof(vm->host_boot), file))
		vm->folder = NULL;
}

static void read_process(struct guest_cache_vm *vm)
{
	struct host_process_stat process;
	struct stat namespace;

	if (!host_process_stat(vm->pid, &process) || stat("/proc/self/ns/pid", &namespace) < 0) {
		vm->folder = NULL;
		return;
	}
	vm->start_ticks = process.start_ticks;
	vm->pid_namespace = namespace.st_ino;
}

void guest_cache_vm_init(struct guest_cache_vm *vm, const char *folder, uint32_t pid, uint32_t fd)
{
	struct stat stat;

	*vm = (struct guest_cache_vm){ .folder = folder, .pid = pid, .fd = fd };
	(void)mkdir(folder, 0700);
	if (lstat(folder, &stat) < 0 || !S_ISDIR(stat.st_mode) || stat.st_uid != geteuid() ||
	    stat.st_mode & 077) {
		vm->folder = NULL;
		return;
	}
	read_host_boot(vm);
	read_process(vm);
}

static struct header make_header(const struct guest_cache_vm *vm, enum guest_cache_part part)
{
	struct header header = { .magic = "pvguest1",
				 .start_ticks = vm->start_ticks,
				 .pid_namespace = vm->pid_namespace,
				 .pid = vm->pid,
				 .fd = vm->fd,
				 .part = part };
	struct stat program;

	memcpy(header.host_boot, vm->host_boot, sizeof(header.host_boot));
	if (!stat("/proc/self/exe", &program))
		header.program = file_stamp(&program);
	return header;
}

static char *path_of(const struct guest_cache_vm *vm, enum guest_cache_part part)
{
	return memory_printf("%s/%" PRIu32 "-%" PRIu64 "-%" PRIu32 ".%s", vm->folder, vm->pid,
			     vm->start_ticks, vm->fd, part_names[part]);
}

bool guest_cache_load(const struct guest_cache_vm *vm, enum guest_cache_part part,
		      struct guest_cache_entry *ret)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_error_ struct error *error = NULL;
	struct header wanted, header;
	struct guest_cache_entry entry = { 0 };

	*ret = entry;
	if (!vm->folder)
		return false;
	path = path_of(vm, part);
	wanted = make_header(vm, part);
	error = file_map_own(vm->folder, strrchr(path, '/') + 1, &entry.file);
	if (error)
		return false;
	if (entry.file.size >= sizeof(header)) {
		memcpy(&header, entry.file.data, sizeof(header));
		entry.key = header.key;
		entry.data = entry.file.data + sizeof(header);
		entry.size = entry.file.size - sizeof(header);
	}
	if (!entry.data || memcmp(&header, &wanted, offsetof(struct header, key)) ||
	    header.bytes != entry.size || header.checksum != checksum(entry.data, entry.size)) {
		file_unmap(&entry.file);
		return false;
	}
	*ret = entry;
	return true;
}

void guest_cache_entry_deinit(struct guest_cache_entry *entry)
{
	file_unmap(&entry->file);
	*entry = (struct guest_cache_entry){ 0 };
}

/* Parses NAME. Pid 0: the file is being written. False: the file is not ours. */
static bool parse_name(const char *name, uint32_t *ret_pid, uint64_t *ret_ticks)
{
	*ret_pid = 0;
	return !strncmp(name, WRITING, strlen(WRITING)) ||
	       sscanf(name, "%" SCNu32 "-%" SCNu64 "-", ret_pid, ret_ticks) == 2;
}

/* Whether the file belongs to a running VM, or writing it has just begun. */
static bool is_of_use(uint32_t pid, uint64_t ticks, const struct stat *file)
{
	struct host_process_stat process;

	if (!pid)
		return time(NULL) - file->st_mtime < MAX_WRITING_SECONDS;
	return host_process_stat(pid, &process) && process.start_ticks == ticks;
}

struct files {
	VECTOR(struct sort_key) by_age;
	VECTOR(char *) names;
	VECTOR(uint64_t) sizes;
	uint64_t bytes;
};

static void list_files(DIR *folder, struct files *files)
{
	const struct dirent *entry;
	struct stat file;
	uint64_t ticks;
	uint32_t pid;

	while ((entry = readdir(folder))) {
		if (!parse_name(entry->d_name, &pid, &ticks) ||
		    fstatat(dirfd(folder), entry->d_name, &file, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (!is_of_use(pid, ticks, &file)) {
			(void)unlinkat(dirfd(folder), entry->d_name, 0);
			continue;
		}
		vector_append(&files->by_age,
			      (struct sort_key){ (uint64_t)file.st_mtim.tv_sec * 1000000000 +
							 (uint64_t)file.st_mtim.tv_nsec,
						 files->names.count });
		vector_append(&files->names, memory_strdup(entry->d_name));
		vector_append(&files->sizes, file.st_size);
		files->bytes += file.st_size;
	}
}

/* Makes room for another BYTES. */
static void make_room(const char *path, size_t bytes)
{
	DIR *folder = opendir(path);
	struct files files = { 0 };

	if (!folder)
		return;
	list_files(folder, &files);
	sort_keys(files.by_age.items, files.by_age.count);
	for (size_t i = 0; i < files.by_age.count; i++) {
		size_t oldest = files.by_age.items[i].index;

		if (files.bytes + bytes <= MAX_BYTES && files.by_age.count - i < MAX_FILES)
			break;
		(void)unlinkat(dirfd(folder), files.names.items[oldest], 0);
		files.bytes -= files.sizes.items[oldest];
	}
	for (size_t i = 0; i < files.names.count; i++)
		free(files.names.items[i]);
	vector_deinit(&files.by_age);
	vector_deinit(&files.names);
	vector_deinit(&files.sizes);
	closedir(folder);
}

void guest_cache_store(const struct guest_cache_vm *vm, enum guest_cache_part part, uint64_t key,
		       const void *data, size_t size)
{
	_cleanup_free_ char *path = NULL, *temporary = NULL;
	_cleanup_close_ int fd = -1;
	struct header header;
	struct error *error;

	if (!vm->folder || size > MAX_ENTRY_BYTES)
		return;
	make_room(vm->folder, size);
	path = path_of(vm, part);
	temporary = memory_printf("%s/" WRITING "XXXXXX", vm->folder);
	header = make_header(vm, part);
	header.key = key;
	header.bytes = size;
	header.checksum = checksum(data, size);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return;
	error = file_write_all(fd, &header, sizeof(header), temporary);
	if (!error)
		error = file_write_all(fd, data, size, temporary);
	if (error || rename(temporary, path) < 0)
		(void)unlink(temporary);
	error_destroy(error);
}
