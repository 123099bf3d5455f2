/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A running guest, seen from outside: its kernel, symbols, processes and their mappings, by its
 * memory alone. The parsing is done in a cage (guest_client.h); answers are checked here.
 */
#ifndef HOST_INSPECT_GUEST_VIEW_H
#define HOST_INSPECT_GUEST_VIEW_H

#include "base/buffer.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/intern.h"
#include "bpf/guest_sampler.h"
#include "guest/kernel/uts.h"
#include "guest/process/cpus.h"
#include "guest/process/mapping.h"
#include "guest/process/running.h"
#include "guest/process/task.h"
#include "guest/wire.h"
#include "host/vm/vm.h"
#include "host/vm/vm_memory.h"
#include "unwind/table/table.h"

struct guest_view;

struct guest_view_kernel {
	struct guest_uts names; /* "" where they are not known */
	uint8_t build_id[20];
	size_t build_id_bytes; /* 0: not known */
	uint64_t start, end;   /* of its image, end exclusive */
	bool recalled; /* it was known from an earlier look (guest_cache.h) */
	bool has_types;	       /* BTF: without it no modules and no processes */
	bool has_data_symbols; /* KALLSYMS_ALL: likewise */
};

/*
 * Finds VM's memory and the Linux kernel in it. ERROR_NOT_FOUND: no Linux kernel (a unikernel, a
 * guest that has not booted); ERROR_PERMISSION, ERROR_UNSUPPORTED: its memory is out of reach.
 */
struct error *guest_view_open(struct vm_memory_finder *finder, const struct host_vm *vm,
			      struct guest_view **ret) MUST_CHECK;
void guest_view_close(struct guest_view *view); /* takes NULL */
/*
 * The release and host name alone: a look that costs milliseconds, and seconds at most, whatever
 * the guest does. Errors as above.
 */
struct error *guest_view_ask_names(struct vm_memory_finder *finder, const struct host_vm *vm,
				   struct guest_uts *ret) MUST_CHECK;

const struct guest_view_kernel *guest_view_get_kernel(const struct guest_view *view);
/* What is read from here on is as it is now. */
struct error *guest_view_refresh(struct guest_view *view) MUST_CHECK;

/* Text in the formats of /proc/kallsyms and /proc/modules; RET is initialised, and cleared. */
struct error *guest_view_kallsyms(struct guest_view *view, struct buffer *ret) MUST_CHECK;
struct error *guest_view_modules(struct guest_view *view, struct buffer *ret) MUST_CHECK;
/* An encoded symbol table (symbol/table.h), to be decoded with care. */
struct error *guest_view_symbols(struct guest_view *view, struct buffer *ret) MUST_CHECK;
/* The unwind data of kernel and modules. ERROR_UNSUPPORTED: the kernel has none. */
struct error *guest_view_unwind_table(struct guest_view *view,
				      struct unwind_table **ret) MUST_CHECK;
/*
 * What its kernel's code calls, for looking for stack pointers. ERROR_UNSUPPORTED: this cannot be
 * told of this kernel.
 */
struct error *guest_view_calls(struct guest_view *view, struct unwind_calls **ret) MUST_CHECK;

struct error *guest_view_tasks(struct guest_view *view, enum guest_task_scope scope,
			       struct guest_tasks *ret) MUST_CHECK;
/* A task as the parser sends it; a cursor that has failed leaves what it may. */
void guest_view_decode_task(struct cursor *cursor, struct guest_task *ret);
/*
 * The task whose task_struct is TASK, as of the last refresh: some ten reads, no list is walked.
 * ERROR_NOT_FOUND: what is there cannot be a task.
 */
struct error *guest_view_task(struct guest_view *view, struct gva task,
			      struct guest_task *ret) MUST_CHECK;
/* Of the process whose mm_struct is MM; paths go to STRINGS. */
struct error *guest_view_mappings(struct guest_view *view, struct gva mm, struct intern *strings,
				  struct guest_mappings *ret) MUST_CHECK;
/*
 * An encoded symbol table of the file or vDSO that MM has mapped from START on, by file offset; RET
 * is as above, the table to be decoded with care. All memory is refreshed by it.
 * ERROR_NOT_FOUND: no file is mapped there, or its symbols are not in the guest's memory.
 */
struct error *guest_view_file_symbols(struct guest_view *view, struct gva mm, struct gva start,
				      struct buffer *ret) MUST_CHECK;
/*
 * The unwind data of the same, by file offset. All memory is refreshed by it. ERROR_NOT_FOUND as
 * above, ERROR_UNSUPPORTED: a file of another machine than x86.
 */
struct error *guest_view_file_unwind_table(struct guest_view *view, struct gva mm, struct gva start,
					   struct unwind_table **ret) MUST_CHECK;

/*
 * What a sampler needs to find the current task of a vCPU, of which RET_CPUS says where its per-CPU
 * variables are; VERSION is the caller's, not 0. ERROR_UNSUPPORTED: the guest's kernel does not
 * tell (no BTF, no data symbols).
 */
struct error *guest_view_describe(struct guest_view *view, uint64_t version,
				  struct sampler_vm *ret, struct guest_cpus *ret_cpus) MUST_CHECK;
/*
 * As it is now, by what vCPUs have now. An error: the parser is gone, or the VM's memory slots are
 * others than before; the view is good for nothing any more.
 */
struct error *guest_view_check(struct guest_view *view, struct vm_memory_finder *finder,
			       const struct host_vm *vm, struct guest_state *ret) MUST_CHECK;

/*
 * Asks the parser QUESTION with SIZE bytes of DATA (guest/wire.h); RET is initialised, and cleared.
 */
struct error *guest_view_ask(struct guest_view *view, enum guest_message question, const void *data,
			     size_t size, struct buffer *ret) MUST_CHECK;

/* For guests of other kinds. A parser that reads MEMORY, which must outlive it. */
struct guest_client;
struct guest_client_limits;
struct error *guest_view_start_parser(struct host_vm_memory *memory,
				      const struct guest_client_limits *limits,
				      struct guest_client **ret) MUST_CHECK;
/* The largest slots: what a sampler has no room for it does not read. */
void guest_view_describe_slots(const struct host_vm_memory *memory, struct sampler_vm *ret);

/* A number for the VM's memory slots as the view knows them. */
uint64_t guest_view_slots(const struct guest_view *view);
uint64_t guest_view_bytes_read(const struct guest_view *view);

DEFINE_CLEANUP(cleanup_guest_view, struct guest_view *, guest_view_close)
#define _cleanup_guest_view_ _cleanup_(cleanup_guest_view)

#endif
