/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stacks of a saved guest's sleeping tasks, and the tables to unwind them. */
#ifndef BENCH_SLEEPERS_H
#define BENCH_SLEEPERS_H

#include "base/error.h"
#include "base/vector.h"
#include "guest/kernel/kernel_image.h"
#include "unwind/table/table.h"
#include "unwind/walk/unwind.h"

struct sleeper {
	struct unwind_registers registers;
	struct unwind_stack stack; /* owns its data */
};

struct sleepers {
	VECTOR(struct sleeper) items;
	struct unwind_table *table;
	struct guest_region text; /* of the kernel */
	double read_ms;		  /* CPU time to read all of this */
};

/* FOLDER: see saved_guest.h. Call sleepers_deinit() even after an error. */
struct error *sleepers_load(const char *folder, struct sleepers *ret) MUST_CHECK;
void sleepers_deinit(struct sleepers *sleepers);

#define _cleanup_sleepers_ _cleanup_(sleepers_deinit)

#endif
