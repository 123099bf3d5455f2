/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A running guest, seen from outside: its kernel, symbols, processes and their mappings, read from
 * guest memory. A caged process does the parsing (guest_client.h); its answers are checked here.
 */
#ifndef HOST_INSPECT_GUEST_VIEW_H
#define HOST_INSPECT_GUEST_VIEW_H

#include "base/buffer.h"
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
	struct guest_uts names; /* "" if not known */
	uint8_t build_id[20];
	size_t build_id_bytes; /* 0: not known */
	uint64_t start, end;   /* of its image; end is exclusive */
	bool recalled; /* known from an earlier run (guest_cache.h) */
	bool has_types;	       /* BTF, needed for modules and processes */
	bool has_data_symbols; /* KALLSYMS_ALL, needed likewise */
};

/*
 * Finds VM's memory and the Linux kernel in it. ERROR_NOT_FOUND: no Linux kernel (a unikernel, or a
 * guest that has not booted). ERROR_PERMISSION, ERROR_UNSUPPORTED: its memory cannot be read.
 */
struct error *guest_view_open(struct vm_memory_finder *finder, const struct host_vm *vm,
			      struct guest_view **ret) MUST_CHECK;
void guest_view_close(struct guest_view *view); /* takes NULL */
/*
 * Reads only the release and the host name. Takes milliseconds, and at most seconds, whatever the
 * guest does. Errors as above.
 */
struct error *guest_view_ask_names(struct vm_memory_finder *finder, const struct host_vm *vm,
				   struct guest_uts *ret) MUST_CHECK;

const struct guest_view_kernel *guest_view_get_kernel(const struct guest_view *view);
/* Everything that is read from here on is current. */
struct error *guest_view_refresh(struct guest_view *view) MUST_CHECK;

/*
 * Text in the formats of /proc/kallsyms and /proc/modules. RET must be initialised; it is cleared.
 */
struct error *guest_view_kallsyms(struct guest_view *view, struct buffer *ret) MUST_CHECK;
struct error *guest_view_modules(struct guest_view *view, struct buffer *ret) MUST_CHECK;
/* An encoded symbol table (symbol/table.h), which must be decoded with care. */
struct error *guest_view_symbols(struct guest_view *view, struct buffer *ret) MUST_CHECK;
/* The unwind data of the kernel and its modules. ERROR_UNSUPPORTED: the kernel has none. */
struct error *guest_view_unwind_table(struct guest_view *view,
				      struct unwind_table **ret) MUST_CHECK;
/*
 * The targets of calls in the kernel's code, used to search for stack pointers. ERROR_UNSUPPORTED:
 * not possible for this kernel.
 */
struct error *guest_view_calls(struct guest_view *view, struct unwind_calls **ret) MUST_CHECK;

struct error *guest_view_tasks(struct guest_view *view, enum guest_task_scope scope,
			       struct guest_tasks *ret) MUST_CHECK;
/*
 * The task whose task_struct is TASK, as of the last refresh: some ten reads, no list is walked.
 * ERROR_NOT_FOUND: what is there cannot be a task.
 */
struct error *guest_view_task(struct guest_view *view, struct gva task,
			      struct guest_task *ret) MUST_CHECK;
/* The mappings of the process whose mm_struct is MM. Paths go to STRINGS. */
struct error *guest_view_mappings(struct guest_view *view, struct gva mm, struct intern *strings,
				  struct guest_mappings *ret) MUST_CHECK;
/* The executable mappings AREAS, which a sampler has copied from a process that may be gone. */
struct error *guest_view_copied_mappings(struct guest_view *view, const struct sampler_areas *areas,
					 struct intern *strings,
					 struct guest_mappings *ret) MUST_CHECK;
/*
 * An encoded symbol table, by file offset, of the file or vDSO that MAPPING shows. RET is as above,
 * and must be decoded with care. Refreshes all memory. ERROR_NOT_FOUND: no file is mapped there, or
 * another one has taken its place since then, or its symbols are not in guest memory.
 */
struct error *guest_view_file_symbols(struct guest_view *view, const struct guest_mapping *mapping,
				      struct buffer *ret) MUST_CHECK;
/*
 * The unwind data of the same file, by file offset. Refreshes all memory. ERROR_NOT_FOUND as above;
 * ERROR_UNSUPPORTED: the file is not for x86.
 */
struct error *guest_view_file_unwind_table(struct guest_view *view,
					   const struct guest_mapping *mapping,
					   struct unwind_table **ret) MUST_CHECK;

/*
 * The code of the functions around ADDRESSES, at most GUEST_FUNCTION_ADDRESSES, of the file or vDSO
 * that MM has mapped from START on, where they are offsets in it; both 0: of the kernel and its
 * modules. From current memory; to be decoded with care (symbol/code_pieces.h).
 */
struct error *guest_view_functions(struct guest_view *view, struct gva mm, struct gva start,
				   const uint64_t *addresses, size_t count,
				   struct buffer *ret) MUST_CHECK;

/*
 * What a sampler needs to find the current task of a vCPU; RET_CPUS gets the addresses of the
 * per-CPU variables. The caller chooses VERSION, not 0. ERROR_UNSUPPORTED: the guest's kernel lacks
 * the information (no BTF, no data symbols).
 */
struct error *guest_view_describe(struct guest_view *view, uint64_t version,
				  struct sampler_vm *ret, struct guest_cpus *ret_cpus) MUST_CHECK;
/*
 * The guest's current state, using the vCPUs' current registers. An error means that the parser is
 * gone or the VM's memory slots have changed; the view is then useless.
 */
struct error *guest_view_check(struct guest_view *view, struct vm_memory_finder *finder,
			       const struct host_vm *vm, struct guest_state *ret) MUST_CHECK;

/*
 * Asks the parser QUESTION with SIZE bytes of DATA (guest/wire.h). RET must be initialised; it is
 * cleared.
 */
struct error *guest_view_ask(struct guest_view *view, enum guest_message question, const void *data,
			     size_t size, struct buffer *ret) MUST_CHECK;

/* For other kinds of guests: starts a parser that reads MEMORY, which must outlive it. */
struct guest_client;
struct guest_client_limits;
struct error *guest_view_start_parser(struct host_vm_memory *memory,
				      const struct guest_client_limits *limits,
				      struct guest_client **ret) MUST_CHECK;
/* Describes the largest slots; a sampler does not read those that it has no room for. */
void guest_view_describe_slots(const struct host_vm_memory *memory, struct sampler_vm *ret);

/* A number that identifies the VM's memory slots as the view knows them. */
uint64_t guest_view_slots(const struct guest_view *view);
uint64_t guest_view_bytes_read(const struct guest_view *view);

DEFINE_CLEANUP(cleanup_guest_view, struct guest_view *, guest_view_close)
#define _cleanup_guest_view_ _cleanup_(cleanup_guest_view)

#endif
