/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as code of each machine: the instructions follow each other without gaps, and their
 * texts are printable.
 *
 * The input: u8 number of the machine, u8 1 for big-endian, u64 address, the code.
 */
#include <assert.h>
#include <elf.h>
#include <string.h>

#include "annotate/instructions.h"
#include "base/cursor.h"
#include "base/utf8.h"
#include "fuzz.h"

/* Some addresses have a name, of any bytes. */
static const char *name(void *context, uint64_t address, uint64_t *ret_offset)
{
	(void)context;
	*ret_offset = address & 0xff;
	return address & 0x100 ? NULL : "a\x1b[0m\xff";
}

static void check(const struct instructions *instructions, const struct instruction_code *code)
{
	uint64_t next = code->address;
	size_t count = instructions->items.count;

	for (size_t i = 0; i < count; i++) {
		const struct instruction *at = &instructions->items.items[i];
		const char *text = instruction_text(instructions, i);
		char shown[4096];

		assert(at->address == next && at->bytes);
		assert(next + at->bytes < next || instructions_find(instructions, next) == i);
		utf8_printable(text, strlen(text), shown, sizeof(shown));
		assert(!strcmp(text, shown));
		next += at->bytes;
	}
	assert(next - code->address <= code->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t machines[] = { EM_X86_64, EM_386, EM_AARCH64, EM_PPC64, EM_SPARC };
	struct cursor input = cursor_make(data, size, false);
	struct instruction_code code = {
		.machine = machines[cursor_u8(&input) % (sizeof(machines) / sizeof(*machines))] };
	struct instructions instructions;
	struct error *error;

	code.big_endian = cursor_u8(&input) & 1;
	code.address = cursor_u64(&input);
	code.size = cursor_left(&input);
	code.bytes = cursor_bytes(&input, code.size);
	if (input.failed || code.size > UINT64_MAX - code.address)
		return 0;
	error = instructions_decode(&code, name, NULL, &instructions);
	assert(!error == (code.machine != EM_SPARC));
	error_destroy(error);
	check(&instructions, &code);
	instructions_deinit(&instructions);
	return 0;
}
