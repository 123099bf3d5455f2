/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks the tree and keeps the text of the path from the root to the current node. */
#include "output/fold_text.h"

#include <inttypes.h>

#include "base/utf8.h"
#include "output/stream.h"

#define PATH_MAX_BYTES ((size_t)16 << 20)

struct writer {
	struct output_stream stream;
	const struct stacks *stacks;
	struct buffer path;
	VECTOR(size_t) lengths; /* of the path at each level above */
	size_t whole; /* how many levels are in the path: all, unless it has overflowed */
	size_t too_long; /* stacks whose path did not fit */
};

static void enter(struct writer *writer, const struct stack_node *node)
{
	struct buffer *out = &writer->stream.buffer;

	vector_append(&writer->lengths, writer->path.size);
	if (writer->path.size)
		buffer_append_u8(&writer->path, ';');
	utf8_append_escaped(&writer->path, intern_string(writer->stacks->names, node->name));
	if (!writer->path.overflow)
		writer->whole = writer->lengths.count;
	if (!node->self_count)
		return;
	if (writer->path.overflow) {
		writer->too_long++;
		return;
	}
	buffer_append(out, writer->path.data, writer->path.size);
	buffer_printf(out, " %" PRIu64 "\n", node->self_period);
}

static void leave(struct writer *writer)
{
	writer->path.size = writer->lengths.items[--writer->lengths.count];
	if (writer->lengths.count > writer->whole)
		return;
	writer->whole = writer->lengths.count;
	writer->path.overflow = false;
}

struct error *fold_text_write(int fd, const struct stacks *stacks)
{
	struct writer writer = { .stacks = stacks };
	const struct stack_node *nodes = stacks->nodes.items;
	uint32_t at = nodes[0].child;
	struct error *error;

	output_stream_init(&writer.stream, fd);
	buffer_init(&writer.path, PATH_MAX_BYTES);
	while (at != STACK_NONE && output_stream_line(&writer.stream)) {
		enter(&writer, &nodes[at]);
		if (nodes[at].child != STACK_NONE) {
			at = nodes[at].child;
			continue;
		}
		leave(&writer);
		while (at && nodes[at].sibling == STACK_NONE) {
			at = nodes[at].parent;
			if (at)
				leave(&writer);
		}
		at = nodes[at].sibling; /* the root has none */
	}
	vector_deinit(&writer.lengths);
	buffer_deinit(&writer.path);
	error = output_stream_finish(&writer.stream);
	if (!error && writer.too_long)
		error = error_create(ERROR_BAD_DATA,
				     "%zu stacks are left out: each is longer than %zu MiB of text",
				     writer.too_long, PATH_MAX_BYTES >> 20);
	return error;
}
