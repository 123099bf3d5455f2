/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A JSON writer. Calls follow the structure of the document:
 *
 *	json_init(&json, stdout);
 *	json_open_object(&json, NULL);
 *	json_string(&json, "name", vm->name);
 *	json_open_array(&json, "tids");
 *	json_unsigned(&json, NULL, 17);
 *	json_close(&json);
 *	json_close(&json);	-> also ends the line, since it is the outermost
 *
 * KEY is the member's name inside an object, and NULL inside an array and for the outermost value.
 * Write errors stay in the stream (ferror).
 */
#ifndef OUTPUT_JSON_H
#define OUTPUT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_MAX_DEPTH 16

struct json {
	FILE *out; /* borrowed */
	unsigned int depth;
	char closing[JSON_MAX_DEPTH]; /* of the open containers */
	bool filled[JSON_MAX_DEPTH];  /* whether they have members */
	bool on_line[JSON_MAX_DEPTH]; /* all that is in them is on one line */
};

void json_init(struct json *json, FILE *out);

/* At most JSON_MAX_DEPTH levels deep. */
void json_open_object(struct json *json, const char *key);
void json_open_array(struct json *json, const char *key);
/* An array on one line, with all that is in it: for many small values. */
void json_open_line(struct json *json, const char *key);
void json_close(struct json *json);

/* TEXT may contain any bytes; whatever is not UTF-8 becomes U+FFFD. NULL is written as null. */
void json_string(struct json *json, const char *key, const char *text);
void json_unsigned(struct json *json, const char *key, uint64_t value);
void json_signed(struct json *json, const char *key, int64_t value);
/*
 * Writes enough digits to distinguish VALUE from its neighbours; null if it is not a finite number.
 */
void json_double(struct json *json, const char *key, double value);
/* Nanoseconds as milliseconds, exactly; faster than json_double(). */
void json_milliseconds(struct json *json, const char *key, uint64_t ns);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

#endif
