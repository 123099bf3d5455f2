/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The build-ids of a process whose owner has mounted something else over its program: only the file
 * that is mapped counts, and what is at its path is not opened. readelf is the truth. The parser's
 * process is this test, started again.
 */
#include "test.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "elf/elf_service.h"
#include "host/record/host_maps.h"
#include "walls/cage.h"

static char folder[] = "/tmp/perfvisor-test-XXXXXX";

/* A program in namespaces of its own, which then mounts a FIFO over its file. */
static const char *const script =
	"cd '%s' && cp /bin/sleep prog && mkfifo fifo && exec unshare -Urm sh -c '"
	"./prog 600 & echo $! >pid; while ! grep -q prog /proc/$!/maps; do sleep 0.1; done; "
	"mount --bind fifo prog && [ -p prog ] && mv pid ready; wait'";

static bool wait_for(const char *path, pid_t child)
{
	for (int i = 0; i < 600; i++) {
		if (!access(path, F_OK))
			return true;
		if (waitpid(child, NULL, WNOHANG) == child)
			return false;
		usleep(100000);
	}
	return false;
}

static pid_t start(pid_t *ret_child)
{
	_cleanup_free_ char *line = memory_printf(script, folder);
	_cleanup_free_ char *ready = memory_printf("%s/ready", folder);
	_cleanup_fclose_ FILE *file = NULL;
	int pid = 0;

	*ret_child = fork();
	if (!*ret_child) {
		setpgid(0, 0);
		execl("/bin/sh", "sh", "-c", line, NULL);
		_exit(1);
	}
	if (!wait_for(ready, *ret_child))
		return 0;
	file = fopen(ready, "re");
	return file && fscanf(file, "%d", &pid) == 1 ? pid : 0;
}

static void ask_readelf(char *ret, size_t size)
{
	_cleanup_free_ char *command =
		memory_printf("readelf -n %s/prog | sed -n 's/.*Build ID: //p'", folder);
	FILE *pipe = popen(command, "r");

	assert_non_null(fgets(ret, (int)size, pipe));
	ret[strcspn(ret, "\n")] = 0;
	pclose(pipe);
}

static struct perfdata_writer *create_writer(void)
{
	struct perfdata_event event = {
		.attr = { .type = PERF_TYPE_SOFTWARE,
			  .size = sizeof(struct perf_event_attr),
			  .config = PERF_COUNT_SW_CPU_CLOCK,
			  .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID,
			  .sample_id_all = 1 },
		.name = (char *)"cpu-clock",
	};
	_cleanup_free_ char *path = memory_printf("%s/data", folder);
	struct perfdata_writer *writer;

	assert_no_error(perfdata_writer_create(path, &event, 1, 1, &writer));
	return writer;
}

static void what_is_mapped_counts(void **state)
{
	_cleanup_elf_client_ struct elf_client *elf = elf_client_create(0);
	_cleanup_host_maps_ struct host_maps *maps = host_maps_create(elf);
	const struct perfdata_writer_build_id *ids;
	struct perfdata_writer *writer;
	char want[64], got[64] = "";
	size_t count;
	pid_t child, pid;

	(void)state;
	if (geteuid())
		skip_because("only root may open the files that another process has mapped");
	pid = start(&child);
	if (!pid)
		skip_because("user namespaces cannot mount here");
	writer = create_writer();
	assert_no_error(host_maps_write_process(maps, writer, pid));
	perfdata_writer_destroy(writer);
	kill(-child, SIGKILL);
	waitpid(child, NULL, 0);
	ask_readelf(want, sizeof(want));
	ids = host_maps_build_ids(maps, &count);
	for (size_t i = 0; i < count; i++)
		if (strstr(ids[i].path, "/prog"))
			for (size_t byte = 0; byte < ids[i].size; byte++)
				snprintf(got + 2 * byte, 3, "%02x", ids[i].bytes[byte]);
	assert_string_equal(got, want);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) && !chmod(folder, 0755) ? 0 : -1;
}

static int remove_folder(void **state)
{
	_cleanup_free_ char *command = memory_printf("rm -rf '%s'", folder);

	(void)state;
	return system(command);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_mapped_counts),
	};

	if (argc > 1 && !strcmp(argv[1], CAGE_ELF_COMMAND)) {
		error_destroy(cage_serve(CAGE_ELF, elf_service_run));
		_exit(1);
	}
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
