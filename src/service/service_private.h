/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by service.c (the connection, the guest as a whole), service_kernel.c (its kernel),
 * service_key.c (keys of tables), service_code.c (code), service_process.c (its processes),
 * service_stack.c (their kernel stacks) and service_vcpu.c (what a vCPU runs).
 */
#ifndef SERVICE_SERVICE_PRIVATE_H
#define SERVICE_SERVICE_PRIVATE_H

#include "base/buffer.h"
#include "base/cursor.h"
#include "base/intern.h"
#include "guest/kernel/kernel.h"
#include "guest/kernel/module.h"
#include "guest/kernel/name.h"
#include "guest/process/mapping.h"
#include "guest/process/program.h"
#include "guest/process/task.h"
#include "guest/wire.h"
#include "unwind/walk/unwind.h"

struct service_stacks;
struct symbol_table;

struct service {
	int fd;
	struct buffer request, pages, answer;
	struct guest_memory *memory;
	struct guest_space space;
	struct guest_kernel *kernel;
	struct buffer kept; /* data to open the kernel with; the kernel may point into it */
	bool recalled;	    /* the kernel was opened with it */
	struct intern *strings;
	/* Created on first use. */
	struct guest_task_reader *tasks;
	struct guest_program_reader *programs; /* NULL: not used yet, or not available */
	struct guest_mapping_reader *mappings;
	struct service_stacks *stacks;
};

/*
 * Each answers one kind of request (wire.h), after its number has been read from REQUEST, in
 * ->answer.
 */
struct error *service_answer_symbols(struct service *service, struct cursor *request) MUST_CHECK;
struct error *service_answer_kallsyms(struct service *service, struct cursor *request) MUST_CHECK;
struct error *service_answer_modules(struct service *service, struct cursor *request) MUST_CHECK;
struct error *service_answer_current(struct service *service, struct cursor *request) MUST_CHECK;
struct error *service_answer_unwind(struct service *service, struct cursor *request) MUST_CHECK;
struct error *service_answer_calls(struct service *service, struct cursor *request) MUST_CHECK;
struct error *service_answer_tasks(struct service *service, struct cursor *request) MUST_CHECK;
struct error *service_answer_task(struct service *service, struct cursor *request) MUST_CHECK;
struct error *service_answer_mappings(struct service *service, struct cursor *request) MUST_CHECK;
struct error *service_answer_areas(struct service *service, struct cursor *request) MUST_CHECK;
struct error *service_answer_file_symbols(struct service *service,
					  struct cursor *request) MUST_CHECK;
struct error *service_answer_file_unwind(struct service *service,
					 struct cursor *request) MUST_CHECK;
struct error *service_answer_functions(struct service *service,
				       struct cursor *request) MUST_CHECK;
struct error *service_answer_stacks(struct service *service, struct cursor *request) MUST_CHECK;
struct error *service_answer_vcpu(struct service *service, struct cursor *request) MUST_CHECK;

/* The symbols of kernel and modules, the caller's to destroy. */
struct symbol_table *service_kernel_symbols(struct service *service);
/* The file or vDSO that MM has mapped from START on; reads current memory, and opens ->programs. */
struct error *service_find_program(struct service *service, struct gva mm, struct gva start,
				   struct guest_program *ret) MUST_CHECK;
/* The registers that control how a vCPU of ARCH translates addresses. */
void service_take_registers(struct cursor *request, const struct arch *arch, struct arch_mmu *ret);
/* Create ->tasks, ->programs and ->mappings, ->stacks, unless they exist. */
struct error *service_open_tasks(struct service *service) MUST_CHECK;
struct error *service_open_mappings(struct service *service) MUST_CHECK;
struct error *service_open_stacks(struct service *service) MUST_CHECK;

void service_append_task(struct service *service, const struct guest_task *task);
/* Code at ADDRESS, in the function NAME, which may be empty. */
void service_append_named(struct service *service, uint64_t address, const struct guest_name *name);
/* The same for a program, with the function's name demangled. */
void service_append_user_named(struct service *service, uint64_t address,
			       const struct guest_name *name);
/* Kernel code; stacks must be open. BACK is 1 for return addresses. */
void service_append_place(struct service *service, uint64_t address, unsigned int back);
void service_append_frame(struct service *service, const struct unwind_frame *frame);
/* The unwind data of kernel and modules; the same applies. */
const struct unwind_table *service_kernel_unwind(const struct service *service);

/*
 * Keys of the tables of symbols and unwind data for the kernel with MODULES (NULL: unknown); 0: the
 * key cannot be computed.
 */
uint64_t service_symbols_key(struct service *service, const struct guest_modules *modules);
uint64_t service_unwind_key(struct service *service, const struct guest_modules *modules);

void service_append_text(struct buffer *to, const char *text); /* u32 length, text */

/* Drops everything found about processes. */
void service_forget_processes(struct service *service);
void service_close_processes(struct service *service);
void service_close_stacks(struct service *service);

#endif
