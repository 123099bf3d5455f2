/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work for which a command has no rights any more once it has raised its walls (walls/walls.h): to
 * put a finished file in its place. A process that is started before, and reads nothing foreign,
 * waits for the order.
 */
#ifndef CMD_ERRAND_H
#define CMD_ERRAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * DO_WORK is what is ordered. GIVE_UP is for when nothing is ordered, when the work fails, and when
 * the process that gives orders is killed.
 */
struct errand_work {
	struct error *(*do_work)(void *context);
	void (*give_up)(void *context);
	void *context;
};

struct errand {
	pid_t pid; /* 0: none was started */
	int order; /* the pipe's end */
};

/* Starts the process, which has copies of everything. */
struct error *errand_start(const struct errand_work *work, struct errand *ret) MUST_CHECK;
/*
 * Orders the work and waits for its end. False: it failed, and the process has reported why.
 */
bool errand_do(struct errand *errand) MUST_CHECK;
/* Without an order: lets the process give up, and waits for it. Takes what is zeroed. */
void errand_end(struct errand *errand);

#define _cleanup_errand_ _cleanup_(errand_end)

#endif
