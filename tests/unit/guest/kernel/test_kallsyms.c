/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kallsyms tables laid out as by scripts/kallsyms.c, in every form that the header claims to
 * support, found in a block of noise and read back.
 */
#include "test.h"

#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "guest/kernel/kallsyms.h"

#define SYMBOLS 1000
#define IMAGE_START 0xffffffff81000000ULL
#define IMAGE_END 0xffffffff83000000ULL
#define BLOCK_START 0xffffffff82000000ULL
#define NOISE_BYTES 40000

struct form {
	const char *name;
	bool addresses_first; /* until 6.3 */
	enum guest_kallsyms_form form;
	int alignment, marker_bytes;
	bool sequence_between; /* seqs_of_names before the tokens: 6.2, 6.3 */
};

static const struct form forms[] = {
	{ "4.6", true, GUEST_KALLSYMS_BASE_PERCPU, 8, 8, false },
	{ "4.20", true, GUEST_KALLSYMS_BASE_PERCPU, 8, 4, false },
	{ "6.2", true, GUEST_KALLSYMS_BASE_PERCPU, 8, 4, true },
	{ "6.4", false, GUEST_KALLSYMS_BASE_PERCPU, 8, 4, false },
	{ "6.15", false, GUEST_KALLSYMS_BASE_UNSIGNED, 8, 4, false },
	{ "arm64, 6.1", true, GUEST_KALLSYMS_BASE_UNSIGNED, 8, 4, false },
	{ "2026", false, GUEST_KALLSYMS_PLACE, 4, 4, false },
	{ "absolute, 4.6", true, GUEST_KALLSYMS_ABSOLUTE, 8, 8, false },
	{ "absolute, 6.4", false, GUEST_KALLSYMS_ABSOLUTE, 8, 4, false },
};

static uint64_t address_of(const struct form *form, size_t number)
{
	/* The first ones are per-CPU symbols if the form supports those. */
	if (number < 20 && form->form == GUEST_KALLSYMS_BASE_PERCPU)
		return number * 64;
	return IMAGE_START + number * 0x5000;
}

static char type_of(size_t number)
{
	return "TtdDbBrRwWA"[number % 11];
}

/* Every 100th name is longer than 127 bytes uncompressed. */
static void name_of(size_t number, bool long_names, char *ret)
{
	snprintf(ret, 64, "symbol_%zu_of_the_kernel", number);
	if (long_names && number % 100 == 50) {
		size_t length = strlen(ret);

		memset(ret + length, 'x', 200);
		ret[length + 200] = 0;
	}
}

/* Tokens: every byte stands for itself, except 1 for "symbol_" and 2 for "_of_the_". */
static const char *token_of(int byte, char *single)
{
	if (byte == 1)
		return "symbol_";
	if (byte == 2)
		return "_of_the_";
	single[0] = byte < 32 || byte > 126 ? 0 : (char)byte;
	single[1] = 0;
	return single;
}

/* Compresses TEXT with the tokens; returns the number of bytes. */
static size_t compress(char type, const char *text, uint8_t *ret)
{
	size_t used = 0;

	ret[used++] = (uint8_t)type;
	while (*text) {
		if (!strncmp(text, "symbol_", 7)) {
			ret[used++] = 1;
			text += 7;
		} else if (!strncmp(text, "_of_the_", 8)) {
			ret[used++] = 2;
			text += 8;
		} else {
			ret[used++] = (uint8_t)*text++;
		}
	}
	return used;
}

static void append_addresses(struct buffer *block, const struct form *form)
{
	uint64_t base = IMAGE_START;

	for (size_t i = 0; i < SYMBOLS; i++) {
		uint64_t address = address_of(form, i);

		switch (form->form) {
		case GUEST_KALLSYMS_ABSOLUTE:
			buffer_append_u64(block, address);
			break;
		case GUEST_KALLSYMS_BASE_UNSIGNED:
			buffer_append_u32(block, address - base);
			break;
		case GUEST_KALLSYMS_BASE_PERCPU:
			buffer_append_u32(block, address < base ? address : base - address - 1);
			break;
		case GUEST_KALLSYMS_PLACE:
			buffer_append_u32(block, address - (BLOCK_START + block->size));
			break;
		}
	}
	buffer_pad(block, form->alignment);
	if (form->form == GUEST_KALLSYMS_BASE_UNSIGNED || form->form == GUEST_KALLSYMS_BASE_PERCPU)
		buffer_append_u64(block, base);
}

static void append_names(struct buffer *block, const struct form *form, bool long_names)
{
	uint64_t markers[SYMBOLS / 256 + 1];
	size_t start;

	buffer_append_u32(block, SYMBOLS);
	buffer_pad(block, form->alignment);
	start = block->size;
	for (size_t i = 0; i < SYMBOLS; i++) {
		uint8_t bytes[400];
		char name[400];
		size_t length;

		if (i % 256 == 0)
			markers[i / 256] = block->size - start;
		name_of(i, long_names, name);
		length = compress(type_of(i), name, bytes);
		if (length > 127) {
			buffer_append_u8(block, (length & 0x7f) | 0x80);
			length = length & 0x7fff;
			buffer_append_u8(block, length >> 7);
		} else {
			buffer_append_u8(block, length);
		}
		buffer_append(block, bytes, length);
	}
	buffer_pad(block, form->alignment);
	for (size_t i = 0; i <= (SYMBOLS - 1) / 256; i++)
		buffer_append(block, &markers[i], form->marker_bytes);
	buffer_pad(block, form->alignment);
}

static void append_tokens(struct buffer *block, const struct form *form)
{
	uint16_t index[256];
	size_t start = block->size;
	char single[2];

	for (int i = 0; i < 256; i++) {
		const char *token = token_of(i, single);

		index[i] = block->size - start;
		buffer_append(block, token, strlen(token) + 1);
	}
	buffer_pad(block, form->alignment);
	buffer_append(block, index, sizeof(index));
	buffer_pad(block, form->alignment);
}

static void append_noise(struct buffer *block, uint32_t seed)
{
	for (size_t i = 0; i < NOISE_BYTES / 4; i++) {
		seed = seed * 1664525 + 1013904223;
		/* Many zeros, as in read-only data. */
		buffer_append_u32(block, seed >> 28 < 6 ? 0 : seed);
	}
}

static void build(struct buffer *block, const struct form *form, bool long_names)
{
	buffer_init(block, 1 << 22);
	append_noise(block, 1);
	if (form->addresses_first)
		append_addresses(block, form);
	append_names(block, form, long_names);
	for (uint32_t i = 0; form->sequence_between && i < SYMBOLS; i++)
		buffer_append_u32(block, (i * 7) % SYMBOLS);
	buffer_pad(block, form->alignment);
	append_tokens(block, form);
	if (!form->addresses_first)
		append_addresses(block, form);
	append_noise(block, 2);
	assert_false(block->overflow);
}

static bool find(const struct buffer *bytes, struct guest_kallsyms *ret)
{
	struct guest_block block = { bytes->data, bytes->size, GVA(BLOCK_START) };

	return guest_kallsyms_find(&block, GVA(IMAGE_START), GVA(IMAGE_END), ret);
}

static void check_symbols(const struct guest_kallsyms *kallsyms, const struct form *form,
			  bool long_names)
{
	struct guest_kallsyms_iterator iterator = guest_kallsyms_iterate(kallsyms);
	struct guest_kallsyms_symbol symbol;
	size_t count = 0;

	while (guest_kallsyms_next(&iterator, &symbol)) {
		char name[400];

		name_of(count, long_names, name);
		assert_string_equal(symbol.name, name);
		assert_int_equal(symbol.type, type_of(count));
		assert_true(symbol.address.value == address_of(form, count));
		count++;
	}
	assert_int_equal(count, SYMBOLS);
}

static void every_form_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		for (int long_names = 0; long_names < 2; long_names++) {
			_cleanup_buffer_ struct buffer block;
			struct guest_kallsyms kallsyms;

			print_message("%s%s\n", forms[i].name, long_names ? ", long names" : "");
			build(&block, &forms[i], long_names);
			assert_true(find(&block, &kallsyms));
			assert_int_equal(kallsyms.form, forms[i].form);
			check_symbols(&kallsyms, &forms[i], long_names);
		}
	}
}

static void noise_has_no_symbols(void **state)
{
	_cleanup_buffer_ struct buffer block;
	struct guest_kallsyms kallsyms;

	(void)state;
	buffer_init(&block, 1 << 22);
	for (uint32_t seed = 1; seed < 50; seed++)
		append_noise(&block, seed);
	assert_false(find(&block, &kallsyms));
	block.size = 100;
	assert_false(find(&block, &kallsyms));
	block.size = 0;
	assert_false(find(&block, &kallsyms));
}

/* If a block is cut anywhere, or has any bit flipped, its symbols may be lost, but nothing else. */
static void damaged_tables_are_survived(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		_cleanup_buffer_ struct buffer block;
		struct guest_kallsyms kallsyms;
		struct guest_kallsyms_symbol symbol;
		size_t size;

		build(&block, &forms[i], true);
		size = block.size;
		for (size_t cut = 0; cut < size; cut += 997) {
			uint8_t *copy = memory_dup(block.data, cut);
			struct buffer part = { .data = copy, .size = cut };

			if (find(&part, &kallsyms)) {
				struct guest_kallsyms_iterator iterator =
					guest_kallsyms_iterate(&kallsyms);

				while (guest_kallsyms_next(&iterator, &symbol))
					;
			}
			free(copy);
		}
		for (size_t at = NOISE_BYTES; at < size - NOISE_BYTES; at += 61) {
			block.data[at] ^= 1 << at % 8;
			if (at % 8 == 0 && find(&block, &kallsyms)) {
				struct guest_kallsyms_iterator iterator =
					guest_kallsyms_iterate(&kallsyms);

				while (guest_kallsyms_next(&iterator, &symbol))
					;
			}
			block.data[at] ^= 1 << at % 8;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_is_found),
		cmocka_unit_test(noise_has_no_symbols),
		cmocka_unit_test(damaged_tables_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
