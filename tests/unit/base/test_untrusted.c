/* SPDX-License-Identifier: GPL-2.0-or-later */
/* open_untrusted(): what it opens, and all that it must not. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/files/file.h"
#include "base/memory.h"
#include "base/files/untrusted.h"

static char folder[] = "/tmp/perfvisor-test-XXXXXX";

static void run(const char *command)
{
	_cleanup_free_ char *line = memory_printf("cd '%s' && { %s; }", folder, command);

	assert_int_equal(system(line), 0);
}

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	run("mkdir -p root/sub && echo outside >outside && echo inside >root/inside && "
	    "echo sub >root/sub/file && : >root/empty && mkfifo root/fifo && "
	    "ln -s inside root/near && ln -s /inside root/absolute && ln -s ../outside root/out && "
	    "ln -s /proc/self/root/etc/passwd root/magic && ln -s ../../../inside root/sub/up && "
	    "ln -s /etc root/etc && ln -s loop root/loop");
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	run("rm -rf \"$PWD\"");
	return 0;
}

static char *in_folder(const char *name)
{
	return memory_printf("%s/%s", folder, name);
}

static void assert_opens(const char *root, const char *path, unsigned int rules, const char *text)
{
	_cleanup_close_ int fd = -1;
	char got[64];
	ssize_t size;

	assert_no_error(open_untrusted(root, path, rules, &fd));
	size = read(fd, got, sizeof(got));
	assert_int_equal(size, strlen(text));
	assert_memory_equal(got, text, size);
}

static void assert_refuses(const char *root, const char *path, unsigned int rules,
			   enum error_code code)
{
	int fd = -1;

	assert_error(open_untrusted(root, path, rules, &fd), code);
	assert_int_equal(fd, -1);
}

static void links_stay_below_the_root(void **state)
{
	_cleanup_free_ char *root = in_folder("root");

	(void)state;
	assert_opens(root, "inside", 0, "inside\n");
	assert_opens(root, "/sub/../sub/file", 0, "sub\n");
	assert_opens(root, "near", 0, "inside\n");
	assert_opens(root, "absolute", 0, "inside\n");
	assert_opens(root, "sub/up", 0, "inside\n");
	assert_opens(root, "../../inside", 0, "inside\n");
	assert_refuses(root, "out", 0, ERROR_NOT_FOUND);
	assert_refuses(root, "../outside", 0, ERROR_NOT_FOUND);
	assert_refuses(root, "etc/passwd", 0, ERROR_SYSTEM); /* a loop: /etc is the link itself */
	assert_refuses(root, "magic", 0, ERROR_NOT_FOUND);
	assert_refuses(root, "loop", 0, ERROR_SYSTEM);
	assert_refuses(root, "none", 0, ERROR_NOT_FOUND);
	assert_refuses("/nonexistent", "inside", 0, ERROR_NOT_FOUND);
}

/* A FIFO without a writer would take forever; the alarm ends the test. */
static void only_regular_files(void **state)
{
	_cleanup_free_ char *root = in_folder("root");
	_cleanup_free_ char *fifo = in_folder("root/fifo"), *outside = in_folder("outside");
	static const char *const others[] = {
		"/dev/null", "/dev/ptmx", "/proc/kmsg", "/proc/self/maps", "/proc/kallsyms",
		"/sys/kernel/notes", "/sys/kernel/mm/transparent_hugepage/enabled", "/tmp",
	};

	(void)state;
	alarm(60);
	assert_refuses(root, "fifo", 0, ERROR_BAD_DATA);
	assert_refuses(root, "sub", 0, ERROR_BAD_DATA);
	assert_refuses(UNTRUSTED_ANYWHERE, fifo, 0, ERROR_BAD_DATA);
	assert_refuses("/proc", "self/status", 0, ERROR_BAD_DATA);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!access(others[i], F_OK))
			assert_refuses(UNTRUSTED_ANYWHERE, others[i], 0, ERROR_BAD_DATA);
	assert_opens(UNTRUSTED_ANYWHERE, outside, 0, "outside\n");
	assert_opens(root, "empty", 0, "");
	assert_refuses(root, "empty", UNTRUSTED_NOT_EMPTY, ERROR_BAD_DATA);
	alarm(0);
}

/* /proc/self/fd/N leads to whatever is open there. */
static void no_links_to_open_files(void **state)
{
	_cleanup_free_ char *outside = in_folder("outside"), *link = NULL, *root = NULL;
	_cleanup_close_ int fd = open(outside, O_RDONLY | O_CLOEXEC);

	(void)state;
	link = memory_printf("/proc/self/fd/%d", fd);
	assert_refuses(UNTRUSTED_ANYWHERE, link, 0, ERROR_SYSTEM);
	assert_opens(UNTRUSTED_ANYWHERE, link, UNTRUSTED_PROC_LINK, "outside\n");
	close(fd);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	root = memory_printf("/proc/self/fd/%d", fd);
	assert_opens(root, "outside", 0, "outside\n");
}

static void its_own_only_if_asked(void **state)
{
	_cleanup_free_ char *root = in_folder("root");

	(void)state;
	assert_opens(root, "sub/file", UNTRUSTED_OWN, "sub\n");
	assert_refuses(root, "near", UNTRUSTED_OWN, ERROR_SYSTEM);
	if (geteuid())
		skip_because("only root can make another user's file");
	run("echo theirs >root/theirs && chown 65534 root/theirs");
	assert_opens(root, "theirs", 0, "theirs\n");
	assert_refuses(root, "theirs", UNTRUSTED_OWN, ERROR_PERMISSION);
}

static void sockets_only_if_asked(void **state)
{
	_cleanup_close_ int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = -1;

	(void)state;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", folder);
	assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_refuses(folder, "socket", 0, ERROR_BAD_DATA);
	assert_refuses(folder, "outside", UNTRUSTED_SOCKET, ERROR_BAD_DATA);
	assert_no_error(open_untrusted(folder, "socket", UNTRUSTED_SOCKET, &fd));
}

static void folders_of_its_own(void **state)
{
	_cleanup_free_ char *root = in_folder("root"), *link = in_folder("folder-link");
	_cleanup_free_ char *file = in_folder("outside");
	_cleanup_close_ int fd = -1;
	int none = -1;

	(void)state;
	assert_no_error(open_own_folder(root, &fd));
	run("ln -s root folder-link");
	assert_error(open_own_folder(link, &none), ERROR_SYSTEM);
	assert_error(open_own_folder(file, &none), ERROR_SYSTEM);
	run("chmod 770 root");
	assert_error(open_own_folder(root, &none), ERROR_PERMISSION);
	run("chmod 755 root");
	if (!geteuid()) {
		run("chown 65534 root");
		assert_error(open_own_folder(root, &none), ERROR_PERMISSION);
		run("chown 0 root");
	}
}

/* Whoever can write to a file can also shorten it under a mapping. */
static void files_of_others_are_copied(void **state)
{
	_cleanup_free_ char *path = in_folder("outside");
	_cleanup_mapped_file_ struct mapped_file file = { 0 };

	(void)state;
	assert_no_error(file_map(path, &file));
	assert_true(file.of_disk);
	file_unmap(&file);
	run("chmod 666 outside");
	assert_no_error(file_map(path, &file));
	assert_false(file.of_disk);
	run("echo changed >outside && : >outside");
	assert_int_equal(file.size, 8);
	assert_memory_equal(file.data, "outside\n", 8);
	file_unmap(&file);
	run("truncate -s 8M outside");
	assert_error(file_load(path, 4 << 20, &file), ERROR_UNSUPPORTED);
	assert_error(file_map_below(folder, "outside", 4 << 20, &file), ERROR_UNSUPPORTED);
	run("chmod 644 outside");
	assert_no_error(file_load(path, 4 << 20, &file));
	run("echo outside >outside");
}

/* As on Linux 5.5: openat2() fails with ENOSYS. */
static void forbid_openat2(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(2);
}

static bool opens(const char *root, const char *path)
{
	_cleanup_close_ int fd = -1;
	struct error *error = open_untrusted(root, path, 0, &fd);

	error_destroy(error);
	return !error;
}

/* Then no link is followed; anything else is as ever. */
static void without_openat2(void **state)
{
	_cleanup_free_ char *root = in_folder("root"), *outside = in_folder("outside");
	int status;
	pid_t child = fork();

	(void)state;
	if (!child) {
		bool good;

		forbid_openat2();
		alarm(60);
		good = opens(root, "inside") && opens(root, "/sub//./file") &&
		       opens(UNTRUSTED_ANYWHERE, outside) && !opens(root, "near") &&
		       !opens(root, "out") && !opens(root, "../outside") &&
		       !opens(root, "sub/../inside") && !opens(root, "etc/passwd") &&
		       !opens(root, "fifo") && !opens(root, "none") && !opens(root, "sub") &&
		       !opens(UNTRUSTED_ANYWHERE, "/proc/kallsyms");
		_exit(!good);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		skip_because("this kernel has no seccomp");
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_stay_below_the_root),
		cmocka_unit_test(only_regular_files),
		cmocka_unit_test(no_links_to_open_files),
		cmocka_unit_test(its_own_only_if_asked),
		cmocka_unit_test(sockets_only_if_asked),
		cmocka_unit_test(folders_of_its_own),
		cmocka_unit_test(files_of_others_are_copied),
		cmocka_unit_test(without_openat2),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
