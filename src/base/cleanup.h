/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ownership by attribute: a variable declared with one of these is released when it goes out of
 * scope. To pass the value on, use take_pointer() or take_fd().
 */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(function) __attribute__((cleanup(function)))

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

/* Defines a cleanup helper NAME for a variable of TYPE whose FUNCTION takes its value. */
#define DEFINE_CLEANUP(name, type, function)                                                       \
	static inline void name(type *variable)                                                    \
	{                                                                                          \
		if (*variable)                                                                     \
			function(*variable);                                                       \
	}

static inline void cleanup_free(void *variable)
{
	free(*(void **)variable);
}

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose(FILE **file)
{
	if (*file)
		fclose(*file);
}

#define _cleanup_free_ _cleanup_(cleanup_free)
#define _cleanup_close_ _cleanup_(cleanup_close)
#define _cleanup_fclose_ _cleanup_(cleanup_fclose)

/* Returns VARIABLE and sets it to NULL, so that it is not released at the end of the scope. */
#define take_pointer(variable)                                                                     \
	({                                                                                         \
		__typeof__(variable) taken_ = (variable);                                          \
		(variable) = NULL;                                                                 \
		taken_;                                                                            \
	})

/* Returns *FD and sets it to -1. */
static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#endif
