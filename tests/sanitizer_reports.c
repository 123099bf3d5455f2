/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has the sanitizers put what they say where ASAN_OPTIONS' log_path asks for it, in two cases in
 * which they would not, and looks for leaks where LeakSanitizer does not (walls/sanitizers.h). Part
 * of every program of a build with sanitizers, and of no other.
 *
 * GCC's libubsan takes its log_path to libasan, which has a function of that name, too, and goes on
 * writing to stderr: it is told by its own function.
 *
 * The caged process (src/walls/cage.h) can neither open nor write files: its first system call for
 * that ends it, and nobody learns why. So before it enters the cage its sanitizers get a
 * pipe, in place of the stdout that it does not use, and a child of it waits at the other end. What
 * comes is put into LOG_PATH.caged.PID; where nothing comes there is no such file. The report ends
 * where the sanitizer wants to know which files are mapped, which the cage does not admit: the
 * child, whose addresses are the same, names the place. Until it is done the child has a lock on
 * the folder, which tests/run waits for. libubsan reads its options when it has first something to
 * say, which the cage does not admit either: it is given something to say before, and keeps from
 * looking for the callers, which takes long.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/file.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>

#include "walls/cage.h"
#include "walls/sanitizers.h"

#define LOG_PATH "log_path="
#define LIBUBSAN "libubsan.so.1"

static bool reports_path(char *path, size_t size)
{
	const char *options = getenv("ASAN_OPTIONS");
	const char *begin = options ? strstr(options, LOG_PATH) : NULL;

	if (!begin)
		return false;
	begin += strlen(LOG_PATH);
	snprintf(path, size, "%.*s", (int)strcspn(begin, ":"), begin);
	return true;
}

/* Of the report that is in TEXT. */
static void name_place(int log, const char *text)
{
	const char *at = strstr(text, " pc 0x");
	char place[1024];

	if (!at)
		return;
	__sanitizer_symbolize_pc((void *)strtoull(at + 4, NULL, 16), "at %f %S", place,
				 sizeof(place));
	dprintf(log, "\n%s\n", place);
}

/* What comes is written at once: the end of the test that looks for it may be near. */
static void wait_for_report(int pipe, const char *path, pid_t caged)
{
	static char text[64 << 10];
	char name[PATH_MAX + 32];
	size_t size = 0;
	ssize_t got;
	int log = -1;

	snprintf(name, sizeof(name), "%s.caged.%d", path, caged);
	while ((got = read(pipe, text + size, sizeof(text) - 1 - size)) > 0) {
		if (log < 0)
			log = open(name, O_WRONLY | O_CREAT | O_APPEND, 0666);
		if (write(log, text + size, got) != got) {
			perror(name);
			return;
		}
		size += got;
	}
	if (size)
		name_place(log, text);
}

/* Calls FUNCTION with ARGUMENT in both runtimes: by its name alone it is libasan's. */
static void call_both(const char *function, void *argument)
{
	void *undefined = dlopen(LIBUBSAN, RTLD_NOW | RTLD_NOLOAD);
	void *handles[] = { RTLD_DEFAULT, undefined };

	for (int i = 0; i < 1 + !!undefined; i++) {
		void (*call)(void *argument) = dlsym(handles[i], function);

		if (call)
			call(argument);
	}
}

/* What libubsan says here goes to /dev/null. See gcc/ubsan.cc for the structures. */
static void wake_libubsan(void)
{
	static const char with_callers[] = "print_stacktrace=1";
	static const struct {
		uint16_t kind, info;
		char name[6];
	} type = { 0, 5 << 1 | 1, "'int'" };
	static struct {
		const char *file;
		uint32_t line, column;
		const void *type;
	} place = { __FILE__, 1, 1, &type };
	void *runtime = dlopen(LIBUBSAN, RTLD_NOW | RTLD_NOLOAD);
	void (*say)(void *place, void *left, void *right);
	char *options = getenv("UBSAN_OPTIONS");

	/* In place: it reads /proc/self/environ. */
	options = options ? strstr(options, with_callers) : NULL;
	if (options)
		options[strlen(with_callers) - 1] = '0';
	say = runtime ? dlsym(runtime, "__ubsan_handle_add_overflow") : NULL;
	if (say)
		say(&place, (void *)1, (void *)1);
}

const char *sanitizer_reports_folder(void)
{
	static char folder[PATH_MAX];
	static const char *found;

	if (!found && reports_path(folder, sizeof(folder)))
		found = dirname(folder);
	return found;
}

void sanitizer_find_leaks(void)
{
	(void)__lsan_do_recoverable_leak_check();
}

/* sanitizer/allocator_interface.h of LLVM: GCC has the function, but not the header. */
extern size_t __sanitizer_get_current_allocated_bytes(void);

size_t sanitizer_memory_in_use(void)
{
	return __sanitizer_get_current_allocated_bytes();
}

/* As the other reports of a cage: to the pipe in place of stdout. */
void sanitizer_report_rest(size_t bytes)
{
	size_t now = sanitizer_memory_in_use();
	char text[128];
	int length;

	if (now <= bytes)
		return;
	length = snprintf(text, sizeof(text),
			  "ERROR: the caged process ends with %zu bytes that it did not free\n",
			  now - bytes);
	(void)!write(STDOUT_FILENO, text, length);
}

static int lock_folder(const char *path)
{
	char folder[PATH_MAX];
	int fd;

	snprintf(folder, sizeof(folder), "%s", path);
	fd = open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_SH) < 0)
		abort();
	return fd;
}

static void let_reports_out(const char *path)
{
	int folder = lock_folder(path);
	pid_t caged = getpid();
	int ends[2];

	call_both("__sanitizer_set_report_fd", (void *)STDOUT_FILENO);
	wake_libubsan();
	if (pipe(ends) < 0)
		abort();
	switch (fork()) {
	case -1:
		abort();
	case 0:
		close(ends[1]);
		close(CAGE_FD); /* or its owner would not see the caged process end */
		wait_for_report(ends[0], path, caged);
		_exit(0);
	}
	close(folder); /* the child has it, too */
	close(ends[0]);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[1]);
	/* again: libubsan has set libasan's path */
	call_both("__sanitizer_set_report_fd", (void *)STDOUT_FILENO);
}

__attribute__((constructor)) static void direct_reports(int argc, char **argv)
{
	char path[PATH_MAX];

	if (!reports_path(path, sizeof(path)))
		return;
	if (argc > 1 && (!strcmp(argv[1], CAGE_GUEST_COMMAND) ||
			 !strcmp(argv[1], CAGE_LINES_COMMAND) ||
			 !strcmp(argv[1], CAGE_ELF_COMMAND)))
		let_reports_out(path);
	else
		call_both("__sanitizer_set_report_path", path);
}
