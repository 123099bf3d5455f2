/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors as values. A function that can fail for a reason that a user may need returns
 * struct error *: NULL is success, anything else belongs to the caller, who hands it up
 * (error_prefix() says what was being done), or drops it with error_destroy(). Only
 * src/cmd prints them.
 *
 * An error is one line of text ("could not read 'x': No such file or directory"), a code
 * for the program, and at most one hint: what the user can do next.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/cleanup.h"

enum error_code {
	ERROR_SYSTEM = 1,   /* a system call failed for another reason than those below */
	ERROR_USAGE,	    /* the command line is wrong: exit status 2 */
	ERROR_BAD_DATA,	    /* a file, a guest or a peer sent something malformed */
	ERROR_NOT_FOUND,    /* a file, VM, event or symbol that was named is not there */
	ERROR_PERMISSION,   /* the same could work with more rights */
	ERROR_UNSUPPORTED,  /* this host, kernel or build cannot do it */
	ERROR_INTERRUPTED,  /* the user asked to stop */
};

struct error;

struct error *error_create(enum error_code code, const char *format, ...)
	PRINTF_LIKE(2, 3) MUST_CHECK;

/*
 * "TEXT: strerror(ERRNO_VALUE)", the code taken from ERRNO_VALUE (EPERM and EACCES are
 * ERROR_PERMISSION, ENOENT and ESRCH ERROR_NOT_FOUND, the rest ERROR_SYSTEM).
 */
struct error *error_system(int errno_value, const char *format, ...) PRINTF_LIKE(2, 3) MUST_CHECK;

/* CAUSE with "TEXT: " before it; code and hint stay. Takes CAUSE, gives the result. */
struct error *error_prefix(struct error *cause, const char *format, ...)
	PRINTF_LIKE(2, 3) MUST_CHECK;

/* Sets what the user can do next, unless a deeper layer has said so. Takes and gives ERROR. */
struct error *error_hint(struct error *error, const char *format, ...) PRINTF_LIKE(2, 3) MUST_CHECK;

void error_destroy(struct error *error); /* takes NULL */

enum error_code error_code(const struct error *error);
const char *error_message(const struct error *error); /* one line without its end */
const char *error_hint_text(const struct error *error); /* NULL without one */

DEFINE_CLEANUP(cleanup_error, struct error *, error_destroy)
#define _cleanup_error_ _cleanup_(cleanup_error)

#endif
