/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine in a recording: the host or one guest, with its threads, its kernel's mappings and its
 * kernel's symbols.
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
/* The name of a guest's kernel, as in `perf kvm --guestkallsyms`. */
#define MACHINE_GUEST_KERNEL "[guest.kernel.kallsyms]"

/* A table of a guest's kernel in the recording: for one boot, or a state during it. */
struct machine_kernel {
	size_t symbols;	 /* index in the reader's list */
	bool loaded;
	struct symbol_table *table; /* owned; NULL: not loaded, or damaged */
};

/* The tables of one guest, or those for all guests that have none of their own. */
struct machine_kernels {
	VECTOR(struct machine_kernel) list;
	struct space times; /* which holds when: its addresses are times, its dsos kernels */
};

void machine_kernels_deinit(struct machine_kernels *kernels);

#define MACHINE_NO_KERNEL UINT32_MAX

struct machine {
	uint32_t pid;	   /* host pid of the VMM; 0: the host */
	const char *name;  /* the VM's, a string of the session; MACHINE_HOST_NAME for the host */
	struct timeline timeline;
	bool processes; /* for a guest: pid and tid of its samples belong to its own threads */
	bool high_kernel; /* a sample of it is in the upper half: perfdata/guest_mode.h */
	uint64_t user_high, kernel_low; /* guest samples whose mode that may contradict */
	struct space kernel; /* its kernel's mappings */
	uint64_t made_start, made_end; /* range of the functions generated at run time */
	struct space nowhere; /* always empty: for user addresses of an unknown process */
	struct machine_kernels own_kernels;
	struct machine_kernels *kernels; /* its own, or the session's for all guests */
	uint32_t kernel_number; /* of its first kernel: unique in the session, like a space's */
	bool kernel_loaded;
	uint32_t kernel_dso;
	const struct symbol_table *kernel_table; /* applies at all times; NULL: none */
	struct symbol_table *kernel_owned;
	bool kernel_came_along;	 /* its symbols are of the recording, and as they were then */
	char *module_note; /* why some module of the host has no names; owned, NULL: none */
	char *kernel_note; /* why its kernel has no names; owned, NULL: it has, or unused */
};

static inline bool machine_is_guest(const struct machine *machine)
{
	return machine->pid != 0;
}

static inline bool cpumode_is_guest(uint16_t cpumode)
{
	return cpumode == PERF_RECORD_MISC_GUEST_KERNEL || cpumode == PERF_RECORD_MISC_GUEST_USER;
}

/* Added to a guest's cpumode for a caller that is a guess. */
#define CPUMODE_GUESSED 8

#endif
