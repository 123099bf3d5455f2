/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's instruction set: one const table each, all compiled in and chosen at run time, since a
 * recording made on one machine can be read on any other.
 *
 * To add one: write arch/NAME.c with a `const struct arch arch_NAME`, fill in every field that is
 * not marked "may be NULL", add it to arch_all[] in arch.c and to src/arch/meson.build, and build
 * page tables for it in tests/unit/arch/test_NAME.c.
 */
#ifndef ARCH_ARCH_H
#define ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Guest virtual and guest physical addresses, as types that cannot be mixed up. */
struct gva {
	uint64_t value;
};
struct gpa {
	uint64_t value;
};

#define GVA(address) ((struct gva){ (address) })
#define GPA(address) ((struct gpa){ (address) })

/* Guest physical memory, as a page-table walk reads it. False: no memory there. */
struct arch_memory {
	bool (*read)(void *context, struct gpa from, void *data, size_t size);
	void *context;
};

/* The registers that control a vCPU's address translation; those of other ISAs are 0. */
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
			/* false: hash MMU, whose user addresses cannot be translated */
			bool radix;
		} ppc64;
	};
};

enum arch_walk {
	ARCH_WALK_OK,
	ARCH_WALK_NOT_MAPPED,  /* an entry is marked not present */
	ARCH_WALK_BAD_ADDRESS, /* not canonical, or outside every table */
	ARCH_WALK_UNREADABLE,  /* a table is at an address without memory */
	ARCH_WALK_UNSUPPORTED, /* hash MMU, or a reserved configuration */
};

struct arch_mapping {
	struct gpa gpa;	       /* of the requested address */
	uint64_t page_bytes;   /* of the page that holds it: the mapping is contiguous that far */
	bool user;	       /* user mode may read it */
	bool executable;       /* in the mode that the page belongs to */
	bool writable;
};

/*
 * Stack frames that link to their caller's frame. Offsets are in bytes, from the frame's own
 * address, which is what the frame register points to.
 */
struct arch_frames {
	uint8_t alignment;
	int16_t caller_at; /* the caller's frame; 0: there is none */
	int16_t return_at; /* the return address, … */
	bool return_in_caller; /* … from the caller's frame: it was saved there */
	/*
	 * Bits that are set in all addresses of kernel code, whatever signature a return address
	 * carries in them.
	 */
	uint64_t code_bits;
	/* The outermost frame of a kernel stack is at most this far from the stack's end. */
	uint16_t outermost_bytes;
	/*
	 * Frames in which entry code saves the interrupted registers. Without MARK, it is not one.
	 */
	struct arch_entry_frame {
		uint64_t mark; /* 0: end of the list */
		int16_t mark_at;
		bool empty; /* caller and return address are 0, too */
		int16_t ip_at, frame_at, mode_at; /* the interrupted registers */
		uint64_t mode_user; /* bit at mode_at that is set in user mode */
	} entries[3];
};

struct arch {
	const char *name;	/* as printed by uname -m: "x86_64" */
	uint16_t elf_machine;	/* EM_* */
	/*
	 * Translates ADDRESS using page tables alone, with at most 6 reads of MEMORY: nothing that
	 * a guest puts there makes a walk longer. *RET is only set with ARCH_WALK_OK.
	 */
	enum arch_walk (*walk)(const struct arch_mmu *mmu, const struct arch_memory *memory,
			       struct gva address, struct arch_mapping *ret);
	/* Whether a canonical ADDRESS is in the kernel's half. */
	bool (*is_kernel_address)(struct gva address);
	/*
	 * For kernels, and for programs that keep frames; NULL: the ISA's frames do not link, or
	 * not all.
	 */
	const struct arch_frames *frames;
};

extern const struct arch arch_x86_64, arch_i386, arch_arm64, arch_ppc64;
extern const struct arch *const arch_all[]; /* NULL-terminated */

const struct arch *arch_find(const char *name); /* NULL: no such name */

static inline enum arch_walk arch_walk(const struct arch_mmu *mmu, const struct arch_memory *memory,
				       struct gva address, struct arch_mapping *ret)
{
	return mmu->arch->walk(mmu, memory, address, ret);
}

#endif
