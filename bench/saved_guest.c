/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loading a saved guest. */
#include "saved_guest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define LINE_BYTES 256

struct error *saved_guest_open_file(const char *folder, const char *name, int flags, int *ret)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	*ret = open(path, flags | O_CLOEXEC, 0644);
	return *ret < 0 ? error_system(errno, "could not open '%s'", path) : NULL;
}

struct error *saved_guest_open_text(const char *folder, const char *name, const char *mode,
				    FILE **ret)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	*ret = fopen(path, mode);
	return *ret ? NULL : error_system(errno, "could not open '%s'", path);
}

static bool read_pages(void *context, const struct gpa *from, size_t count, void *pages)
{
	const struct saved_guest *saved = context;

	memset(pages, 0, count * GUEST_PAGE_BYTES);
	for (size_t i = 0; i < count; i++)
		if (pread(saved->fd, (uint8_t *)pages + i * GUEST_PAGE_BYTES, GUEST_PAGE_BYTES,
			  from[i].value) < 0)
			return false;
	return true;
}

struct guest_memory_source saved_guest_source(struct saved_guest *guest)
{
	return (struct guest_memory_source){ read_pages, guest };
}

struct error *saved_guest_load(const char *folder, struct saved_guest *ret)
{
	struct error *error = saved_guest_open_file(folder, "memory", O_RDONLY, &ret->fd);
	uint64_t start, bytes, cr0, cr3, cr4, efer;
	char line[LINE_BYTES];
	FILE *file;

	if (!error)
		error = saved_guest_open_text(folder, "slots", "r", &file);
	if (error)
		return error;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%" SCNi64 " %" SCNi64, &start, &bytes) == 2)
			vector_append(&ret->slots, (struct guest_slot){ GPA(start), bytes });
	fclose(file);
	error = saved_guest_open_text(folder, "registers", "r", &file);
	if (error)
		return error;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%" SCNi64 " %" SCNi64 " %" SCNi64 " %" SCNi64, &cr0, &cr3, &cr4,
			   &efer) == 4)
			vector_append(&ret->vcpus, (struct arch_mmu){ .arch = &arch_x86_64,
								      .x86 = { .cr0 = cr0,
									       .cr3 = cr3,
									       .cr4 = cr4,
									       .efer = efer } });
	fclose(file);
	return NULL;
}

void saved_guest_deinit(struct saved_guest *guest)
{
	vector_deinit(&guest->slots);
	vector_deinit(&guest->vcpus);
	if (guest->fd >= 0)
		close(guest->fd);
}
