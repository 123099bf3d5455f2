/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded stacks: one that is too long for a line, and those after it. */
#include "test.h"

#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "output/fold_text.h"

static uint32_t name_of(struct stacks *stacks, size_t length, char letter)
{
	_cleanup_free_ char *text = memory_alloc(length + 1);

	memset(text, letter, length);
	text[length] = 0;
	return intern_text(stacks->names, text);
}

static void add(struct stacks *stacks, uint32_t parent, uint32_t child, uint32_t sibling,
		uint32_t name)
{
	struct stack_node node = { .parent = parent,
				   .child = child,
				   .sibling = sibling,
				   .name = name,
				   .self_period = 5,
				   .self_count = 1 };

	vector_append(&stacks->nodes, node);
}

static void leaves_out_the_long_stack_alone(void **state)
{
	struct stacks stacks = { .names = intern_create() };
	char text[64] = "";
	int fds[2];

	(void)state;
	add(&stacks, STACK_NONE, 1, STACK_NONE, 0);
	stacks.nodes.items[0].self_count = 0;
	/* a -> too long -> c; b -> d */
	add(&stacks, 0, 2, 4, name_of(&stacks, 1, 'a'));
	add(&stacks, 1, 3, STACK_NONE, name_of(&stacks, (size_t)20 << 20, 'x'));
	add(&stacks, 2, STACK_NONE, STACK_NONE, name_of(&stacks, 1, 'c'));
	add(&stacks, 0, 5, STACK_NONE, name_of(&stacks, 1, 'b'));
	add(&stacks, 4, STACK_NONE, STACK_NONE, name_of(&stacks, 1, 'd'));
	assert_int_equal(pipe(fds), 0);
	assert_error(fold_text_write(fds[1], &stacks), ERROR_BAD_DATA);
	close(fds[1]);
	assert_true(read(fds[0], text, sizeof(text) - 1) > 0);
	close(fds[0]);
	assert_string_equal(text, "a 5\nb 5\nb;d 5\n");
	vector_deinit(&stacks.nodes);
	intern_destroy(stacks.names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_out_the_long_stack_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
