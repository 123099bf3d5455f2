/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UTF-8 according to RFC 3629. */
#include "base/utf8.h"

#include <string.h>

/* The length that the first byte announces, 0 if it is invalid; *RET: its bits of the character. */
static size_t announced_length(uint8_t first, uint32_t *ret)
{
	if (first < 0x80) {
		*ret = first;
		return 1;
	}
	if (first >= 0xc2 && first < 0xe0) {
		*ret = first & 0x1f;
		return 2;
	}
	if (first >= 0xe0 && first < 0xf0) {
		*ret = first & 0x0f;
		return 3;
	}
	if (first >= 0xf0 && first < 0xf5) {
		*ret = first & 0x07;
		return 4;
	}
	return 0;
}

size_t utf8_decode(const char *text, size_t length, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t character = 0;
	size_t size = length ? announced_length(*text, &character) : 0;

	if (!size || size > length)
		return 0;
	for (size_t i = 1; i < size; i++) {
		if (((uint8_t)text[i] & 0xc0) != 0x80)
			return 0;
		character = character << 6 | ((uint8_t)text[i] & 0x3f);
	}
	if (character < least[size] || character > 0x10ffff ||
	    (character >= 0xd800 && character < 0xe000))
		return 0;
	*ret = character;
	return size;
}

/*
 * The general categories Cc, Cf, Zl and Zp, and the property Default_Ignorable_Code_Point: Unicode
 * 15.1, UnicodeData.txt and DerivedCoreProperties.txt. Both ends belong to a range; ascending.
 */
static const struct {
	uint32_t first, last;
} steering[] = {
	{ 0x0, 0x1f },	       { 0x7f, 0x9f },	       { 0xad, 0xad },
	{ 0x34f, 0x34f },      { 0x600, 0x605 },       { 0x61c, 0x61c },
	{ 0x6dd, 0x6dd },      { 0x70f, 0x70f },       { 0x890, 0x891 },
	{ 0x8e2, 0x8e2 },      { 0x115f, 0x1160 },     { 0x17b4, 0x17b5 },
	{ 0x180b, 0x180f },    { 0x200b, 0x200f },     { 0x2028, 0x202e },
	{ 0x2060, 0x206f },    { 0x3164, 0x3164 },     { 0xfe00, 0xfe0f },
	{ 0xfeff, 0xfeff },    { 0xffa0, 0xffa0 },     { 0xfff0, 0xfffb },
	{ 0x110bd, 0x110bd },  { 0x110cd, 0x110cd },   { 0x13430, 0x1343f },
	{ 0x1bca0, 0x1bca3 },  { 0x1d173, 0x1d17a },   { 0xe0000, 0xe0fff },
};

bool utf8_steers_terminal(uint32_t character)
{
	if (character >= ' ' && character <= '~')
		return false;
	for (size_t i = 0; i < sizeof(steering) / sizeof(*steering); i++)
		if (character <= steering[i].last)
			return character >= steering[i].first;
	return false;
}

/*
 * The length of the first character, or of one invalid byte; *RET: whether it may go to a terminal.
 * TEXT is not empty.
 */
static size_t next_bytes(const char *text, size_t length, bool *ret)
{
	uint32_t character;
	size_t bytes = utf8_decode(text, length, &character);

	*ret = bytes && !utf8_steers_terminal(character);
	return bytes ? bytes : 1;
}

static const char *skip_usual(const char *text)
{
	while (*text >= ' ' && *text <= '~')
		text++;
	return text;
}

void utf8_append_escaped(struct buffer *out, const char *text)
{
	const char *from = text, *end = text + strlen(text);

	while ((text = skip_usual(text)) < end) {
		bool plain;
		size_t bytes = next_bytes(text, end - text, &plain);

		if (!plain) {
			buffer_append(out, from, text - from);
			for (size_t i = 0; i < bytes; i++)
				buffer_printf(out, "\\x%02x", (uint8_t)text[i]);
			from = text + bytes;
		}
		text += bytes;
	}
	buffer_append(out, from, text - from);
}

const char *utf8_printable(const char *text, size_t length, char *ret, size_t size)
{
	size_t put = 0;

	while (length) {
		bool plain;
		size_t got = next_bytes(text, length, &plain);
		size_t add = plain ? got : 1;

		if (put + add >= size)
			break;
		memcpy(ret + put, plain ? text : "?", add);
		put += add;
		text += got;
		length -= got;
	}
	if (size)
		ret[put] = 0;
	return ret;
}

size_t utf8_count(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += ((uint8_t)*text & 0xc0) != 0x80;
	return count;
}
