/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the kernel that runs here is the one of a recording. The build-id says it, where the
 * recording has one. Else the release, the architecture and the size of the code have to agree, as
 * far as the recording has them; it must have the first two, or the size.
 *
 * What a recording has: uname's release and machine (HEADER_OSRELEASE, HEADER_ARCH of
 * tools/perf/util/header.c), and in the kernel's MMAP record the distance from _text to _edata or
 * _etext (machine__get_running_kernel_start() of tools/perf/util/machine.c). It has no version as
 * uname knows it, so of two builds of one release only the size tells.
 */
#ifndef SYMBOL_KERNEL_BUILD_H
#define SYMBOL_KERNEL_BUILD_H

#include "symbol/dso.h"
#include "symbol/elf_file.h"

/* NULL: it is. Else what contradicts and what would help, for people; malloc()ed. */
char *kernel_build_differs(const struct dso_request *request) MUST_CHECK;

/* The build-id in the notes file PATH; 0 bytes where it cannot be read. */
struct build_id kernel_build_read_notes(const char *path);

#endif
