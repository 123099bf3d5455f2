/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits: not kernel modules, nor the vDSO. */
#include "session/source_lines.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "lines/line_client.h"
#include "lines/line_wire.h"
#include "session/code/kernel_file.h"
#include "session/session.h"

/* A file with source lines. */
struct source {
	bool searched;
	uint32_t file; /* of the client; LINE_CLIENT_NO_FILE: there is none */
	struct elf_file *runtime; /* of a program: translates offsets; owned */
	uint64_t delta;		  /* of a kernel: to be added to its addresses */
	bool guest;		  /* paths are in a guest */
};

/* Frames of one address. */
struct found {
	size_t start;
	uint32_t count;
};

struct source_lines {
	struct line_client *client;
	VECTOR(struct source) files; /* for each dso */
	struct map kernels;	     /* machine and kernel -> index in sources + 1 */
	VECTOR(struct source) kernel_sources;
	struct intern *keys; /* of addresses: their numbers, less one, are indices in: */
	VECTOR(struct found) found;
	VECTOR(struct source_frame) frames;
};

_Static_assert(LINE_CLIENT_MAX_FRAMES <= SOURCE_FRAMES_MAX, "more frames than announced");

static struct source_lines *lines_of(struct session *session)
{
	struct source_lines *lines = session->source_lines;

	if (lines)
		return lines;
	lines = session->source_lines = memory_calloc(1, sizeof(*lines));
	lines->client = line_client_create(0);
	lines->keys = intern_create();
	map_init(&lines->kernels);
	return lines;
}

void source_lines_destroy(struct source_lines *lines)
{
	if (!lines)
		return;
	line_client_destroy(lines->client);
	for (size_t i = 0; i < lines->files.count; i++)
		elf_file_close(lines->files.items[i].runtime);
	vector_deinit(&lines->files);
	vector_deinit(&lines->kernel_sources);
	map_deinit(&lines->kernels);
	intern_destroy(lines->keys);
	vector_deinit(&lines->found);
	vector_deinit(&lines->frames);
	free(lines);
}

static void search_file(struct session *session, uint32_t dso, struct source *source)
{
	struct dso_entry *entry = session->dsos.items.items[dso];
	_cleanup_free_ char *root = NULL;
	struct dso_request request;
	struct error *error;
	int fd;

	source->searched = true;
	source->file = LINE_CLIENT_NO_FILE;
	source->guest = entry->guest;
	if (entry->kind != DSO_FILE)
		return;
	if (entry->guest)
		guest_files_request(session, entry, &request, &root);
	else
		request = dsos_request(&session->dsos, entry);
	error = dso_find_lines(&request, &source->runtime, &fd);
	if (!error)
		source->file = line_client_open(
			session->source_lines->client, fd,
			intern_string(session->strings, entry->path));
	error_destroy(error);
}

static struct source *source_of_file(struct session *session, uint32_t dso)
{
	struct source_lines *lines = lines_of(session);
	struct source *source;

	while (lines->files.count <= dso)
		vector_append(&lines->files, (struct source){ 0 });
	source = &lines->files.items[dso];
	if (!source->searched)
		search_file(session, dso, source);
	return source;
}

static void search_kernel(struct session *session, struct machine *machine, uint32_t kernel,
			  struct source *source)
{
	_cleanup_elf_file_ struct elf_file *vmlinux = NULL;
	struct error *error =
		kernel_file_find(session, machine, kernel, &vmlinux, &source->delta);
	int fd = error ? -1 : elf_file_dup(vmlinux);

	error_destroy(error);
	if (fd >= 0)
		source->file = line_client_open(session->source_lines->client, fd, "vmlinux");
}

#define RECORDED_KERNEL (1U << 31) /* apart from numbers of address spaces */

static struct source *source_of_kernel(struct session *session, struct machine *machine,
				       uint32_t kernel, uint32_t number)
{
	struct source_lines *lines = lines_of(session);
	uint64_t *place = map_insert(&lines->kernels, number, NULL);

	if (!*place) {
		struct source source = { .searched = true, .file = LINE_CLIENT_NO_FILE,
					 .guest = machine_is_guest(machine) };

		search_kernel(session, machine, kernel, &source);
		vector_append(&lines->kernel_sources, source);
		*place = lines->kernel_sources.count;
	}
	return &lines->kernel_sources.items[*place - 1];
}

static uint32_t intern_function(struct session *session, const struct line_frame *frame)
{
	_cleanup_free_ char *name = memory_strndup(frame->function ? frame->function : "",
						   frame->function_bytes);
	_cleanup_free_ char *demangled = dso_demangle_within(name, &session->demangle_budget);

	return intern_text(session->strings, demangled);
}

/* Not of a path that was cut, which would be that of another file. */
static uint32_t intern_file(struct session *session, const struct source *source,
			    const struct line_frame *frame)
{
	_cleanup_free_ char *file = memory_strndup(frame->file ? frame->file : "",
						   frame->file_bytes);

	return source->guest || frame->file_bytes >= LINE_TEXT_MAX_BYTES
		       ? 0
		       : intern_text(session->strings, file);
}

/* 0: the file is not known. Without a line it is 0, as in perf. */
static uint32_t intern_place(struct session *session, const struct line_frame *frame)
{
	_cleanup_free_ char *file = memory_strndup(frame->file ? frame->file : "",
						   frame->file_bytes);
	const char *slash = strrchr(file, '/');
	_cleanup_free_ char *place = memory_printf("%s:%u", slash ? slash + 1 : file, frame->line);

	return *file ? intern_text(session->strings, place) : 0;
}

static void ask(struct session *session, struct source *source, uint64_t address,
		struct found *ret)
{
	struct source_lines *lines = session->source_lines;
	struct line_frames frames;

	*ret = (struct found){ .start = lines->frames.count };
	if (source->runtime && !elf_file_to_address(source->runtime, address, &address))
		return;
	if (!line_client_find(lines->client, source->file, address + source->delta, &frames)) {
		source->file = LINE_CLIENT_NO_FILE;
		return;
	}
	for (size_t i = 0; i < frames.count; i++) {
		struct source_frame frame = {
			.function = intern_function(session, &frames.items[i]),
			.place = intern_place(session, &frames.items[i]),
			.file = intern_file(session, source, &frames.items[i]),
			.line = source->guest ? 0 : frames.items[i].line,
		};

		vector_append(&lines->frames, frame);
	}
	ret->count = frames.count;
}

/* NUMBER distinguishes sources. */
static struct source_frames find(struct session *session, struct source *source, uint64_t number,
				 uint64_t address)
{
	struct source_lines *lines = session->source_lines;
	const uint64_t key[] = { number, address };
	struct source_frames ret = { 0 };
	const struct found *found;
	uint32_t place;

	if (source->file == LINE_CLIENT_NO_FILE || lines->found.count == SOURCE_LINES_MAX)
		return ret;
	place = intern_bytes(lines->keys, (const char *)key, sizeof(key)) - 1;
	if (place == lines->found.count) {
		struct found one;

		ask(session, source, address, &one);
		vector_append(&lines->found, one);
	}
	found = &lines->found.items[place];
	ret.items = &lines->frames.items[found->start];
	ret.count = found->count;
	return ret;
}

struct source_frames source_lines_of_file(struct session *session, uint32_t dso, uint64_t address)
{
	return find(session, source_of_file(session, dso), dso, address);
}

struct source_frames source_lines_of_kernel(struct session *session, struct machine *machine,
					    uint32_t kernel, uint64_t address)
{
	/* A recorded table is one kernel, also if several guests share it. */
	uint32_t number = kernel == MACHINE_NO_KERNEL
				  ? machine->kernel.number
				  : RECORDED_KERNEL | machine->kernels->list.items[kernel].symbols;

	return find(session, source_of_kernel(session, machine, kernel, number),
		    (uint64_t)number << 32 | UINT32_MAX, address);
}
