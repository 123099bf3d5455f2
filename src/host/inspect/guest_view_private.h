/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by guest_view.c and guest_view_answers.c. */
#ifndef HOST_INSPECT_GUEST_VIEW_PRIVATE_H
#define HOST_INSPECT_GUEST_VIEW_PRIVATE_H

#include "host/inspect/guest_cache.h"
#include "host/inspect/guest_client.h"
#include "host/inspect/guest_view.h"

#define PTI_USER_HALF (1ULL << 12) /* of CR3: the page tables that user code runs on */

struct guest_view {
	struct host_vm_memory memory;
	struct guest_cache_vm cache;
	struct guest_client *client;
	struct buffer answer;
	struct guest_view_kernel kernel;
};

/* Whether this vCPU's registers can be used to look into the guest. */
bool guest_view_has_page_tables(const struct host_vm_registers *registers);
/* MEMORY is the guest's current one. */
struct error *guest_view_ask_state(struct guest_view *view, const struct host_vm_memory *memory,
				   struct guest_state *ret) MUST_CHECK;

#endif
