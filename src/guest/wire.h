/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The protocol between the cage, which parses a guest's memory, and its owner, over a socket pair.
 *
 * The owner sends one request (GUEST_ASK_*) at a time. The cage answers with one GUEST_RESULT or
 * GUEST_FAILED; before that, it may request guest pages any number of times (GUEST_READ), and gets
 * one GUEST_PAGES for each. Each message is a header and that many bytes, with integers in this
 * machine's byte order. Neither side trusts the other's lengths.
 */
#ifndef GUEST_WIRE_H
#define GUEST_WIRE_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

enum guest_message {
	/* From the owner. */
	/*
	 * u32 arch number, 4 u64 of its registers (CR3 may be 0: not known), u64 limit in bytes,
	 * u32 count of slots, each u64 gpa, u64 bytes -> guest_opened
	 */
	GUEST_ASK_OPEN = 1,
	/*
	 * an answer to GUEST_ASK_KEEP: from now on GUEST_ASK_OPEN uses it if the guest runs that
	 * very kernel; closes the open guest -> nothing
	 */
	GUEST_ASK_RECALL,
	/* -> what is known about the kernel (guest_kernel_keep()) */
	GUEST_ASK_KEEP,
	/*
	 * as GUEST_ASK_OPEN, but only -> release, host name: u32 length, text; no guest is open
	 * afterwards
	 */
	GUEST_ASK_NAMES,
	/*
	 * as GUEST_ASK_OPEN, then u64 gva of a page, u32 count of pages, at most GUEST_CODE_PAGES
	 * -> for each page u32 1 and the page, or u32 0; no guest is open afterwards; the guest
	 * need not run Linux
	 */
	GUEST_ASK_CODE,
	/*
	 * u64 key of a table that the owner has, 0: none -> u64 key; an encoded symbol table
	 * (symbol/table.h) of kernel and modules, or nothing if the owner has that key
	 */
	GUEST_ASK_SYMBOLS,
	/* -> text of /proc/kallsyms */
	GUEST_ASK_KALLSYMS,
	/* -> text of /proc/modules */
	GUEST_ASK_MODULES,
	/* u32: 1 to include threads -> tasks */
	GUEST_ASK_TASKS,
	/* u64 task_struct -> that task */
	GUEST_ASK_TASK,
	/* u64 mm -> mappings */
	GUEST_ASK_MAPPINGS,
	/*
	 * u32 count, u64 struct vdso_image, struct sampler_area (bpf/guest_sampler.h) COUNT times,
	 * as they are: both ends are one binary -> mappings, without reading those of the process
	 */
	GUEST_ASK_AREAS,
	/*
	 * a program: u32 kind, u32 generation, u64 contents, u64 inode; its build-id: u32 length,
	 * bytes -> an encoded symbol table of it; from current memory
	 */
	GUEST_ASK_FILE_SYMBOLS,
	/*
	 * the same -> an encoded table of unwind data (unwind/table/table.h) by file offsets, from
	 * its DWARF; from current memory
	 */
	GUEST_ASK_FILE_UNWIND,
	/*
	 * u64 mm, u64 start of a mapping, both 0: the kernel; u64 address, at most
	 * GUEST_FUNCTION_ADDRESSES times: of a file the offset in it -> the code
	 * (symbol/code_pieces.h) of the functions around them, as far as it is in current memory:
	 * at most GUEST_FUNCTION_BYTES of each, and GUEST_FUNCTIONS_BYTES of all
	 */
	GUEST_ASK_FUNCTIONS,
	/*
	 * u64 task_struct, at most GUEST_STACK_TASKS times; the state of the tasks is read from
	 * current memory -> for each: u32 enum unwind_task_kind (unwind/), u32 state letter; for
	 * one that is asleep also u32 enum unwind_end, where its chain ended (a place), u32 count
	 * of frames, each u32 GUEST_FRAME_*, a place: u64 address, u64 offset in its function, u64
	 * size of the function, function, module: u32 length, text
	 */
	GUEST_ASK_STACKS,
	/*
	 * the state of a vCPU: u32 1 in user mode, u64 ip, u64 sp, u64 bp, 16 u64 by enum
	 * unwind_register (unwind/table/row.h), u64 task_struct, u64 GS base (to find the task if
	 * task_struct is 0), 4 u64 of the vCPU's registers, u32 count of copied stacks: two of the
	 * kernel and the user's, for each u64 start, u64 end, u32 bytes, the bytes; or 0: the vCPU
	 * is stopped, so they are read from memory -> u32 1 if its task was found, and that task; a
	 * chain as above: the kernel's, then the user's
	 */
	GUEST_ASK_VCPU,
	/*
	 * -> struct guest_current (bpf/guest_current.h) as it is: both ends are one binary; u32
	 * count of CPUs, each u32 APIC id, u64 GS base in the kernel (cpus.h)
	 */
	GUEST_ASK_CURRENT,
	/*
	 * 4 u64 of registers for each vCPU, at most GUEST_STATE_MMUS; from current memory -> u64
	 * kernel, u64 modules
	 */
	GUEST_ASK_STATE,
	/*
	 * likewise -> u64 key, an encoded table of unwind data (unwind/table/table.h) of kernel and
	 * modules
	 */
	GUEST_ASK_UNWIND,
	/* -> the encoded calls (unwind/table/calls.h) of kernel and modules */
	GUEST_ASK_CALLS,
	/* drops cached memory, so that later requests see current memory -> nothing */
	GUEST_ASK_REFRESH,
	/* u32 1 or 0: read or failed; then the pages */
	GUEST_PAGES,
	/* From the cage. */
	/* u64 gpa of each page, at most GUEST_READ_PAGES */
	GUEST_READ,
	GUEST_RESULT,
	/* u32 error_code, then its message */
	GUEST_FAILED,
};

#define GUEST_READ_PAGES 64
#define GUEST_CODE_PAGES 4096
#define GUEST_STATE_MMUS 16
#define GUEST_FUNCTION_ADDRESSES 1024
#define GUEST_FUNCTION_BYTES ((size_t)64 << 10)
#define GUEST_FUNCTIONS_BYTES ((size_t)1 << 20)
#define GUEST_STACK_TASKS 64
#define GUEST_STACK_FRAMES 512
#define GUEST_FRAME_CALL 1    /* the address is a call's return address */
#define GUEST_FRAME_GUESSED 2
/* scheduler or lock code, which the guest's /proc/PID/stack leaves out */
#define GUEST_FRAME_WAITING 4
#define GUEST_VCPU_STACKS 3
#define GUEST_PLACE_NAME_BYTES 1024 /* for the names of a place; longer ones are cut */
#define GUEST_FRAME_USER 8    /* user code; the place's module is then the path of its file */
#define GUEST_WIRE_REGISTERS 4
#define GUEST_MESSAGE_MAX ((size_t)64 << 20)

struct guest_message_header {
	uint32_t type;
	uint32_t bytes;
};

/* Sends TYPE with SIZE bytes; fails if the other side is gone, or after FD's own timeout. */
struct error *guest_wire_send(int fd, enum guest_message type, const void *data, size_t size)
	MUST_CHECK;
/*
 * Receives one message into BODY, an initialised buffer that is cleared first and whose maximum
 * limits the size. DEADLINE_NS is a CLOCK_MONOTONIC time, 0: none.
 */
struct error *guest_wire_receive(int fd, uint64_t deadline_ns, uint32_t *ret_type,
				 struct buffer *body) MUST_CHECK;

#endif
