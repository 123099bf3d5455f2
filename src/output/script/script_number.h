/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints numbers like perf script. Used for millions of lines, for which printf() is too slow. */
#ifndef OUTPUT_SCRIPT_NUMBER_H
#define OUTPUT_SCRIPT_NUMBER_H

#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "output/script/script_text.h"

/*
 * Prints at least WIDTH characters (at most 20), with FILL before the digits. Always writes 20
 * bytes at AT: copying only as many as needed would be slower.
 */
static inline char *put_padded(char *at, uint64_t value, int width, char fill)
{
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	char digits[2 * 20]; /* end in the middle */
	int first = 20;

	memset(digits, fill, sizeof(digits));
	for (; value >= 100; value /= 100)
		memcpy(digits + (first -= 2), pairs + 2 * (value % 100), 2);
	if (value >= 10)
		memcpy(digits + (first -= 2), pairs + 2 * value, 2);
	else
		digits[--first] = '0' + value;
	if (first > 20 - width)
		first = 20 - width;
	memcpy(at, digits + first, 20);
	return at + 20 - first;
}

/* Like %Nd for a number that perf keeps as int: -1 is "not known". */
static inline char *put_int(char *at, uint32_t value, int width)
{
	if (value <= INT32_MAX)
		return put_padded(at, value, width, ' ');
	return at + snprintf(at, 12 + width, "%*d", width, (int)value);
}

/* The eight hexadecimal digits of VALUE, with the highest digit in the lowest byte. */
static inline uint64_t hex_digits(uint32_t value)
{
	uint64_t digits = value;

	/* Puts each digit into a byte, then adds '0' or 'a' - 10 to all of them at once. */
	digits = (digits | digits << 16) & 0x0000ffff0000ffffULL;
	digits = (digits | digits << 8) & 0x00ff00ff00ff00ffULL;
	digits = (digits | digits << 4) & 0x0f0f0f0f0f0f0f0fULL;
	digits +=
		0x3030303030303030ULL +
		((digits + 0x0606060606060606ULL) >> 4 & 0x0101010101010101ULL) * ('a' - '0' - 10);
	return __builtin_bswap64(digits);
}

/* Like %16lx: writes 16 bytes at AT. */
static inline void put_address(char *at, uint64_t address)
{
	uint64_t words[2] = { htole64(hex_digits(address >> 32)), htole64(hex_digits(address)) };
	int blanks = __builtin_clzll(address | 1) / 4;

	memcpy(at, words, sizeof(words));
	memset(at, ' ', blanks);
}

/* "   12/13 [001] " */
static inline char *put_thread(char *at, const struct perfdata_sample *values, uint32_t fields)
{
	if (fields & SCRIPT_PID)
		at = put_int(at, values->pid, 5);
	if ((fields & SCRIPT_PID) && (fields & SCRIPT_TID)) {
		char *start;

		*at++ = '/';
		start = at;
		at = put_int(at, values->tid, 0);
		while (at < start + 5)
			*at++ = ' ';
	} else if (fields & SCRIPT_TID) {
		at = put_int(at, values->tid, 5);
	}
	if (fields & (SCRIPT_PID | SCRIPT_TID))
		*at++ = ' ';
	if (fields & SCRIPT_CPU) {
		*at++ = '[';
		at = put_padded(at, values->cpu, 3, '0');
		*at++ = ']';
		*at++ = ' ';
	}
	return at;
}

#endif
