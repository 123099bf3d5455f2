/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The vmlinux of a kernel in a recording, on this machine: for a guest's kernel what --guestvmlinux
 * names, or the file with the build-id in the recording; for the host's, the file with its
 * build-id.
 */
#ifndef SESSION_CODE_KERNEL_FILE_H
#define SESSION_CODE_KERNEL_FILE_H

#include <stdint.h>

#include "base/error.h"
#include "session/machine.h"
#include "symbol/elf_file.h"

struct session;

/*
 * *RET is the caller's to close. *RET_DELTA, added to an address in MACHINE's KERNEL (or
 * MACHINE_NO_KERNEL), is the address as linked: the difference for a symbol that both have.
 * ERROR_NOT_FOUND: it is not here, or they have no symbol in common.
 */
struct error *kernel_file_find(struct session *session, struct machine *machine, uint32_t kernel,
			       struct elf_file **ret, uint64_t *ret_delta) MUST_CHECK;

#endif
