/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads the files of a recording: one, or those of a folder. */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "perfdata/reader_state.h"

#define MAX_FILES 65536

/* A stream that is read into memory may fill half of it. */
static size_t stream_max_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);

	return pages > 0 && page_bytes > 0 ? (size_t)pages / 2 * page_bytes : (size_t)1 << 30;
}

/* What the user named (NAME: NULL), or a file of its folder; copies fill half of memory at most. */
static struct error *load_file(struct perfdata_reader *reader, const char *name)
{
	size_t max_bytes = stream_max_bytes() - reader->copied_bytes;
	struct mapped_file file;
	struct error *error = name ? file_map_below(reader->directory, name, max_bytes, &file)
				   : file_load(reader->path, max_bytes, &file);

	if (error)
		return error;
	reader->copied_bytes += file.of_disk ? 0 : file.size;
	vector_append(&reader->files, file);
	return NULL;
}

/* Adds the newest file, which is records from its first byte on. */
static void add_span(struct perfdata_reader *reader, const char *path)
{
	const struct mapped_file *file = &reader->files.items[reader->files.count - 1];
	struct reader_span span = { .data = file->data, .size = file->size };

	span.name = arena_strndup(reader->arena, path, strlen(path));
	vector_append(&reader->spans, span);
}

static int is_thread_file(const struct dirent *entry)
{
	return !strncmp(entry->d_name, "data.", 5) && entry->d_name[5] >= '0' &&
	       entry->d_name[5] <= '9';
}

struct error *perfdata_files_open_others(struct perfdata_reader *reader)
{
	struct dirent **entries;
	struct error *error = NULL;
	int count = scandir(reader->directory, &entries, is_thread_file, versionsort);

	if (count < 0)
		return error_system(errno, "could not list '%s'", reader->directory);
	for (int i = 0; i < count; i++) {
		if (!error && i < MAX_FILES) {
			_cleanup_free_ char *path =
				memory_printf("%s/%s", reader->directory, entries[i]->d_name);

			error = load_file(reader, entries[i]->d_name);
			if (!error)
				add_span(reader, path);
		}
		free(entries[i]);
	}
	free(entries);
	return error;
}

static bool is_directory(const char *path)
{
	struct stat status;

	return strcmp(path, "-") && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

struct error *perfdata_files_open(struct perfdata_reader *reader)
{
	struct error *error;

	if (is_directory(reader->path))
		reader->directory = memory_strdup(reader->path);
	error = load_file(reader, reader->directory ? "data" : NULL);
	if (error && error_code(error) == ERROR_NOT_FOUND)
		return error_hint(error, reader->directory
						 ? "this folder is not a recording"
						 : "'perfvisor record' makes a recording");
	return error;
}
