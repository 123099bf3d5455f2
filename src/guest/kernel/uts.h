/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a guest's kernel says in uname(): release and host name, told by their shape in memory. It
 * takes no symbols and no types, so that asking for them costs little.
 */
#ifndef GUEST_KERNEL_UTS_H
#define GUEST_KERNEL_UTS_H

#include "guest/kernel/kernel_image.h"
#include "guest/memory/space.h"

#define GUEST_UTS_FIELD_BYTES 65 /* __NEW_UTS_LEN + 1 */

struct guest_uts {
	char release[GUEST_UTS_FIELD_BYTES]; /* "6.1.0-50-cloud-amd64" */
	char host_name
		[GUEST_UTS_FIELD_BYTES]; /* of the first namespace; "(none)" where none is set */
};

/* Looks through the writable part of IMAGE, 16 MB of it at most; false: it is not there. */
bool guest_uts_find(struct guest_space *space, const struct guest_kernel_image *image,
		    struct guest_uts *ret);
/* In struct uts_namespace at NAMESPACE, where that is known. */
bool guest_uts_read(struct guest_space *space, struct gva namespace, struct guest_uts *ret);

#endif
