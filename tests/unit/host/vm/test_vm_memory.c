/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A VMM that executes another program is not read any more, wherever its slots were. Memory that
 * never comes keeps nobody.
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/system/process.h"
#include "host/vm/vm_memory.h"

struct vmm {
	pid_t pid;
	int go; /* closed: it executes another program */
};

static struct vmm start(void)
{
	struct vmm vmm = { 0 };
	int go[2];

	assert_int_equal(pipe(go), 0);
	vmm.pid = fork();
	if (!vmm.pid) {
		char byte;

		close(go[1]);
		if (read(go[0], &byte, 1) == 0)
			execl("/bin/sleep", "sleep", "600", NULL);
		_exit(1);
	}
	close(go[0]);
	vmm.go = go[1];
	return vmm;
}

/* The last page of its stack, as /proc/PID/maps has it. */
static uint64_t stack_of(pid_t pid)
{
	char path[64], line[512];
	uint64_t last = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		uint64_t end;

		if (strstr(line, "[stack]") && sscanf(line, "%*x-%" SCNx64, &end) == 1)
			last = end - GUEST_PAGE_BYTES;
	}
	fclose(maps);
	return last;
}

static bool can_read(struct host_vm_memory *memory)
{
	struct guest_memory_source source = host_vm_memory_source(memory);
	uint8_t page[GUEST_PAGE_BYTES];
	struct gpa gpa = GPA(0);

	return source.read_pages(source.context, &gpa, 1, page);
}

static void another_program_is_no_guest(void **state)
{
	struct vmm vmm = start();
	struct host_vm_memory memory = { .pid = vmm.pid, .reader = memory_reader_create(0) };
	uint8_t page[GUEST_PAGE_BYTES];
	struct iovec local = { page, sizeof(page) }, remote = { 0 };
	char comm[32] = "";

	(void)state;
	memory.layout = host_process_layout(vmm.pid, NULL);
	remote = (struct iovec){ (void *)(uintptr_t)stack_of(vmm.pid), GUEST_PAGE_BYTES };
	vector_append(&memory.slots, (struct host_vm_slot){ GPA(0), GUEST_PAGE_BYTES,
							   (uint64_t)(uintptr_t)remote.iov_base });
	assert_true(can_read(&memory));
	close(vmm.go);
	for (int tries = 0; tries < 1000 && strcmp(comm, "sleep"); tries++) {
		usleep(10000);
		host_process_comm(vmm.pid, comm, sizeof(comm));
	}
	assert_string_equal(comm, "sleep");
	/* Where the new program has memory, too. */
	remote.iov_base = (void *)(uintptr_t)stack_of(vmm.pid);
	memory.slots.items[0].hva = (uint64_t)(uintptr_t)remote.iov_base;
	assert_int_equal(process_vm_readv(vmm.pid, &local, 1, &remote, 1, 0), GUEST_PAGE_BYTES);
	assert_false(can_read(&memory));
	kill(vmm.pid, SIGKILL);
	waitpid(vmm.pid, NULL, 0);
	assert_false(can_read(&memory));
	host_vm_memory_deinit(&memory);
}

/* Memory of which every access waits for this process, which does nothing; 0: not permitted. */
static uint64_t map_silent(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	void *page = mmap(NULL, GUEST_PAGE_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	range.range.start = (uintptr_t)page;
	range.range.len = GUEST_PAGE_BYTES;
	if (fd < 0 || page == MAP_FAILED || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &range))
		return 0;
	return (uintptr_t)page;
}

static pid_t start_silent(uint64_t *ret)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		*ret = map_silent();
		if (write(ends[1], ret, sizeof(*ret)) == sizeof(*ret))
			sleep(600);
		_exit(1);
	}
	assert_int_equal(read(ends[0], ret, sizeof(*ret)), sizeof(*ret));
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static void memory_that_never_comes(void **state)
{
	uint64_t silent, own[2] = { 7, 8 }, addresses[2], got[2] = { 0 };
	pid_t pid = start_silent(&silent);
	struct memory_reader *reader = memory_reader_create(0.2);

	(void)state;
	addresses[0] = (uintptr_t)&own[0];
	addresses[1] = (uintptr_t)&own[1];
	assert_true(memory_reader_read(reader, getpid(), addresses, 2, sizeof(*own), got));
	assert_memory_equal(got, own, sizeof(own));
	addresses[1] = 1;
	assert_false(memory_reader_read(reader, getpid(), addresses, 2, sizeof(*own), got));
	assert_int_equal(errno, EFAULT);
	if (silent) {
		addresses[1] = silent;
		for (int i = 0; i < 2; i++) { /* the second time without a servant */
			assert_false(memory_reader_read(reader, pid, &silent, 1, 8, got));
			assert_int_equal(errno, ETIMEDOUT);
		}
	} else {
		part_skipped("memory that never comes", "userfaultfd(2) is not permitted");
	}
	own[0] = 9;
	assert_true(memory_reader_read(reader, getpid(), addresses, 1, sizeof(*own), got));
	assert_int_equal(got[0], 9);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	memory_reader_release(reader);
}

/* The servant of this process's reader, its only child; 0: not known. */
static pid_t servant(void)
{
	char path[64];
	int pid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	file = fopen(path, "re");
	if (file && fscanf(file, "%d", &pid) != 1)
		pid = 0;
	if (file)
		fclose(file);
	return pid;
}

static void a_servant_that_is_stopped_or_killed(void **state)
{
	struct memory_reader *reader = memory_reader_create(0.1);
	uint64_t own = 7, got = 0, address = (uintptr_t)&own;
	pid_t pid, other;

	(void)state;
	assert_true(memory_reader_read(reader, getpid(), &address, 1, sizeof(own), &got));
	pid = servant();
	if (!pid) {
		memory_reader_release(reader);
		skip_because("the kernel does not list children");
	}
	own = 8;
	assert_int_equal(kill(pid, SIGSTOP), 0);
	other = fork();
	if (!other) {
		usleep(500000);
		_exit(kill(pid, SIGCONT));
	}
	assert_true(memory_reader_read(reader, getpid(), &address, 1, sizeof(own), &got));
	assert_int_equal(got, 8);
	assert_int_equal(waitpid(other, NULL, 0), other);
	/* One that somebody has killed is replaced, at once. */
	own = 9;
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_true(memory_reader_read(reader, getpid(), &address, 1, sizeof(own), &got));
	assert_int_equal(got, 9);
	memory_reader_release(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_program_is_no_guest),
		cmocka_unit_test(memory_that_never_comes),
		cmocka_unit_test(a_servant_that_is_stopped_or_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
