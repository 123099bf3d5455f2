/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For test_source_lines_perf.sh: functions that are inlined into each other, of two units and a
 * library. Compiled three times: with LIBRARY, with UNIT, and without both.
 */
#include <stdint.h>

uint64_t in_unit(uint64_t rounds);
uint64_t in_library(uint64_t rounds);

#define INLINED static inline __attribute__((always_inline))
#define OUTLINED __attribute__((noinline, noclone))

#ifdef LIBRARY
INLINED uint64_t library_step(uint64_t value)
{
	return value * 0x9e3779b97f4a7c15ULL ^ value >> 31;
}

OUTLINED uint64_t in_library(uint64_t rounds)
{
	uint64_t value = rounds;

	for (uint64_t i = 0; i < rounds; i++)
		value = library_step(value) + i;
	return value;
}
#elif defined(UNIT)
INLINED uint64_t unit_step(uint64_t value)
{
	return value / 3 + (value << 2);
}

OUTLINED uint64_t in_unit(uint64_t rounds)
{
	uint64_t value = rounds;

	for (uint64_t i = 0; i < rounds; i++)
		value = unit_step(value) ^ i;
	return value;
}
#else
static volatile uint64_t sink;

INLINED uint64_t mix(uint64_t value)
{
	value ^= value >> 33;
	value *= 0xff51afd7ed558ccdULL;
	for (int i = 0; i < 3; i++)
		value = value / 7 + i;
	return value ^ value >> 29;
}

INLINED uint64_t twice(uint64_t value)
{
	uint64_t sum = mix(value);

	return sum + mix(value + 1);
}

OUTLINED uint64_t in_program(uint64_t rounds)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < rounds; i++)
		sum += twice(i + sink);
	return sum;
}

INLINED void call_all(uint64_t rounds)
{
	sink += in_program(rounds);
	sink += in_unit(rounds);
	sink += in_library(2 * rounds);
}

int main(void)
{
	for (int i = 0; i < 600; i++)
		call_all(20000);
	return 0;
}
#endif
