/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BTF: a header, then records of types, numbered from 1, then strings. One pass notes where each
 * type is; everything else reads the records in place.
 */
#include "guest/kernel/guest_btf.h"

#include <linux/btf.h>
#include <string.h>

#include "base/cursor.h"
#include "base/vector.h"

#define MAX_CHAIN 32	     /* typedefs, qualifiers, arrays of arrays in a row */
#define MAX_DEPTH 6	     /* of anonymous structures nested in each other */
#define MAX_MEMBERS 2048     /* examined for one step of a path, with anonymous ones' members */
#define MAX_TYPES (1u << 20) /* a distribution's kernel has 150,000 */
#define POINTER_BYTES 8
#define MAX_TYPE_BYTES (1ULL << 32)

struct guest_btf {
	const uint8_t *types; /* the section; borrowed */
	size_t types_size;
	const char *strings;
	size_t strings_size;
	VECTOR(uint32_t) offsets; /* of type N in the section, at index N - 1 */
};

/* Bytes after the btf_type of a kind; SIZE_MAX: a kind newer than this code. */
static size_t extra_bytes(const struct btf_type *type)
{
	size_t count = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return count * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return count * sizeof(struct btf_enum);
	case BTF_KIND_FUNC_PROTO:
		return count * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return count * sizeof(struct btf_var_secinfo);
	case BTF_KIND_ENUM64:
		return count * sizeof(struct btf_enum64);
	}
	return SIZE_MAX;
}

static bool note_types(struct guest_btf *btf)
{
	struct cursor cursor = cursor_make(btf->types, btf->types_size, false);

	while (cursor_left(&cursor) && btf->offsets.count < MAX_TYPES) {
		uint32_t offset = cursor.offset;
		struct btf_type type;
		const void *bytes = cursor_bytes(&cursor, sizeof(type));

		if (!bytes)
			return false;
		memcpy(&type, bytes, sizeof(type));
		cursor_skip(&cursor, extra_bytes(&type));
		if (cursor.failed)
			return btf->offsets.count; /* an unknown kind: types before it are usable */
		vector_append(&btf->offsets, offset);
	}
	return btf->offsets.count;
}

struct guest_btf *guest_btf_create(const void *data, size_t size)
{
	_cleanup_guest_btf_ struct guest_btf *btf = memory_calloc(1, sizeof(*btf));
	struct btf_header header;

	if (size < sizeof(header) || size > UINT32_MAX)
		return NULL;
	memcpy(&header, data, sizeof(header));
	if (header.magic != BTF_MAGIC || header.hdr_len < sizeof(header) || header.hdr_len > size)
		return NULL;
	size -= header.hdr_len;
	if (header.type_off > size || header.type_len > size - header.type_off ||
	    header.str_off > size || header.str_len > size - header.str_off || !header.str_len)
		return NULL;
	btf->types = (const uint8_t *)data + header.hdr_len + header.type_off;
	btf->types_size = header.type_len;
	btf->strings = (const char *)data + header.hdr_len + header.str_off;
	btf->strings_size = header.str_len;
	if (btf->strings[btf->strings_size - 1] || !note_types(btf))
		return NULL;
	return take_pointer(btf);
}

void guest_btf_destroy(struct guest_btf *btf)
{
	if (!btf)
		return;
	vector_deinit(&btf->offsets);
	free(btf);
}

/* The record of a type; note_types() has checked that it is complete. */
static bool get_type(const struct guest_btf *btf, uint32_t number, struct btf_type *ret,
		     const uint8_t **ret_extra)
{
	const uint8_t *record;

	if (!number || number > btf->offsets.count)
		return false;
	record = btf->types + btf->offsets.items[number - 1];
	memcpy(ret, record, sizeof(*ret));
	*ret_extra = record + sizeof(*ret);
	return true;
}

static bool name_is(const struct guest_btf *btf, uint32_t offset, const char *name, size_t length)
{
	return offset < btf->strings_size && length < btf->strings_size - offset &&
	       !memcmp(btf->strings + offset, name, length) && !btf->strings[offset + length];
}

static bool is_structure(const struct btf_type *type)
{
	return BTF_INFO_KIND(type->info) == BTF_KIND_STRUCT ||
	       BTF_INFO_KIND(type->info) == BTF_KIND_UNION;
}

uint32_t guest_btf_find_struct(const struct guest_btf *btf, const char *name)
{
	size_t length = strlen(name);
	const uint8_t *extra;
	struct btf_type type;

	for (uint32_t i = 1; i <= btf->offsets.count; i++)
		if (get_type(btf, i, &type, &extra) && is_structure(&type) &&
		    name_is(btf, type.name_off, name, length))
			return i;
	return 0;
}

/* Skips typedefs and qualifiers; 0 if the chain does not end. */
static uint32_t resolve(const struct guest_btf *btf, uint32_t number, struct btf_type *ret,
			const uint8_t **ret_extra)
{
	for (int i = 0; i < MAX_CHAIN && get_type(btf, number, ret, ret_extra); i++) {
		switch (BTF_INFO_KIND(ret->info)) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_CONST:
		case BTF_KIND_RESTRICT:
		case BTF_KIND_TYPE_TAG:
			number = ret->type;
			continue;
		}
		return number;
	}
	return 0;
}

uint64_t guest_btf_size(const struct guest_btf *btf, uint32_t number)
{
	uint64_t count = 1;

	for (int depth = 0; depth < MAX_CHAIN; depth++) {
		const uint8_t *extra;
		struct btf_type type;
		struct btf_array array;

		if (!resolve(btf, number, &type, &extra))
			return 0;
		switch (BTF_INFO_KIND(type.info)) {
		case BTF_KIND_INT:
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
		case BTF_KIND_ENUM:
		case BTF_KIND_ENUM64:
		case BTF_KIND_FLOAT:
			return count * type.size > MAX_TYPE_BYTES ? 0 : count * type.size;
		case BTF_KIND_PTR:
			return count * POINTER_BYTES;
		case BTF_KIND_ARRAY:
			memcpy(&array, extra, sizeof(array));
			count *= array.nelems;
			if (count > MAX_TYPE_BYTES)
				return 0;
			number = array.type;
			continue;
		}
		return 0;
	}
	return 0;
}

bool guest_btf_array(const struct guest_btf *btf, uint32_t number, uint32_t *ret_element,
		     uint32_t *ret_count)
{
	const uint8_t *extra;
	struct btf_type type;
	struct btf_array array;

	if (!resolve(btf, number, &type, &extra) || BTF_INFO_KIND(type.info) != BTF_KIND_ARRAY)
		return false;
	memcpy(&array, extra, sizeof(array));
	*ret_element = array.type;
	*ret_count = array.nelems;
	return true;
}

static void place_member(const struct guest_btf *btf, const struct btf_type *outer,
			 const struct btf_member *member, uint64_t base,
			 struct guest_btf_field *ret)
{
	uint32_t bits = BTF_INFO_KFLAG(outer->info) ? BTF_MEMBER_BITFIELD_SIZE(member->offset) : 0;
	uint64_t bit = BTF_INFO_KFLAG(outer->info) ? BTF_MEMBER_BIT_OFFSET(member->offset)
						   : member->offset;
	const uint8_t *extra;
	struct btf_type type;

	*ret = (struct guest_btf_field){ .type = resolve(btf, member->type, &type, &extra) };
	ret->size = guest_btf_size(btf, ret->type);
	if (bits && ret->size) {
		/* A bit-field lies in a word of its type's size, aligned to it. */
		uint64_t word_bits = 8 * ret->size;

		ret->bit_count = bits;
		ret->bit_offset = bit % word_bits;
		bit -= ret->bit_offset;
	}
	ret->offset = base + bit / 8;
}

/* One step of a path: the wanted member, and how far the search may still go. */
struct step {
	const char *name;
	size_t length;
	uint32_t budget; /* members left to examine */
};

static bool find_member(const struct guest_btf *btf, uint32_t structure, uint64_t base, int depth,
			struct step *step, struct guest_btf_field *ret)
{
	const uint8_t *extra;
	struct btf_type type;
	uint32_t count;

	structure = resolve(btf, structure, &type, &extra);
	if (!structure || !is_structure(&type) || depth > MAX_DEPTH)
		return false;
	count = BTF_INFO_VLEN(type.info);
	for (uint32_t i = 0; i < count; i++) {
		struct btf_member member;
		struct guest_btf_field field;

		if (!step->budget)
			return false;
		step->budget--;
		memcpy(&member, extra + i * sizeof(member), sizeof(member));
		if (member.name_off && !name_is(btf, member.name_off, step->name, step->length))
			continue;
		place_member(btf, &type, &member, base, &field);
		if (member.name_off) {
			*ret = field;
			return true;
		}
		if (find_member(btf, field.type, field.offset, depth + 1, step, ret))
			return true;
	}
	return false;
}

bool guest_btf_find_field(const struct guest_btf *btf, const char *structure, const char *path,
		    struct guest_btf_field *ret)
{
	struct guest_btf_field field = { .type = guest_btf_find_struct(btf, structure) };

	while (field.type) {
		struct step step = { path, strcspn(path, "."), MAX_MEMBERS };

		if (!find_member(btf, field.type, field.offset, 0, &step, &field))
			return false;
		if (!path[step.length]) {
			*ret = field;
			return true;
		}
		path += step.length + 1;
	}
	return false;
}

bool guest_btf_find_enumerator(const struct guest_btf *btf, const char *name, int64_t *ret)
{
	size_t length = strlen(name);
	const uint8_t *extra;
	struct btf_type type;

	for (uint32_t i = 1; i <= btf->offsets.count; i++) {
		if (!get_type(btf, i, &type, &extra) ||
		    BTF_INFO_KIND(type.info) != BTF_KIND_ENUM)
			continue;
		for (uint32_t n = 0; n < BTF_INFO_VLEN(type.info); n++) {
			struct btf_enum value;

			memcpy(&value, extra + n * sizeof(value), sizeof(value));
			if (name_is(btf, value.name_off, name, length)) {
				*ret = value.val;
				return true;
			}
		}
	}
	return false;
}
