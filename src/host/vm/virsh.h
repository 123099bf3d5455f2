/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libvirt's passthrough to a QEMU's monitor, using the program virsh. Tested with a stand-in for
 * virsh, not with libvirt. libvirt notes in the domain's log that its monitor was used ("tainted:
 * custom-monitor").
 */
#ifndef HOST_VM_VIRSH_H
#define HOST_VM_VIRSH_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"

/*
 * Appends the answers of the human monitor of domain UUID to COMMANDS (words, numbers and dashes),
 * one after another. OWN_SESSION: uses this user's instance of libvirt instead of the system's.
 * Takes at most 20 seconds. ERROR_UNSUPPORTED: there is no virsh, or it failed.
 */
struct error *virsh_ask(bool own_session, const char *uuid, const char *const *commands,
			size_t count, struct buffer *ret) MUST_CHECK;

#endif
