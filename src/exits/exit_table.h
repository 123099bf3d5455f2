/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a statistic while exits are counted. Part of exits.c. */
#ifndef EXITS_EXIT_TABLE_H
#define EXITS_EXIT_TABLE_H

#include "base/map.h"
#include "exits/exits.h"

/* A row that grows: 8 bytes for each time, which the median needs. */
struct exit_cell {
	struct exits_row row;
	VECTOR(uint64_t) times_ns;
	double squares; /* sum of squared differences from the mean */
	uint32_t next;	/* index + 1 of another cell with the same hash */
};

struct exit_table {
	VECTOR(struct exit_cell) cells;
	struct map by_hash; /* -> index + 1 */
};

void exit_table_init(struct exit_table *table);
void exit_table_deinit(struct exit_table *table);

/* Counts an exit in the row with the keys of KEY. */
void exit_table_count(struct exit_table *table, const struct exits_row *key);
/* The same for one that took TIME_NS. */
void exit_table_count_timed(struct exit_table *table, const struct exits_row *key,
			    uint64_t time_ns);
/* Appends the rows to RET, in the order in which they were first counted. */
void exit_table_finish(struct exit_table *table, struct exits *ret);

#endif
