/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/page/page_names.h"

#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"

#define MOST_OF_ESCAPE 12 /* of a character: two words of \\uXXXX */
#define DOTS "\xe2\x80\xa6"

/* What the first character of TEXT may take in JSON; *RET_BYTES: in TEXT. */
static size_t cost_of_character(const char *text, size_t left, size_t *ret_bytes)
{
	uint32_t character;

	*ret_bytes = utf8_decode(text, left, &character);
	if (*ret_bytes == 1 && character >= ' ' && character < 0x7f &&
	    !strchr("\"\\<", (char)character))
		return 1;
	*ret_bytes += !*ret_bytes;
	return MOST_OF_ESCAPE;
}

/* What NAME takes, or as much as there is room for; *RET_BYTES: how many of its bytes. */
static size_t cost_of(const char *name, size_t room, size_t *ret_bytes)
{
	size_t left = strlen(name), cost = 0, bytes;

	for (*ret_bytes = 0; left; left -= bytes, *ret_bytes += bytes) {
		size_t more = cost_of_character(name + *ret_bytes, left, &bytes);

		if (cost + more > room)
			break;
		cost += more;
	}
	return cost;
}

static size_t sum_costs(const size_t *costs, size_t count, size_t most)
{
	size_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += costs[i] < most ? costs[i] : most;
	return sum;
}

/* The most that a name may take so that all fit. */
static size_t find_most(const size_t *costs, size_t count)
{
	size_t most = PAGE_NAMES_BYTES, step = most;

	if (sum_costs(costs, count, most) <= PAGE_NAMES_BYTES)
		return most;
	for (most = 0; step; step /= 2)
		if (sum_costs(costs, count, most + step) <= PAGE_NAMES_BYTES)
			most += step;
	return most;
}

static void write_cut(struct json *json, const char *name, size_t most)
{
	_cleanup_free_ char *cut = NULL;
	size_t bytes;

	cost_of(name, most, &bytes);
	cut = memory_printf("%.*s" DOTS, (int)bytes, name);
	json_string(json, NULL, cut);
}

void page_names_write(struct json *json, const struct intern *texts, const uint32_t *numbers,
		      size_t count)
{
	_cleanup_free_ size_t *costs = memory_calloc(count + 1, sizeof(*costs));
	size_t most, bytes, cut = 0;

	for (size_t i = 0; i < count; i++)
		costs[i] = cost_of(intern_string(texts, numbers[i]), SIZE_MAX, &bytes);
	most = find_most(costs, count);
	json_open_array(json, "names");
	for (size_t i = 0; i < count; i++) {
		const char *name = intern_string(texts, numbers[i]);

		if (costs[i] <= most)
			json_string(json, NULL, name);
		else
			write_cut(json, name, most);
		cut += costs[i] > most;
	}
	json_close(json);
	json_unsigned(json, "names_cut", cut);
}
