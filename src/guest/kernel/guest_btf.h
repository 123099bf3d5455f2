/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest kernel's own description of its types, BTF, as far as reading its memory needs it:
 * where a field of a structure is, and how large.
 *
 * Source: Documentation/bpf/btf.rst, include/uapi/linux/btf.h. BTF comes from the guest: every
 * offset, length and type number is checked, and chains of types have a bound.
 */
#ifndef GUEST_KERNEL_GUEST_BTF_H
#define GUEST_KERNEL_GUEST_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct guest_btf;

/* DATA is borrowed and must outlive the result. NULL: not BTF, or broken. */
struct guest_btf *guest_btf_create(const void *data, size_t size);
void guest_btf_destroy(struct guest_btf *btf); /* takes NULL */

/* The number of the struct or union NAME; 0: there is none. Linear. */
uint32_t guest_btf_find_struct(const struct guest_btf *btf, const char *name);
uint64_t guest_btf_size(const struct guest_btf *btf, uint32_t type); /* in bytes; 0: not known */

struct guest_btf_field {
	uint64_t offset; /* in bytes, from the start of the outermost structure */
	/* in bytes: of all elements of an array; of the whole word of a bit-field */
	uint64_t size;
	uint32_t type;	 /* behind typedefs and qualifiers */
	uint8_t bit_offset, bit_count; /* of a bit-field in its word; 0 otherwise */
};

/*
 * Field PATH ("mm_mt.ma_root"; members of anonymous structs and unions count as their parent's
 * own) of struct STRUCT. False: no such field.
 */
bool guest_btf_find_field(const struct guest_btf *btf, const char *structure, const char *path,
		    struct guest_btf_field *ret);
/* If TYPE is an array: its element's type and their number. */
bool guest_btf_array(const struct guest_btf *btf, uint32_t type, uint32_t *ret_element,
		     uint32_t *ret_count);
/* The value of enumerator NAME of any enum; false: none has it. Linear. */
bool guest_btf_find_enumerator(const struct guest_btf *btf, const char *name, int64_t *ret);

DEFINE_CLEANUP(cleanup_guest_btf, struct guest_btf *, guest_btf_destroy)
#define _cleanup_guest_btf_ _cleanup_(cleanup_guest_btf)

#endif
