/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every unit test includes first. */
#ifndef TEST_H
#define TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/error.h"

/* FAILURE must be NULL; shows its message otherwise. */
#define assert_no_error(failure)                                                                   \
	do {                                                                                       \
		struct error *error_ = (failure);                                                  \
		if (error_)                                                                        \
			fail_msg("%s", error_message(error_));                                     \
	} while (0)

/* FAILURE must have the code WANTED; drops it. */
#define assert_error(failure, wanted)                                                              \
	do {                                                                                       \
		struct error *error_ = (failure);                                                  \
		assert_non_null(error_);                                                           \
		assert_int_equal(error_code(error_), wanted);                                      \
		error_destroy(error_);                                                             \
	} while (0)

/* A test goes on without WHAT, and WHY: tests/run shows that at its end. */
#define part_skipped(what, why) print_message("skipped: %s, because %s\n", what, why)

/* The rest of this test is not looked at. Not skip(), which nobody sees. */
#define skip_because(why)                                                                          \
	do {                                                                                       \
		part_skipped(__func__, why);                                                       \
		skip();                                                                            \
	} while (0)

/* The same; ERROR says why, and is dropped. */
#define skip_for(error)                                                                            \
	do {                                                                                       \
		part_skipped(__func__, error_message(error));                                      \
		error_destroy(error);                                                              \
		skip();                                                                            \
	} while (0)

#endif
