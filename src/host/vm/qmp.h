/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asking a QEMU over its QMP socket (QEMU's docs/interop/qmp-spec) what its human monitor would
 * say. A socket serves one client at a time, so a connection is to be short. All waiting is
 * bounded, and so is what is taken from the socket.
 */
#ifndef HOST_VM_QMP_H
#define HOST_VM_QMP_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

struct qmp;

/*
 * Connects to the socket at PATH, which must be served by process PID itself; PATH is as in that
 * process. ERROR_UNSUPPORTED: it does not answer, another client may hold it. ERROR_NOT_FOUND,
 * ERROR_PERMISSION: the socket is not there, or out of reach.
 */
struct error *qmp_connect(uint32_t pid, const char *path, struct qmp **ret) MUST_CHECK;
void qmp_close(struct qmp *qmp); /* takes NULL */

/* Appends the human monitor's answer to COMMAND, which has no character that JSON would escape. */
struct error *qmp_ask(struct qmp *qmp, const char *command, struct buffer *ret) MUST_CHECK;

DEFINE_CLEANUP(cleanup_qmp, struct qmp *, qmp_close)
#define _cleanup_qmp_ _cleanup_(cleanup_qmp)

#endif
