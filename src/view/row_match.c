/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/row_match.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/vector.h"
#include "output/script/script_number.h"
#include "output/view.h"

#define MAX_CELL_BYTES (1024 * 1024)

enum known { UNKNOWN, MISSES, MATCHES };

typedef VECTOR(uint8_t) known_list; /* an enum known for each number */

struct row_match {
	const struct profile *profile;
	char *text, *lower;   /* as given, and in lower case */
	bool like_an_address; /* nothing in it cannot be in one */
	known_list strings, locations;
	struct buffer cell;
};

static char lower(char letter)
{
	return letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter;
}

struct row_match *row_match_create(const struct profile *profile)
{
	struct row_match *match = memory_calloc(1, sizeof(*match));

	match->profile = profile;
	match->text = memory_strdup("");
	match->lower = memory_strdup("");
	buffer_init(&match->cell, MAX_CELL_BYTES);
	return match;
}

void row_match_destroy(struct row_match *match)
{
	if (!match)
		return;
	vector_deinit(&match->strings);
	vector_deinit(&match->locations);
	buffer_deinit(&match->cell);
	free(match->text);
	free(match->lower);
	free(match);
}

/* LONGER: what misses a part of the text misses all of it. */
static void forget(known_list *list, bool longer)
{
	for (size_t i = 0; longer && i < list->count; i++)
		if (list->items[i] == MATCHES)
			list->items[i] = UNKNOWN;
	if (!longer)
		list->count = 0;
}

void row_match_renew(struct row_match *match, const struct profile *profile)
{
	match->profile = profile;
	forget(&match->strings, false);
	forget(&match->locations, false);
}

void row_match_set(struct row_match *match, const char *text)
{
	_cleanup_free_ char *before = match->lower;
	char *copy = memory_strdup(text);
	bool longer;

	free(match->text);
	match->text = copy;
	match->lower = memory_strdup(copy);
	for (char *at = match->lower; *at; at++)
		*at = lower(*at);
	longer = strstr(match->lower, before);
	match->like_an_address = !match->lower[strspn(match->lower, "0123456789abcdefx")];
	forget(&match->strings, longer);
	forget(&match->locations, longer);
}

const char *row_match_text(const struct row_match *match)
{
	return match->text;
}

/* What is known of NUMBER in LIST; valid until the next call. */
static uint8_t *known_of(known_list *list, uint32_t number)
{
	if (number >= list->count) {
		size_t from = list->count;

		vector_reserve(list, (size_t)number + 1);
		list->count = list->capacity;
		memset(list->items + from, UNKNOWN, list->count - from);
	}
	return &list->items[number];
}

static bool begins_with(const char *text, const char *wanted)
{
	while (*wanted && lower(*text) == *wanted) {
		text++;
		wanted++;
	}
	return !*wanted;
}

/* strcasestr() is several times slower, and heeds the locale. */
bool row_match_has(const struct row_match *match, const char *text)
{
	for (; *text; text++)
		if (lower(*text) == match->lower[0] && begins_with(text, match->lower))
			return true;
	return !match->lower[0];
}

/* For cells that are made for the purpose: numbers, addresses. */
static bool has_cell(struct row_match *match, const struct profile_row *row, enum profile_key key)
{
	buffer_clear(&match->cell);
	view_append_cell(&match->cell, match->profile, row, key);
	buffer_append_u8(&match->cell, 0);
	return row_match_has(match, (const char *)match->cell.data);
}

static bool has_string(struct row_match *match, uint32_t number)
{
	const struct intern *strings = match->profile->session->strings;
	uint8_t *known = known_of(&match->strings, number);

	if (*known == UNKNOWN)
		*known = row_match_has(match, intern_string(strings, number)) ? MATCHES : MISSES;
	return *known == MATCHES;
}

/* As it is shown, without printf(), which is too slow for a million of them. */
static bool has_address(const struct row_match *match, uint64_t address)
{
	uint64_t digits[2] = { htole64(hex_digits(address >> 32)),
			       htole64(hex_digits(address)) };
	char text[2 + sizeof(digits) + 1] = "0x";

	memcpy(text + 2, digits, sizeof(digits));
	return match->like_an_address && row_match_has(match, text);
}

/* A function's name, or its address; without the letter of its mode, which is no name. */
static bool has_function(const struct row_match *match, uint32_t number)
{
	struct resolver *resolver = match->profile->resolver;
	const char *name = resolver_symbol_name(resolver, number);

	return name ? row_match_has(match, name)
		    : has_address(match, resolver_location(resolver, number)->address);
}

static bool has_location(struct row_match *match, uint32_t number)
{
	uint8_t *known = known_of(&match->locations, number);

	if (*known == UNKNOWN)
		*known = has_function(match, number) ? MATCHES : MISSES;
	return *known == MATCHES;
}

static bool has_key(struct row_match *match, const struct profile_row *row, enum profile_key key)
{
	switch (key) {
	case PROFILE_VM:
		return row_match_has(match, row->vm ? row->vm->name : MACHINE_HOST_NAME);
	case PROFILE_COMM:
		return row->comm == TIMELINE_NO_COMM ? has_cell(match, row, key)
						     : has_string(match, row->comm);
	case PROFILE_GUEST_COMM:
		return row->guest_comm >= PROFILE_HOST_COMM
			       ? row_match_has(match, profile_guest_comm(match->profile, row))
			       : has_string(match, row->guest_comm);
	case PROFILE_DSO:
		return has_string(match, row->dso);
	case PROFILE_SYMBOL:
		return has_location(match, row->location);
	default:
		return has_cell(match, row, key);
	}
}

bool row_match_row(struct row_match *match, const struct profile_row *row,
		   const struct profile_keys *keys)
{
	if (!*match->text)
		return true;
	for (size_t i = 0; i < keys->count; i++)
		if (has_key(match, row, keys->items[i]))
			return true;
	return false;
}
