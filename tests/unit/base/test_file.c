/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/files/file.h"
#include "base/memory.h"

static char folder[] = "/tmp/perfvisor-test-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	_cleanup_free_ char *command = memory_printf("rm -rf '%s'", folder);

	(void)state;
	return system(command);
}

static char *write_file(const char *name, const void *data, size_t size)
{
	char *path = memory_printf("%s/%s", folder, name);
	_cleanup_close_ int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_no_error(file_write_all(fd, data, size, path));
	return path;
}

static void maps_what_was_written(void **state)
{
	_cleanup_free_ char *path = write_file("f", "content", 7);
	_cleanup_free_ char *empty = write_file("empty", "", 0);
	_cleanup_mapped_file_ struct mapped_file file = { 0 };

	(void)state;
	assert_no_error(file_map(path, &file));
	assert_int_equal(file.size, 7);
	assert_memory_equal(file.data, "content", 7);
	file_unmap(&file);
	assert_no_error(file_map(empty, &file));
	assert_int_equal(file.size, 0);
}

/* Runs file_load() on a pipe that a child process fills with SIZE bytes. */
static struct error *load_from_pipe(size_t size, size_t max_bytes, struct mapped_file *ret)
{
	_cleanup_free_ char *path = NULL;
	struct error *error;
	int fds[2];
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		close(fds[0]);
		signal(SIGPIPE, SIG_DFL);
		for (size_t at = 0; at < size; at += 997) {
			size_t chunk = size - at < 997 ? size - at : 997;
			uint8_t bytes[997];

			for (size_t i = 0; i < chunk; i++)
				bytes[i] = (at + i) * 7 % 251;
			if (write(fds[1], bytes, chunk) < 0)
				break;
		}
		_exit(0);
	}
	close(fds[1]);
	path = memory_printf("/proc/self/fd/%d", fds[0]);
	error = file_load(path, max_bytes, ret);
	close(fds[0]);
	waitpid(child, NULL, 0);
	return error;
}

static void loads_files_and_pipes(void **state)
{
	static const size_t sizes[] = { 0, 1, 4096, 1 << 20, (1 << 20) + 1, 2500000 };
	_cleanup_free_ char *path = write_file("loaded", "content", 7);
	struct mapped_file file = { 0 };

	(void)state;
	assert_no_error(file_load(path, 1, &file)); /* the maximum only applies to streams */
	assert_int_equal(file.size, 7);
	assert_memory_equal(file.data, "content", 7);
	file_unmap(&file);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		assert_no_error(load_from_pipe(sizes[i], 1 << 24, &file));
		assert_int_equal(file.size, sizes[i]);
		for (size_t at = 0; at < sizes[i]; at++)
			assert_int_equal(file.data[at], at * 7 % 251);
		file_unmap(&file);
	}
	assert_error(load_from_pipe(2500000, 1 << 21, &file), ERROR_SYSTEM);
	assert_error(file_load("/nonexistent/file", 1, &file), ERROR_NOT_FOUND);
}

static void refuses_what_is_no_file(void **state)
{
	struct mapped_file file;
	_cleanup_free_ char *fifo = memory_printf("%s/fifo", folder);

	(void)state;
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_error(file_map(folder, &file), ERROR_BAD_DATA);
	assert_error(file_map(fifo, &file), ERROR_BAD_DATA);
	assert_error(file_map("/nonexistent/file", &file), ERROR_NOT_FOUND);
}

static void maps_its_own_and_no_link(void **state)
{
	_cleanup_free_ char *path = write_file("own", "content", 7);
	_cleanup_free_ char *link = memory_printf("%s/link", folder);
	_cleanup_mapped_file_ struct mapped_file file = { 0 };
	struct mapped_file none;
	struct error *error;

	(void)state;
	assert_no_error(file_map_own(folder, "own", &file));
	assert_memory_equal(file.data, "content", 7);
	assert_int_equal(symlink(path, link), 0);
	error = file_map_own(folder, "link", &none);
	assert_non_null(error);
	error_destroy(error);
	if (geteuid() == 0 && chown(path, 65534, 65534) == 0)
		assert_error(file_map_own(folder, "own", &none), ERROR_PERMISSION);
	else
		part_skipped("another user's file", "only root can make one");
}

static void reads_up_to_the_maximum(void **state)
{
	static char data[200000];
	_cleanup_free_ char *path = NULL;
	_cleanup_buffer_ struct buffer buffer;

	(void)state;
	memset(data, 'x', sizeof(data));
	path = write_file("large", data, sizeof(data));
	buffer_init(&buffer, sizeof(data));
	assert_no_error(file_read(path, &buffer));
	assert_int_equal(buffer.size, sizeof(data));
	assert_memory_equal(buffer.data, data, sizeof(data));
	assert_int_equal(buffer.data[buffer.size], 0);
	buffer_deinit(&buffer);
	buffer_init(&buffer, sizeof(data) - 1);
	assert_error(file_read(path, &buffer), ERROR_BAD_DATA);
}

static void reads_proc_files(void **state)
{
	_cleanup_buffer_ struct buffer buffer;

	(void)state;
	buffer_init(&buffer, 1 << 20);
	assert_no_error(file_read("/proc/self/status", &buffer));
	assert_non_null(strstr((char *)buffer.data, "\nPid:\t"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_what_was_written),
		cmocka_unit_test(loads_files_and_pipes),
		cmocka_unit_test(refuses_what_is_no_file),
		cmocka_unit_test(maps_its_own_and_no_link),
		cmocka_unit_test(reads_up_to_the_maximum),
		cmocka_unit_test(reads_proc_files),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
