/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ORC, the unwind data of x86-64 Linux kernels: each row gives, from an address on, the rule for
 * finding the caller's registers. Converts all forms since 4.14 into one.
 */
#ifndef UNWIND_TABLE_ORC_H
#define UNWIND_TABLE_ORC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/kernel/guest_btf.h"
#include "unwind/table/row.h"

#define ORC_ENTRY_BYTES 6
#define ORC_IP_BYTES 4 /* an offset relative to itself */

enum orc_form {
	ORC_FORM_END,        /* 4.14: types start at 0; since 4.18 a bit for ends of stacks */
	ORC_FORM_SIGNAL_END, /* 6.3: `signal` before that bit */
	ORC_FORM_SIGNAL,     /* 6.4: ends have a type of their own */
	ORC_FORM_RENUMBERED, /* seen in 7.2: the same with renumbered registers */
	ORC_FORMS,
};

/*
 * The form of a kernel's COUNT entries, according to the kernel's types and the entries themselves;
 * BTF may be NULL. False: they are valid in no form, or in several.
 */
bool orc_find_form(const struct guest_btf *btf, const uint8_t *entries, size_t count,
		   enum orc_form *ret);
/* False: no kernel has such an entry. */
bool orc_decode(enum orc_form form, const uint8_t *entry, struct unwind_row *ret);

#endif
