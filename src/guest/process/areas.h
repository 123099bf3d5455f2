/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a guest's kernel keeps the mappings of its processes, for a program that copies them. */
#ifndef GUEST_PROCESS_AREAS_H
#define GUEST_PROCESS_AREAS_H

#include "bpf/guest_current.h"
#include "guest/kernel/kernel.h"

/* RET stays 0 if this kernel does not show it. */
void guest_areas_find(const struct guest_kernel *kernel, struct guest_areas *ret);

#endif
