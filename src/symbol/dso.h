/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols of programs, libraries and the host's kernel, found by build-id if it is known and
 * otherwise by path: the file itself, /usr/lib/debug/.build-id, ~/.debug (perf's build-id cache;
 * $PERF_BUILDID_DIR), files that debuginfod has already downloaded, and for the host's kernel
 * /proc/kallsyms (if that kernel runs here) or kallsyms in the cache. A file with
 * another build-id is not used.
 */
#ifndef SYMBOL_DSO_H
#define SYMBOL_DSO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "symbol/downloads.h"
#include "symbol/elf_frames.h"
#include "symbol/table.h"

struct dso_request {
	const char *path;	 /* from the recording; also "[kernel.kallsyms]…", "[vdso]" */
	const uint8_t *build_id; /* NULL: unknown */
	size_t build_id_bytes;
	/*
	 * For a kernel: its address when it was recorded, which is the pgoff of its MMAP record
	 * (the address of the symbol that the path ends with), or a module's start. 0: its current
	 * address.
	 */
	uint64_t reference;
	/*
	 * For a kernel, to tell whether the one that runs here is the same: uname's release and
	 * machine where it was recorded (NULL or "": unknown), and the size of its MMAP record
	 * (0: unknown).
	 */
	const char *release, *machine;
	uint64_t text_bytes;
	/*
	 * The recording's folder; NULL: it is a file. It may contain a build-id cache, `debug`,
	 * which is searched before all others.
	 */
	const char *recording;
	/*
	 * For a kernel: its symbols come only from these files in the recording's folder. NULL:
	 * there are none.
	 */
	const char *kallsyms, *modules;
	/*
	 * PATH belongs to a guest: the file there on this machine is another one, unless both have
	 * the same build-id. ROOT is where the guest's root folder is mounted on this machine, or
	 * NULL.
	 */
	bool foreign;
	const char *root;
	/* Servers to ask for what is not on this machine; borrowed, NULL: none. */
	struct downloads *downloads;
};

/*
 * How table addresses relate to a sample's: for an ELF file, they are FILE OFFSETS (so that MMAP
 * records are enough to translate: address - start + pgoff); for a kernel, they are plain
 * addresses. Symbols outside of all loadable segments are left out.
 */
struct dso_symbols {
	struct symbol_table *table; /* owned */
	char *found;		    /* the file with the symbols; owned */
};

/* ERROR_NOT_FOUND with a reason if there are none ("build-id differs", "no symbols", …). */
struct error *dso_load_symbols(const struct dso_request *request, struct dso_symbols *ret)
	MUST_CHECK;
void dso_symbols_deinit(struct dso_symbols *symbols);

/*
 * The call frame information of a program, a library or the vDSO of the host, from the same files;
 * not of kernels. RET is the caller's to deinit. ERROR_NOT_FOUND: there is no such file, or it has
 * no such information. *RET_FILE says whether the file was found.
 */
struct error *dso_load_frames(const struct dso_request *request, struct elf_frames *ret,
			      bool *ret_file) MUST_CHECK;

/*
 * The file with the source lines (DWARF) of a program or library, from the same files: *RET_FD, an
 * open file, the caller's to close. *RET_RUNTIME is the file that is mapped when the program runs,
 * the caller's to close, too: it translates file offsets to addresses as linked. ERROR_NOT_FOUND:
 * there are no such files.
 */
struct error *dso_find_lines(const struct dso_request *request, struct elf_file **ret_runtime,
			     int *ret_fd) MUST_CHECK;
/*
 * The same for a kernel: a vmlinux with the request's build-id, which it must have. *RET is the
 * caller's to close.
 */
struct error *dso_find_vmlinux(const struct dso_request *request, struct elf_file **ret) MUST_CHECK;

/*
 * The file with the code of a program, a library or the vDSO of the host, from the same files; the
 * caller's to close. ERROR_NOT_FOUND: there is none; the message says why.
 */
struct error *dso_find_code(const struct dso_request *request, struct elf_file **ret) MUST_CHECK;

/*
 * Demangles C++ and Rust names like stock perf (without parameters); returns a copy of other names,
 * and of those that would take more than some milliseconds. malloc()ed. Not for kernel symbols:
 * perf shows those unchanged.
 */
char *dso_demangle(const char *name);
/*
 * The same for many names of one author. *BUDGET, about nanoseconds, is reduced by what unusually
 * expensive names cost; at 0, names are copied.
 */
char *dso_demangle_within(const char *name, uint64_t *budget);

#endif
