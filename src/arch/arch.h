/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An instruction set as a guest has it: one const table each, all compiled in and chosen by a
 * run-time value, since a recording made on one machine is read on any other.
 *
 * How to add one: write arch/NAME.c with a `const struct arch arch_NAME`, fill every field that
 * has no "may be NULL", add it to arch_all[] in arch.c and to src/arch/meson.build, and build
 * page tables for it in tests/unit/arch/test_NAME.c.
 */
#ifndef ARCH_ARCH_H
#define ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A guest virtual and a guest physical address: never one where the other is meant. */
struct gva {
	uint64_t value;
};
struct gpa {
	uint64_t value;
};

#define GVA(address) ((struct gva){ (address) })
#define GPA(address) ((struct gpa){ (address) })

/* Guest physical memory, as a walk reads it. False: nothing there. */
struct arch_memory {
	bool (*read)(void *context, struct gpa from, void *data, size_t size);
	void *context;
};

/* The registers that decide how a vCPU translates; those of other ISAs are 0. */
struct arch_mmu {
	const struct arch *arch;
	union {
		struct {
			uint64_t cr0, cr3, cr4, efer;
		} x86;
		struct {
			uint64_t ttbr0, ttbr1, tcr;
			bool lpa2; /* TCR_EL1.DS takes effect: 52 bits with 4 and 16 KiB pages */
		} arm64;
		struct {
			uint64_t process_table; /* gpa of the guest's process table, PRTCR */
			uint32_t pid;		/* PIDR */
			/* false: hash MMU, whose user addresses are out of reach */
			bool radix;
		} ppc64;
	};
};

enum arch_walk {
	ARCH_WALK_OK,
	ARCH_WALK_NOT_MAPPED,  /* an entry says not present */
	ARCH_WALK_BAD_ADDRESS, /* not canonical, outside of every table */
	ARCH_WALK_UNREADABLE,  /* a table lies where there is no memory */
	ARCH_WALK_UNSUPPORTED, /* hash MMU, a reserved configuration */
};

struct arch_mapping {
	struct gpa gpa;	       /* of the address that was asked for */
	uint64_t page_bytes;   /* of the page that holds it: how far the mapping is contiguous */
	bool user;	       /* user mode may read it */
	bool executable;       /* in the mode that it is for */
	bool writable;
};

/*
 * Frames on a stack that say where their caller's is. Offsets are in bytes, from the frame's own
 * address: what the frame register points to.
 */
struct arch_frames {
	uint8_t alignment;
	int16_t caller_at; /* the caller's frame; 0: there is none */
	int16_t return_at; /* the return address, … */
	bool return_in_caller; /* … from the caller's frame on: it was saved there */
	/*
	 * Bits that are set in all addresses of kernel code, whatever signature a return address
	 * has there.
	 */
	uint64_t code_bits;
	/* An outermost frame of the kernel is no farther from the stack's end. */
	uint16_t outermost_bytes;
	/*
	 * Frames that entry code makes of what it interrupted. A word that is not MARK: the frame
	 * is none.
	 */
	struct arch_entry_frame {
		uint64_t mark; /* 0: there are no more */
		int16_t mark_at;
		bool empty; /* and caller and return address are 0 */
		int16_t ip_at, frame_at, mode_at; /* the registers that were interrupted */
		uint64_t mode_user; /* this bit at mode_at: in user mode */
	} entries[3];
};

struct arch {
	const char *name;	/* as uname -m has it: "x86_64" */
	uint16_t elf_machine;	/* EM_* */
	/*
	 * Translates ADDRESS by page tables alone, in at most 6 reads of MEMORY: nothing that the
	 * guest puts there makes a walk longer. *RET is set with ARCH_WALK_OK only.
	 */
	enum arch_walk (*walk)(const struct arch_mmu *mmu, const struct arch_memory *memory,
			       struct gva address, struct arch_mapping *ret);
	/* Whether a canonical ADDRESS belongs to the kernel's half. */
	bool (*is_kernel_address)(struct gva address);
	/* Of kernels, and of programs that keep them; NULL: frames do not say so, or not all. */
	const struct arch_frames *frames;
};

extern const struct arch arch_x86_64, arch_i386, arch_arm64, arch_ppc64;
extern const struct arch *const arch_all[]; /* ends with NULL */

const struct arch *arch_find(const char *name); /* NULL: none of that name */

static inline enum arch_walk arch_walk(const struct arch_mmu *mmu, const struct arch_memory *memory,
				       struct gva address, struct arch_mapping *ret)
{
	return mmu->arch->walk(mmu, memory, address, ret);
}

#endif
