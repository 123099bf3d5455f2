/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbols are loaded while there is room for them. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/dsos.h"

static struct dso_entry *add(struct dsos *dsos, const char *path)
{
	uint32_t number = dsos_add_file(dsos, &(struct dso_names){ .path = path });

	return dsos->items.items[number];
}

static void symbols_need_room(void **state)
{
	struct intern *strings = intern_create();
	char *own = realpath("/proc/self/exe", NULL), *again;
	struct dso_entry *entries[2];
	struct dsos dsos;
	uint64_t all;

	(void)state;
	assert_non_null(own);
	again = memory_printf("/.%s", own); /* the same file */
	dsos_init(&dsos, strings);
	all = dsos.room;
	entries[0] = add(&dsos, own);
	entries[1] = add(&dsos, again);
	dsos_load(&dsos, entries[0]);
	assert_non_null(entries[0]->table);
	assert_int_equal(dsos.room, all - symbol_table_bytes(entries[0]->table));
	assert_int_equal(dsos_bytes(&dsos), symbol_table_bytes(entries[0]->table));
	dsos.room = 0;
	dsos_load(&dsos, entries[1]);
	assert_null(entries[1]->table);
	assert_non_null(strstr(entries[1]->reason, "half of the memory"));
	dsos_deinit(&dsos);
	intern_destroy(strings);
	free(own);
	free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_need_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
