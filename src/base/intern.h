/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interned strings: equal text has an equal number. Numbers count up from 0 in the order of first
 * appearance; 0 is always the empty string.
 */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct intern;

struct intern *intern_create(void);
void intern_destroy(struct intern *intern); /* takes NULL */

uint32_t intern_text(struct intern *intern, const char *text);
uint32_t intern_bytes(struct intern *intern, const char *text, size_t length);
/* The text for a NUMBER returned by intern_text(); valid as long as INTERN. */
const char *intern_string(const struct intern *intern, uint32_t number);
size_t intern_count(const struct intern *intern);

DEFINE_CLEANUP(cleanup_intern, struct intern *, intern_destroy)
#define _cleanup_intern_ _cleanup_(cleanup_intern)

#endif
