/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest kernel's uname(): release and host name, recognised in memory by their shape. This needs
 * neither symbols nor types, so it is cheap.
 */
#ifndef GUEST_KERNEL_UTS_H
#define GUEST_KERNEL_UTS_H

#include "guest/kernel/kernel_image.h"
#include "guest/memory/space.h"

#define GUEST_UTS_FIELD_BYTES 65 /* __NEW_UTS_LEN + 1 */

struct guest_uts {
	char release[GUEST_UTS_FIELD_BYTES]; /* "6.1.0-50-cloud-amd64" */
	char host_name
		[GUEST_UTS_FIELD_BYTES]; /* of the first namespace; "(none)" if none is set */
};

/* Searches the writable part of IMAGE, at most 16 MB of it; false if it is not there. */
bool guest_uts_find(struct guest_space *space, const struct guest_kernel_image *image,
		    struct guest_uts *ret);
/* Reads it from the struct uts_namespace at NAMESPACE, if that is known. */
bool guest_uts_read(struct guest_space *space, struct gva namespace, struct guest_uts *ret);

#endif
