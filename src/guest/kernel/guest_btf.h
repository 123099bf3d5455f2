/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BTF, the guest kernel's own description of its types, as far as reading its memory needs it: the
 * offsets and sizes of structure fields.
 *
 * Source: Documentation/bpf/btf.rst, include/uapi/linux/btf.h. BTF comes from the guest: every
 * offset, length and type number is checked, and chains of types are bounded.
 */
#ifndef GUEST_KERNEL_GUEST_BTF_H
#define GUEST_KERNEL_GUEST_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct guest_btf;

/* DATA is borrowed and must outlive the result. NULL: not BTF, or malformed. */
struct guest_btf *guest_btf_create(const void *data, size_t size);
void guest_btf_destroy(struct guest_btf *btf); /* takes NULL */

/* The type number of the struct or union NAME; 0 if there is none. Linear search. */
uint32_t guest_btf_find_struct(const struct guest_btf *btf, const char *name);
uint64_t guest_btf_size(const struct guest_btf *btf, uint32_t type); /* in bytes; 0: unknown */

struct guest_btf_field {
	uint64_t offset; /* in bytes, from the start of the outermost structure */
	/* in bytes: an array's total size; for a bit-field, the size of its word */
	uint64_t size;
	uint32_t type;	 /* after typedefs and qualifiers */
	uint8_t bit_offset, bit_count; /* of a bit-field within its word; 0 otherwise */
};

/*
 * Looks up field PATH of struct STRUCT, such as "mm_mt.ma_root"; members of anonymous structs and
 * unions count as their parent's own. False: no such field.
 */
bool guest_btf_find_field(const struct guest_btf *btf, const char *structure, const char *path,
		    struct guest_btf_field *ret);
/* If TYPE is an array: the type and the number of its elements. */
bool guest_btf_array(const struct guest_btf *btf, uint32_t type, uint32_t *ret_element,
		     uint32_t *ret_count);
/* The value of enumerator NAME in any enum; false if there is none. Linear search. */
bool guest_btf_find_enumerator(const struct guest_btf *btf, const char *name, int64_t *ret);

DEFINE_CLEANUP(cleanup_guest_btf, struct guest_btf *, guest_btf_destroy)
#define _cleanup_guest_btf_ _cleanup_(cleanup_guest_btf)

#endif
