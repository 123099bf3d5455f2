/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The monitor of a QEMU process, found from its command line: a QMP socket, or, if libvirt uses
 * that, libvirt's passthrough (the program virsh).
 */
#ifndef HOST_VM_QEMU_MONITOR_H
#define HOST_VM_QEMU_MONITOR_H

#include "base/buffer.h"
#include "base/error.h"
#include "host/vm/vm_command.h"

#define QEMU_MONITOR_MAX_SOCKETS 8
#define QEMU_UUID_BYTES 36

/* The ways to the monitor that a command line shows. */
struct qemu_monitors {
	char *sockets[QEMU_MONITOR_MAX_SOCKETS]; /* paths, as the process resolves them */
	size_t socket_count;
	size_t chardevs; /* how many were looked for */
	char libvirt_uuid[QEMU_UUID_BYTES + 1]; /* libvirt's domain; "": not started by libvirt */
	bool checked; /* by qemu_monitors_check() */
};

/*
 * Pure. Monitors for people (-monitor, HMP) are ignored: using them would be visible in their
 * sessions.
 */
void qemu_monitors_find(const struct vm_command *command, struct qemu_monitors *ret);
void qemu_monitors_deinit(struct qemu_monitors *monitors);

struct qemu_monitor;

/*
 * Opens the monitor of process PID. On error, it explains why no way works; mostly
 * ERROR_UNSUPPORTED. If libvirt is asked, it is first asked whether its domain runs PID's threads:
 * a process can name any domain on its command line.
 */
struct error *qemu_monitor_open(uint32_t pid, struct qemu_monitor **ret) MUST_CHECK;
/*
 * The same in steps. A process can change its command line, so callers that ask more than once
 * should find the ways once, and verify the domain once (qemu_monitors_check()).
 */
void qemu_monitors_of(uint32_t pid, struct qemu_monitors *ret);
/* Whether the command line of process PID shows any. */
bool qemu_monitors_exist(uint32_t pid);
/* Forgets libvirt's domain if it does not run PID's threads. */
void qemu_monitors_check(uint32_t pid, struct qemu_monitors *monitors);
struct error *qemu_monitor_open_by(uint32_t pid, const struct qemu_monitors *monitors,
				   struct qemu_monitor **ret) MUST_CHECK;
void qemu_monitor_close(struct qemu_monitor *monitor); /* takes NULL */

/*
 * Appends the answers to COMMANDS, which consist of words, numbers and dashes, one after another.
 * Nothing marks where the next answer begins.
 */
struct error *qemu_monitor_ask(struct qemu_monitor *monitor, const char *const *commands,
			       size_t count, struct buffer *ret) MUST_CHECK;

DEFINE_CLEANUP(cleanup_qemu_monitor, struct qemu_monitor *, qemu_monitor_close)
#define _cleanup_qemu_monitor_ _cleanup_(cleanup_qemu_monitor)

#endif
