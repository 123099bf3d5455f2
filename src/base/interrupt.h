/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ctrl-C and its kin as a flag that long work looks at. */
#ifndef BASE_INTERRUPT_H
#define BASE_INTERRUPT_H

#include <stdbool.h>

/*
 * From here on SIGINT, SIGTERM and SIGHUP set the flag and interrupt system calls; a
 * second one ends the process at once, as by default. SIGPIPE is left as it was.
 */
void interrupt_install(void);
bool interrupt_requested(void);
int interrupt_signal(void); /* the signal that set the flag, 0 if none did */

#endif
