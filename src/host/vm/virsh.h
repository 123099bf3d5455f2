/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libvirt's passthrough to a QEMU's monitor, by its program virsh. Tried with a stand-in for virsh,
 * not with libvirt. libvirt notes in the domain's log that its monitor was used ("tainted:
 * custom-monitor").
 */
#ifndef HOST_VM_VIRSH_H
#define HOST_VM_VIRSH_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"

/*
 * Appends what the human monitor of the domain UUID answers to COMMANDS (words, numbers and
 * dashes), one after another. OWN_SESSION: libvirt's instance of this user instead of the system's.
 * Takes 20 seconds at most. ERROR_UNSUPPORTED: there is no virsh, or it fails.
 */
struct error *virsh_ask(bool own_session, const char *uuid, const char *const *commands,
			size_t count, struct buffer *ret) MUST_CHECK;

#endif
