/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests/cli/check_qmp.py: stops the guest of QEMU process PID, prints "stopped", and waits to
 * be killed.
 *
 *	hold_qemu_pause PID
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/vm/qemu_pause.h"

int main(int argc, char **argv)
{
	struct host_vm_memory memory;
	struct qemu_pause *qemu = NULL;
	bool runs = false;
	struct error *error =
		argc < 2 ? error_create(ERROR_USAGE, "no PID")
			 : qemu_pause_create((uint32_t)strtoul(argv[1], NULL, 10), &qemu);

	if (!error)
		error = qemu_pause_begin(qemu, &memory, &runs);
	if (error || !runs) {
		fprintf(stderr, "%s\n", error ? error_message(error) : "it does not run");
		error_destroy(error);
		qemu_pause_destroy(qemu);
		return 1;
	}
	puts("stopped");
	fflush(stdout);
	for (;;)
		pause();
}
