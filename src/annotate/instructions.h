/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions in a piece of code, as text: for x86 in AT&T syntax, written as objdump and perf
 * do as far as capstone, which decodes them, allows it. Any bytes may be decoded: what is no
 * instruction that capstone knows becomes a line of ".byte".
 */
#ifndef ANNOTATE_INSTRUCTIONS_H
#define ANNOTATE_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/vector.h"

enum instruction_kind { INSTRUCTION_PLAIN, INSTRUCTION_JUMP, INSTRUCTION_CALL };

struct instruction {
	uint64_t address;
	uint32_t bytes;
	enum instruction_kind kind;
	uint64_t target; /* of a jump or a call to a known address; else 0 */
	size_t text; /* its offset in struct instructions' texts, where a zero byte ends it */
};

struct instructions {
	VECTOR(struct instruction) items; /* by address, without gaps */
	struct buffer texts; /* names in them are escaped */
};

struct instruction_code {
	uint16_t machine; /* EM_* of elf.h */
	bool big_endian;
	const uint8_t *bytes;
	size_t size;
	uint64_t address; /* of the first byte */
};

/*
 * Names ADDRESS: the function or the data there, and in *RET_OFFSET how far behind its start
 * ADDRESS is; NULL: it has no name. The name need not be printable, and is valid until the next
 * call.
 */
typedef const char *instruction_namer(void *context, uint64_t address, uint64_t *ret_offset);

/*
 * Decodes all of CODE, at most 1 MiB of it. RET is to be freed by instructions_deinit() in either
 * case. ERROR_UNSUPPORTED: instructions of this machine are not known here.
 */
#define INSTRUCTIONS_MAX_BYTES ((size_t)1 << 20)
struct error *instructions_decode(const struct instruction_code *code, instruction_namer *namer,
				  void *context, struct instructions *ret) MUST_CHECK;
void instructions_deinit(struct instructions *instructions);

static inline const char *instruction_text(const struct instructions *instructions, size_t index)
{
	return (const char *)instructions->texts.data + instructions->items.items[index].text;
}
/* The index of the instruction that covers ADDRESS; the number of all: none does. */
size_t instructions_find(const struct instructions *instructions, uint64_t address);

#endif
