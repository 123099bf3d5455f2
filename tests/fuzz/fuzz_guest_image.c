/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A whole guest: physical memory of a few pages, and the register that points to its page tables.
 * Does everything with it that the cage's parser does.
 *
 * The input: u8 flags (1: five levels), u16 page number of the page tables, then pages: u16 page
 * number, u16 bytes, that many bytes; the rest of the page, and all other pages, are zero.
 */
#include <assert.h>
#include <string.h>

#include "base/cursor.h"
#include "base/intern.h"
#include "base/memory.h"
#include "fuzz.h"
#include "guest/kernel/module.h"
#include "guest/kernel/name.h"
#include "guest/kernel/uts.h"
#include "guest/process/cpus.h"
#include "guest/process/mapping.h"
#include "guest/process/running.h"
#include "guest/process/task.h"
#include "guest/wire.h"
#include "unwind/kernel/kernel_calls.h"
#include "unwind/kernel/kernel_table.h"
#include "unwind/walk/task_stack.h"

#define MAX_PAGES 256 /* of the guest that are not zero */
#define MAX_BYTES (8ULL << 20)
#define MAX_PROCESSES 4 /* for reading mappings */
#define MAX_STACKS 8 /* to be read */
#define MAX_FRAMES 64
#define CR4_PAE (1ULL << 5)
#define CR4_LA57 (1ULL << 12)
#define EFER_LMA (1ULL << 10)

struct image {
	uint8_t pages[MAX_PAGES][GUEST_PAGE_BYTES];
};

static bool read_pages(void *context, const struct gpa *from, size_t count, void *pages)
{
	struct image *image = context;

	for (size_t i = 0; i < count; i++) {
		assert(from[i].value % GUEST_PAGE_BYTES == 0);
		assert(from[i].value / GUEST_PAGE_BYTES < MAX_PAGES);
		memcpy((uint8_t *)pages + i * GUEST_PAGE_BYTES,
		       image->pages[from[i].value / GUEST_PAGE_BYTES], GUEST_PAGE_BYTES);
	}
	return true;
}

static void load(struct cursor *input, struct image *ret)
{
	while (cursor_left(input) >= 4) {
		uint16_t page = cursor_u16(input), bytes = cursor_u16(input);
		const void *data;

		if (bytes > GUEST_PAGE_BYTES)
			bytes = GUEST_PAGE_BYTES;
		if (bytes > cursor_left(input))
			bytes = cursor_left(input);
		data = cursor_bytes(input, bytes);
		if (bytes)
			memcpy(ret->pages[page % MAX_PAGES], data, bytes);
	}
}

static void use_mappings(const struct guest_kernel *kernel, const struct guest_tasks *tasks)
{
	_cleanup_guest_program_reader_ struct guest_program_reader *programs = NULL;
	struct intern *strings = intern_create();
	struct guest_mapping_reader *reader;
	struct error *error;

	error_destroy(guest_program_reader_create(kernel, &programs));
	error = guest_mapping_reader_create(kernel, strings, programs, &reader);

	for (size_t i = 0; !error && i < tasks->items.count && i < MAX_PROCESSES; i++) {
		struct guest_mappings mappings;

		guest_mappings_read(reader, tasks->items.items[i].mm, &mappings);
		for (size_t m = 0; m < mappings.items.count; m++)
			assert(mappings.items.items[m].path < intern_count(strings));
		guest_mappings_deinit(&mappings);
	}
	if (!error)
		guest_mapping_reader_destroy(reader);
	error_destroy(error);
	intern_destroy(strings);
}

static void use_tasks(const struct guest_kernel *kernel)
{
	_cleanup_guest_task_reader_ struct guest_task_reader *reader = NULL;
	struct guest_tasks tasks;

	error_destroy(guest_task_reader_create(kernel, &reader));
	if (!reader)
		return;
	guest_tasks_read(reader, GUEST_THREADS, &tasks);
	use_mappings(kernel, &tasks);
	guest_tasks_deinit(&tasks);
}

static void use_stacks(const struct guest_kernel *kernel, const struct unwind_table *table)
{
	_cleanup_unwind_task_reader_ struct unwind_task_reader *stacks = NULL;
	_cleanup_guest_task_reader_ struct guest_task_reader *reader = NULL;
	struct guest_tasks tasks;

	error_destroy(guest_task_reader_create(kernel, &reader));
	error_destroy(unwind_task_reader_create(kernel, &stacks));
	if (!reader || !stacks)
		return;
	guest_tasks_read(reader, GUEST_THREADS, &tasks);
	for (size_t i = 0; i < tasks.items.count && i < MAX_STACKS; i++) {
		struct unwind_frame frames[MAX_FRAMES];
		struct unwind_chain chain = { .frames = frames, .capacity = MAX_FRAMES };
		struct unwind_task task;

		unwind_task_read(stacks, tasks.items.items[i].at, &task);
		if (task.kind == UNWIND_TASK_ASLEEP)
			unwind_run(table, &task.registers, &task.stack, 1, &chain);
	}
	guest_tasks_deinit(&tasks);
}

static void use_names(const struct guest_kernel *kernel, const struct guest_modules *modules)
{
	for (size_t i = 0; i < modules->items.count; i++) {
		const struct guest_module *module = &modules->items.items[i];
		struct guest_name name;

		if (guest_name_find(kernel, modules, GVA(module->text.value + 16), &name))
			assert(name.offset < name.bytes);
	}
}

static void use_calls(const struct guest_kernel *kernel, const struct guest_modules *modules)
{
	_cleanup_buffer_ struct buffer bytes;
	struct unwind_calls *calls;
	struct error *error;

	buffer_init(&bytes, GUEST_MESSAGE_MAX);
	error = unwind_calls_read(kernel, modules, &bytes);
	if (!error) {
		assert(!unwind_calls_decode(bytes.data, bytes.size, &calls));
		unwind_calls_destroy(calls);
	}
	error_destroy(error);
}

static void use_unwind_data(const struct guest_kernel *kernel, const struct guest_modules *modules)
{
	_cleanup_unwind_table_ struct unwind_table *table = NULL;

	use_calls(kernel, modules);
	error_destroy(unwind_table_read(kernel, modules, &table));
	if (table)
		use_stacks(kernel, table);
}

static void use_modules(const struct guest_kernel *kernel)
{
	struct guest_modules modules;
	size_t skipped;
	struct error *error = guest_modules_read(kernel, &modules, &skipped);

	if (!error) {
		for (size_t i = 0; i < modules.items.count; i++)
			assert(modules.items.items[i].first_symbol +
				       modules.items.items[i].symbol_count <=
			       modules.symbols.count);
		use_names(kernel, &modules);
		use_unwind_data(kernel, &modules);
		guest_modules_deinit(&modules);
	}
	error_destroy(error);
}

static void use(struct guest_memory *memory, const struct arch_mmu *mmu)
{
	_cleanup_guest_kernel_ struct guest_kernel *kernel = NULL;
	struct guest_current current;
	struct guest_space space;
	struct guest_cpus cpus;
	struct guest_uts uts;
	struct error *error;

	guest_space_init(&space, memory, mmu);
	error = guest_kernel_open(&space, &kernel);
	error_destroy(error);
	if (!kernel)
		return;
	guest_kernel_use_own_page_tables(kernel);
	guest_uts_find(&space, guest_kernel_get_image(kernel), &uts);
	error_destroy(guest_current_find(kernel, &current));
	guest_state_read(kernel, mmu, 1);
	guest_cpus_read(kernel, &cpus);
	guest_cpus_deinit(&cpus);
	use_modules(kernel);
	use_tasks(kernel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct guest_slot slot = { { 0 }, MAX_PAGES * GUEST_PAGE_BYTES };
	struct cursor input = cursor_make(data, size, false);
	_cleanup_free_ struct image *image = memory_calloc(1, sizeof(*image));
	_cleanup_guest_memory_ struct guest_memory *memory = NULL;
	uint8_t flags = cursor_u8(&input);
	struct arch_mmu mmu = {
		.arch = &arch_x86_64,
		.x86 = { .cr3 = cursor_u16(&input) * (uint64_t)GUEST_PAGE_BYTES,
			 .cr4 = CR4_PAE | (flags & 1 ? CR4_LA57 : 0),
			 .efer = EFER_LMA },
	};

	load(&input, image);
	memory = guest_memory_create(&(struct guest_memory_source){ read_pages, image }, &slot, 1,
				     MAX_BYTES);
	use(memory, &mmu);
	return 0;
}
