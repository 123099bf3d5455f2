/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A walk through the tree that keeps the text of the path from the root to the node at hand. */
#include "output/fold_text.h"

#include <inttypes.h>

#include "base/utf8.h"
#include "output/stream.h"

struct writer {
	struct output_stream stream;
	const struct stacks *stacks;
	struct buffer path;
	VECTOR(size_t) lengths; /* of the path at each level above */
};

static void enter(struct writer *writer, const struct stack_node *node)
{
	struct buffer *out = &writer->stream.buffer;

	vector_append(&writer->lengths, writer->path.size);
	if (writer->path.size)
		buffer_append_u8(&writer->path, ';');
	utf8_append_escaped(&writer->path, intern_string(writer->stacks->names, node->name));
	if (!node->self_count)
		return;
	buffer_append(out, writer->path.data, writer->path.size);
	buffer_printf(out, " %" PRIu64 "\n", node->self_period);
}

static void leave(struct writer *writer)
{
	writer->path.size = writer->lengths.items[--writer->lengths.count];
}

struct error *fold_text_write(int fd, const struct stacks *stacks)
{
	struct writer writer = { .stacks = stacks };
	const struct stack_node *nodes = stacks->nodes.items;
	uint32_t at = nodes[0].child;

	output_stream_init(&writer.stream, fd);
	buffer_init(&writer.path, 16 * 1024 * 1024);
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
	return output_stream_finish(&writer.stream);
}
