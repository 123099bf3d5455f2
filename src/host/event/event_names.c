/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own event names (include/uapi/linux/perf_event.h: enum perf_hw_id, perf_sw_ids,
 * perf_hw_cache_*), spelled as perf spells them (tools/perf/util/parse-events.l).
 *
 * A cache event is CACHE[-OP][-RESULT] with op and result in any order: L1-dcache-load-misses;
 * its config is cache | op << 8 | result << 16.
 */
#include "host/event/event_names.h"

#include <linux/perf_event.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"

struct symbol_row {
	const char *names; /* separated by '|' */
	uint32_t type;
	uint32_t config;
};

static const struct symbol_row symbols[] = {
	{ "cycles|cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches|branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend|idle-cycles-frontend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend|idle-cycles-backend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults|faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "context-switches|cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations|migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
	{ "dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY },
	{ "bpf-output", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT },
	{ "cgroup-switches", PERF_TYPE_SOFTWARE, 11 /* since 5.13 */ },
};

static const struct symbol_row caches[] = {
	{ "L1-dcache|l1-d|l1d|L1-data", 0, PERF_COUNT_HW_CACHE_L1D },
	{ "L1-icache|l1-i|l1i|L1-instruction", 0, PERF_COUNT_HW_CACHE_L1I },
	{ "LLC|L2", 0, PERF_COUNT_HW_CACHE_LL },
	{ "dTLB|d-tlb|Data-TLB", 0, PERF_COUNT_HW_CACHE_DTLB },
	{ "iTLB|i-tlb|Instruction-TLB", 0, PERF_COUNT_HW_CACHE_ITLB },
	{ "branch|branches|bpu|btb|bpc", 0, PERF_COUNT_HW_CACHE_BPU },
	{ "node", 0, PERF_COUNT_HW_CACHE_NODE },
};

static const struct symbol_row operations[] = {
	{ "load|loads|read", 0, PERF_COUNT_HW_CACHE_OP_READ },
	{ "store|stores|write", 0, PERF_COUNT_HW_CACHE_OP_WRITE },
	{ "prefetch|prefetches|speculative-read|speculative-load", 0,
	  PERF_COUNT_HW_CACHE_OP_PREFETCH },
};

static const struct symbol_row results[] = {
	{ "refs|Reference|ops|access", 0, PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "misses|miss", 0, PERF_COUNT_HW_CACHE_RESULT_MISS },
};

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

/* The length of the longest of NAMES that TEXT begins with, up to its end or a '-'; 0: none. */
static size_t match_prefix(const char *names, const char *text)
{
	size_t best = 0;

	while (*names) {
		size_t length = strcspn(names, "|");

		if (length > best && !strncasecmp(names, text, length) &&
		    (!text[length] || text[length] == '-'))
			best = length;
		names += length + (names[length] == '|');
	}
	return best;
}

/* Finds the row of TABLE with the longest match. Returns the match's length, 0 if there is none. */
static size_t match_table(const struct symbol_row *table, size_t rows, const char *text,
			  uint32_t *ret_config)
{
	size_t best = 0;

	for (size_t i = 0; i < rows; i++) {
		size_t length = match_prefix(table[i].names, text);

		if (length > best) {
			best = length;
			*ret_config = table[i].config;
		}
	}
	return best;
}

static bool find_cache_event(const char *name, uint64_t *ret_config)
{
	uint32_t cache, operation = PERF_COUNT_HW_CACHE_OP_READ;
	uint32_t result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
	bool have_operation = false, have_result = false;
	size_t length = match_table(caches, ROWS(caches), name, &cache);

	if (!length)
		return false;
	for (name += length; *name; name += length) {
		name++; /* skips the '-' after the match */
		if (!have_operation &&
		    (length = match_table(operations, ROWS(operations), name, &operation)))
			have_operation = true;
		else if (!have_result &&
			 (length = match_table(results, ROWS(results), name, &result)))
			have_result = true;
		else
			return false;
	}
	*ret_config = cache | operation << 8 | result << 16;
	return have_operation || have_result;
}

bool event_name_find(const char *name, uint32_t *ret_type, uint64_t *ret_config)
{
	for (size_t i = 0; i < ROWS(symbols); i++) {
		if (match_prefix(symbols[i].names, name) != strlen(name) || !*name)
			continue;
		*ret_type = symbols[i].type;
		*ret_config = symbols[i].config;
		return true;
	}
	if (!find_cache_event(name, ret_config))
		return false;
	*ret_type = PERF_TYPE_HW_CACHE;
	return true;
}

/* The Levenshtein distance of A and B, at most LIMIT + 1; both must be shorter than 64. */
static unsigned distance(const char *a, const char *b, unsigned limit)
{
	unsigned row[64];
	size_t b_length = strlen(b);

	if (strlen(a) >= 64 || b_length >= 64)
		return limit + 1;
	for (size_t j = 0; j <= b_length; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		unsigned diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < b_length; j++) {
			unsigned substitute = diagonal + (a[i] != b[j]);
			unsigned other = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;

			diagonal = row[j + 1];
			row[j + 1] = substitute < other ? substitute : other;
		}
	}
	return row[b_length];
}

#define SUGGESTIONS 3

struct suggestion {
	char name[64];
	unsigned score; /* less is better */
};

/* Inserts NAME into BEST, which holds the best SUGGESTIONS, sorted. */
static void offer(struct suggestion *best, const char *wanted, const char *name, size_t length)
{
	struct suggestion new = { .score = 0 };
	unsigned limit = strlen(wanted) / 3 + 1;

	if (length >= sizeof(new.name))
		return;
	memcpy(new.name, name, length);
	new.score = distance(wanted, new.name, limit);
	if (new.score > limit) {
		/* "exit" may mean kvm:kvm_exit, but one or two letters would match anything. */
		if (strlen(wanted) < 3 || !strstr(new.name, wanted))
			return;
		new.score = limit + 1;
	}
	for (size_t i = 0; i < SUGGESTIONS; i++) {
		struct suggestion displaced = best[i];

		if (displaced.name[0] && displaced.score <= new.score)
			continue;
		best[i] = new;
		new = displaced;
		if (!new.name[0])
			return;
	}
}

char *event_name_suggest(const char *name, const struct event_candidates *candidates)
{
	struct suggestion best[SUGGESTIONS] = { 0 };
	_cleanup_buffer_ struct buffer text = { 0 };

	for (size_t i = 0; i < ROWS(symbols); i++) {
		const char *names = symbols[i].names;

		offer(best, name, names, strcspn(names, "|"));
	}
	for (size_t i = 0; i < candidates->names.count; i++)
		offer(best, name, candidates->names.items[i], strlen(candidates->names.items[i]));
	if (!best[0].name[0])
		return NULL;
	buffer_init(&text, 512);
	for (size_t i = 0; i < SUGGESTIONS && best[i].name[0]; i++)
		buffer_printf(&text, "%s%s", i ? ", " : "", best[i].name);
	return memory_strndup((const char *)text.data, text.size);
}
