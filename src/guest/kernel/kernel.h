/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's Linux kernel, found and opened through its memory: its symbols and types, and access to
 * structures by field name. This is the basis for reading a guest's tasks and modules.
 */
#ifndef GUEST_KERNEL_KERNEL_H
#define GUEST_KERNEL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "guest/kernel/guest_btf.h"
#include "guest/kernel/kernel_image.h"
#include "guest/memory/space.h"

struct guest_symbol {
	struct gva address;
	const char *name; /* valid as long as the kernel */
	char type;
};

struct guest_kernel;

/*
 * Opens the kernel that SPACE maps; SPACE is borrowed and must outlive it. ERROR_NOT_FOUND: no
 * Linux kernel is mapped, or it has no kallsyms; the message says which.
 */
struct error *guest_kernel_open(struct guest_space *space, struct guest_kernel **ret) MUST_CHECK;
void guest_kernel_close(struct guest_kernel *kernel); /* takes NULL */

/*
 * Appends what is known about KERNEL to TO, for guest_kernel_recall(). False: it cannot be kept,
 * and the appended data is useless.
 */
bool guest_kernel_keep(const struct guest_kernel *kernel, struct buffer *to);
/* Identifies this kernel at this place in this guest's memory; 0: it cannot be kept. */
uint64_t guest_kernel_identity(const struct guest_kernel *kernel);
/*
 * Opens a kernel from data made by guest_kernel_keep(), which only reads a few pages of the guest.
 * DATA is checked; it must be aligned for any type and outlive the kernel. ERROR_NOT_FOUND: SPACE
 * maps another kernel, or the same one at another place.
 */
struct error *guest_kernel_recall(struct guest_space *space, const void *data, size_t size,
				  struct guest_kernel **ret) MUST_CHECK;

struct guest_space *guest_kernel_space(const struct guest_kernel *kernel);
const struct guest_kernel_image *guest_kernel_get_image(const struct guest_kernel *kernel);

/* All symbols of vmlinux, in the order of /proc/kallsyms. */
size_t guest_kernel_symbol_count(const struct guest_kernel *kernel);
const struct guest_symbol *guest_kernel_symbols(const struct guest_kernel *kernel);
/*
 * The first symbol NAME; false if there is none (without KALLSYMS_ALL, kernels have no data
 * symbols).
 */
bool guest_kernel_find_symbol(const struct guest_kernel *kernel, const char *name,
			      struct gva *ret);

/* The kernel's types; NULL if it has no BTF. */
const struct guest_btf *guest_kernel_btf(const struct guest_kernel *kernel);

/* The size of the GNU build-id, 0 if it was not found. */
size_t guest_kernel_build_id(const struct guest_kernel *kernel, const uint8_t **ret);

/* Fields to locate: guest_kernel_layout() fills in a table of these at once. */
struct guest_layout_row {
	const char *structure, *path;
	size_t field;	/* offset of a struct guest_btf_field in the caller's layout struct */
	bool optional;	/* its size stays 0 if this kernel does not have it */
};

/*
 * Fills in LAYOUT according to ROWS, which end with a NULL structure. ERROR_UNSUPPORTED: no BTF, or
 * a field that is not optional is missing; the message names it.
 */
struct error *guest_kernel_layout(const struct guest_kernel *kernel,
				  const struct guest_layout_row *rows, void *layout) MUST_CHECK;

/*
 * Reads a field (1, 2, 4 or 8 bytes) of the structure at BASE as an unsigned number; 0 on failure.
 */
bool guest_kernel_read_field(const struct guest_kernel *kernel, struct gva base,
			     const struct guest_btf_field *field, uint64_t *ret);

DEFINE_CLEANUP(cleanup_guest_kernel, struct guest_kernel *, guest_kernel_close)
#define _cleanup_guest_kernel_ _cleanup_(cleanup_guest_kernel)

#endif
