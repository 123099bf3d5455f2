/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ctrl-C and similar signals as a flag that long-running code checks. */
#ifndef BASE_INTERRUPT_H
#define BASE_INTERRUPT_H

#include <stdbool.h>

/*
 * After this, SIGINT, SIGTERM and SIGHUP set the flag and interrupt system calls. A second one ends
 * the process at once, as by default. SIGPIPE is not touched.
 */
void interrupt_install(void);
bool interrupt_requested(void);
int interrupt_signal(void); /* the signal that set the flag, 0 if none did */

#endif
