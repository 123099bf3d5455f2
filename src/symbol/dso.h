/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols of programs, libraries and the host's kernel, found by build-id where one is
 * known and by path else: the file itself, /usr/lib/debug/.build-id, ~/.debug (perf's
 * build-id cache; $PERF_BUILDID_DIR), what debuginfod downloaded before, and for the
 * host's kernel /proc/kallsyms (when the running kernel has that build-id) or kallsyms in the
 * cache. A file whose build-id differs is not used.
 */
#ifndef SYMBOL_DSO_H
#define SYMBOL_DSO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "symbol/table.h"

struct dso_request {
	const char *path;	 /* as the recording has it; "[kernel.kallsyms]…", "[vdso]" too */
	const uint8_t *build_id; /* NULL: not known */
	size_t build_id_bytes;
	/*
	 * A kernel's only: where it was when it was recorded, the pgoff of its MMAP record (the
	 * address of the symbol that the path ends with), or a module's start. 0: where it is now.
	 */
	uint64_t reference;
	/* A cache of build-ids like ~/.debug, to be looked at before all others; NULL: none. */
	const char *cache;
	/* A kernel's only: its symbols are in these files and no others. NULL: not known. */
	const char *kallsyms, *modules;
	/*
	 * PATH is one of a guest: what is there on this machine is another file, unless both have
	 * the same build-id. ROOT is the guest's root folder as it is mounted here, or NULL.
	 */
	bool foreign;
	const char *root;
};

/*
 * How to get from a sample's address to the table's: for an ELF file, table addresses are
 * FILE OFFSETS (so that MMAP records alone translate: address - start + pgoff); for a
 * kernel they are addresses as they are. Symbols that no loadable segment holds are left out.
 */
struct dso_symbols {
	struct symbol_table *table; /* owned */
	char *found;		    /* the file that the symbols are from; owned */
};

/* ERROR_NOT_FOUND with a reason where there are none ("build-id differs", "no symbols", …). */
struct error *dso_load_symbols(const struct dso_request *request, struct dso_symbols *ret)
	MUST_CHECK;
void dso_symbols_deinit(struct dso_symbols *symbols);

/*
 * Name for people: C++ and Rust names demangled, as stock perf does (without parameters);
 * else a copy. malloc()ed. Not for kernels' symbols: perf shows those as they are.
 */
char *dso_demangle(const char *name);

#endif
