/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes the sting out of names that could drive a terminal. */
#include "output/escape.h"

#include <string.h>

/* Bytes at TEXT that make one control character, 0 for none. */
static size_t control_bytes(const unsigned char *text)
{
	if (text[0] < 0x20 || text[0] == 0x7f)
		return 1;
	if (text[0] == 0xc2 && text[1] >= 0x80 && text[1] <= 0x9f)
		return 2;
	return 0;
}

void output_append_escaped(struct buffer *out, const char *text)
{
	const unsigned char *from = (const unsigned char *)text, *at = from;

	while (*at) {
		size_t bytes = control_bytes(at);

		if (!bytes) {
			at++;
			continue;
		}
		buffer_append(out, from, at - from);
		for (; bytes; bytes--)
			buffer_printf(out, "\\x%02x", *at++);
		from = at;
	}
	buffer_append(out, from, at - from);
}
