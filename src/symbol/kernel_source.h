/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The possible sources of a guest kernel's symbols: a table of sources, tried in order; the first
 * that has something for the VM wins. To add one: write its load function (below), and add a row to
 * kernel_sources[] in kernel_source.c.
 */
#ifndef SYMBOL_KERNEL_SOURCE_H
#define SYMBOL_KERNEL_SOURCE_H

#include "base/error.h"
#include "symbol/table.h"

/* The only source whose files are a guest's own: what is wrong there is that guest's fault. */
#define KERNEL_SOURCE_GUESTMOUNT "--guestmount"

/* The user's options; NULL if not given. The names are perf's. */
struct kernel_source_options {
	const char *guestkallsyms; /* file in the format of /proc/kallsyms: all guests */
	const char *guestmodules;  /* file in the format of /proc/modules: all guests */
	const char *guestvmlinux;  /* ELF: all guests; shifted by guestkallsyms if both are given */
	const char *guestmount;	   /* DIR/PID/proc/{kallsyms,modules}: the guest of that VM */
};

struct kernel_source {
	const char *name; /* for messages: "--guestkallsyms" */
	/*
	 * True if OPTIONS name something that this source would load for VM_PID. Loading may still
	 * fail, which is an error to report, not a reason to try the next source.
	 */
	bool (*offers)(const struct kernel_source_options *options, uint32_t vm_pid);
	struct error *(*load)(const struct kernel_source_options *options, uint32_t vm_pid,
			      struct symbol_table **ret);
};

/*
 * The guest kernel symbols of VM_PID (0: a guest whose VM is unknown; sources for one VM are
 * skipped). *RET is NULL if no source offers anything; RET_SOURCE (may be NULL) is set to the
 * source used, or to the one that failed.
 */
struct error *kernel_source_load(const struct kernel_source_options *options, uint32_t vm_pid,
				 struct symbol_table **ret, const char **ret_source) MUST_CHECK;

/* An error if OPTIONS name a file that cannot be read, or a --guestmount that is not a folder. */
struct error *kernel_source_check(const struct kernel_source_options *options) MUST_CHECK;

#endif
