/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors as values. A function that can fail for a reason that a user may need to know returns
 * struct error *: NULL is success. Anything else belongs to the caller, who passes it up (use
 * error_prefix() to add what was being done) or drops it with error_destroy(). Only src/cmd prints
 * errors.
 *
 * An error is one line of text ("could not read 'x': No such file or directory"), a code for the
 * program, and at most one hint about what the user can do next.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/cleanup.h"

enum error_code {
	ERROR_SYSTEM = 1,   /* a system call failed for a reason not listed below */
	ERROR_USAGE,	    /* the command line is wrong: exit status 2 */
	ERROR_BAD_DATA,	    /* a file, a guest or a peer sent something malformed */
	ERROR_NOT_FOUND,    /* a named file, VM, event or symbol does not exist */
	ERROR_PERMISSION,   /* it might work with more privileges */
	ERROR_UNSUPPORTED,  /* this host, kernel or build cannot do it */
	ERROR_INTERRUPTED,  /* the user asked to stop */
};

struct error;

struct error *error_create(enum error_code code, const char *format, ...)
	PRINTF_LIKE(2, 3) MUST_CHECK;

/*
 * "TEXT: strerror(ERRNO_VALUE)". The code follows from ERRNO_VALUE: EPERM and EACCES give
 * ERROR_PERMISSION, ENOENT and ESRCH give ERROR_NOT_FOUND, everything else gives ERROR_SYSTEM.
 */
struct error *error_system(int errno_value, const char *format, ...) PRINTF_LIKE(2, 3) MUST_CHECK;

/* Puts "TEXT: " in front of CAUSE; code and hint are kept. Takes CAUSE and returns the result. */
struct error *error_prefix(struct error *cause, const char *format, ...)
	PRINTF_LIKE(2, 3) MUST_CHECK;

/* Sets the hint, unless a deeper layer has already set one. Takes and returns ERROR. */
struct error *error_hint(struct error *error, const char *format, ...) PRINTF_LIKE(2, 3) MUST_CHECK;

void error_destroy(struct error *error); /* takes NULL */

enum error_code error_code(const struct error *error);
const char *error_message(const struct error *error); /* one line, without a newline */
const char *error_hint_text(const struct error *error); /* NULL if there is none */

DEFINE_CLEANUP(cleanup_error, struct error *, error_destroy)
#define _cleanup_error_ _cleanup_(cleanup_error)

#endif
