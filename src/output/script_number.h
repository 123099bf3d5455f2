/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers as perf script prints them, for millions of lines: printf() takes too long. */
#ifndef OUTPUT_SCRIPT_NUMBER_H
#define OUTPUT_SCRIPT_NUMBER_H

#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * At least WIDTH characters (at most 20), FILL before the digits. 20 bytes at AT are written to,
 * whatever the number: to copy as many as there are takes longer.
 */
static inline char *put_padded(char *at, uint64_t value, int width, char fill)
{
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	char digits[2 * 20]; /* they end in the middle */
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

/* As %Nd of a number that perf holds as int: -1 is "not known". */
static inline char *put_int(char *at, uint32_t value, int width)
{
	if (value <= INT32_MAX)
		return put_padded(at, value, width, ' ');
	return at + snprintf(at, 12 + width, "%*d", width, (int)value);
}

/* The eight hexadecimal digits of VALUE, the highest in the lowest byte. */
static inline uint64_t hex_digits(uint32_t value)
{
	uint64_t digits = value;

	/* A digit to each byte, then '0' or 'a' - 10 is added to all of them at once. */
	digits = (digits | digits << 16) & 0x0000ffff0000ffffULL;
	digits = (digits | digits << 8) & 0x00ff00ff00ff00ffULL;
	digits = (digits | digits << 4) & 0x0f0f0f0f0f0f0f0fULL;
	digits +=
		0x3030303030303030ULL +
		((digits + 0x0606060606060606ULL) >> 4 & 0x0101010101010101ULL) * ('a' - '0' - 10);
	return __builtin_bswap64(digits);
}

/* As %16lx: 16 bytes at AT. */
static inline void put_address(char *at, uint64_t address)
{
	uint64_t words[2] = { htole64(hex_digits(address >> 32)), htole64(hex_digits(address)) };
	int blanks = __builtin_clzll(address | 1) / 4;

	memcpy(at, words, sizeof(words));
	memset(at, ' ', blanks);
}

#endif
