/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of registers by their bit: arch/x86/include/uapi/asm/perf_regs.h and arch/arm64/include/
 * uapi/asm/perf_regs.h. Of other machines they are numbered.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/script/script_extra.h"

static const char *const x86_names[] = {
	"AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP",  "FLAGS", "CS",  "SS",
	"DS", "ES", "FS", "GS", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15",
};
#define X86_XMM0 32 /* 16 registers of two words each */

static const char *const arm64_names[] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",	"x8",  "x9",  "x10",
	"x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
	"x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "lr",  "sp",  "pc",
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static bool is_x86(const char *arch)
{
	return !strcmp(arch, "x86_64") || (arch[0] == 'i' && !strcmp(arch + 2, "86"));
}

static void name_register(const char *arch, unsigned int bit, char ret[16])
{
	if (is_x86(arch) && bit < COUNT(x86_names))
		snprintf(ret, 16, "%s", x86_names[bit]);
	else if (is_x86(arch) && bit >= X86_XMM0)
		snprintf(ret, 16, "XMM%u", (bit - X86_XMM0) / 2);
	else if (!strcmp(arch, "aarch64") && bit < COUNT(arm64_names))
		snprintf(ret, 16, "%s", arm64_names[bit]);
	else
		snprintf(ret, 16, "R%u", bit);
}

void script_append_registers(const struct script_registers *registers, struct buffer *out)
{
	const uint8_t *at = registers->words;

	if (!at)
		return;
	buffer_printf(out, " ABI:%u ", registers->abi);
	for (unsigned int bit = 0; bit < 64; bit++) {
		char name[16];
		uint64_t value;

		if (!(registers->mask >> bit & 1))
			continue;
		memcpy(&value, at, sizeof(value));
		at += sizeof(value);
		name_register(registers->arch, bit, name);
		buffer_printf(out, "%5s:0x%" PRIx64 " ", name,
			      registers->swap ? __builtin_bswap64(value) : value);
	}
}
