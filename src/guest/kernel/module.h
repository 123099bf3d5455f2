/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The modules of a guest's kernel: the contents of /proc/modules, and their symbols as listed in
 * /proc/kallsyms.
 */
#ifndef GUEST_KERNEL_MODULE_H
#define GUEST_KERNEL_MODULE_H

#include "base/arena.h"
#include "base/vector.h"
#include "guest/kernel/kernel.h"

enum guest_module_state { GUEST_MODULE_LIVE, GUEST_MODULE_COMING, GUEST_MODULE_GOING };

struct guest_module_range {
	struct gva start;
	uint64_t bytes;
};

#define GUEST_MODULE_RANGES 8

struct guest_module {
	const char *name;
	enum guest_module_state state;
	uint64_t bytes;	  /* as /proc/modules counts them */
	int64_t references;
	bool permanent;	  /* cannot be unloaded */
	VECTOR(const char *) users; /* modules that use it, in the kernel's order */
	const char *taints; /* "(OE)", "" for none */
	struct gva text;  /* start of its text: the address in /proc/modules */
	/* memory that remains after its init */
	struct guest_module_range ranges[GUEST_MODULE_RANGES];
	size_t range_count;
	struct gva orc_ips, orc_entries; /* its unwind data (unwind/table/orc.h) */
	uint32_t orc_count;		 /* 0: it has none */
	/* its table of calls with variable targets: struct static_call_site */
	struct gva static_calls;
	uint32_t static_call_count;
	size_t first_symbol, symbol_count; /* in the symbols of the list */
};

struct guest_modules {
	struct arena *text; /* owns all names */
	VECTOR(struct guest_module) items; /* in the kernel's order, newest first */
	VECTOR(struct guest_symbol) symbols; /* of all modules, in order, without nameless ones */
};

/*
 * Reads the list of modules, at most 4,096 of them with a million symbols. A module that cannot be
 * read (it is being unloaded, or forged) is left out; *RET_SKIPPED counts those.
 */
struct error *guest_modules_read(const struct guest_kernel *kernel, struct guest_modules *ret,
				 size_t *ret_skipped) MUST_CHECK;
void guest_modules_deinit(struct guest_modules *modules);

#endif
