/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines on stderr: at no level does what a guest or a file put into them control a terminal. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"

/* ESC, CSI as a byte and as UTF-8, a line end, and a mark that reverses text (ECMA-48, UAX 9). */
#define HOSTILE "\033]0;x\a\x9b" "2J\xc2\x9b" "2J\nfake\xe2\x80\xae"
#define ESCAPED "\\x1b]0;x\\x07\\x9b2J\\xc2\\x9b2J\\x0afake\\xe2\\x80\\xae"

static void warn(void)
{
	log_warning("VM '%s'", HOSTILE);
}

static void note(void)
{
	log_note("VM '%s'", HOSTILE);
}

static void detail(void)
{
	log_detail("VM '%s'", HOSTILE);
}

static void report(void)
{
	_cleanup_error_ struct error *error = error_create(ERROR_NOT_FOUND, "VM '%s'", HOSTILE);

	error = error_hint(error, "it has %s", HOSTILE);
	log_error(error);
}

static void assert_written(void (*call)(void), const char *wanted)
{
	FILE *file = tmpfile();
	int kept = dup(STDERR_FILENO);
	char text[1024];
	size_t size;

	assert_non_null(file);
	dup2(fileno(file), STDERR_FILENO);
	call();
	dup2(kept, STDERR_FILENO);
	close(kept);
	rewind(file);
	size = fread(text, 1, sizeof(text) - 1, file);
	text[size] = '\0';
	fclose(file);
	assert_string_equal(text, wanted);
}

static void no_level_controls_a_terminal(void **state)
{
	(void)state;
	log_set_level(LOG_DETAIL);
	assert_written(warn, "perfvisor: warning: VM '" ESCAPED "'\n");
	assert_written(note, "perfvisor: VM '" ESCAPED "'\n");
	assert_written(detail, "perfvisor: VM '" ESCAPED "'\n");
	assert_written(report, "perfvisor: VM '" ESCAPED "'\n  hint: it has " ESCAPED "\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_level_controls_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
