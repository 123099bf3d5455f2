/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the commands that look into one running guest have in common. */
#ifndef CMD_GUEST_COMMAND_H
#define CMD_GUEST_COMMAND_H

#include "base/error.h"
#include "host/inspect/guest_view.h"

/*
 * Opens the guest of the VM that TEXT names (its name or pid); of the only VM there is if TEXT is
 * NULL. Errors have hints for people.
 */
struct error *guest_command_open(const char *text, struct guest_view **ret) MUST_CHECK;
/* The same in two steps, for those who want the VM, too: it is one of VMS. */
struct error *guest_command_choose(const struct host_vms *vms, const char *text,
				   const struct host_vm **ret) MUST_CHECK;
struct error *guest_command_open_vm(struct vm_memory_finder *finder, const struct host_vm *vm,
				    struct guest_view **ret) MUST_CHECK;

/* NAME, which the guest chose: what is not printable becomes '?'. TEXT has room for SIZE bytes. */
const char *guest_command_printable(const char *name, char *text, size_t size);

#endif
