/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends commands for the human monitor over a QEMU's QMP socket (QEMU's docs/interop/qmp-spec). A
 * socket serves one client at a time, so connections should be short. All waiting is bounded, and
 * so is the amount read from the socket.
 */
#ifndef HOST_VM_QMP_H
#define HOST_VM_QMP_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

struct qmp;

/*
 * Connects to the socket at PATH, as seen by process PID, which must serve it itself.
 * ERROR_UNSUPPORTED: it does not answer; another client may be using it. ERROR_NOT_FOUND,
 * ERROR_PERMISSION: the socket does not exist or cannot be accessed.
 */
struct error *qmp_connect(uint32_t pid, const char *path, struct qmp **ret) MUST_CHECK;
void qmp_close(struct qmp *qmp); /* takes NULL */

/*
 * Appends the human monitor's answer to COMMAND, which must not contain characters that JSON
 * escapes.
 */
struct error *qmp_ask(struct qmp *qmp, const char *command, struct buffer *ret) MUST_CHECK;

DEFINE_CLEANUP(cleanup_qmp, struct qmp *, qmp_close)
#define _cleanup_qmp_ _cleanup_(cleanup_qmp)

#endif
