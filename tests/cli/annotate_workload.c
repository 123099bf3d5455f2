// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the tests of annotate disassemble: loops, calls and data, without a C library, so that it
 * can be built for machines that are not here. Built with -DHOSTED it is a program that runs.
 */
#define OUTLINED __attribute__((noinline))

volatile unsigned long sum;
unsigned long table[256];

OUTLINED unsigned long mix(unsigned long value)
{
	for (unsigned long i = 0; i < 40; i++)
		value = value & 1 ? value ^ value >> 7 : value + value / 3 + i;
	return value;
}

OUTLINED void fill(unsigned long seed)
{
	for (int i = 0; i < 256; i++)
		table[i] += mix(seed + i) * 31;
}

OUTLINED unsigned long work(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++) {
		fill(i);
		if (table[i & 255] & 1)
			sum += table[i & 255];
		else
			sum -= mix(i);
	}
	return sum;
}

#ifdef HOSTED
int main(void)
{
	return work(20000) == 1;
}
#else
void _start(void)
{
	work(1000);
	for (;;)
		;
}
#endif
