/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "annotate/att_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"

#define MAX_TEXT_BYTES 4096

static bool has_register(const cs_x86 *x86)
{
	for (uint8_t i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_REG)
			return true;
	return false;
}

/* Whether objdump does not say the size of WHAT. */
static bool has_one_size(const cs_insn *instruction, const char *base)
{
	static const char *const known[] = { "push", "pop", "call", "jmp", "ret", "leave" };
	const cs_x86 *x86 = &instruction->detail->x86;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(base, known[i]))
			return true;
	return !x86->op_count || has_register(x86);
}

/* "lock cmpxchgl" -> "lock cmpxchg" */
static void drop_suffix(const cs_insn *instruction, const char *base, char *mnemonic)
{
	char *word = strrchr(mnemonic, ' ');
	size_t length = strlen(base);

	word = word ? word + 1 : mnemonic;
	if (!strncmp(word, base, length) && word[length] && strchr("bwlq", word[length]) &&
	    !word[length + 1] && has_one_size(instruction, base))
		word[length] = 0;
}

/* Whether a decimal number that begins here is a displacement or an immediate, not a scale. */
static bool begins_number(const char *text, const char *at)
{
	if (!isdigit((unsigned char)*at) || (at[0] == '0' && at[1] == 'x'))
		return false;
	return at == text || strchr("$-,*: ", at[-1]);
}

/* The scale of "(%rax, %rcx)", which capstone leaves out if it is 1. */
static bool lacks_scale(const char *open, const char *close)
{
	size_t commas = 0;

	for (const char *at = open; at < close; at++)
		commas += *at == ',';
	return commas == 1;
}

static void rewrite(const char *text, struct buffer *out)
{
	const char *open = NULL;

	for (const char *at = text; *at; at++) {
		if (*at == ' ' && at > text && at[-1] == ',')
			continue;
		if (*at == '(')
			open = at;
		if (*at == ')' && open && lacks_scale(open, at))
			buffer_append_string(out, ",1");
		if (*at == ')')
			open = NULL;
		if (!open && begins_number(text, at)) {
			buffer_printf(out, "0x%llx", strtoull(at, (char **)&at, 10));
			at--;
			continue;
		}
		buffer_append_u8(out, *at);
	}
	buffer_append_u8(out, 0);
}

void att_text_tidy(const cs_insn *instruction, const char *base, char *mnemonic, char *operands,
		   size_t size)
{
	_cleanup_buffer_ struct buffer out;

	if (base)
		drop_suffix(instruction, base, mnemonic);
	buffer_init(&out, MAX_TEXT_BYTES);
	rewrite(operands, &out);
	if (!out.overflow && out.size <= size)
		memcpy(operands, out.data, out.size);
}
