/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walls, from within: a process that raised them tries what someone who has taken it over would
 * try. Landlock and seccomp are hidden by filters where kernels without them are tested.
 */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <pthread.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>

#include "base/memory.h"
#include "walls/walls.h"

static char folder[] = "/tmp/perfvisor-walls-XXXXXX";
static pid_t outside;

static bool opens(const char *path, int flags)
{
	int fd = open(path, flags, 0600);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* What is tried in the folder. True: it worked. */
static bool writes(void)
{
	return opens("old", O_WRONLY);
}

static bool truncates(void)
{
	return !truncate("old", 0);
}

static bool creates(void)
{
	return opens("new", O_WRONLY | O_CREAT);
}

static bool creates_unnamed(void)
{
	return opens(".", O_WRONLY | O_TMPFILE);
}

static bool makes_folders(void)
{
	return !mkdir("new", 0700);
}

static bool renames(void)
{
	return !rename("old", "new");
}

static bool removes(void)
{
	return !unlink("old");
}

static bool links(void)
{
	return !link("old", "new") || !symlink("old", "new");
}

static bool changes_modes(void)
{
	return !chmod("old", 04777) || !fchmodat(AT_FDCWD, "old", 04777, 0);
}

static bool changes_owners(void)
{
	return !chown("old", 1, 1);
}

static bool changes_times(void)
{
	return !utimensat(AT_FDCWD, "old", NULL, 0);
}

static bool changes_attributes(void)
{
	return !setxattr("old", "user.new", "x", 1, 0);
}

static bool opens_devices(void)
{
	return opens("/dev/zero", O_RDONLY) || opens("/dev/tty", O_RDWR) ||
	       opens("/dev/ptmx", O_RDWR | O_NOCTTY);
}

static bool opens_other_processes(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", outside);
	if (opens(path, O_RDONLY))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/environ", outside);
	return opens(path, O_RDONLY);
}

static bool opens_kernel_files(void)
{
	return opens("/proc/kmsg", O_RDONLY | O_NONBLOCK) ||
	       opens("/proc/sysrq-trigger", O_WRONLY) ||
	       opens("/proc/sys/kernel/core_pattern", O_WRONLY) ||
	       opens("/sys/kernel/uevent_seqnum", O_RDONLY);
}

static bool makes_sockets(void)
{
	int ends[2];

	return socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ||
	       socket(AF_NETLINK, SOCK_RAW, 0) >= 0 || !socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
}

static bool starts_processes(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return pid > 0;
}

/* If it works, this process ends with the status of something that worked. */
static bool starts_programs(void)
{
	execl("/bin/false", "false", NULL);
	return false;
}

static bool reads_other_memory(void)
{
	char byte;
	struct iovec here = { &byte, 1 }, there = { &outside, 1 };

	return syscall(SYS_process_vm_readv, outside, &here, 1, &there, 1, 0) == 1;
}

static bool traces(void)
{
	return !ptrace(PTRACE_SEIZE, outside, NULL, NULL);
}

static bool signals(void)
{
	return !kill(outside, 0) || !syscall(SYS_tgkill, outside, outside, 0);
}

static bool makes_code(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return !mprotect(page, 4096, PROT_READ | PROT_EXEC) ||
	       mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
		       MAP_FAILED;
}

/* Without a terminal the kernel's answer would be another one. */
static bool types_for_the_user(void)
{
	return !ioctl(STDIN_FILENO, TIOCSTI, "x") || errno != ENOSYS;
}

static bool sets_terminals(void)
{
	return !ioctl(STDIN_FILENO, TCSETSW, NULL) || errno != ENOSYS;
}

static bool uses_the_kernel(void)
{
	char attribute[128] = { 0 };

	return syscall(SYS_bpf, 0, attribute, sizeof(attribute)) >= 0 ||
	       syscall(SYS_io_uring_setup, 1, attribute) >= 0 ||
	       syscall(SYS_memfd_create, "x", 0) >= 0 || syscall(SYS_unshare, 0) >= 0 ||
	       syscall(SYS_setresuid, -1, -1, -1) >= 0 || syscall(SYS_keyctl, 0, -3, 0) >= 0;
}

struct attempt {
	const char *what;
	bool (*works)(void);
	bool by_seccomp; /* what keeps it out, not Landlock */
	bool unlike_asan; /* sanitizers need it */
};

static const struct attempt attempts[] = {
	{ "writes", writes }, { "truncates", truncates, true }, { "creates", creates },
	{ "creates unnamed", creates_unnamed }, { "makes folders", makes_folders },
	{ "renames", renames }, { "removes", removes }, { "links", links },
	{ "changes modes", changes_modes, true }, { "changes owners", changes_owners, true },
	{ "changes times", changes_times, true },
	{ "changes attributes", changes_attributes, true },
	{ "opens devices", opens_devices },
	{ "opens other processes' files", opens_other_processes, false, true },
	{ "opens the kernel's files", opens_kernel_files, false, true },
	{ "makes sockets", makes_sockets, true }, { "starts processes", starts_processes, true },
	{ "starts programs", starts_programs }, { "reads other memory", reads_other_memory, true },
	{ "traces", traces, true, true }, { "signals", signals, true, true },
	{ "makes code", makes_code, true }, { "types for the user", types_for_the_user, true },
	{ "sets terminals", sets_terminals, true }, { "uses the kernel", uses_the_kernel, true },
};

enum { KEPT_OUT = 10, WORKED = 1, NO_WALLS = 2 };

/* In a process of its own: raises the walls and calls ATTEMPT. Returns its exit status. */
static int try(const struct walls *needs, void (*before)(void), bool (*attempt)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		struct error *error;

		if (chdir(folder))
			_exit(NO_WALLS);
		if (before)
			before();
		error = walls_raise(needs);
		if (error)
			fprintf(stderr, "%s\n", error_message(error));
		_exit(error ? NO_WALLS : attempt() ? WORKED : KEPT_OUT);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool have_landlock(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

static bool is_tried(const struct attempt *attempt)
{
#ifdef __SANITIZE_ADDRESS__
	if (attempt->unlike_asan) {
		part_skipped(attempt->what, "sanitizers need it");
		return false;
	}
#endif
	if (!attempt->by_seccomp && !have_landlock())
		part_skipped(attempt->what, "this kernel has no Landlock");
	return attempt->by_seccomp || have_landlock();
}

static void check(const struct walls *needs)
{
	for (size_t i = 0; i < sizeof(attempts) / sizeof(*attempts); i++) {
		if (!is_tried(&attempts[i]))
			continue;
		print_message("%s\n", attempts[i].what);
		assert_int_equal(try(needs, NULL, attempts[i].works), KEPT_OUT);
	}
}

static void nothing_gets_over_the_walls(void **state)
{
	const struct walls needs = { 0 };

	(void)state;
	check(&needs);
}

/* What is allowed in folders is not allowed outside of them. */
static void nor_where_folders_are_needed(void **state)
{
	_cleanup_free_ char *cache = memory_printf("%s/cache", folder);
	_cleanup_free_ char *work = memory_printf("%s/work", folder);
	const struct walls needs = { .read = { folder }, .cache = cache, .folder = work };

	(void)state;
	check(&needs);
}

/* The cache could be a link that its user did not make. */
static bool writes_over_link(void)
{
	return opens("cache-link/new", O_WRONLY | O_CREAT);
}

static void the_cache_is_no_link(void **state)
{
	_cleanup_free_ char *cache = memory_printf("%s/cache-link", folder);
	const struct walls needs = { .cache = cache };

	(void)state;
	if (!have_landlock())
		skip_because("this kernel has no Landlock");
	assert_int_equal(try(&needs, NULL, writes_over_link), KEPT_OUT);
}

static void *run_thread(void *done)
{
	*(bool *)done = true;
	return NULL;
}

static bool starts_threads(void)
{
	bool done = false;
	pthread_t thread;

	return !pthread_create(&thread, NULL, run_thread, &done) && !pthread_join(thread, NULL) &&
	       done;
}

static bool reads(void)
{
	DIR *root = opendir("/usr");

	return root && readdir(root) && opens("old", O_RDONLY) && opens("/etc/passwd", O_RDONLY) &&
	       opens("/proc/self/status", O_RDONLY) && opens("/proc/kallsyms", O_RDONLY);
}

static bool keeps_a_cache(void)
{
	return opens("cache/new", O_WRONLY | O_CREAT | O_EXCL) &&
	       !rename("cache/new", "cache/table") && opens("cache/table", O_RDONLY) &&
	       opens("cache/table", O_WRONLY | O_TRUNC) && !unlink("cache/table");
}

static bool fills_a_folder(void)
{
	return !mkdir("work/one", 0700) && !mkdir("work/two", 0700) &&
	       opens("work/one/file", O_WRONLY | O_CREAT | O_EXCL) &&
	       !link("work/one/file", "work/two/file") &&
	       !rename("work/one/file", "work/one/name");
}

static void what_is_needed_works(void **state)
{
	_cleanup_free_ char *cache = memory_printf("%s/cache", folder);
	_cleanup_free_ char *work = memory_printf("%s/work", folder);
	const struct walls nothing = { 0 }, caching = { .cache = cache };
	const struct walls writing = { .cache = cache, .folder = work }, tty = { .terminal = true };

	(void)state;
	assert_int_equal(try(&tty, NULL, sets_terminals), WORKED);
	assert_int_equal(try(&tty, NULL, types_for_the_user), KEPT_OUT);
	assert_int_equal(try(&nothing, NULL, starts_threads), WORKED);
	assert_int_equal(try(&nothing, NULL, reads), WORKED);
	if (have_landlock())
		assert_int_equal(try(&caching, NULL, keeps_a_cache), WORKED);
	assert_int_equal(try(&writing, NULL, keeps_a_cache), WORKED);
	assert_int_equal(try(&writing, NULL, fills_a_folder), WORKED);
}

/* Makes a system call fail as on a kernel that does not have it. */
static void hide(int call)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	if (!filter || seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), call, 0) ||
	    seccomp_load(filter))
		_exit(NO_WALLS);
	seccomp_release(filter);
}

static void hide_landlock(void)
{
	hide(SCMP_SYS(landlock_create_ruleset));
}

static void hide_both(void)
{
	hide_landlock();
	hide(SCMP_SYS(seccomp));
}

/* The capabilities and the user of this process, from /proc. */
static void find_rights(unsigned long long *ret_held, unsigned int *ret_user)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];

	*ret_held = -1ULL;
	*ret_user = 0;
	while (status && fgets(line, sizeof(line), status)) {
		(void)(sscanf(line, "CapPrm: %llx", ret_held) ||
		       sscanf(line, "Uid: %u", ret_user));
	}
}

static bool has_capabilities(void)
{
	unsigned long long held;
	unsigned int user;

	find_rights(&held, &user);
	return held;
}

static bool has_other_rights(void)
{
	unsigned long long held;
	unsigned int user;

	find_rights(&held, &user);
	/* CAP_DAC_READ_SEARCH is 2, CAP_SYSLOG 34: capabilities(7) */
	return held & ~(1ULL << 2 | 1ULL << 34) || !user;
}

static bool reads_secrets(void)
{
	return opens("secret", O_RDONLY);
}

static void old_kernels_have_lower_walls(void **state)
{
	_cleanup_free_ char *cache = memory_printf("%s/cache", folder);
	_cleanup_free_ char *work = memory_printf("%s/work", folder);
	const struct walls needs = { .cache = cache }, writing = { .folder = work };

	(void)state;
	if (geteuid())
		skip_because("this is not root");
	assert_int_equal(try(&writing, hide_landlock, has_capabilities), KEPT_OUT);
	assert_int_equal(try(&needs, hide_landlock, has_other_rights), KEPT_OUT);
	assert_int_equal(try(&needs, hide_both, has_other_rights), KEPT_OUT);
	assert_int_equal(try(&needs, hide_both, writes), KEPT_OUT);
	assert_int_equal(try(&needs, hide_both, creates), KEPT_OUT);
	assert_int_equal(try(&needs, hide_both, removes), KEPT_OUT);
	assert_int_equal(try(&needs, hide_both, signals), KEPT_OUT);
	assert_int_equal(try(&needs, hide_landlock, makes_sockets), KEPT_OUT);
	assert_int_equal(try(&needs, hide_landlock, reads_secrets), WORKED);
	assert_int_equal(try(&needs, hide_both, starts_threads), WORKED);
}

static void make(const char *name)
{
	assert_true(opens(name, O_WRONLY | O_CREAT));
}

static int set_up(void **state)
{
	(void)state;
	outside = getpid();
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(chdir(folder), 0);
	make("old");
	make("secret");
	assert_int_equal(mkdir("cache", 0700), 0);
	assert_int_equal(mkdir("work", 0700), 0);
	assert_int_equal(symlink("cache", "cache-link"), 0);
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = { "old", "secret", "new", "work/one/name",
					     "work/two/file", "cache/table", "cache/new",
					     "cache-link" };
	static const char *const folders[] = { "work/one", "work/two", "work", "cache", "new" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(names[i]);
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		rmdir(folders[i]);
	return chdir("/") || rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_gets_over_the_walls),
		cmocka_unit_test(nor_where_folders_are_needed),
		cmocka_unit_test(the_cache_is_no_link),
		cmocka_unit_test(what_is_needed_works),
		cmocka_unit_test(old_kernels_have_lower_walls),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
