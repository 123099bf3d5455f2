/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks of a small guest, as its parser returns them and its owner receives them: here, the parser
 * runs in a separate process, without the cage. Then answers that no parser would send.
 */
#include "test.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/small_guest.h"
#include "base/memory.h"
#include "guest/wire.h"
#include "host/inspect/guest_stacks.h"
#include "service/service.h"
#include "service/service_private.h"

#define ALARM_SECONDS 60

struct fixture {
	struct small_guest guest;
	int fd;
	pid_t parser;
	struct buffer answer;
	struct intern *strings;
	struct guest_stacks stacks;
};

static int set_up(void **state)
{
	struct fixture *fixture = memory_calloc(1, sizeof(*fixture));
	int pair[2];

	*state = fixture;
	small_guest_build(&fixture->guest);
	buffer_init(&fixture->answer, GUEST_MESSAGE_MAX);
	fixture->strings = intern_create();
	alarm(ALARM_SECONDS);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		return -1;
	fixture->parser = fork();
	if (!fixture->parser) {
		close(pair[0]);
		guest_service_run(pair[1]);
		/* Not _exit(): here leaks are looked for, unlike in the cage. */
		exit(0);
	}
	close(pair[1]);
	fixture->fd = pair[0];
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	int status;

	close(fixture->fd);
	waitpid(fixture->parser, &status, 0);
	assert_int_equal(status, 0);
	guest_stacks_deinit(&fixture->stacks);
	intern_destroy(fixture->strings);
	buffer_deinit(&fixture->answer);
	free(fixture);
	return 0;
}

static void serve_pages(struct fixture *fixture)
{
	size_t count = fixture->answer.size / sizeof(uint64_t);
	struct buffer pages;

	buffer_init(&pages, GUEST_MESSAGE_MAX);
	buffer_append_u32(&pages, 1);
	for (size_t i = 0; i < count; i++) {
		uint64_t at;

		memcpy(&at, fixture->answer.data + i * sizeof(at), sizeof(at));
		assert_true(at <= SMALL_GUEST_BYTES - GUEST_PAGE_BYTES);
		buffer_append(&pages, fixture->guest.memory + at, GUEST_PAGE_BYTES);
	}
	assert_no_error(guest_wire_send(fixture->fd, GUEST_PAGES, pages.data, pages.size));
	buffer_deinit(&pages);
}

/* The type of the answer, which is in ->answer. */
static uint32_t ask(struct fixture *fixture, enum guest_message question, const void *data,
		    size_t size)
{
	uint32_t type;

	assert_no_error(guest_wire_send(fixture->fd, question, data, size));
	for (;;) {
		assert_no_error(guest_wire_receive(fixture->fd, 0, &type, &fixture->answer));
		if (type != GUEST_READ)
			return type;
		serve_pages(fixture);
	}
}

/* What to look at, as at the start of requests that need it. */
static void append_guest(struct buffer *request)
{
	const uint64_t registers[] = { 0, SMALL_GUEST_CR3, 0, 1 << 10 };
	uint32_t arch = 0;

	while (arch_all[arch] != &arch_x86_64)
		arch++;
	buffer_init(request, 4096);
	buffer_append_u32(request, arch);
	buffer_append(request, registers, sizeof(registers));
	buffer_append_u64(request, 1 << 24);
	buffer_append_u32(request, 1);
	buffer_append_u64(request, 0);
	buffer_append_u64(request, SMALL_GUEST_BYTES);
}

static void open_guest(struct fixture *fixture)
{
	struct buffer request;

	append_guest(&request);
	assert_int_equal(ask(fixture, GUEST_ASK_OPEN, request.data, request.size), GUEST_RESULT);
	buffer_deinit(&request);
}

static uint32_t ask_stacks(struct fixture *fixture, const uint64_t *tasks, size_t count)
{
	return ask(fixture, GUEST_ASK_STACKS, tasks, count * sizeof(*tasks));
}

static const char *text(const struct fixture *fixture, uint32_t number)
{
	return intern_string(fixture->strings, number);
}

static void test_stacks(void **state)
{
	static const uint64_t tasks[] = { SMALL_GUEST_AT(PLACE_THREAD), 0,
					  SMALL_GUEST_AT(PLACE_THREAD) };
	struct fixture *fixture = *state;
	const struct guest_stack *stacks;
	const struct guest_stack_frame *frames;

	open_guest(fixture);
	assert_int_equal(ask_stacks(fixture, tasks, 3), GUEST_RESULT);
	assert_true(guest_stacks_decode(&fixture->answer, 3, fixture->strings, &fixture->stacks));
	assert_int_equal(fixture->stacks.items.count, 3);
	stacks = fixture->stacks.items.items;
	assert_int_equal(stacks[0].kind, UNWIND_TASK_ASLEEP);
	assert_int_equal(stacks[0].state, 'S');
	assert_int_equal(stacks[0].end, UNWIND_COMPLETE);
	assert_int_equal(stacks[1].kind, UNWIND_TASK_DEAD);
	assert_int_equal(stacks[2].frame_count, 4);
	assert_int_equal(stacks[2].first_frame, 4);
	frames = &fixture->stacks.frames.items[stacks[2].first_frame];
	for (int i = 0; i < 3; i++) {
		assert_int_equal(frames[i].place.address, SMALL_GUEST_FUNCTION(3 - i) + 5);
		assert_true(frames[i].call);
		assert_false(frames[i].guessed);
		assert_int_equal(frames[i].waiting, i == 0);
	}
	assert_string_equal(text(fixture, frames[3].place.function), "ret_from_fork");
	assert_string_equal(text(fixture, frames[3].place.module), "");
	assert_int_equal(frames[3].place.offset, 5);
}

/* A return address after a function's last instruction belongs to that function. */
static void test_a_return_address_is_named_by_its_call(void **state)
{
	static const uint64_t task = SMALL_GUEST_AT(PLACE_THREAD);
	struct fixture *fixture = *state;
	const struct guest_stack_frame *frame;

	/* f17 is one byte long; f18 follows. */
	small_guest_put64(&fixture->guest, SMALL_GUEST_AT(PLACE_STACK_SP) + 48,
			  SMALL_GUEST_KERNEL + 18);
	open_guest(fixture);
	assert_int_equal(ask_stacks(fixture, &task, 1), GUEST_RESULT);
	assert_true(guest_stacks_decode(&fixture->answer, 1, fixture->strings, &fixture->stacks));
	frame = &fixture->stacks.frames.items[0];
	assert_string_equal(text(fixture, frame->place.function), "f17");
	assert_int_equal(frame->place.offset, 1);
	assert_int_equal(frame->place.bytes, 1);
	/* There is no row, and no frame pointer. */
	assert_int_equal(fixture->stacks.items.items[0].end, UNWIND_NO_DATA);
	assert_int_equal(fixture->stacks.items.items[0].end_at.address, SMALL_GUEST_KERNEL + 18);
}

static void test_questions_that_are_refused(void **state)
{
	uint64_t tasks[GUEST_STACK_TASKS + 1] = { 0 };
	struct fixture *fixture = *state;

	open_guest(fixture);
	assert_int_equal(ask_stacks(fixture, tasks, GUEST_STACK_TASKS), GUEST_RESULT);
	assert_int_equal(ask_stacks(fixture, tasks, GUEST_STACK_TASKS + 1), GUEST_FAILED);
	assert_int_equal(ask(fixture, GUEST_ASK_STACKS, tasks, 7), GUEST_FAILED);
	/* It is still there. */
	assert_int_equal(ask_stacks(fixture, tasks, 0), GUEST_RESULT);
	assert_int_equal(fixture->answer.size, 0);
}

static void test_a_kernel_without_unwind_data(void **state)
{
	static const uint64_t task = SMALL_GUEST_AT(PLACE_THREAD);
	struct fixture *fixture = *state;

	small_guest_put32(&fixture->guest, SMALL_GUEST_AT(PLACE_ORC_ENTRIES) + 4, UINT32_MAX);
	open_guest(fixture);
	assert_int_equal(ask_stacks(fixture, &task, 1), GUEST_FAILED);
	assert_int_equal(ask_stacks(fixture, &task, 1), GUEST_FAILED);
}

/* Modules come and go: their unwind data is read again. */
static void test_tables_are_read_anew(void **state)
{
	static const uint64_t task = SMALL_GUEST_AT(PLACE_THREAD);
	struct fixture *fixture = *state;

	open_guest(fixture);
	assert_int_equal(ask_stacks(fixture, &task, 1), GUEST_RESULT);
	small_guest_put32(&fixture->guest, SMALL_GUEST_AT(PLACE_ORC_ENTRIES) + 4, UINT32_MAX);
	assert_int_equal(ask_stacks(fixture, &task, 1), GUEST_RESULT);
	assert_int_equal(ask(fixture, GUEST_ASK_REFRESH, NULL, 0), GUEST_RESULT);
	assert_int_equal(ask_stacks(fixture, &task, 1), GUEST_FAILED);
}

/* Every prefix of a good answer, and each with one more byte. */
static void test_answers_that_are_cut(void **state)
{
	static const uint64_t task = SMALL_GUEST_AT(PLACE_THREAD);
	struct fixture *fixture = *state;
	struct buffer part = { 0 };

	open_guest(fixture);
	assert_int_equal(ask_stacks(fixture, &task, 1), GUEST_RESULT);
	for (size_t size = 0; size <= fixture->answer.size + 1; size++) {
		part.data = memory_calloc(1, size + 1);
		part.size = size;
		memcpy(part.data, fixture->answer.data,
		       size < fixture->answer.size ? size : fixture->answer.size);
		assert_int_equal(guest_stacks_decode(&part, 1, fixture->strings, &fixture->stacks),
				 size == fixture->answer.size);
		free(part.data);
	}
}

static void test_answers_that_lie(void **state)
{
	static const uint64_t task = SMALL_GUEST_AT(PLACE_THREAD);
	static const struct {
		size_t at;
		uint32_t value;
	} lies[] = {
		{ 0, UNWIND_TASK_KINDS },
		{ 0, UINT32_MAX },
		{ 4, 0 },
		{ 4, 'Q' },
		{ 4, 256 + 'S' },
		{ 8, UNWIND_ENDS },
		{ 8, UINT32_MAX },
		{ 36, UINT32_MAX },
		{ 36, 2000 },
		{ 44, 513 },
		{ 44, UINT32_MAX },
	};
	struct fixture *fixture = *state;

	open_guest(fixture);
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		assert_int_equal(ask_stacks(fixture, &task, 1), GUEST_RESULT);
		memcpy(fixture->answer.data + lies[i].at, &lies[i].value, 4);
		assert_false(guest_stacks_decode(&fixture->answer, 1, fixture->strings,
						 &fixture->stacks));
	}
}

static void append_place(struct buffer *to, size_t name_bytes)
{
	for (int i = 0; i < 3; i++)
		buffer_append_u64(to, 1);
	buffer_append_u32(to, name_bytes);
	memset(buffer_extend(to, name_bytes), 'x', name_bytes);
	buffer_append_u32(to, 0);
}

/* An answer about a sleeping thread: it has FRAMES, the first with a name of NAME_BYTES. */
static bool takes(struct fixture *fixture, size_t frames, size_t name_bytes)
{
	struct buffer *answer = &fixture->answer;

	buffer_clear(answer);
	buffer_append_u32(answer, UNWIND_TASK_ASLEEP);
	buffer_append_u32(answer, 'S');
	buffer_append_u32(answer, UNWIND_COMPLETE);
	append_place(answer, 0);
	buffer_append_u32(answer, frames);
	for (size_t i = 0; i < frames; i++) {
		buffer_append_u32(answer, 0);
		append_place(answer, i ? 1 : name_bytes);
	}
	return guest_stacks_decode(answer, 1, fixture->strings, &fixture->stacks);
}

static void test_answers_that_are_too_large(void **state)
{
	struct fixture *fixture = *state;

	assert_true(takes(fixture, GUEST_STACK_FRAMES, 1024));
	assert_false(takes(fixture, GUEST_STACK_FRAMES + 1, 1024));
	assert_false(takes(fixture, 1, 1025));
	buffer_clear(&fixture->answer);
	buffer_append_u32(&fixture->answer, UNWIND_TASK_KINDS);
	buffer_append_u32(&fixture->answer, 'S');
	assert_false(guest_stacks_decode(&fixture->answer, 1, fixture->strings, &fixture->stacks));
}

/* ---- vCPUs ---- */

#define SP SMALL_GUEST_AT(PLACE_STACK_SP + 56)
#define STACK_BYTES (PLACE_STACK + 4096 - PLACE_STACK_SP - 56)
#define MET_AT (SMALL_GUEST_FUNCTION(3) + 5)

static void append_stack(struct buffer *to, uint64_t start, uint64_t end, const void *data,
			 uint32_t bytes)
{
	buffer_append_u64(to, start);
	buffer_append_u64(to, end);
	buffer_append_u32(to, bytes);
	buffer_append(to, data, bytes);
}

/* A vCPU at IP and SP, with the thread's current stack, and 16 bytes of zeros at 0x30000. */
static void make_question(const struct fixture *fixture, bool user, uint64_t ip, uint64_t sp,
			  uint64_t task, uint64_t gs_base, struct buffer *ret)
{
	const uint64_t registers[3 + UNWIND_GENERAL_REGISTERS] = { ip, sp };
	const uint64_t words[] = { task, gs_base, 0, SMALL_GUEST_CR3, 0, 1 << 10 };

	buffer_init(ret, 1 << 20);
	buffer_append_u32(ret, user);
	buffer_append(ret, registers, sizeof(registers));
	buffer_append(ret, words, sizeof(words));
	buffer_append_u32(ret, GUEST_VCPU_STACKS);
	append_stack(ret, SP, SP + STACK_BYTES,
		     fixture->guest.memory + SMALL_GUEST_PHYSICAL + SP - SMALL_GUEST_KERNEL,
		     STACK_BYTES);
	append_stack(ret, 0, 0, "", 0);
	append_stack(ret, 0x30000, 0x30010, "0123456789abcdef", 16);
}

static const struct guest_stack *ask_vcpu(struct fixture *fixture, const struct buffer *question,
					  struct guest_task *ret)
{
	assert_int_equal(ask(fixture, GUEST_ASK_VCPU, question->data, question->size),
			 GUEST_RESULT);
	assert_true(guest_stacks_decode_vcpu(&fixture->answer, fixture->strings, &fixture->stacks,
					     ret));
	return &fixture->stacks.items.items[fixture->stacks.items.count - 1];
}

static void check_kernel_chain(const struct fixture *fixture, const struct guest_stack *stack)
{
	const struct guest_stack_frame *frames = &fixture->stacks.frames.items[stack->first_frame];

	assert_int_equal(stack->end, UNWIND_COMPLETE);
	assert_int_equal(stack->frame_count, 4);
	for (int i = 0; i < 3; i++)
		assert_int_equal(frames[i].place.address, SMALL_GUEST_FUNCTION(3 - i) + 5);
	assert_string_equal(text(fixture, frames[3].place.function), "ret_from_fork");
	assert_false(frames[0].call);
	assert_true(frames[1].call);
	assert_false(frames[1].user);
}

static void test_a_vcpu_in_the_kernel(void **state)
{
	struct fixture *fixture = *state;
	struct guest_task task;
	struct buffer question;

	open_guest(fixture);
	make_question(fixture, false, MET_AT, SP, SMALL_GUEST_AT(PLACE_THREAD), 0, &question);
	check_kernel_chain(fixture, ask_vcpu(fixture, &question, &task));
	assert_int_equal(task.pid, 8);
	assert_int_equal(task.tgid, 7);
	assert_string_equal(task.name, "helper");
	buffer_deinit(&question);
	/* Found through the current task of its CPU; the symbol is an address here. */
	make_question(fixture, false, MET_AT, SP, 0, 0, &question);
	check_kernel_chain(fixture, ask_vcpu(fixture, &question, &task));
	assert_string_equal(task.name, "worker");
	buffer_deinit(&question);
	make_question(fixture, false, MET_AT, SP, 0, 0x123456789, &question);
	check_kernel_chain(fixture, ask_vcpu(fixture, &question, &task));
	assert_int_equal(task.at.value, 0);
	buffer_deinit(&question);
}

/* The file is not in the guest's memory: no function is known, and no caller. */
static void test_a_vcpu_in_user_code(void **state)
{
	struct fixture *fixture = *state;
	const struct guest_stack_frame *frame;
	const struct guest_stack *stack;
	struct guest_task task;
	struct buffer question;

	open_guest(fixture);
	make_question(fixture, true, 0x10123, 0x30000, SMALL_GUEST_AT(PLACE_TASK), 0, &question);
	stack = ask_vcpu(fixture, &question, &task);
	assert_int_equal(stack->end, UNWIND_NO_DATA);
	assert_int_equal(stack->end_at.address, 0x10123);
	assert_int_equal(stack->frame_count, 1);
	frame = &fixture->stacks.frames.items[stack->first_frame];
	assert_true(frame->user);
	assert_false(frame->call);
	assert_int_equal(frame->place.address, 0x10123);
	assert_string_equal(text(fixture, frame->place.function), "");
	assert_string_equal(text(fixture, frame->place.module), "/lib");
	buffer_deinit(&question);
}

/* An answer about a vCPU whose chain ends in FUNCTION, in user code. */
static const char *user_name(struct fixture *fixture, const char *function)
{
	const struct guest_name name = { .function = function, .module = "/lib", .bytes = 16 };
	struct service service = { 0 };
	struct guest_task task = { 0 };

	buffer_init(&service.answer, GUEST_MESSAGE_MAX);
	buffer_append_u32(&service.answer, 0);
	service_append_task(&service, &task);
	buffer_append_u32(&service.answer, UNWIND_COMPLETE);
	service_append_user_named(&service, 0x10123, &name);
	buffer_append_u32(&service.answer, 0);
	assert_true(guest_stacks_decode_vcpu(&service.answer, fixture->strings, &fixture->stacks,
					     &task));
	buffer_deinit(&service.answer);
	return text(fixture, fixture->stacks.items.items[fixture->stacks.items.count - 1]
				     .end_at.function);
}

/* The same as from c++filt -p; demangled names that are too long are cut. */
static void test_user_functions_are_demangled(void **state)
{
	struct fixture *fixture = *state;
	char class[601], mangled[700], name[1300];

	assert_string_equal(user_name(fixture, "main"), "main");
	assert_string_equal(user_name(fixture, "_ZNK2ns1AISt6vectorIiSaIiEEE4spinEi"),
			    "ns::A<std::vector<int, std::allocator<int> > >::spin");
	assert_string_equal(user_name(fixture, "_RNvCs1234_7mycrate3foo"), "mycrate::foo");
	memset(class, 'x', sizeof(class) - 1);
	class[sizeof(class) - 1] = 0;
	snprintf(mangled, sizeof(mangled), "_ZN600%sC1Ev", class);
	snprintf(name, sizeof(name), "%s::%s", class, class);
	name[GUEST_PLACE_NAME_BYTES] = 0;
	assert_string_equal(user_name(fixture, mangled), name);
}

static void test_questions_about_vcpus_that_are_refused(void **state)
{
	struct fixture *fixture = *state;
	struct buffer question;

	open_guest(fixture);
	make_question(fixture, false, MET_AT, SP, 0, 0, &question);
	for (size_t size = 0; size < question.size; size++)
		assert_int_equal(ask(fixture, GUEST_ASK_VCPU, question.data, size), GUEST_FAILED);
	buffer_append_u8(&question, 0);
	assert_int_equal(ask(fixture, GUEST_ASK_VCPU, question.data, question.size), GUEST_FAILED);
	buffer_deinit(&question);
}

static void test_answers_about_vcpus_that_are_cut(void **state)
{
	struct fixture *fixture = *state;
	struct buffer question, part = { 0 };
	struct guest_task task;

	open_guest(fixture);
	make_question(fixture, false, MET_AT, SP, 0, 0, &question);
	assert_int_equal(ask(fixture, GUEST_ASK_VCPU, question.data, question.size), GUEST_RESULT);
	for (size_t size = 0; size <= fixture->answer.size + 1; size++) {
		part.data = memory_calloc(1, size + 1);
		part.size = size;
		memcpy(part.data, fixture->answer.data,
		       size < fixture->answer.size ? size : fixture->answer.size);
		assert_int_equal(guest_stacks_decode_vcpu(&part, fixture->strings,
							  &fixture->stacks, &task),
				 size == fixture->answer.size);
		free(part.data);
	}
	buffer_deinit(&question);
}

/* ---- code of any guest ---- */

static uint32_t ask_code(struct fixture *fixture, uint64_t gva, uint32_t pages)
{
	struct buffer request;
	uint32_t type;

	append_guest(&request);
	buffer_append_u64(&request, gva);
	buffer_append_u32(&request, pages);
	type = ask(fixture, GUEST_ASK_CODE, request.data, request.size);
	buffer_deinit(&request);
	return type;
}

/* The page after the kernel's last one is not mapped. */
static void test_code(void **state)
{
	struct fixture *fixture = *state;
	const uint8_t *page = fixture->guest.memory + SMALL_GUEST_PHYSICAL + SMALL_GUEST_END -
			      SMALL_GUEST_KERNEL - GUEST_PAGE_BYTES;
	uint32_t there;

	assert_int_equal(ask_code(fixture, SMALL_GUEST_END - GUEST_PAGE_BYTES, 2), GUEST_RESULT);
	assert_int_equal(fixture->answer.size, 4 + GUEST_PAGE_BYTES + 4);
	memcpy(&there, fixture->answer.data, sizeof(there));
	assert_int_equal(there, 1);
	assert_memory_equal(fixture->answer.data + 4, page, GUEST_PAGE_BYTES);
	memcpy(&there, fixture->answer.data + 4 + GUEST_PAGE_BYTES, sizeof(there));
	assert_int_equal(there, 0);
	assert_int_equal(ask_code(fixture, SMALL_GUEST_KERNEL + 1, 1), GUEST_FAILED);
	assert_int_equal(ask_code(fixture, SMALL_GUEST_KERNEL, GUEST_CODE_PAGES + 1), GUEST_FAILED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_stacks),
		TEST(test_a_return_address_is_named_by_its_call),
		TEST(test_questions_that_are_refused),
		TEST(test_a_kernel_without_unwind_data),
		TEST(test_answers_that_are_cut),
		TEST(test_answers_that_lie),
		TEST(test_answers_that_are_too_large),
		TEST(test_tables_are_read_anew),
		TEST(test_a_vcpu_in_the_kernel),
		TEST(test_a_vcpu_in_user_code),
		TEST(test_user_functions_are_demangled),
		TEST(test_questions_about_vcpus_that_are_refused),
		TEST(test_answers_about_vcpus_that_are_cut),
		TEST(test_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
