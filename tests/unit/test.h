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

#endif
