/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A VMM that executes another program is not read any more, wherever its slots were. */
#include "test.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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
	struct host_vm_memory memory = { .pid = vmm.pid };
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_program_is_no_guest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
