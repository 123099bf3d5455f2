/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers the owner's questions about one guest. What the guest's memory holds is only ever turned
 * into answers; what an answer is used for is the owner's affair, and it checks them.
 */
#include "service/service.h"

#include <string.h>

#include "base/cursor.h"
#include "base/intern.h"
#include "base/memory.h"
#include "guest/kernel/kernel_search.h"
#include "guest/kernel/uts.h"
#include "guest/process/cpus.h"
#include "guest/process/running.h"
#include "guest/wire.h"
#include "service/service_private.h"
#include "symbol/table.h"
#include "unwind/kernel/kernel_calls.h"
#include "unwind/kernel/kernel_table.h"

#define MAX_SLOTS 32768

/* A page from the owner; the connection is good for nothing any more if that fails. */
static bool read_pages(void *context, const struct gpa *from, size_t count, void *pages)
{
	struct service *service = context;
	uint64_t addresses[GUEST_READ_PAGES];
	_cleanup_error_ struct error *error = NULL;
	struct cursor cursor;
	const void *bytes;
	uint32_t type;

	if (count > GUEST_READ_PAGES)
		return false;
	for (size_t i = 0; i < count; i++)
		addresses[i] = from[i].value;
	error = guest_wire_send(service->fd, GUEST_READ, addresses, count * sizeof(*addresses));
	if (!error)
		error = guest_wire_receive(service->fd, 0, &type, &service->pages);
	if (error || type != GUEST_PAGES)
		return false;
	cursor = cursor_make(service->pages.data, service->pages.size, false);
	if (cursor_u32(&cursor) != 1)
		return false;
	bytes = cursor_bytes(&cursor, count * GUEST_PAGE_BYTES);
	if (bytes)
		memcpy(pages, bytes, count * GUEST_PAGE_BYTES);
	return bytes;
}

void service_take_registers(struct cursor *request, const struct arch *arch, struct arch_mmu *ret)
{
	uint64_t registers[GUEST_WIRE_REGISTERS];

	for (size_t i = 0; i < GUEST_WIRE_REGISTERS; i++)
		registers[i] = cursor_u64(request);
	*ret = (struct arch_mmu){ .arch = arch };
	if (arch == &arch_x86_64 || arch == &arch_i386) {
		ret->x86.cr0 = registers[0];
		ret->x86.cr3 = registers[1];
		ret->x86.cr4 = registers[2];
		ret->x86.efer = registers[3];
	} else if (arch == &arch_arm64) {
		ret->arm64.ttbr0 = registers[0];
		ret->arm64.ttbr1 = registers[1];
		ret->arm64.tcr = registers[2];
		ret->arm64.lpa2 = registers[3];
	} else {
		ret->ppc64.process_table = registers[0];
		ret->ppc64.pid = registers[1];
		ret->ppc64.radix = registers[2];
	}
}

static void close_guest(struct service *service)
{
	service_close_stacks(service);
	service_close_processes(service);
	guest_kernel_close(service->kernel);
	service->kernel = NULL;
	guest_memory_destroy(service->memory);
	service->memory = NULL;
}

void service_append_text(struct buffer *to, const char *text)
{
	buffer_append_u32(to, strlen(text));
	buffer_append_string(to, text);
}

static void append_uts(struct buffer *to, const struct guest_uts *uts)
{
	service_append_text(to, uts->release);
	service_append_text(to, uts->host_name);
}

/* Both are "" where the kernel does not say. */
static void find_uts(struct service *service, struct guest_uts *ret)
{
	const struct guest_kernel_image *image = guest_kernel_get_image(service->kernel);
	struct gva namespace;

	*ret = (struct guest_uts){ 0 };
	if (!guest_kernel_find_symbol(service->kernel, "init_uts_ns", &namespace) ||
	    !guest_uts_read(&service->space, namespace, ret))
		guest_uts_find(&service->space, image, ret);
}

static void answer_opened(struct service *service)
{
	const struct guest_kernel_image *image = guest_kernel_get_image(service->kernel);
	const uint8_t *build_id;
	size_t build_id_bytes = guest_kernel_build_id(service->kernel, &build_id);
	struct guest_uts uts;
	struct gva init_task;

	buffer_append_u32(&service->answer, service->recalled);
	buffer_append_u64(&service->answer, image->start.value);
	buffer_append_u64(&service->answer, image->end.value);
	buffer_append_u32(&service->answer, guest_kernel_btf(service->kernel) != NULL);
	buffer_append_u32(&service->answer,
			  guest_kernel_find_symbol(service->kernel, "init_task", &init_task));
	buffer_append_u32(&service->answer, build_id_bytes);
	buffer_append(&service->answer, build_id, build_id_bytes);
	find_uts(service, &uts);
	append_uts(&service->answer, &uts);
}

/* Closes the guest that was open, and takes what the next one is to be read by. */
static struct error *take_guest(struct service *service, struct cursor *request)
{
	struct guest_memory_source source = { read_pages, service };
	_cleanup_free_ struct guest_slot *slots = NULL;
	uint32_t arch_number = cursor_u32(request), slot_count, arch_count = 0;
	struct arch_mmu mmu;
	uint64_t limit;

	while (arch_all[arch_count])
		arch_count++;
	if (arch_number >= arch_count)
		return error_create(ERROR_BAD_DATA, "no architecture %u", arch_number);
	service_take_registers(request, arch_all[arch_number], &mmu);
	limit = cursor_u64(request);
	slot_count = cursor_u32(request);
	if (request->failed || slot_count > MAX_SLOTS)
		return error_create(ERROR_BAD_DATA, "a malformed request");
	slots = memory_calloc(slot_count, sizeof(*slots));
	for (uint32_t i = 0; i < slot_count; i++) {
		slots[i].start = GPA(cursor_u64(request));
		slots[i].bytes = cursor_u64(request);
	}
	close_guest(service);
	service->memory = guest_memory_create(&source, slots, slot_count, limit);
	if (guest_kernel_search_wanted(&mmu)) {
		struct error *error = guest_kernel_search(service->memory, &mmu);

		if (error)
			return error;
	}
	guest_space_init(&service->space, service->memory, &mmu);
	return NULL;
}

/* The request's bytes stay where they are, and its buffer takes the old ones' place. */
static void take_kept(struct service *service)
{
	struct buffer kept = service->request;

	close_guest(service);
	service->request = service->kept;
	service->kept = kept;
}

static struct error *open_kernel(struct service *service)
{
	_cleanup_error_ struct error *other = NULL;

	service->recalled = false;
	if (service->kept.size)
		other = guest_kernel_recall(&service->space, service->kept.data,
					    service->kept.size, &service->kernel);
	service->recalled = service->kernel;
	return service->recalled ? NULL : guest_kernel_open(&service->space, &service->kernel);
}

static struct error *answer_kept(struct service *service)
{
	if (!guest_kernel_keep(service->kernel, &service->answer))
		return error_create(ERROR_NOT_FOUND, "the guest's kernel cannot be kept");
	return NULL;
}

static struct error *open_guest(struct service *service, struct cursor *request)
{
	struct error *error = take_guest(service, request);

	if (!error)
		error = open_kernel(service);
	if (error)
		return error;
	guest_kernel_use_own_page_tables(service->kernel);
	answer_opened(service);
	return NULL;
}

static struct error *answer_names(struct service *service, struct cursor *request)
{
	struct guest_kernel_image image;
	struct error *error = take_guest(service, request);
	struct guest_uts uts;
	bool found;

	if (error)
		return error;
	if (!guest_kernel_image_find(&service->space, &image))
		return error_create(ERROR_NOT_FOUND, "the guest's page tables map no Linux kernel");
	found = guest_uts_find(&service->space, &image, &uts);
	guest_kernel_image_deinit(&image);
	if (!found)
		return error_create(ERROR_NOT_FOUND, "the guest's kernel does not say its name");
	append_uts(&service->answer, &uts);
	return NULL;
}

static struct error *answer_code(struct service *service, struct cursor *request)
{
	struct error *error = take_guest(service, request);
	uint64_t gva = cursor_u64(request);
	uint32_t count = cursor_u32(request);
	uint8_t page[GUEST_PAGE_BYTES];

	if (error)
		return error;
	if (request->failed || gva % GUEST_PAGE_BYTES || count > GUEST_CODE_PAGES)
		return error_create(ERROR_BAD_DATA, "a malformed request");
	for (uint32_t i = 0; i < count; i++, gva += GUEST_PAGE_BYTES) {
		bool there = guest_space_read(&service->space, GVA(gva), page, sizeof(page));

		buffer_append_u32(&service->answer, there);
		if (there)
			buffer_append(&service->answer, page, sizeof(page));
	}
	return NULL;
}

/* MODULES is NULL where they are not known. */
static void append_symbols(struct service *service, const struct guest_modules *modules)
{
	const struct guest_symbol *symbols = guest_kernel_symbols(service->kernel);
	struct symbol_builder *builder = symbol_builder_create();
	_cleanup_symbol_table_ struct symbol_table *table = NULL;

	for (size_t i = 0; i < guest_kernel_symbol_count(service->kernel); i++)
		symbol_builder_add(builder, symbols[i].address.value, 0, symbols[i].type,
				   symbols[i].name, NULL);
	for (size_t m = 0; modules && m < modules->items.count; m++) {
		const struct guest_module *module = &modules->items.items[m];

		for (size_t i = 0; i < module->range_count; i++)
			symbol_builder_add_module(builder, module->name,
						  module->ranges[i].start.value,
						  module->ranges[i].start.value +
							  module->ranges[i].bytes);
		for (size_t i = 0; i < module->symbol_count; i++) {
			const struct guest_symbol *symbol =
				&modules->symbols.items[module->first_symbol + i];

			symbol_builder_add(builder, symbol->address.value, 0, symbol->type,
					   symbol->name, module->name);
		}
	}
	table = symbol_builder_finish(builder);
	symbol_table_encode(table, &service->answer);
}

/* Whether the owner has the table of that key; it is told the key. */
static bool is_known(struct service *service, struct cursor *request, uint64_t key)
{
	buffer_append_u64(&service->answer, key);
	return key && cursor_u64(request) == key;
}

static struct error *answer_symbols(struct service *service, struct cursor *request)
{
	_cleanup_error_ struct error *error = NULL;
	struct guest_modules modules, *known = NULL;
	size_t skipped;

	/* A kernel whose modules cannot be read still has names of its own. */
	error = guest_modules_read(service->kernel, &modules, &skipped);
	if (!error)
		known = &modules;
	if (!is_known(service, request, service_symbols_key(service, known)))
		append_symbols(service, known);
	if (known)
		guest_modules_deinit(known);
	return NULL;
}

static void print_symbol(struct buffer *text, const struct guest_symbol *symbol,
			 const char *module)
{
	buffer_printf(text, module ? "%016llx %c %s\t[%s]\n" : "%016llx %c %s\n",
		      (unsigned long long)symbol->address.value, symbol->type, symbol->name,
		      module);
}

static struct error *answer_kallsyms(struct service *service)
{
	const struct guest_symbol *symbols = guest_kernel_symbols(service->kernel);
	_cleanup_error_ struct error *no_modules = NULL;
	struct guest_modules modules;
	size_t skipped;

	for (size_t i = 0; i < guest_kernel_symbol_count(service->kernel); i++)
		print_symbol(&service->answer, &symbols[i], NULL);
	no_modules = guest_modules_read(service->kernel, &modules, &skipped);
	if (no_modules)
		return NULL;
	for (size_t m = 0; m < modules.items.count; m++)
		for (size_t i = 0; i < modules.items.items[m].symbol_count; i++)
			print_symbol(&service->answer,
				     &modules.symbols.items[modules.items.items[m].first_symbol + i],
				     modules.items.items[m].name);
	guest_modules_deinit(&modules);
	return NULL;
}

/* kernel/module/procfs.c, m_show() */
static void print_module(struct buffer *text, const struct guest_module *module)
{
	static const char *const states[] = { "Live", "Loading", "Unloading" };

	buffer_printf(text, "%s %llu %lld ", module->name, (unsigned long long)module->bytes,
		      (long long)module->references);
	for (size_t i = 0; i < module->users.count; i++)
		buffer_printf(text, "%s,", module->users.items[i]);
	if (module->permanent)
		buffer_append_string(text, "[permanent],");
	else if (!module->users.count)
		buffer_append_string(text, "-");
	buffer_printf(text, " %s 0x%016llx%s%s\n", states[module->state],
		      (unsigned long long)module->text.value, *module->taints ? " " : "",
		      module->taints);
}

static struct error *answer_modules(struct service *service)
{
	struct guest_modules modules;
	size_t skipped;
	struct error *error = guest_modules_read(service->kernel, &modules, &skipped);

	if (error)
		return error;
	for (size_t i = 0; i < modules.items.count; i++)
		print_module(&service->answer, &modules.items.items[i]);
	guest_modules_deinit(&modules);
	return NULL;
}

static void append_cpus(struct service *service)
{
	struct guest_cpus cpus;

	guest_cpus_read(service->kernel, &cpus);
	buffer_append_u32(&service->answer, cpus.items.count);
	for (size_t i = 0; i < cpus.items.count; i++) {
		buffer_append_u32(&service->answer, cpus.items.items[i].apic_id);
		buffer_append_u64(&service->answer, cpus.items.items[i].base.value);
	}
	guest_cpus_deinit(&cpus);
}

static struct error *answer_current(struct service *service)
{
	struct guest_current current;
	struct error *error = guest_current_find(service->kernel, &current);

	if (error)
		return error;
	buffer_append_u64(&service->answer, current.page_tables.value);
	buffer_append_u64(&service->answer, current.offset);
	buffer_append_u32(&service->answer, current.levels);
	buffer_append_u32(&service->answer, current.pid);
	buffer_append_u32(&service->answer, current.tgid);
	buffer_append_u32(&service->answer, current.comm);
	buffer_append_u32(&service->answer, current.mm);
	buffer_append_u32(&service->answer, current.pgd);
	buffer_append_u32(&service->answer, current.stack);
	buffer_append_u32(&service->answer, current.stack_bytes);
	buffer_append_u64(&service->answer, current.irq_stack_offset);
	buffer_append_u64(&service->answer, current.run_queue_task_offset);
	buffer_append_u64(&service->answer, current.preempt_count_offset);
	buffer_append_u64(&service->answer, current.irq_use_offset);
	buffer_append_u32(&service->answer, current.irq_use_bytes);
	buffer_append_u32(&service->answer, current.irq_unused);
	append_cpus(service);
	return NULL;
}

static struct error *append_unwind_table(struct service *service,
					 const struct guest_modules *modules)
{
	struct unwind_table *table;
	struct error *error = unwind_table_read(service->kernel, modules, &table);

	if (error)
		return error;
	unwind_table_encode(table, &service->answer);
	unwind_table_destroy(table);
	return NULL;
}

static struct error *answer_unwind(struct service *service, struct cursor *request)
{
	struct guest_modules modules;
	size_t skipped;
	struct error *error = guest_modules_read(service->kernel, &modules, &skipped);

	if (error)
		return error;
	if (!is_known(service, request, service_unwind_key(service, &modules)))
		error = append_unwind_table(service, &modules);
	guest_modules_deinit(&modules);
	return error;
}

static struct error *answer_calls(struct service *service)
{
	struct guest_modules modules;
	size_t skipped;
	struct error *error = guest_modules_read(service->kernel, &modules, &skipped);

	if (error)
		return error;
	error = unwind_calls_read(service->kernel, &modules, &service->answer);
	guest_modules_deinit(&modules);
	return error;
}

static void refresh(struct service *service)
{
	guest_space_forget(&service->space);
	service_forget_processes(service);
	service_close_stacks(service);
}

static struct error *answer_state(struct service *service, struct cursor *request)
{
	struct arch_mmu mmus[GUEST_STATE_MMUS];
	struct guest_state state;
	size_t count = 0;

	while (count < GUEST_STATE_MMUS && cursor_left(request))
		service_take_registers(request, service->space.mmu.arch, &mmus[count++]);
	if (request->failed || cursor_left(request))
		return error_create(ERROR_BAD_DATA, "a malformed request");
	refresh(service);
	state = guest_state_read(service->kernel, mmus, count);
	buffer_append_u64(&service->answer, state.kernel);
	buffer_append_u64(&service->answer, state.modules);
	return NULL;
}

static struct error *answer(struct service *service, uint32_t type)
{
	struct cursor request = cursor_make(service->request.data, service->request.size, false);

	if (type == GUEST_ASK_OPEN)
		return open_guest(service, &request);
	if (type == GUEST_ASK_NAMES)
		return answer_names(service, &request);
	if (type == GUEST_ASK_RECALL) {
		take_kept(service);
		return NULL;
	}
	if (type == GUEST_ASK_CODE)
		return answer_code(service, &request);
	if (!service->kernel)
		return error_create(ERROR_BAD_DATA, "no guest is open");
	switch (type) {
	case GUEST_ASK_KEEP:
		return answer_kept(service);
	case GUEST_ASK_SYMBOLS:
		return answer_symbols(service, &request);
	case GUEST_ASK_KALLSYMS:
		return answer_kallsyms(service);
	case GUEST_ASK_MODULES:
		return answer_modules(service);
	case GUEST_ASK_TASKS:
		return service_answer_tasks(service, &request);
	case GUEST_ASK_TASK:
		return service_answer_task(service, &request);
	case GUEST_ASK_MAPPINGS:
		return service_answer_mappings(service, &request);
	case GUEST_ASK_FILE_SYMBOLS:
		return service_answer_file_symbols(service, &request);
	case GUEST_ASK_FILE_UNWIND:
		return service_answer_file_unwind(service, &request);
	case GUEST_ASK_STACKS:
		return service_answer_stacks(service, &request);
	case GUEST_ASK_VCPU:
		return service_answer_vcpu(service, &request);
	case GUEST_ASK_CURRENT:
		return answer_current(service);
	case GUEST_ASK_STATE:
		return answer_state(service, &request);
	case GUEST_ASK_UNWIND:
		return answer_unwind(service, &request);
	case GUEST_ASK_CALLS:
		return answer_calls(service);
	case GUEST_ASK_REFRESH:
		refresh(service);
		return NULL;
	}
	return error_create(ERROR_BAD_DATA, "there is no question %u", type);
}

static struct error *send_answer(struct service *service, const struct error *failure)
{
	uint32_t code;

	if (!failure)
		return guest_wire_send(service->fd, GUEST_RESULT, service->answer.data,
				       service->answer.size);
	code = error_code(failure);
	buffer_clear(&service->answer);
	buffer_append_u32(&service->answer, code);
	buffer_append_string(&service->answer, error_message(failure));
	return guest_wire_send(service->fd, GUEST_FAILED, service->answer.data,
			       service->answer.size);
}

void guest_service_run(int fd)
{
	struct service service = { .fd = fd, .strings = intern_create() };
	struct error *broken = NULL;

	buffer_init(&service.request, GUEST_MESSAGE_MAX);
	buffer_init(&service.kept, GUEST_MESSAGE_MAX);
	buffer_init(&service.pages, GUEST_READ_PAGES * GUEST_PAGE_BYTES + sizeof(uint32_t));
	buffer_init(&service.answer, GUEST_MESSAGE_MAX);
	while (!broken) {
		_cleanup_error_ struct error *failure = NULL;
		uint32_t type;

		broken = guest_wire_receive(fd, 0, &type, &service.request);
		if (broken)
			break;
		buffer_clear(&service.answer);
		failure = answer(&service, type);
		if (!failure && service.answer.overflow)
			failure = error_create(ERROR_BAD_DATA,
					       "the guest has more of that than an answer holds");
		broken = send_answer(&service, failure);
	}
	error_destroy(broken);
	close_guest(&service);
	intern_destroy(service.strings);
	buffer_deinit(&service.request);
	buffer_deinit(&service.kept);
	buffer_deinit(&service.pages);
	buffer_deinit(&service.answer);
}
