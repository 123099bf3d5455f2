/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the symbols of a guest's kernel can come from: a table of sources, tried in order;
 * the first that has something for the VM wins. How to add one: write its load function
 * (below), add a row to kernel_sources[] in kernel_source.c.
 */
#ifndef SYMBOL_KERNEL_SOURCE_H
#define SYMBOL_KERNEL_SOURCE_H

#include "base/error.h"
#include "symbol/table.h"

/* What the user gave; NULL where not. The words are perf's. */
struct kernel_source_options {
	const char *guestkallsyms; /* file in the format of /proc/kallsyms: every guest */
	const char *guestmodules;  /* file in the format of /proc/modules: every guest */
	const char *guestvmlinux;  /* ELF: every guest; moved by guestkallsyms if both are given */
	const char *guestmount;	   /* DIR/PID/proc/{kallsyms,modules}: the guest of that VM */
};

struct kernel_source {
	const char *name; /* for messages: "--guestkallsyms" */
	/*
	 * True if OPTIONS name something that this source would load for VM_PID. It may still
	 * fail to load, which is an error to show, not a reason to try the next.
	 */
	bool (*offers)(const struct kernel_source_options *options, uint32_t vm_pid);
	struct error *(*load)(const struct kernel_source_options *options, uint32_t vm_pid,
			      struct symbol_table **ret);
};

/*
 * The guest kernel symbols of VM_PID (0: of a guest whose VM is not known; sources per VM
 * are skipped). *RET is NULL where no source offers anything; RET_SOURCE (may be NULL) says
 * which did.
 */
struct error *kernel_source_load(const struct kernel_source_options *options, uint32_t vm_pid,
				 struct symbol_table **ret, const char **ret_source) MUST_CHECK;

#endif
