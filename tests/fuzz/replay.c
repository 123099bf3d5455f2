/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzz target over files and folders of files, instead of under libFuzzer, so that known
 * findings are checked in every test run, without clang. Each input is copied to memory of exactly
 * its size: ASan sees a read past the end.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/files/file.h"
#include "base/memory.h"
#include "fuzz.h"

#define INPUT_MAX_BYTES ((size_t)64 << 20)

static void replay_file(const char *path)
{
	_cleanup_buffer_ struct buffer input;
	_cleanup_error_ struct error *error = NULL;
	_cleanup_free_ uint8_t *exact = NULL;

	buffer_init(&input, INPUT_MAX_BYTES);
	error = file_read(path, &input);
	if (error) {
		fprintf(stderr, "%s\n", error_message(error));
		exit(1);
	}
	exact = malloc(input.size);
	if (input.size)
		memcpy(exact, input.data, input.size);
	LLVMFuzzerTestOneInput(exact, input.size);
}

static int replay_folder(const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, NULL, alphasort);
	int replayed = 0;

	for (int i = 0; i < count; i++) {
		if (entries[i]->d_name[0] != '.') {
			_cleanup_free_ char *file = memory_printf("%s/%s", path,
								  entries[i]->d_name);

			replay_file(file);
			replayed++;
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return replayed;
}

int main(int argc, char **argv)
{
	int replayed = 0;

	for (int i = 1; i < argc; i++) {
		struct stat stat_buffer;

		if (stat(argv[i], &stat_buffer) == 0 && S_ISDIR(stat_buffer.st_mode)) {
			replayed += replay_folder(argv[i]);
		} else {
			replay_file(argv[i]);
			replayed++;
		}
	}
	printf("%d inputs\n", replayed);
	return replayed ? 0 : 1;
}
