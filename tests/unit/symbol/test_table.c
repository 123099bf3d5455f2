/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table compared with the simplest model of its contract, and its byte form when damaged. */
#include "test.h"

#include <string.h>

#include "base/memory.h"
#include "symbol/table.h"
#include "symbol/table_private.h"

#define RANDOM_SYMBOLS 400
#define RANDOM_SPACE 3000

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static const char *name_at(const struct symbol_table *table, uint64_t address)
{
	const struct symbol *symbol = symbol_table_find(table, address);

	return symbol ? symbol_name(table, symbol) : "-";
}

/* Of the sized symbols that contain an address, the one that starts last: found by checking all. */
static void find_agrees_with_looking_at_all(void **state)
{
	uint32_t seed = 7;

	(void)state;
	for (int round = 0; round < 30; round++) {
		struct symbol_builder *builder = symbol_builder_create();
		uint64_t end[RANDOM_SPACE] = { 0 };

		for (int i = 0; i < RANDOM_SYMBOLS; i++) {
			uint64_t start = next_random(&seed) % RANDOM_SPACE;
			uint64_t bytes = 1 + next_random(&seed) % (round % 3 ? 20 : 900);
			char name[32];

			if (end[start])
				continue;
			end[start] = start + bytes;
			snprintf(name, sizeof(name), "s%d", (int)start);
			assert_true(symbol_builder_add(builder, start, end[start], 'T', name,
						       NULL));
		}
		_cleanup_symbol_table_ struct symbol_table *table = symbol_builder_finish(builder);

		for (uint64_t address = 0; address < RANDOM_SPACE + 1000; address++) {
			char expected[32] = "-";

			for (uint64_t start = 0; start <= address && start < RANDOM_SPACE; start++)
				if (end[start] > address)
					snprintf(expected, sizeof(expected), "s%d", (int)start);
			assert_string_equal(name_at(table, address), expected);
		}
	}
}

struct candidate {
	uint64_t end;
	char type;
	const char *name;
};

static void add_candidate(struct symbol_builder *builder, const struct candidate *candidate)
{
	symbol_builder_add(builder, 10, candidate->end, candidate->type, candidate->name, NULL);
}

/* Each rule on its own, in both orders, followed by a third symbol that never wins. */
static void one_symbol_of_an_address_is_chosen_as_perf_does(void **state)
{
	static const struct {
		struct candidate best, other;
	} cases[] = {
		{ { 20, 'W', "_w" }, { 0, 'T', "open_symbol" } }, /* length before all else */
		{ { 20, 't', "local" }, { 20, 'W', "weak_one" } },
		{ { 20, 'T', "global" }, { 20, 't', "local_but_longer" } },
		{ { 20, 'T', "_x" }, { 20, 'T', "__xyz" } },
		{ { 20, 'T', "longer" }, { 20, 'T', "short" } },
		{ { 20, 'T', "sys_read" }, { 20, 'T', "SyS_read" } },
		{ { 20, 'T', "_Znam" }, { 20, 'T', "_Znwm" } }, /* operator new[], operator new */
	};
	static const struct candidate never = { 20, 'W', "__" };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		const struct candidate *best = &cases[i / 2].best, *other = &cases[i / 2].other;
		struct symbol_builder *builder = symbol_builder_create();

		symbol_builder_set_program(builder);
		add_candidate(builder, i % 2 ? other : best);
		add_candidate(builder, i % 2 ? best : other);
		add_candidate(builder, &never);
		symbol_builder_add(builder, 30, 0, 'T', "next", NULL);
		_cleanup_symbol_table_ struct symbol_table *table = symbol_builder_finish(builder);

		assert_int_equal(symbol_table_count(table), 2);
		assert_string_equal(name_at(table, 10), best->name);
	}
}

/* A kernel's names are compared as they are: these have one length, so the first one stays. */
static void names_of_kernels_are_not_demangled(void **state)
{
	static const struct candidate shorter = { 20, 'T', "_Znwm" }, longer = { 20, 'T', "_Znam" };
	struct symbol_builder *builder = symbol_builder_create();

	(void)state;
	add_candidate(builder, &shorter);
	add_candidate(builder, &longer);
	_cleanup_symbol_table_ struct symbol_table *table = symbol_builder_finish(builder);

	assert_string_equal(name_at(table, 10), "_Znwm");
}

/* kallsyms has no sizes: the last line for an address is the one with a length. */
static void of_open_symbols_at_one_address_the_last_stays(void **state)
{
	struct symbol_builder *builder = symbol_builder_create();

	(void)state;
	symbol_builder_add(builder, 0x2000, 0, 'T', "after", NULL);
	symbol_builder_add(builder, 0x1000, 0, 'T', "srso_alias_untrain_ret", NULL);
	symbol_builder_add(builder, 0x1000, 0, 'T', "_stext", NULL);
	symbol_builder_add(builder, 0x1000, 0, 't', "_text", NULL);
	_cleanup_symbol_table_ struct symbol_table *table = symbol_builder_finish(builder);

	assert_int_equal(symbol_table_count(table), 2);
	assert_string_equal(name_at(table, 0xfff), "-");
	assert_string_equal(name_at(table, 0x1000), "_text");
	assert_string_equal(name_at(table, 0x1fff), "_text");
	assert_string_equal(name_at(table, 0x2000), "after");
	/* The very last symbol extends to the end of the page after its own. */
	assert_string_equal(name_at(table, 0x2fff), "after");
	assert_string_equal(name_at(table, 0x3000), "-");
}

static void modules_bound_their_symbols(void **state)
{
	struct symbol_builder *builder = symbol_builder_create();

	(void)state;
	symbol_builder_add(builder, 0x1010, 0, 'T', "core_last", NULL);
	symbol_builder_add(builder, 0x10000, 0, 't', "a_first", "a");
	symbol_builder_add(builder, 0x10100, 0, 't', "a_last", "a");
	symbol_builder_add(builder, 0x20000, 0, 't', "b_only", "b");
	symbol_builder_add(builder, 0x90001, 0, 't', "c_only", "c");
	symbol_builder_add_module(builder, "a", 0x10000, 0x14000);
	symbol_builder_add_module(builder, "empty", 0x50000, 0x51000);
	_cleanup_symbol_table_ struct symbol_table *table = symbol_builder_finish(builder);

	assert_string_equal(name_at(table, 0x2fff), "core_last"); /* two pages */
	assert_string_equal(name_at(table, 0x3000), "-");
	assert_string_equal(name_at(table, 0x100ff), "a_first");
	assert_string_equal(name_at(table, 0x13fff), "a_last"); /* the module's end */
	assert_string_equal(name_at(table, 0x14000), "-");
	assert_string_equal(name_at(table, 0x20fff), "b_only"); /* no range: two pages */
	assert_string_equal(name_at(table, 0x21000), "-");
	assert_string_equal(symbol_module(table, symbol_table_find(table, 0x10000)), "a");
	assert_string_equal(symbol_module(table, symbol_table_find(table, 0x90001)), "c");
	assert_null(symbol_module(table, symbol_table_find(table, 0x1010)));
	assert_string_equal(symbol_table_find_module(table, 0x13fff), "a");
	assert_string_equal(symbol_table_find_module(table, 0x50fff), "empty");
	assert_null(symbol_table_find_module(table, 0x51000));
	assert_null(symbol_table_find_module(table, 0xffff));
}

static void the_ends_of_the_address_space_hold(void **state)
{
	struct symbol_builder *builder = symbol_builder_create();

	(void)state;
	symbol_builder_add(builder, 0, 0, 'T', "zero", NULL);
	symbol_builder_add(builder, UINT64_MAX - 1, 0, 'T', "before_last", NULL);
	symbol_builder_add(builder, UINT64_MAX, 0, 'T', "last", NULL);
	_cleanup_symbol_table_ struct symbol_table *table = symbol_builder_finish(builder);

	assert_string_equal(name_at(table, 0), "zero");
	assert_string_equal(name_at(table, UINT64_MAX - 1), "before_last");
	assert_string_equal(name_at(table, UINT64_MAX), "-"); /* no exclusive end is possible */
	assert_int_equal(symbol_table_count(table), 2);
}

static void an_empty_table_finds_nothing(void **state)
{
	_cleanup_symbol_table_ struct symbol_table *table =
		symbol_builder_finish(symbol_builder_create());

	(void)state;
	assert_int_equal(symbol_table_count(table), 0);
	assert_null(symbol_table_find(table, 1));
	assert_null(symbol_table_find_name(table, "x"));
	assert_null(symbol_table_find_module(table, 1));
}

static void names_hold_no_control_characters(void **state)
{
	struct symbol_builder *builder = symbol_builder_create();

	(void)state;
	symbol_builder_add(builder, 1, 2, 'T', "red\x1b[31m\n", "mo\x7f" "d");
	_cleanup_symbol_table_ struct symbol_table *table = symbol_builder_finish(builder);

	assert_string_equal(name_at(table, 1), "red?[31m?");
	assert_string_equal(symbol_module(table, symbol_table_at(table, 0)), "mo?d");
}

static struct symbol_table *example(void)
{
	struct symbol_builder *builder = symbol_builder_create();

	symbol_builder_add(builder, 0x1000, 0x1100, 'T', "outer", NULL);
	symbol_builder_add(builder, 0x1010, 0x1020, 't', "inner", NULL);
	symbol_builder_add(builder, 0x8000, 0, 'W', "in_module", "module");
	symbol_builder_add_module(builder, "module", 0x8000, 0x9000);
	return symbol_builder_finish(builder);
}

static void check_example(const struct symbol_table *table)
{
	assert_int_equal(symbol_table_count(table), 3);
	assert_string_equal(name_at(table, 0x1000), "outer");
	assert_string_equal(name_at(table, 0x1015), "inner");
	assert_string_equal(name_at(table, 0x1020), "outer");
	assert_string_equal(name_at(table, 0x8fff), "in_module");
	assert_int_equal(symbol_table_at(table, 2)->type, 'W');
	assert_string_equal(symbol_module(table, symbol_table_at(table, 2)), "module");
	assert_string_equal(symbol_table_find_module(table, 0x8abc), "module");
	assert_true(symbol_table_find_name(table, "inner") == symbol_table_at(table, 1));
}

/*
 * Swaps every integer of the example's byte form, as if written by a machine of the other byte
 * order.
 */
static void swap_all(uint8_t *data, const struct symbol_table *table)
{
	size_t symbols = symbol_table_count(table);
	uint8_t *at = data;

#define SWAP(bits)                                                                                 \
	do {                                                                                       \
		uint##bits##_t value_;                                                             \
		memcpy(&value_, at, sizeof(value_));                                               \
		value_ = __builtin_bswap##bits(value_);                                            \
		memcpy(at, &value_, sizeof(value_));                                               \
		at += sizeof(value_);                                                              \
	} while (0)
	for (int i = 0; i < 4; i++)
		SWAP(64);
	for (size_t i = 0; i < symbols; i++) {
		SWAP(64);
		SWAP(64);
		SWAP(32);
		SWAP(32);
		SWAP(32);
		at += 4;
	}
	SWAP(64);
	SWAP(64);
	SWAP(32);
#undef SWAP
}

static void the_byte_form_comes_back(void **state)
{
	_cleanup_symbol_table_ struct symbol_table *table = example();
	_cleanup_buffer_ struct buffer bytes;
	_cleanup_free_ uint8_t *moved = NULL;
	struct symbol_table *decoded;

	(void)state;
	check_example(table);
	buffer_init(&bytes, 1 << 20);
	symbol_table_encode(table, &bytes);
	assert_no_error(symbol_table_decode(bytes.data, bytes.size, &decoded));
	check_example(decoded);
	symbol_table_destroy(decoded);

	/* Unaligned, and with padding after it. */
	moved = memory_calloc(bytes.size + 16, 1);
	memcpy(moved + 3, bytes.data, bytes.size);
	assert_no_error(symbol_table_decode(moved + 3, bytes.size + 5, &decoded));
	check_example(decoded);
	symbol_table_destroy(decoded);

	swap_all(bytes.data, table);
	assert_no_error(symbol_table_decode(bytes.data, bytes.size, &decoded));
	check_example(decoded);
	symbol_table_destroy(decoded);
}

static void the_packed_form_comes_back(void **state)
{
	_cleanup_symbol_table_ struct symbol_table *table = example();
	_cleanup_buffer_ struct buffer bytes, packed;
	struct symbol_table *decoded;

	(void)state;
	buffer_init(&bytes, 1 << 20);
	buffer_init(&packed, 1 << 20);
	symbol_table_encode(table, &bytes);
	symbol_table_pack(table, &packed);
	assert_true(packed.size < bytes.size / 2);
	assert_true(symbol_table_is_packed(packed.data, packed.size));
	assert_false(symbol_table_is_packed(packed.data, 7));
	assert_false(symbol_table_is_packed(bytes.data, bytes.size));
	assert_no_error(symbol_table_decode(packed.data, packed.size, &decoded));
	assert_true(symbol_table_is_whole(decoded));
	check_example(decoded);
	symbol_table_destroy(decoded);

	/* Of a machine of the other byte order. */
	for (size_t i = 0; i < 24; i += 8) {
		uint64_t word;

		memcpy(&word, packed.data + i, sizeof(word));
		word = __builtin_bswap64(word);
		memcpy(packed.data + i, &word, sizeof(word));
	}
	assert_no_error(symbol_table_decode(packed.data, packed.size, &decoded));
	check_example(decoded);
	symbol_table_destroy(decoded);
}

/* The same kernel elsewhere: two distances differ, to the first symbol and to the module's. */
static void the_packed_form_hardly_depends_on_addresses(void **state)
{
	struct buffer packed[2];
	size_t different = 0;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct symbol_builder *builder = symbol_builder_create();
		uint64_t kernel = 0xffffffff81000000 + i * 0x1e00000;
		uint64_t module = 0xffffffffc0200000 + i * 0x5000;
		_cleanup_symbol_table_ struct symbol_table *table = NULL;
		char name[32];

		symbol_builder_add_module(builder, "kvm", module, module + 0x8000);
		for (unsigned n = 0; n < 1000; n++) {
			snprintf(name, sizeof(name), "function_%u", n);
			symbol_builder_add(builder, (n < 800 ? kernel : module) + n * 24, 0, 'T',
					   name, n < 800 ? NULL : "kvm");
		}
		table = symbol_builder_finish(builder);
		buffer_init(&packed[i], 1 << 20);
		symbol_table_pack(table, &packed[i]);
	}
	assert_int_equal(packed[0].size, packed[1].size);
	for (size_t at = 0; at < packed[0].size; at++)
		different += packed[0].data[at] != packed[1].data[at];
	assert_in_range(different, 1, 30);
	buffer_deinit(&packed[0]);
	buffer_deinit(&packed[1]);
}

/* Every cut is an error; no flipped bit does harm (ASan and UBSan look on). */
static void damage_is_seen_or_harmless(void **state)
{
	void (*encode)(const struct symbol_table *table, struct buffer *out) = *state;
	_cleanup_symbol_table_ struct symbol_table *table = example();
	_cleanup_buffer_ struct buffer bytes;
	struct symbol_table *decoded;
	size_t refused = 0;

	buffer_init(&bytes, 1 << 20);
	encode(table, &bytes);
	for (size_t size = 0; size < bytes.size; size++) {
		_cleanup_free_ void *cut = memory_dup(bytes.data, size);

		assert_error(symbol_table_decode(cut, size, &decoded), ERROR_BAD_DATA);
	}
	for (size_t bit = 0; bit < bytes.size * 8; bit++) {
		struct error *error;

		bytes.data[bit / 8] ^= 1 << bit % 8;
		error = symbol_table_decode(bytes.data, bytes.size, &decoded);
		if (error) {
			refused++;
			error_destroy(error);
		} else {
			for (uint64_t address = 0; address < 0xa000; address += 8) {
				assert_non_null(name_at(decoded, address));
				symbol_table_find_module(decoded, address);
			}
			symbol_table_destroy(decoded);
		}
		bytes.data[bit / 8] ^= 1 << bit % 8;
	}
	assert_true(refused > 2 * 64);
}

/* Names may be the ends of others, but a small table must not have any amount of names. */
static void names_share_few_bytes(void **state)
{
	const size_t texts[] = { 9, 100 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct symbol symbols[9] = { 0 };
		struct symbol_table *made, *decoded;
		struct buffer bytes;
		char text[100];
		struct error *error;

		memset(text, 'a', sizeof(text));
		text[texts[i] - 1] = 0;
		for (size_t j = 0; j < 9; j++)
			symbols[j] = (struct symbol){ .start = j + 1, .end = j + 2, .name = j,
						      .type = 'T' };
		made = symbol_table_create(symbols, 9, NULL, 0, text, texts[i], NULL);
		buffer_init(&bytes, 10000);
		symbol_table_encode(made, &bytes);
		error = symbol_table_decode(bytes.data, bytes.size, &decoded);
		if (i) { /* 9 names of 91 to 99 bytes in 100 */
			assert_error(error, ERROR_BAD_DATA);
		} else { /* of 0 to 8 in 9 */
			assert_no_error(error);
			symbol_table_destroy(decoded);
		}
		symbol_table_destroy(made);
		buffer_deinit(&bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(find_agrees_with_looking_at_all),
		cmocka_unit_test(one_symbol_of_an_address_is_chosen_as_perf_does),
		cmocka_unit_test(names_of_kernels_are_not_demangled),
		cmocka_unit_test(of_open_symbols_at_one_address_the_last_stays),
		cmocka_unit_test(modules_bound_their_symbols),
		cmocka_unit_test(the_ends_of_the_address_space_hold),
		cmocka_unit_test(an_empty_table_finds_nothing),
		cmocka_unit_test(names_hold_no_control_characters),
		cmocka_unit_test(the_byte_form_comes_back),
		cmocka_unit_test(the_packed_form_comes_back),
		cmocka_unit_test(the_packed_form_hardly_depends_on_addresses),
		cmocka_unit_test(names_share_few_bytes),
		cmocka_unit_test_prestate(damage_is_seen_or_harmless, symbol_table_encode),
		cmocka_unit_test_prestate(damage_is_seen_or_harmless, symbol_table_pack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
