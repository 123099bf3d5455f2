/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * init_uts_ns is in the kernel's initialised data. It has a struct new_utsname, at its start or
 * after a reference count (include/linux/utsname.h): six fields of 65 bytes, the first of which is
 * "Linux" followed by zeros (include/uapi/linux/utsname.h).
 *
 * Since 6.1 the data contains another one that is not used: the weak init_uts_ns that vmlinux is
 * linked with before its version is known (init/version.c). It has "# SMP" where the real one has
 * "#1 SMP".
 */
#include "guest/kernel/uts.h"

#include <string.h>

#include "base/memory.h"

#define MAX_SCANNED_BYTES (16ULL << 20)
#define BATCH_BYTES ((uint64_t)64 * GUEST_PAGE_BYTES)
#define BEFORE_NAME_BYTES 8 /* of struct uts_namespace, at most */

struct new_utsname {
	char sysname[GUEST_UTS_FIELD_BYTES];
	char nodename[GUEST_UTS_FIELD_BYTES];
	char release[GUEST_UTS_FIELD_BYTES];
	char version[GUEST_UTS_FIELD_BYTES];
	char machine[GUEST_UTS_FIELD_BYTES];
	char domainname[GUEST_UTS_FIELD_BYTES];
};

static const char linux_name[GUEST_UTS_FIELD_BYTES] = "Linux";

static bool is_uts(const struct new_utsname *name)
{
	return !memcmp(name->sysname, linux_name, sizeof(linux_name)) && name->release[0] >= '0' &&
	       name->release[0] <= '9' && name->version[0] == '#' && name->version[1] > ' ' &&
	       name->machine[0] && memchr(name->nodename, 0, GUEST_UTS_FIELD_BYTES) &&
	       memchr(name->release, 0, GUEST_UTS_FIELD_BYTES);
}

static bool find_in(const uint8_t *bytes, size_t size, struct guest_uts *ret)
{
	struct new_utsname name;
	const uint8_t *end = bytes + size, *at = bytes;

	while ((at = memmem(at, end - at, linux_name, sizeof("Linux"))) &&
	       (size_t)(end - at) >= sizeof(name)) {
		memcpy(&name, at, sizeof(name));
		if (is_uts(&name)) {
			memcpy(ret->release, name.release, sizeof(ret->release));
			memcpy(ret->host_name, name.nodename, sizeof(ret->host_name));
			return true;
		}
		at++;
	}
	return false;
}

/* Each batch ends with the first bytes of the next: the names may cross the boundary. */
static bool find_in_range(struct guest_space *space, uint64_t start, uint64_t end,
			  struct guest_uts *ret)
{
	for (uint64_t at = start; at < end; at += BATCH_BYTES) {
		uint64_t size = BATCH_BYTES + sizeof(struct new_utsname);
		_cleanup_free_ uint8_t *copy = NULL;

		if (size > end - at)
			size = end - at;
		copy = guest_space_copy(space, GVA(at), size, size);
		if (copy && find_in(copy, size, ret))
			return true;
	}
	return false;
}

bool guest_uts_find(struct guest_space *space, const struct guest_kernel_image *image,
		    struct guest_uts *ret)
{
	uint64_t left = MAX_SCANNED_BYTES;

	for (size_t i = 0; i < image->regions.count && left; i++) {
		const struct guest_region *region = &image->regions.items[i];
		uint64_t bytes = region->end.value - region->start.value;

		if (region->kind != GUEST_REGION_DATA)
			continue;
		if (bytes > left)
			bytes = left;
		if (find_in_range(space, region->start.value, region->start.value + bytes, ret))
			return true;
		left -= bytes;
	}
	return false;
}

bool guest_uts_read(struct guest_space *space, struct gva namespace, struct guest_uts *ret)
{
	uint8_t bytes[BEFORE_NAME_BYTES + sizeof(struct new_utsname)];

	return guest_space_read(space, namespace, bytes, sizeof(bytes)) &&
	       find_in(bytes, sizeof(bytes), ret);
}
