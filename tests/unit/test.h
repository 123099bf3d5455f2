/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every unit test includes this first. */
#ifndef TEST_H
#define TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/error.h"

/* FAILURE must be NULL; otherwise shows its message. */
#define assert_no_error(failure)                                                                   \
	do {                                                                                       \
		struct error *error_ = (failure);                                                  \
		if (error_)                                                                        \
			fail_msg("%s", error_message(error_));                                     \
	} while (0)

/* FAILURE must have the code WANTED; frees it. */
#define assert_error(failure, wanted)                                                              \
	do {                                                                                       \
		struct error *error_ = (failure);                                                  \
		assert_non_null(error_);                                                           \
		assert_int_equal(error_code(error_), wanted);                                      \
		error_destroy(error_);                                                             \
	} while (0)

/* The test continues without WHAT, because of WHY: tests/run lists that at its end. */
#define part_skipped(what, why) print_message("skipped: %s, because %s\n", what, why)

/* Skips the rest of this test. Not skip(), which is not reported. */
#define skip_because(why)                                                                          \
	do {                                                                                       \
		part_skipped(__func__, why);                                                       \
		skip();                                                                            \
	} while (0)

/* The same; ERROR is the reason, and is freed. */
#define skip_for(error)                                                                            \
	do {                                                                                       \
		part_skipped(__func__, error_message(error));                                      \
		error_destroy(error);                                                              \
		skip();                                                                            \
	} while (0)

#endif
