/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the commands that look into one running guest. */
#ifndef CMD_GUEST_COMMAND_H
#define CMD_GUEST_COMMAND_H

#include "base/error.h"
#include "host/inspect/guest_view.h"

/*
 * Opens the guest of the VM that TEXT names (by name or pid), or of the only VM if TEXT is NULL.
 * Errors come with hints for the user.
 */
struct error *guest_command_open(const char *text, struct guest_view **ret) MUST_CHECK;
/*
 * The same in two steps, for callers that need the VM, too. *RET points into VMS, to which the
 * QEMUs without KVM are added if KVM runs no such VM.
 */
struct error *guest_command_choose(struct host_vms *vms, const char *text,
				   const struct host_vm **ret) MUST_CHECK;
struct error *guest_command_open_vm(struct vm_memory_finder *finder, const struct host_vm *vm,
				    struct guest_view **ret) MUST_CHECK;

/*
 * NAME, which the guest chose, with '?' for everything unprintable. TEXT has room for SIZE bytes.
 */
const char *guest_command_printable(const char *name, char *text, size_t size);

#endif
