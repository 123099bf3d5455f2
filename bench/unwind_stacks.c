/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwinds the stacks of a saved guest's sleeping tasks repeatedly, as a recorder unwinds the copies
 * in samples.
 *
 *	unwind_stacks FOLDER    prints: rows, milliseconds to read and build them, chains,
 *				complete chains, frames in all chains, nanoseconds per frame,
 *				nanoseconds to find a row anywhere in the kernel's text.
 *				Times are CPU time
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "cpu_time.h"
#include "sleepers.h"
#include "unwind/walk/unwind.h"

#define MAX_FRAMES 128
#define FRAMES_WANTED ((uint64_t)20000000)
#define PLACES ((size_t)1 << 20)

struct totals {
	uint64_t frames, complete;
};

static struct totals unwind_all(const struct sleepers *sleepers)
{
	struct unwind_frame frames[MAX_FRAMES];
	struct totals totals = { 0 };

	for (size_t i = 0; i < sleepers->items.count; i++) {
		const struct sleeper *sleeper = &sleepers->items.items[i];
		struct unwind_chain chain = { .frames = frames, .capacity = MAX_FRAMES };

		unwind_run(sleepers->table, &sleeper->registers, &sleeper->stack, 1, &chain);
		totals.frames += chain.count;
		totals.complete += chain.end == UNWIND_COMPLETE;
	}
	return totals;
}

/* The rows that sleeping tasks need stay in the first-level cache; these do not. */
static double measure_lookups(const struct sleepers *sleepers)
{
	struct guest_region text = sleepers->text;
	_cleanup_free_ uint64_t *places = memory_calloc(PLACES, sizeof(*places));
	uint64_t begin, random = 88172645463325252, found = 0;

	for (size_t i = 0; i < PLACES; i++) {
		random ^= random << 13; /* xorshift64 */
		random ^= random >> 7;
		random ^= random << 17;
		places[i] = text.start.value + random % (text.end.value - text.start.value);
	}
	begin = cpu_ns();
	for (size_t i = 0; i < PLACES; i++)
		found += unwind_table_find(sleepers->table, places[i]) != NULL;
	return found ? (double)(cpu_ns() - begin) / (double)PLACES : 0;
}

static void measure(const struct sleepers *sleepers)
{
	struct totals once = unwind_all(sleepers);
	uint64_t begin, rounds = once.frames ? FRAMES_WANTED / once.frames : 0;
	double ns;

	begin = cpu_ns();
	for (uint64_t i = 0; i < rounds; i++)
		unwind_all(sleepers);
	ns = rounds ? (double)(cpu_ns() - begin) / (double)(rounds * once.frames) : 0;
	printf("%zu %.1f %zu %" PRIu64 " %" PRIu64 " %.2f %.2f\n",
	       unwind_table_rows(sleepers->table), sleepers->read_ms, sleepers->items.count,
	       once.complete, once.frames, ns, measure_lookups(sleepers));
}

int main(int argc, char **argv)
{
	_cleanup_sleepers_ struct sleepers sleepers = { 0 };
	_cleanup_error_ struct error *error =
		argc == 2 ? sleepers_load(argv[1], &sleepers)
			  : error_create(ERROR_USAGE, "unwind_stacks FOLDER");

	if (error)
		fprintf(stderr, "unwind_stacks: %s\n", error_message(error));
	else
		measure(&sleepers);
	return error != NULL;
}
