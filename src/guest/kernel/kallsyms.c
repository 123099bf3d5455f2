/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds kallsyms by its shape, and decodes it.
 *
 * Names are compressed: each is a length and that many bytes, and each byte stands for one of 256
 * tokens. The token index is 256 ascending 16-bit offsets that end where the preceding token table
 * ends. That pattern is unmistakable, so it is searched for first. Then the number of symbols, in
 * front of the names: it is right if that many names end where the markers begin, and if every
 * marker matches the position of a 256th symbol. Then the addresses: they are right if they ascend
 * and lie in the kernel image. A guest that forges all of this gets the names it forged. A search
 * that has to start over and over, because tables are nearly right, gives up after a few steps per
 * byte.
 *
 * Source: scripts/kallsyms.c (write_src) and kernel/kallsyms.c (kallsyms_sym_address,
 * kallsyms_expand_symbol), 4.6 to 7.2.
 */
#include "guest/kernel/kallsyms.h"

#include <string.h>

#define TOKENS 256
#define LONGEST_TOKEN 512
#define MARKER_STEP 256
#define MIN_SYMBOLS 256
#define MAX_SYMBOLS (1u << 20) /* a kernel with everything built in has half as many */
#define STEPS_PER_BYTE 4 /* a real kernel's tables are found with less than one */
#define IMAGE_SLACK (128u << 20) /* for symbols such as those of freed or absolute sections */

/* How many more steps the search in one block may take. */
struct effort {
	uint64_t steps_left;
};

static bool spend(struct effort *effort, uint64_t steps)
{
	if (effort->steps_left < steps) {
		effort->steps_left = 0;
		return false;
	}
	effort->steps_left -= steps;
	return true;
}

static uint16_t u16_at(const struct guest_block *block, size_t offset)
{
	uint16_t value;

	memcpy(&value, block->data + offset, sizeof(value));
	return value;
}

static uint32_t u32_at(const struct guest_block *block, size_t offset)
{
	uint32_t value;

	memcpy(&value, block->data + offset, sizeof(value));
	return value;
}

static uint64_t u64_at(const struct guest_block *block, size_t offset)
{
	uint64_t value;

	memcpy(&value, block->data + offset, sizeof(value));
	return value;
}

static bool fits(const struct guest_block *block, size_t offset, uint64_t bytes)
{
	return offset <= block->size && bytes <= block->size - offset;
}

/*
 * Tables are aligned to 8 bytes in 64-bit kernels; to 4 since addresses are relative to their
 * position.
 */
static size_t align_up(const struct guest_kallsyms *kallsyms, size_t value)
{
	return (value + kallsyms->alignment - 1) & ~(size_t)(kallsyms->alignment - 1);
}

static bool is_token_index(const struct guest_block *block, size_t at)
{
	uint16_t last = 0;

	if (u32_at(block, at) >> 16 == 0 || u16_at(block, at))
		return false;
	for (size_t i = 1; i < TOKENS; i++) {
		uint16_t offset = u16_at(block, at + 2 * i);

		if (offset <= last)
			return false;
		last = offset;
	}
	return true;
}

/* Whether TABLE is the start of the tokens that the index at INDEX describes. */
static bool is_token_table(const struct guest_block *block, size_t table, size_t index)
{
	size_t end = table;

	for (size_t i = 0; i < TOKENS; i++) {
		const uint8_t *token = block->data + table + u16_at(block, index + 2 * i);
		const uint8_t *zero;
		size_t left;

		if (token >= block->data + index)
			return false;
		left = block->data + index - token;
		zero = memchr(token, 0, left < LONGEST_TOKEN ? left : LONGEST_TOKEN);
		if (!zero)
			return false;
		end = zero + 1 - block->data;
		if (i + 1 < TOKENS && end != table + u16_at(block, index + 2 * (i + 1)))
			return false;
	}
	for (; end < index; end++)
		if (block->data[end])
			return false;
	return true;
}

static bool find_token_table(const struct guest_block *block, size_t index, struct effort *effort,
			     size_t *ret)
{
	size_t last = u16_at(block, index + 2 * (TOKENS - 1));

	if (last + 1 > index)
		return false;
	for (size_t table = (index - last - 1) & ~(size_t)3;
	     index - table <= last + LONGEST_TOKEN + 8 && spend(effort, TOKENS); table -= 4) {
		if (is_token_table(block, table, index)) {
			*ret = table;
			return true;
		}
		if (table < 4)
			break;
	}
	return false;
}

/* The length of the name at *AT; moves *AT to the name's first byte. 0 at the end of the block. */
static size_t name_length(const struct guest_block *block, size_t *at)
{
	size_t length;

	if (!fits(block, *at, 2))
		return 0;
	length = block->data[(*at)++];
	/*
	 * Two-byte lengths exist since 6.1. Before, no name was that long: KSYM_NAME_LEN was 128.
	 */
	if (length & 0x80)
		length = (length & 0x7f) | (size_t)block->data[(*at)++] << 7;
	return fits(block, *at, length) ? length : 0;
}

static const char *token(const struct guest_kallsyms *kallsyms, uint8_t number)
{
	return (const char *)kallsyms->block.data + kallsyms->token_table +
	       u16_at(&kallsyms->block, kallsyms->token_index + 2 * number);
}

static bool is_symbol_type(char type)
{
	return (type >= 'A' && type <= 'Z') || (type >= 'a' && type <= 'z') || type == '?';
}

/* A cheap check before walking all names. */
static bool may_be_names(const struct guest_kallsyms *kallsyms, size_t at)
{
	for (int i = 0; i < 32; i++) {
		size_t length = name_length(&kallsyms->block, &at);

		if (length < 1 || !is_symbol_type(*token(kallsyms, kallsyms->block.data[at])))
			return false;
		at += length;
	}
	return true;
}

static uint64_t marker(const struct guest_block *block, size_t markers, size_t index, size_t width)
{
	size_t at = markers + index * width;

	if (!fits(block, at, width))
		return UINT64_MAX;
	return width == 4 ? u32_at(block, at) : u64_at(block, at);
}

/* Walks COUNT names from NAMES; true if the markers after them match. */
static bool names_match_markers(const struct guest_kallsyms *kallsyms, size_t names, uint32_t count,
				struct effort *effort)
{
	const struct guest_block *block = &kallsyms->block;
	size_t at = names, end = names, markers, width;

	for (uint32_t i = 0; i < count; i++) {
		size_t length = name_length(block, &end);

		if (!length || end >= kallsyms->token_table || !spend(effort, 1))
			return false;
		end += length;
	}
	markers = align_up(kallsyms, end);
	width = marker(block, markers, 1, 4) ? 4 : 8;
	for (uint32_t i = 0; i < count; i++) {
		if (i % MARKER_STEP == 0 &&
		    marker(block, markers, i / MARKER_STEP, width) != at - names)
			return false;
		at += name_length(block, &at);
	}
	return true;
}

/* The number of symbols precedes the names. */
static bool find_names(struct guest_kallsyms *kallsyms, struct effort *effort)
{
	const struct guest_block *block = &kallsyms->block;
	size_t step = kallsyms->alignment;

	for (size_t at = kallsyms->token_table & ~(step - 1); at >= step && spend(effort, 1);
	     at -= step) {
		uint32_t count = u32_at(block, at - step);

		if (count < MIN_SYMBOLS || count > MAX_SYMBOLS)
			continue;
		if (may_be_names(kallsyms, at) &&
		    names_match_markers(kallsyms, at, count, effort)) {
			kallsyms->names = at;
			kallsyms->count = count;
			return true;
		}
	}
	return false;
}

static struct gva address_of(const struct guest_kallsyms *kallsyms, uint32_t index)
{
	const struct guest_block *block = &kallsyms->block;
	size_t at = kallsyms->addresses + 4 * (size_t)index;

	switch (kallsyms->form) {
	case GUEST_KALLSYMS_ABSOLUTE:
		return GVA(u64_at(block, kallsyms->addresses + 8 * (size_t)index));
	case GUEST_KALLSYMS_BASE_UNSIGNED:
		return GVA(kallsyms->relative_base + u32_at(block, at));
	case GUEST_KALLSYMS_PLACE:
		return GVA(block->start.value + at + (int64_t)(int32_t)u32_at(block, at));
	case GUEST_KALLSYMS_BASE_PERCPU:
		break;
	}
	if ((int32_t)u32_at(block, at) >= 0)
		return GVA(u32_at(block, at));
	return GVA(kallsyms->relative_base - 1 - (int64_t)(int32_t)u32_at(block, at));
}

/* All symbols ascend and, except for absolute ones, lie in or near the image. */
static bool addresses_are_right(const struct guest_kallsyms *kallsyms, struct gva image_start,
				struct gva image_end)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < kallsyms->count; i++) {
		uint64_t address = address_of(kallsyms, i).value;
		bool absolute = address < IMAGE_SLACK;

		if (address < last)
			return false;
		if (!absolute && (address < image_start.value - IMAGE_SLACK ||
				  address > image_end.value + IMAGE_SLACK))
			return false;
		last = address;
	}
	return last >= image_start.value;
}

/* Tries one position and format of the address table. */
static bool try_addresses(struct guest_kallsyms *kallsyms, uint64_t at, uint64_t base_at,
			  enum guest_kallsyms_form form, struct gva image_start,
			  struct gva image_end)
{
	const struct guest_block *block = &kallsyms->block;
	uint64_t bytes = (form == GUEST_KALLSYMS_ABSOLUTE ? 8ULL : 4ULL) * kallsyms->count;
	bool has_base = form == GUEST_KALLSYMS_BASE_PERCPU || form == GUEST_KALLSYMS_BASE_UNSIGNED;

	if (at > block->size || !fits(block, at, bytes) ||
	    (has_base && (base_at > block->size || !fits(block, base_at, 8))))
		return false;
	kallsyms->addresses = at;
	kallsyms->form = form;
	kallsyms->relative_base = has_base ? u64_at(block, base_at) : 0;
	return addresses_are_right(kallsyms, image_start, image_end);
}

static bool find_addresses(struct guest_kallsyms *kallsyms, struct gva image_start,
			   struct gva image_end)
{
	static const enum guest_kallsyms_form offset_forms[] = {
		GUEST_KALLSYMS_BASE_PERCPU, GUEST_KALLSYMS_BASE_UNSIGNED, GUEST_KALLSYMS_PLACE
	};
	uint64_t offsets_bytes = align_up(kallsyms, 4 * (size_t)kallsyms->count);
	uint64_t behind = align_up(kallsyms, kallsyms->token_index + GUEST_KALLSYMS_INDEX_BYTES);
	/* Wraps around if there is no room in front; try_addresses() rejects that. */
	uint64_t base_before = (uint64_t)kallsyms->names - 2 * kallsyms->alignment;

	for (size_t i = 0; i < sizeof(offset_forms) / sizeof(*offset_forms); i++)
		if (try_addresses(kallsyms, behind, behind + offsets_bytes, offset_forms[i],
				  image_start, image_end) ||
		    try_addresses(kallsyms, base_before - offsets_bytes, base_before,
				  offset_forms[i], image_start, image_end))
			return true;
	return try_addresses(kallsyms, behind, 0, GUEST_KALLSYMS_ABSOLUTE, image_start,
			     image_end) ||
	       try_addresses(kallsyms, (uint64_t)kallsyms->names - 8 - 8ULL * kallsyms->count, 0,
			     GUEST_KALLSYMS_ABSOLUTE, image_start, image_end);
}

bool guest_kallsyms_find(const struct guest_block *block, struct gva image_start,
			 struct gva image_end, struct guest_kallsyms *ret)
{
	struct effort effort = { STEPS_PER_BYTE * (uint64_t)block->size };

	for (size_t at = 0; fits(block, at, GUEST_KALLSYMS_INDEX_BYTES) && effort.steps_left;
	     at += 4) {
		struct guest_kallsyms kallsyms = { .block = *block, .token_index = at };

		if (!is_token_index(block, at) ||
		    !find_token_table(block, at, &effort, &kallsyms.token_table))
			continue;
		for (kallsyms.alignment = 8; kallsyms.alignment >= 4; kallsyms.alignment /= 2) {
			if (find_names(&kallsyms, &effort) &&
			    find_addresses(&kallsyms, image_start, image_end)) {
				*ret = kallsyms;
				return true;
			}
		}
	}
	return false;
}

bool guest_kallsyms_next(struct guest_kallsyms_iterator *iterator,
			 struct guest_kallsyms_symbol *ret)
{
	const struct guest_kallsyms *kallsyms = iterator->kallsyms;
	size_t length, used = 0;
	bool type_passed = false;

	if (iterator->index == kallsyms->count)
		return false;
	length = name_length(&kallsyms->block, &iterator->at);
	ret->address = address_of(kallsyms, iterator->index);
	ret->type = '?';
	for (size_t i = 0; i < length; i++) {
		const char *text = token(kallsyms, kallsyms->block.data[iterator->at + i]);

		if (!type_passed && *text) {
			ret->type = *text++;
			type_passed = true;
		}
		while (*text && used < sizeof(ret->name) - 1)
			ret->name[used++] = *text++;
	}
	ret->name[used] = 0;
	iterator->at += length;
	iterator->index++;
	return true;
}
