/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The caged parser of source lines and its owner. The parser's process is this test, started again
 * as perfvisor does it; a file selects its behaviour. The file that is parsed is
 * this test, too: what is expected is what the compiler says of its own lines.
 */
#include "test.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "base/progress.h"
#include "walls/cage.h"
#include "lines/dwarf_lines.h"
#include "lines/line_client.h"
#include "lines/line_service.h"
#include "lines/line_wire.h"

#define BEHAVIOUR "/tmp/perfvisor-lines-%d" /* the pid of the owner */
#define INLINED static inline __attribute__((always_inline))

struct place {
	uint64_t address; /* as linked */
	uint32_t line, outer_line;
};

static uint64_t where_i_was_called(void) __attribute__((noinline));
static uint64_t where_i_was_called(void)
{
	Dl_info info;
	char *caller = __builtin_return_address(0);

	if (!dladdr(caller, &info))
		return 0;
	return caller - (char *)info.dli_fbase - 1;
}

/* The parser has no environment. */
static void choose_behaviour(const char *behaviour)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), BEHAVIOUR, getpid());
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(behaviour, file);
	assert_int_equal(fclose(file), 0);
}

static int forget_behaviour(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), BEHAVIOUR, getpid());
	return unlink(path);
}

INLINED void innermost(struct place *place)
{
	place->line = __LINE__ + 1;
	place->address = where_i_was_called();
}

static void outer(struct place *place) __attribute__((noinline));
static void outer(struct place *place)
{
	place->outer_line = __LINE__ + 1;
	innermost(place);
}

static int open_self(void)
{
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

static bool is_text(const char *text, size_t bytes, const char *wanted)
{
	return bytes == strlen(wanted) && !memcmp(text, wanted, bytes);
}

static void check_place(struct line_client *client, uint32_t file)
{
	struct line_frames frames;
	struct place place;

	outer(&place);
	assert_true(line_client_find(client, file, place.address, &frames));
	assert_int_equal(frames.count, 2);
	assert_true(is_text(frames.items[0].function, frames.items[0].function_bytes, "innermost"));
	assert_true(is_text(frames.items[1].function, frames.items[1].function_bytes, "outer"));
	assert_int_equal(frames.items[0].line, place.line);
	assert_int_equal(frames.items[1].line, place.outer_line);
	for (size_t i = 0; i < 2; i++) {
		const char *name = strrchr(__FILE__, '/') + 1;
		const struct line_frame *frame = &frames.items[i];

		assert_true(frame->file_bytes > strlen(name));
		assert_memory_equal(frame->file + frame->file_bytes - strlen(name), name,
				    strlen(name));
	}
}

static void lines_and_inlined_functions_are_found(void **state)
{
	_cleanup_line_client_ struct line_client *client = line_client_create(0);
	uint32_t file;

	(void)state;
	choose_behaviour("serves");
	file = line_client_open(client, open_self(), "self");
	for (int i = 0; i < 3; i++)
		check_place(client, file);
}

static void what_is_no_elf_file_has_no_lines(void **state)
{
	_cleanup_line_client_ struct line_client *client = line_client_create(0);
	struct line_frames frames;
	uint32_t none, file;

	(void)state;
	choose_behaviour("serves");
	none = line_client_open(client, open("/etc/passwd", O_RDONLY | O_CLOEXEC),
				"none");
	file = line_client_open(client, open_self(), "self");
	assert_true(line_client_find(client, none, 0x1000, &frames));
	assert_int_equal(frames.count, 0);
	check_place(client, file);
	assert_true(line_client_find(client, file, UINT64_MAX, &frames));
	assert_int_equal(frames.count, 0);
}

/* A parser that fails costs the file that it was asked about; a new one has the others. */
static void a_file_that_ends_the_parser_is_left_out(void **state)
{
	static const char *const behaviours[] = { "dies", "says too much", "says nonsense",
						  "is silent" };
	_cleanup_line_client_ struct line_client *client = line_client_create(0.3);
	struct line_frames frames;
	uint32_t file;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		choose_behaviour(behaviours[i]);
		file = line_client_open(client, open_self(), "self");
		assert_false(line_client_find(client, file, 0x1000, &frames));
		assert_int_equal(frames.count, 0);
		assert_false(line_client_find(client, file, 0x1000, &frames));
	}
	choose_behaviour(behaviours[3]);
	assert_false(line_client_find(client, line_client_open(client, open_self(), "self"), 0x1000,
				      &frames));
	/* These were too many. */
	choose_behaviour("serves");
	file = line_client_open(client, open_self(), "self");
	assert_false(line_client_find(client, file, 0x1000, &frames));
}

static void one_failure_is_not_the_end(void **state)
{
	_cleanup_line_client_ struct line_client *client = line_client_create(0);
	struct line_frames frames;
	uint32_t good = line_client_open(client, open_self(), "self");
	uint32_t bad = line_client_open(client, open_self(), "self");

	(void)state;
	choose_behaviour("serves");
	check_place(client, good);
	line_client_destroy(client);
	client = line_client_create(0);
	choose_behaviour("dies");
	good = line_client_open(client, open_self(), "self");
	bad = line_client_open(client, open_self(), "self");
	assert_false(line_client_find(client, bad, 0x1000, &frames));
	choose_behaviour("serves");
	check_place(client, good);
}

/*
 * How many of QUESTIONS about a new file, at each of whose addresses the parser works for NS, are
 * answered.
 */
static size_t ask_slowly(struct line_client *client, uint64_t ns, size_t questions)
{
	uint32_t file = line_client_open(client, open_self(), "self");
	struct line_frames frames;
	size_t answered = 0;

	while (answered < questions && line_client_find(client, file, ns, &frames))
		answered++;
	return answered;
}

/* Each answer is in time, but all together are not. On a busy machine, even fewer are. */
static void a_file_has_its_share_of_time(void **state)
{
	_cleanup_line_client_ struct line_client *client = line_client_create(2);

	(void)state;
	choose_behaviour("works");
	assert_in_range(ask_slowly(client, 1000000000, 100), 1, 2 * LINE_CLIENT_FILE_ANSWERS);
	assert_int_equal(ask_slowly(client, 0, 2), 2);
}

static void all_files_share_the_time(void **state)
{
	_cleanup_line_client_ struct line_client *client = line_client_create(0.4);
	size_t answered = 0;

	(void)state;
	choose_behaviour("works");
	for (int i = 0; i < 50; i++)
		answered += ask_slowly(client, 200000000, 1);
	assert_in_range(answered, 0, 2 * LINE_CLIENT_ALL_ANSWERS);
}

/* In this process, without the cage: memory instead of a file, and addresses that nothing has. */
static void an_image_in_memory_is_read(void **state)
{
	static const char nothing[64] = { 0 };

	(void)state;
	assert_null(dwarf_lines_open_memory(nothing, sizeof(nothing)));
}

static void answers_are_checked(void **state)
{
	struct line_wire_frame frame = { .line = 7, .function_bytes = 3, .file_bytes = 2 };
	struct line_frames frames;
	uint8_t answer[sizeof(frame) + 6];

	(void)state;
	memcpy(answer, &frame, sizeof(frame));
	memcpy(answer + sizeof(frame), "fooa.c", 6);
	assert_true(line_answer_decode(answer, sizeof(frame) + 5, 1, &frames));
	assert_true(is_text(frames.items[0].file, 2, "a."));
	assert_false(line_answer_decode(answer, sizeof(answer), 1, &frames));
	assert_false(line_answer_decode(answer, sizeof(frame) + 4, 1, &frames));
	assert_false(line_answer_decode(answer, sizeof(frame) + 5, 2, &frames));
	assert_false(line_answer_decode(answer, sizeof(frame) + 5, UINT32_MAX, &frames));
	assert_int_equal(frames.count, 0);
}

static void say(uint32_t bytes, uint32_t count, size_t really)
{
	struct line_answer_header header = { .bytes = bytes, .count = count };
	char text[256] = { 0 };

	(void)!send(CAGE_FD, &header, sizeof(header), MSG_NOSIGNAL);
	(void)!send(CAGE_FD, text, really, MSG_NOSIGNAL);
}

/* Answers after as many nanoseconds as the question's address says. */
static void work(void)
{
	struct line_answer_header header = { 0 };
	struct line_question question;

	while (recv(CAGE_FD, &question, sizeof(question), MSG_WAITALL) == sizeof(question)) {
		uint64_t start_ns = clock_monotonic_ns();

		if (question.kind != LINE_FIND)
			continue;
		while (clock_monotonic_ns() - start_ns < question.address)
			;
		(void)!send(CAGE_FD, &header, sizeof(header), MSG_NOSIGNAL);
	}
}

static int be_a_parser(void)
{
	struct line_question question;
	char path[64], behaviour[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), BEHAVIOUR, getppid());
	file = fopen(path, "re");
	if (!file || !fgets(behaviour, sizeof(behaviour), file))
		return 1;
	fclose(file);

	if (!strcmp(behaviour, "serves"))
		error_destroy(cage_serve(CAGE_LINES, line_service_run));
	error_destroy(cage_enter(CAGE_LINES));
	if (!strcmp(behaviour, "works"))
		work();
	else if (!strcmp(behaviour, "says too much"))
		say(UINT32_MAX, 1, 256);
	else if (!strcmp(behaviour, "says nonsense"))
		say(256, 200, 256);
	else if (!strcmp(behaviour, "is silent"))
		for (;;)
			(void)!read(CAGE_FD, &question, sizeof(question));
	_exit(0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_and_inlined_functions_are_found),
		cmocka_unit_test(what_is_no_elf_file_has_no_lines),
		cmocka_unit_test(a_file_that_ends_the_parser_is_left_out),
		cmocka_unit_test(one_failure_is_not_the_end),
		cmocka_unit_test(a_file_has_its_share_of_time),
		cmocka_unit_test(all_files_share_the_time),
		cmocka_unit_test(an_image_in_memory_is_read),
		cmocka_unit_test(answers_are_checked),
	};

	if (argc > 1 && !strcmp(argv[1], CAGE_LINES_COMMAND))
		return be_a_parser();
	return cmocka_run_group_tests(tests, NULL, forget_behaviour);
}
