/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a guest sample was of the guest's kernel or of a user program, where the host's
 * kernel does not know it.
 */
#ifndef HOST_RECORD_GUEST_MODE_H
#define HOST_RECORD_GUEST_MODE_H

#include <stdbool.h>
#include <stdint.h>

#include "host/system/kernel_symbols.h"
#include "perfdata/sample.h"

struct guest_mode {
	bool doubtful; /* the host's kernel labels samples wrongly */
};

struct guest_mode_vm {
	bool high_kernel; /* it was seen in the upper half of the address space */
};

/* Goes by the kernel's SYMBOLS. */
void guest_mode_init(struct guest_mode *mode, const struct host_kernel_symbols *symbols);
/* SAMPLE's misc, its cpumode as it must have been. */
uint16_t guest_mode_correct(const struct guest_mode *mode, struct guest_mode_vm *vm,
			    const struct perfdata_sample *sample);

#endif
