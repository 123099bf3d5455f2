/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text of x86 instructions in AT&T syntax: capstone's, written as objdump writes it. What objdump
 * leaves out (the suffix of an instruction whose registers say its size) is left out, numbers are
 * in hexadecimal, and there are no blanks between operands.
 *
 * Limits: a displacement of 0 that is encoded, segments of string instructions and the names of
 * some operands (st) are capstone's.
 */
#ifndef ANNOTATE_ATT_TEXT_H
#define ANNOTATE_ATT_TEXT_H

#include <capstone/capstone.h>
#include <stddef.h>

/*
 * Changes MNEMONIC and OPERANDS, of at most SIZE bytes with the zero byte; BASE is capstone's name
 * of the instruction, without a suffix.
 */
void att_text_tidy(const cs_insn *instruction, const char *base, char *mnemonic, char *operands,
		   size_t size);

#endif
