/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Build-ids compared with the output of readelf -n for the same files, and files without any. */
#include "test.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/memory.h"
#include "elf/build_id.h"

/* readelf's output, in hexadecimal; "" if there is none. */
static void ask_readelf(const char *path, char *ret, size_t size)
{
	_cleanup_free_ char *command =
		memory_printf("readelf -n %s 2>/dev/null | sed -n 's/.*Build ID: //p'", path);
	FILE *pipe = popen(command, "r");

	assert_non_null(pipe);
	if (!fgets(ret, (int)size, pipe))
		*ret = 0;
	ret[strcspn(ret, "\n")] = 0;
	pclose(pipe);
}

static bool read_build_id(const char *path, struct build_id *ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	return build_id_of_file(fd, ret);
}

static void format(const struct build_id *id, char *ret, size_t size)
{
	*ret = 0;
	for (size_t i = 0; i < id->size; i++)
		snprintf(ret + 2 * i, size - 2 * i, "%02x", id->bytes[i]);
}

static void test_files(void **state)
{
	static const char *const paths[] = { "/bin/sh", "/bin/ls", "/usr/bin/python3",
					     "/lib64/ld-linux-x86-64.so.2" };
	size_t compared = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		char want[64], got[64];
		struct build_id id = { .size = 0 };

		ask_readelf(paths[i], want, sizeof(want));
		if (!*want)
			continue;
		assert_true(read_build_id(paths[i], &id));
		format(&id, got, sizeof(got));
		assert_string_equal(got, want);
		compared++;
	}
	assert_true(compared > 0);
}

static void test_none(void **state)
{
	struct build_id id = { .size = 0 };

	(void)state;
	assert_false(build_id_of_file(-1, &id));
	assert_false(read_build_id("/etc/passwd", &id));
	assert_false(read_build_id("/", &id));
	assert_false(read_build_id("/dev/null", &id));
	assert_int_equal(id.size, 0);
}

/*
 * A file with as many segments and sections, and a note as large, as 3 GiB of holes can hold: none
 * of them is read whole.
 */
static void test_bombs(void **state)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_phoff = 4096, .e_shoff = 64, .e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr), .e_shentsize = sizeof(Elf64_Shdr),
		.e_phnum = PN_XNUM, .e_shnum = 1,
	};
	static const off_t bytes = 3LL << 30;
	Elf64_Shdr first = { .sh_info = (bytes - 8192) / sizeof(Elf64_Phdr) };
	const Elf64_Phdr note = { .p_type = PT_NOTE, .p_offset = 8192, .p_filesz = bytes - 8192 };
	char path[] = "/tmp/test_build_id_XXXXXX";
	_cleanup_close_ int fd = mkstemp(path);
	struct rusage before, after;
	struct build_id id = { .size = 0 };

	(void)state;
	assert_int_equal(unlink(path), 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(pwrite(fd, &first, sizeof(first), 64), sizeof(first));
	assert_int_equal(pwrite(fd, &note, sizeof(note), 4096), sizeof(note));
	getrusage(RUSAGE_SELF, &before);
	assert_false(build_id_of_file(fd, &id));
	header.e_shnum = 0; /* the number of sections is in the first one, too */
	first.sh_size = (bytes - 4096) / sizeof(first);
	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(pwrite(fd, &first, sizeof(first), 64), sizeof(first));
	assert_false(build_id_of_file(fd, &id));
	first.sh_info = first.sh_size = 1;
	assert_int_equal(pwrite(fd, &first, sizeof(first), 64), sizeof(first));
	assert_false(build_id_of_file(fd, &id));
	getrusage(RUSAGE_SELF, &after);
	assert_in_range(after.ru_maxrss - before.ru_maxrss, 0, 65536); /* KiB */
}

/* Notes as in sysfs, each malformed in one way. */
static bool find(const void *notes, size_t size, struct build_id *ret)
{
	char path[] = "/tmp/test_build_id_XXXXXX";
	int fd = mkstemp(path);
	bool found;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, notes, size), (ssize_t)size);
	close(fd);
	found = build_id_of_notes(path, ret);
	unlink(path);
	return found;
}

static void test_notes(void **state)
{
	/* another note of 6 bytes (padded to 8), then the build-id */
	uint32_t notes[] = { 4, 6, 1, 0x00554e47, 0, 0, 4, 20, 3, 0x00554e47, 1, 2, 3, 4, 5 };
	uint8_t bytes[sizeof(notes)];
	struct build_id id = { .size = 0 };

	(void)state;
	assert_true(find(notes, sizeof(notes), &id));
	assert_int_equal(id.size, 20);
	assert_memory_equal(id.bytes, &notes[10], 20);
	for (size_t size = 0; size < sizeof(notes); size++)
		assert_false(find(notes, size, &id));
	notes[1] = 0xfffffff0; /* a length that overflows */
	assert_false(find(notes, sizeof(notes), &id));
	memset(bytes, 0xff, sizeof(bytes));
	assert_false(find(bytes, sizeof(bytes), &id));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
