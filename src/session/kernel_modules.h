/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether modules of the host's kernel may be named from the kernel that runs here. Each module is
 * loaded at an address of its own, which may differ after a reboot, even if the kernel itself is at
 * the same place; and another build of a module may run with the same kernel. So a module's
 * functions are named only where the recording maps that module, and
 *
 *	it is at the same address here, and no build-ids contradict, or
 *	its build-id is that of the module here: its functions then move with it.
 *
 * Else they are addresses, and machine->module_note says why. What comes with a recording
 * (kcore_dir/kallsyms) is used as it is.
 */
#ifndef SESSION_KERNEL_MODULES_H
#define SESSION_KERNEL_MODULES_H

#include "session/session.h"

/*
 * The table that names ADDRESS of the host, of which the recording has MAPPING (NULL: none): TABLE,
 * which is the kernel's, another one, or NULL. Under the session's lock.
 */
const struct symbol_table *kernel_modules_table(struct session *session, struct machine *machine,
						const struct symbol_table *table,
						const struct space_mapping *mapping,
						uint64_t address);

#endif
