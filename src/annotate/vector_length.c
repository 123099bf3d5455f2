/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "annotate/vector_length.h"

#define MAX_PREFIXES 4

enum map { MAP_0F = 1, MAP_0F38 = 2, MAP_0F3A = 3 };

/* Segments, and the size of addresses: what may stand before the prefix. */
static bool is_prefix(uint8_t byte)
{
	return byte == 0x64 || byte == 0x65 || byte == 0x67 || byte == 0x2e || byte == 0x36 ||
	       byte == 0x3e || byte == 0x26;
}

/*
 * How many bytes the prefix at CODE takes, and the map of opcodes that it chooses. In 32-bit code,
 * one that would be of memory is another instruction.
 */
static size_t prefix_length(const uint8_t *code, size_t size, bool is_64_bit, unsigned *ret_map)
{
	if (size < 4 || (!is_64_bit && code[1] < 0xc0))
		return 0;
	switch (code[0]) {
	case 0xc5:
		*ret_map = MAP_0F;
		return 2;
	case 0xc4:
		*ret_map = code[1] & 0x1f;
		return 3;
	case 0x62:
		*ret_map = code[1] & 7;
		return 4;
	}
	return 0;
}

static bool has_immediate(unsigned map, uint8_t opcode)
{
	if (map == MAP_0F)
		return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
		       (opcode >= 0xc4 && opcode <= 0xc6);
	return map == MAP_0F3A;
}

/* EVEX scales a displacement, but does not widen it. */
size_t operand_length(const uint8_t *code, size_t size)
{
	size_t length = 1;
	unsigned mode, base;

	if (size < 2)
		return size; /* without memory, or it does not fit */
	mode = code[0] >> 6;
	base = code[0] & 7;
	if (mode == 3)
		return 1;
	if (base == 4) {
		base = code[1] & 7;
		length = 2;
	}
	if (mode == 1)
		return length + 1;
	return length + (mode == 2 || base == 5 ? 4 : 0);
}

/* 0F 00 and 0F 01 with a ModRM that is no memory, such as lkgs, rdpkru, wrpkru and serialize. */
static size_t system_length(const uint8_t *code, size_t size)
{
	size_t length = size && (code[0] == 0x66 || code[0] == 0xf2 || code[0] == 0xf3);

	if (size - length < 3 || code[length] != 0x0f || code[length + 1] > 0x01 ||
	    code[length + 2] < 0xc0)
		return 0;
	return length + 3;
}

size_t vector_length(const uint8_t *code, size_t size, bool is_64_bit)
{
	size_t length = 0, prefix;
	unsigned map = 0;
	uint8_t opcode;

	if (system_length(code, size))
		return system_length(code, size);
	while (length < size && length < MAX_PREFIXES && is_prefix(code[length]))
		length++;
	prefix = prefix_length(code + length, size - length, is_64_bit, &map);
	length += prefix;
	if (!prefix || !map || length + 1 > size)
		return 0;
	opcode = code[length++];
	if (map == MAP_0F && opcode == 0x77) /* vzeroupper, vzeroall */
		return length;
	if (length == size)
		return 0;
	length += operand_length(code + length, size - length);
	length += has_immediate(map, opcode);
	return length <= size ? length : 0;
}
