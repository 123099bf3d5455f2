/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ELF file of a guest that is no Linux: a unikernel, which is loaded where it is linked to. Its
 * call frame information gives call chains of code that the guest has as it is in the file.
 */
#ifndef HOST_INSPECT_GUEST_IMAGE_H
#define HOST_INSPECT_GUEST_IMAGE_H

#include "base/vector.h"
#include "bpf/guest_sampler.h"
#include "host/vm/vm_memory.h"
#include "unwind/program/user.h"

struct guest_image;

/* ERROR_NOT_FOUND, ERROR_UNSUPPORTED: it is no x86-64 ELF file with call frame information. */
struct error *guest_image_load(const char *path, struct guest_image **ret) MUST_CHECK;
void guest_image_destroy(struct guest_image *image); /* takes NULL */
const char *guest_image_path(const struct guest_image *image);

/*
 * For unwind_run_user(); sorted. Whole pages of what is in the file alone; the tables are the
 * image's.
 */
struct guest_image_code {
	struct unwind_mapping *items;
	size_t count, capacity;
};

/*
 * What a sampler needs to copy the stacks of VM, whose guest is of no known kind; VERSION is the
 * caller's, not 0. RET_CODE gets that code of IMAGE (NULL: none) which the guest has in its memory,
 * the same byte by byte, where the image has it; the caller frees the vector.
 */
struct error *guest_image_look(struct vm_memory_finder *finder, const struct host_vm *vm,
			       const struct guest_image *image, uint64_t version,
			       struct sampler_vm *ret,
			       struct guest_image_code *ret_code) MUST_CHECK;

#endif
