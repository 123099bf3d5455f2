/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading in the order of times ends at a signal, whatever is still to come. */
#include "test.h"

#include <signal.h>

#include "base/interrupt.h"
#include "session/ordered.h"

/* The flag stays set, so this is the last test. */
static void a_signal_ends_the_reading(void **state)
{
	static const char *const paths[] = { "tests/golden/perfdata/file.data",
					     "tests/golden/perfdata/pipe.data" };
	const struct kernel_source_options options = { 0 };

	(void)state;
	for (int signalled = 0; signalled <= 1; signalled++) {
		for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
			struct session *session;
			struct session_sample sample;
			struct ordered *ordered;

			assert_no_error(session_open(paths[i], &options, &session));
			ordered = ordered_create(session, 0);
			assert_int_equal(ordered_next(ordered, &sample),
					 signalled ? PERFDATA_WAIT : PERFDATA_RECORD);
			ordered_destroy(ordered);
			session_close(session);
		}
		if (!signalled) {
			interrupt_install();
			raise(SIGTERM);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_signal_ends_the_reading) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
