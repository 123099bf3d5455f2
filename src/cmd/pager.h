/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pager that shows a command's text on a terminal. */
#ifndef CMD_PAGER_H
#define CMD_PAGER_H

#include <stdbool.h>

#include "base/cleanup.h"

/*
 * If stdout is a terminal, $PERFVISOR_PAGER, $PAGER or less shows what is written to FD; otherwise
 * FD is stdout's. It is to be started before the walls are raised (walls/walls.h), by a process
 * that keeps its rights; the pager itself appears with the first byte. pager_finish() waits until
 * the user quits.
 */
struct pager {
	int fd;
	int pid; /* 0: no pager */
	bool terminal;
};
void pager_start(struct pager *pager);
void pager_finish(struct pager *pager); /* takes what is zeroed */

#define _cleanup_pager_ _cleanup_(pager_finish)

#endif
