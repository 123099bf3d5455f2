/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that starts caged processes for one that cannot any more, because it has raised its
 * walls (walls/walls.h). It takes two orders, each a byte, and reads nothing else. It ends with the
 * process that it works for.
 */
#ifndef WALLS_CAGE_KEEPER_H
#define WALLS_CAGE_KEEPER_H

#include <stdbool.h>

#include "walls/cage.h"

/* To be called before the walls are raised. From then on, cage_start() has it start the cage. */
struct error *cage_keeper_start(void) MUST_CHECK;

/* For cage.c. There is one cage at a time: another one ends the first. */
bool cage_keeper_is_there(void);
struct error *cage_keeper_start_cage(enum cage_kind kind, struct cage *ret) MUST_CHECK;
void cage_keeper_stop_cage(void);

#endif
