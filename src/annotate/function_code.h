/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of a function in a recording. Of a guest's kernel, its modules and its programs it is
 * what the recording has of the guest's memory. Otherwise it comes from the file that was mapped
 * (symbol/dso.h), and for kernels from their vmlinux: both only in the build that was recorded.
 */
#ifndef ANNOTATE_FUNCTION_CODE_H
#define ANNOTATE_FUNCTION_CODE_H

#include "annotate/instructions.h"
#include "session/resolver.h"
#include "symbol/elf_file.h"

struct function_code {
	uint16_t machine; /* EM_* of elf.h */
	bool big_endian;
	bool cut;	/* not all of the function is here */
	struct buffer bytes;
	/*
	 * Of the first byte: of a kernel as it was recorded, of a file as it is linked, of a
	 * guest's file in the recording its offset in the file.
	 */
	uint64_t address;
	const struct symbol_table *table;
	struct elf_file *file; /* a program's, translates addresses to those of TABLE; or NULL */
	char *source;	       /* "the guest's memory", or the file's name; any bytes */
};

/*
 * The code of LOCATION, which is a function of MACHINE; KERNEL ran at the time, if it is in a
 * kernel. RET is to be freed by function_code_deinit() in either case. An error says what is
 * missing, and its hint what would help.
 */
struct error *function_code_find(struct session *session, const struct location *location,
				 struct machine *machine, uint32_t kernel,
				 struct function_code *ret) MUST_CHECK;
void function_code_deinit(struct function_code *code);

/* What is at an address of the function's file or kernel (CONTEXT is a struct function_code). */
instruction_namer function_code_name;

#endif
