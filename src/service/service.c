/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers the owner's requests about one guest: the table of requests, and those about the guest as
 * a whole. The contents of guest memory only ever end up in answers. The owner decides what to do
 * with them, and checks them.
 */
#include "service/service.h"

#include <string.h>

#include "base/cursor.h"
#include "base/intern.h"
#include "base/memory.h"
#include "guest/kernel/kernel_search.h"
#include "guest/kernel/uts.h"
#include "guest/process/running.h"
#include "guest/wire.h"
#include "service/service_private.h"

#define MAX_SLOTS 32768

/* Requests pages from the owner; if that fails, the connection is unusable. */
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

/* Both are "" if they cannot be found. */
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

/* Closes the guest that was open, and sets up what is needed to read the next one. */
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
		return error_create(ERROR_BAD_DATA, "unknown architecture %u", arch_number);
	service_take_registers(request, arch_all[arch_number], &mmu);
	limit = cursor_u64(request);
	slot_count = cursor_u32(request);
	if (request->failed || slot_count > MAX_SLOTS ||
	    slot_count > cursor_left(request) / (2 * sizeof(uint64_t)))
		return error_create(ERROR_BAD_DATA, "malformed request");
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

/* Keeps the request: its bytes stay in place, and its buffer is swapped with the old one. */
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

static struct error *answer_kept(struct service *service, struct cursor *request)
{
	(void)request;
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
		return error_create(ERROR_NOT_FOUND,
				    "the guest's page tables do not map a Linux kernel");
	found = guest_uts_find(&service->space, &image, &uts);
	guest_kernel_image_deinit(&image);
	if (!found)
		return error_create(ERROR_NOT_FOUND,
				    "could not find the release of the guest's kernel");
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
		return error_create(ERROR_BAD_DATA, "malformed request");
	for (uint32_t i = 0; i < count; i++, gva += GUEST_PAGE_BYTES) {
		bool there = guest_space_read(&service->space, GVA(gva), page, sizeof(page));

		buffer_append_u32(&service->answer, there);
		if (there)
			buffer_append(&service->answer, page, sizeof(page));
	}
	return NULL;
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
		return error_create(ERROR_BAD_DATA, "malformed request");
	refresh(service);
	state = guest_state_read(service->kernel, mmus, count);
	buffer_append_u64(&service->answer, state.kernel);
	buffer_append_u64(&service->answer, state.modules);
	return NULL;
}

static struct error *answer_recall(struct service *service, struct cursor *request)
{
	(void)request;
	take_kept(service);
	return NULL;
}

static struct error *answer_refresh(struct service *service, struct cursor *request)
{
	(void)request;
	refresh(service);
	return NULL;
}

typedef struct error *answer_question(struct service *service, struct cursor *request);

static const struct {
	answer_question *answer;
	bool without_guest; /* no guest needs to be open */
} questions[] = {
	[GUEST_ASK_OPEN] = { open_guest, true },
	[GUEST_ASK_NAMES] = { answer_names, true },
	[GUEST_ASK_RECALL] = { answer_recall, true },
	[GUEST_ASK_CODE] = { answer_code, true },
	[GUEST_ASK_KEEP] = { answer_kept },
	[GUEST_ASK_SYMBOLS] = { service_answer_symbols },
	[GUEST_ASK_KALLSYMS] = { service_answer_kallsyms },
	[GUEST_ASK_MODULES] = { service_answer_modules },
	[GUEST_ASK_TASKS] = { service_answer_tasks },
	[GUEST_ASK_TASK] = { service_answer_task },
	[GUEST_ASK_MAPPINGS] = { service_answer_mappings },
	[GUEST_ASK_AREAS] = { service_answer_areas },
	[GUEST_ASK_FILE_SYMBOLS] = { service_answer_file_symbols },
	[GUEST_ASK_FILE_UNWIND] = { service_answer_file_unwind },
	[GUEST_ASK_FUNCTIONS] = { service_answer_functions },
	[GUEST_ASK_STACKS] = { service_answer_stacks },
	[GUEST_ASK_VCPU] = { service_answer_vcpu },
	[GUEST_ASK_CURRENT] = { service_answer_current },
	[GUEST_ASK_STATE] = { answer_state },
	[GUEST_ASK_UNWIND] = { service_answer_unwind },
	[GUEST_ASK_CALLS] = { service_answer_calls },
	[GUEST_ASK_REFRESH] = { answer_refresh },
};

static struct error *answer(struct service *service, uint32_t type)
{
	struct cursor request = cursor_make(service->request.data, service->request.size, false);

	if (type >= sizeof(questions) / sizeof(*questions) || !questions[type].answer)
		return error_create(ERROR_BAD_DATA, "unknown request %u", type);
	if (!service->kernel && !questions[type].without_guest)
		return error_create(ERROR_BAD_DATA, "no guest is open");
	return questions[type].answer(service, &request);
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
					       "the answer is too large for one message");
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
