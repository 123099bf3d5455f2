/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mean and variance are kept as in perf (update_stats() in tools/perf/util/stat.c: Welford's
 * method), so that the same digits are printed. The median and the 99th percentile are times that
 * occurred: the smallest that at least half, or 99 %, do not exceed.
 */
#include "exits/exit_table.h"

#include <math.h>
#include <stdlib.h>

void exit_table_init(struct exit_table *table)
{
	*table = (struct exit_table){ 0 };
	map_init(&table->by_hash);
}

void exit_table_deinit(struct exit_table *table)
{
	for (size_t i = 0; i < table->cells.count; i++)
		vector_deinit(&table->cells.items[i].times_ns);
	vector_deinit(&table->cells);
	map_deinit(&table->by_hash);
}

static uint64_t hash_of(const struct exits_row *key)
{
	uint64_t hash = hash_u64(key->code);

	hash = hash_u64(hash ^ key->info ^ (uint64_t)key->isa << 56);
	hash = hash_u64(hash ^ key->symbol ^ (uint64_t)key->vcpu << 32);
	return hash_u64(hash ^ (uintptr_t)key->vm);
}

static bool is_same(const struct exits_row *left, const struct exits_row *right)
{
	return left->code == right->code && left->info == right->info &&
	       left->isa == right->isa && left->symbol == right->symbol &&
	       left->vcpu == right->vcpu && left->vm == right->vm;
}

static struct exit_cell *find_cell(struct exit_table *table, const struct exits_row *key)
{
	uint64_t *first = map_insert(&table->by_hash, hash_of(key), NULL);

	for (uint64_t at = *first; at; at = table->cells.items[at - 1].next)
		if (is_same(&table->cells.items[at - 1].row, key))
			return &table->cells.items[at - 1];
	vector_append(&table->cells, (struct exit_cell){ .row = *key, .next = *first });
	*first = table->cells.count;
	return &table->cells.items[table->cells.count - 1];
}

void exit_table_count(struct exit_table *table, const struct exits_row *key)
{
	find_cell(table, key)->row.count++;
}

void exit_table_count_timed(struct exit_table *table, const struct exits_row *key,
			    uint64_t time_ns)
{
	struct exit_cell *cell = find_cell(table, key);
	double difference = (double)time_ns - cell->row.mean_ns;

	cell->row.count++;
	cell->row.timed++;
	cell->row.total_ns += time_ns;
	cell->row.mean_ns += difference / cell->row.timed;
	cell->squares += difference * ((double)time_ns - cell->row.mean_ns);
	vector_append(&cell->times_ns, time_ns);
}

static int compare_times(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void finish_row(struct exit_cell *cell)
{
	struct exits_row *row = &cell->row;
	const uint64_t *times = cell->times_ns.items;
	uint64_t count = row->timed;

	if (!count)
		return;
	qsort(cell->times_ns.items, count, sizeof(*times), compare_times);
	row->histogram = memory_calloc(EXITS_BUCKETS, sizeof(*row->histogram));
	for (uint64_t i = 0; i < count; i++)
		row->histogram[times[i] ? 64 - __builtin_clzll(times[i]) : 0]++;
	row->min_ns = times[0];
	row->median_ns = times[(count - 1) / 2];
	row->p99_ns = times[count - 1 - count / 100];
	row->max_ns = times[count - 1];
	if (count > 1 && row->mean_ns > 0)
		row->error = 100 * sqrt(cell->squares / (count - 1) / count) / row->mean_ns;
}

void exit_table_finish(struct exit_table *table, struct exits *ret)
{
	for (size_t i = 0; i < table->cells.count; i++) {
		struct exit_cell *cell = &table->cells.items[i];

		finish_row(cell);
		ret->count += cell->row.count;
		ret->total_ns += cell->row.total_ns;
		vector_append(&ret->rows, cell->row);
	}
}
