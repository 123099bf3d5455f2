/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ELF file of a guest that is not Linux: a unikernel, loaded at the address for which it was
 * linked. Its call frame information provides call chains for code that is the same in the guest
 * and in the file.
 */
#ifndef HOST_INSPECT_GUEST_IMAGE_H
#define HOST_INSPECT_GUEST_IMAGE_H

#include "base/vector.h"
#include "bpf/guest_sampler.h"
#include "host/vm/vm_memory.h"
#include "unwind/program/user.h"

struct guest_image;

/* ERROR_NOT_FOUND, ERROR_UNSUPPORTED: not an x86-64 ELF file with call frame information. */
struct error *guest_image_load(const char *path, struct guest_image **ret) MUST_CHECK;
void guest_image_destroy(struct guest_image *image); /* takes NULL */
const char *guest_image_path(const struct guest_image *image);

/*
 * Code for unwind_run_user(), sorted. Contains only whole pages of the file; the tables belong to
 * the image.
 */
struct guest_image_code {
	struct unwind_mapping *items;
	size_t count, capacity;
};

/*
 * Finds what a sampler needs to copy the stacks of VM, whose guest is of an unknown kind. The
 * caller chooses VERSION, not 0. RET_CODE gets the code of IMAGE (NULL: none) that is present in
 * guest memory, byte by byte and at the same address; the caller frees the vector.
 */
struct error *guest_image_look(struct vm_memory_finder *finder, const struct host_vm *vm,
			       const struct guest_image *image, uint64_t version,
			       struct sampler_vm *ret,
			       struct guest_image_code *ret_code) MUST_CHECK;

#endif
