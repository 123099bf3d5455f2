/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine of a recording: the host or one guest, with its threads, its kernel's
 * mappings and its kernel's symbols.
 */
#ifndef SESSION_MACHINE_H
#define SESSION_MACHINE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/dsos.h"
#include "session/space.h"
#include "session/timeline.h"
#include "symbol/table.h"

#define MACHINE_HOST_NAME "[host]"
/* What a guest's kernel is called, as in `perf kvm --guestkallsyms`. */
#define MACHINE_GUEST_KERNEL "[guest.kernel.kallsyms]"

/* A table of a guest's kernel that is in the recording: of one boot, or a state of it. */
struct machine_kernel {
	size_t symbols;	 /* place in the reader's list */
	uint32_t number; /* unique in the session, as that of a space: keys caches */
	bool loaded;
	struct symbol_table *table; /* owned; NULL: not loaded, or damaged */
};

#define MACHINE_NO_KERNEL UINT32_MAX

struct machine {
	uint32_t pid;	   /* host pid of the VMM; 0: the host */
	const char *name;  /* the VM's, the session's string; MACHINE_HOST_NAME for the host */
	struct timeline timeline;
	bool processes; /* a guest's: pid and tid of its samples are of the guest's own threads */
	struct space kernel; /* what its kernel mapped */
	uint64_t made_start, made_end; /* where the functions are that it made while it ran */
	struct space nowhere; /* nothing: a user address of an unknown process */
	VECTOR(struct machine_kernel) kernels; /* of a guest */
	struct space kernel_times; /* which holds when: its addresses are times, its dsos kernels */
	bool kernel_loaded;
	uint32_t kernel_dso;
	const struct symbol_table *kernel_table; /* that holds at any time; NULL: there is none */
	struct symbol_table *kernel_owned;
	char *kernel_note; /* why its kernel has no names; owned, NULL: it has, or nobody asked */
};

static inline bool machine_is_guest(const struct machine *machine)
{
	return machine->pid != 0;
}

static inline bool cpumode_is_guest(uint16_t cpumode)
{
	return cpumode == PERF_RECORD_MISC_GUEST_KERNEL || cpumode == PERF_RECORD_MISC_GUEST_USER;
}

/* Added to a guest's cpumode: that of a caller that is not certain. */
#define CPUMODE_GUESSED 8

#endif
