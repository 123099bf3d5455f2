/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The less usual fields of perf script: what a sample says of memory, its registers, its branches.
 * Formats: tools/perf/builtin-script.c.
 */
#ifndef OUTPUT_SCRIPT_EXTRA_H
#define OUTPUT_SCRIPT_EXTRA_H

#include "base/buffer.h"
#include "output/script/script_text.h"
#include "session/resolver.h"

#define SCRIPT_BEFORE_ADDRESS (SCRIPT_ADDR | SCRIPT_DATA_SRC | SCRIPT_WEIGHT | SCRIPT_INS_LAT)
#define SCRIPT_AFTER_ADDRESS                                                                       \
	(SCRIPT_IREGS | SCRIPT_UREGS | SCRIPT_BRSTACK | SCRIPT_BRSTACKSYM | SCRIPT_PHYS_ADDR |     \
	 SCRIPT_DATA_PAGE_SIZE | SCRIPT_CODE_PAGE_SIZE | SCRIPT_CGROUP)

/* Appends the function of LOCATION, with OFFSET also how far ADDRESS, in its file, is into it. */
void script_append_symbol(struct resolver *resolver, uint32_t location, uint64_t address,
			  bool offset, struct buffer *out);

struct script_extra {
	struct session *session;
	struct resolver *resolver;
	size_t memory_width; /* of the widest data_src so far: later ones are padded to it */
};

/* Appends the VM and the vCPU of SAMPLE, those of FIELDS. */
void script_append_machine(const struct session_sample *sample, uint32_t fields,
			   struct buffer *out);
/* Appends what stands before the address of SAMPLE, of SCRIPT_BEFORE_ADDRESS. */
void script_extra_before(struct script_extra *extra, const struct session_sample *sample,
			 uint32_t fields, struct buffer *out);
/* Likewise after it. */
void script_extra_after(struct script_extra *extra, const struct session_sample *sample,
			 uint32_t fields, struct buffer *out);

/* script_memory.c: "|OP LOAD|LVL L1 hit|…" (tools/perf/util/mem-events.c) */
void script_append_memory(uint64_t data_src, struct buffer *out);
/* script_registers.c: " ABI:2    AX:0x1 …" (tools/perf/util/perf-regs-arch) */
struct script_registers {
	const void *words; /* NULL: none */
	uint64_t mask;
	uint16_t abi;
	bool swap;
	const char *arch; /* uname's machine */
};
void script_append_registers(const struct script_registers *registers, struct buffer *out);

#endif
