/* SPDX-License-Identifier: GPL-2.0-or-later */
/* By the edit distance with adjacent transpositions, for words of at most MAX_LENGTH bytes. */
#include "base/suggestion.h"

#include <stdbool.h>
#include <string.h>

#define MAX_LENGTH 32
#define MAX_CHANGES 2

static size_t least(size_t left, size_t right)
{
	return left < right ? left : right;
}

/* How many letters are to be added, removed, replaced or swapped with the next one. */
static size_t count_changes(const char *from, const char *to)
{
	size_t rows[MAX_LENGTH + 1][MAX_LENGTH + 1];
	size_t height = strlen(from), width = strlen(to);

	if (height > MAX_LENGTH || width > MAX_LENGTH)
		return MAX_LENGTH;
	for (size_t y = 0; y <= height; y++)
		for (size_t x = 0; x <= width; x++) {
			bool same = y && x && from[y - 1] == to[x - 1];

			if (!y || !x) {
				rows[y][x] = y + x;
				continue;
			}
			rows[y][x] = least(rows[y - 1][x - 1] + !same,
					   least(rows[y - 1][x], rows[y][x - 1]) + 1);
			if (y > 1 && x > 1 && from[y - 1] == to[x - 2] && from[y - 2] == to[x - 1])
				rows[y][x] = least(rows[y][x], rows[y - 2][x - 2] + 1);
		}
	return rows[height][width];
}

void suggestion_consider(struct suggestion *suggestion, const char *word)
{
	size_t changes = count_changes(suggestion->text, word);

	/* What is half new is another word. */
	if (changes > MAX_CHANGES || 2 * changes >= strlen(word) ||
	    (suggestion->best && changes >= suggestion->changes))
		return;
	suggestion->best = word;
	suggestion->changes = changes;
}
