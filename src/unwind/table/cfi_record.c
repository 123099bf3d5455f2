/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record: its length (4 bytes; 0xffffffff: it is in the next 8 bytes), then a field of the same
 * width: 0 for a CIE in .eh_frame (all ones in .debug_frame); for an FDE, the distance back to its
 * CIE (in .debug_frame, its offset).
 *
 * 	CIE	version, augmentation, [address and segment sizes: version 4], factors of code and
 * 		data, the return address' column, [augmentation data], program
 * 	FDE	start and length of its code, [augmentation data], program
 *
 * The augmentation is "" or starts with z, which means that augmentation data has a length: R is
 * the encoding of addresses, L and P are for exceptions, S is for signal frames.
 *
 * Source: LSB 5.0 Core, "Exception Frames" and "DWARF Extensions"; DWARF 4, 6.4.1 and 7.23. Limits:
 * little-endian, no segments; no GCC 2 ("eh").
 */
#include "base/dwarf.h"
#include "unwind/table/cfi.h"

#include <elf.h>

#define LONG_RECORD 0xffffffffu
#define MAX_LEB_BITS 64

uint64_t cfi_uleb(struct cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < MAX_LEB_BITS; shift += 7) {
		uint8_t byte = cursor_u8(cursor);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	cursor->failed = true;
	return 0;
}

int64_t cfi_sleb(struct cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < MAX_LEB_BITS; shift += 7) {
		uint8_t byte = cursor_u8(cursor);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (byte & 0x40 && shift + 7 < MAX_LEB_BITS)
			value |= -(1ULL << (shift + 7));
		return (int64_t)value;
	}
	cursor->failed = true;
	return 0;
}

const struct cfi_abi *cfi_abi(const struct cfi_section *section)
{
	static const uint8_t general[] = { UNWIND_AX, UNWIND_DX, UNWIND_CX, UNWIND_BX,
					   UNWIND_SI, UNWIND_DI, UNWIND_BP, UNWIND_SP,
					   8,         9,         10,        11,
					   12,        13,        14,        15 };
	static const uint8_t general32[] = { UNWIND_AX, UNWIND_CX, UNWIND_DX, UNWIND_BX,
					     UNWIND_SP, UNWIND_BP, UNWIND_SI, UNWIND_DI };
	static const struct cfi_abi x86_64 = { .bp = 6, .sp = 7, .ip = 16, .bx = 3,
					       .general = general, .general_count = sizeof(general),
					       .word_bytes = 8, .signal_ip = 8 };
	static const struct cfi_abi i386 = { .bp = 5,
					     .sp = 4,
					     .ip = 8,
					     .bx = 3,
					     .general = general32,
					     .general_count = sizeof(general32),
					     .word_bytes = 4,
					     .signal_ip = 28 };

	static const struct cfi_abi arm64 = { .link = true, .bp = 29, .sp = 31, .ip = 30, .bx = 30,
					      .word_bytes = 8 };
	static const struct cfi_abi ppc64 = { .link = true, .bp = 31, .sp = 1, .ip = 65, .bx = 65,
					      .word_bytes = 8 };

	switch (section->machine) {
	case EM_386:
		return &i386;
	case EM_AARCH64:
		return &arm64;
	case EM_PPC64:
		return &ppc64;
	}
	return &x86_64;
}

static uint64_t read_number(const struct cfi_section *section, struct cursor *cursor,
			    uint8_t format)
{
	switch (format) {
	case DW_EH_PE_absptr:
		return section->machine == EM_386 ? cursor_u32(cursor) : cursor_u64(cursor);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cursor_u64(cursor);
	case DW_EH_PE_uleb128:
		return cfi_uleb(cursor);
	case DW_EH_PE_sleb128:
		return cfi_sleb(cursor);
	case DW_EH_PE_udata2:
		return cursor_u16(cursor);
	case DW_EH_PE_sdata2:
		return (int64_t)(int16_t)cursor_u16(cursor);
	case DW_EH_PE_udata4:
		return cursor_u32(cursor);
	case DW_EH_PE_sdata4:
		return (int64_t)(int32_t)cursor_u32(cursor);
	}
	cursor->failed = true;
	return 0;
}

uint64_t cfi_address(const struct cfi_section *section, struct cursor *cursor, uint8_t encoding)
{
	uint64_t at = section->address + cursor->offset;
	uint64_t value = read_number(section, cursor, encoding & 0x0f);

	if ((encoding & 0xf0) == DW_EH_PE_pcrel)
		return at + value;
	if (encoding & 0xf0) /* indirect, or relative to something unknown here */
		cursor->failed = true;
	return value;
}

static struct cursor open_program(const struct cfi_section *section,
				  const struct cfi_program *program)
{
	struct cursor cursor = cursor_make(section->data, program->end, false);

	cursor.offset = program->offset;
	return cursor;
}

/*
 * The CIE that a word of a record points to; false: it does not point to a place before the record.
 */
static bool find_cie(const struct cfi_section *section, uint64_t at, uint64_t id,
		     struct cfi_record *ret)
{
	if (!section->debug_frame) {
		if (id > at)
			return false;
		id = at - id;
	}
	ret->cie_offset = id;
	return id < section->bytes;
}

static bool is_there(const struct cfi_section *section, size_t offset, size_t end)
{
	size_t from = section->page_offset;

	for (size_t page = (from + offset) / CFI_PAGE;
	     section->pages && page * CFI_PAGE < from + end; page++)
		if (!section->pages[page])
			return false;
	return true;
}

bool cfi_next(const struct cfi_section *section, size_t *offset, struct cfi_record *ret)
{
	struct cursor cursor = cursor_make(section->data, section->bytes, false);
	struct cfi_record record = { .offset = *offset };
	uint64_t length, id, at;
	bool is_long;

	if (*offset >= section->bytes)
		return false;
	cursor.offset = *offset;
	length = cursor_u32(&cursor);
	is_long = length == LONG_RECORD;
	if (is_long)
		length = cursor_u64(&cursor);
	at = cursor.offset;
	if (cursor.failed || !length || length > cursor_left(&cursor))
		return false;
	id = is_long ? cursor_u64(&cursor) : cursor_u32(&cursor);
	record.body = (struct cfi_program){ cursor.offset, at + length };
	if (cursor.failed || record.body.offset > record.body.end ||
	    !is_there(section, *offset, record.body.end))
		return false;
	record.is_cie = section->debug_frame ? id == (is_long ? UINT64_MAX : UINT32_MAX) : !id;
	if (!record.is_cie && !find_cie(section, at, id, &record))
		return false;
	*offset = record.body.end;
	*ret = record;
	return true;
}

static const char *read_letters(struct cursor *cursor)
{
	const uint8_t *start = cursor->data + cursor->offset;
	const uint8_t *end = memchr(start, 0, cursor_left(cursor));

	return end ? cursor_bytes(cursor, end - start + 1) : NULL;
}

/* Reads the letters after z. False: the encoding of addresses cannot be determined. */
static bool read_augmentation(const struct cfi_section *section, struct cursor *cursor,
			      const char *letters, struct cfi_cie *cie)
{
	for (; *letters && !cursor->failed; letters++) {
		switch (*letters) {
		case 'L':
			cursor_skip(cursor, 1);
			break;
		case 'P': {
			uint8_t encoding = cursor_u8(cursor);

			/* It may be relative to anything; only its size matters. */
			read_number(section, cursor, encoding & 0x0f);
			break;
		}
		case 'R':
			cie->encoding = cursor_u8(cursor);
			break;
		case 'S':
			cie->signal = true;
			break;
		default:
			return false;
		}
	}
	return !cursor->failed;
}

static bool skip_to(struct cursor *cursor, uint64_t offset)
{
	if (cursor->failed || offset < cursor->offset || offset > cursor->size)
		return false;
	cursor->offset = offset;
	return true;
}

bool cfi_read_cie(const struct cfi_section *section, const struct cfi_record *record,
		  struct cfi_cie *ret)
{
	const struct cfi_abi *abi = cfi_abi(section);
	struct cursor cursor = open_program(section, &record->body);
	struct cfi_cie cie = { .encoding = DW_EH_PE_absptr };
	uint8_t version = cursor_u8(&cursor);
	const char *letters = read_letters(&cursor);
	uint64_t column, end;

	if (!letters || (version != 1 && version != 3 && version != 4))
		return false;
	if (version == 4 && (cursor_u8(&cursor) != abi->word_bytes || cursor_u8(&cursor) != 0))
		return false;
	cie.code_align = cfi_uleb(&cursor);
	cie.data_align = cfi_sleb(&cursor);
	column = version == 1 ? cursor_u8(&cursor) : cfi_uleb(&cursor);
	if (cursor.failed || column != abi->ip)
		return false;
	if (*letters == 'z') {
		cie.augmentation_data = true;
		end = cfi_uleb(&cursor);
		if (end > cursor_left(&cursor))
			return false;
		end += cursor.offset;
		if (!read_augmentation(section, &cursor, letters + 1, &cie) ||
		    !skip_to(&cursor, end))
			return false;
	} else if (*letters) {
		return false;
	}
	cie.program = (struct cfi_program){ cursor.offset, record->body.end };
	*ret = cie;
	return true;
}

bool cfi_read_fde(const struct cfi_section *section, const struct cfi_record *record,
		  const struct cfi_cie *cie, struct cfi_fde *ret)
{
	struct cursor cursor = open_program(section, &record->body);
	struct cfi_fde fde = { .start = cfi_address(section, &cursor, cie->encoding) };
	uint64_t bytes = read_number(section, &cursor, cie->encoding & 0x0f);

	if (cie->augmentation_data)
		cursor_skip(&cursor, cfi_uleb(&cursor));
	if (cursor.failed || !bytes || bytes > UINT64_MAX - fde.start)
		return false;
	fde.end = fde.start + bytes;
	fde.program = (struct cfi_program){ cursor.offset, record->body.end };
	*ret = fde;
	return true;
}
