/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides whether a guest sample was taken in the guest's kernel or in a user program, if the
 * host's kernel does not know.
 */
#ifndef HOST_RECORD_GUEST_MODE_H
#define HOST_RECORD_GUEST_MODE_H

#include <stdbool.h>
#include <stdint.h>

#include "host/system/kernel_symbols.h"
#include "perfdata/sample.h"

struct guest_mode {
	bool doubtful; /* the host's kernel may label samples wrongly */
};

struct guest_mode_vm {
	bool high_kernel; /* it was seen in the upper half of the address space */
};

/* Decides from the kernel's SYMBOLS whether its labels are doubtful. */
void guest_mode_init(struct guest_mode *mode, const struct host_kernel_symbols *symbols);
/* SAMPLE's misc with the corrected cpumode. */
uint16_t guest_mode_correct(const struct guest_mode *mode, struct guest_mode_vm *vm,
			    const struct perfdata_sample *sample);

#endif
