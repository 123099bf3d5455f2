/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a VMM's command line says about its VM. Pure: works on given bytes. */
#ifndef HOST_VM_VM_NAME_H
#define HOST_VM_VM_NAME_H

#include <stdint.h>

#include "host/vm/vm_command.h"

#define VM_NAME_MAX_BYTES 255

struct vm_process {
	uint32_t pid;
	struct vm_command command;
	const char *comm;    /* of the main thread; "" if not known */
	const char *program; /* file name of its program; "" if not known */
};

/*
 * The VM's name and its VMM. Both are owned by the caller, never empty, at most VM_NAME_MAX_BYTES
 * long, and valid UTF-8 without control characters (which become '?'): any user of the host may
 * choose them, and they are printed to terminals.
 */
void vm_name_find(const struct vm_process *process, char **ret_name, char **ret_vmm);

#endif
