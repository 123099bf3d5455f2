// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What dwarf_machines.py makes chains of: without a C library, so that it can be built for machines
 * that are not here. inner() has a frame pointer, since its frame has no fixed size; leaf() has no
 * frame where calls leave the return address in a register.
 */
volatile long sum;

__attribute__((noinline)) void leaf(void)
{
	sum++;
}

__attribute__((noinline)) void inner(long bytes)
{
	volatile char space[bytes];

	space[0] = 1;
	leaf();
	sum += space[0];
}

__attribute__((noinline)) long middle(long bytes)
{
	volatile long kept[100] = { bytes };

	inner(bytes);
	return kept[bytes & 1];
}

__attribute__((noinline)) long recurse(long depth)
{
	return depth ? recurse(depth - 1) + sum : middle(depth + 64) + 1;
}

__attribute__((noinline)) long large(long depth)
{
	volatile char kept[100000];

	kept[depth] = kept[sizeof(kept) - depth] = 1;
	sum += recurse(depth);
	return kept[sum & 1023];
}

void begin(void)
{
	for (;;)
		sum += large(3) + 1;
}
