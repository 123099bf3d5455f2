/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A JSON writer. Calls follow the shape of the document:
 *
 *	json_init(&json, stdout);
 *	json_open_object(&json, NULL);
 *	json_string(&json, "name", vm->name);
 *	json_open_array(&json, "tids");
 *	json_unsigned(&json, NULL, 17);
 *	json_close(&json);
 *	json_close(&json);	-> and a line end behind the outermost
 *
 * KEY is the member's name inside an object, NULL inside an array and for the outermost.
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
	char closing[JSON_MAX_DEPTH]; /* of the containers that are open */
	bool filled[JSON_MAX_DEPTH];  /* they have members */
};

void json_init(struct json *json, FILE *out);

/* At most JSON_MAX_DEPTH in each other. */
void json_open_object(struct json *json, const char *key);
void json_open_array(struct json *json, const char *key);
void json_close(struct json *json);

/* TEXT may hold any bytes: what is not UTF-8 becomes U+FFFD. NULL gives null. */
void json_string(struct json *json, const char *key, const char *text);
void json_unsigned(struct json *json, const char *key, uint64_t value);
void json_signed(struct json *json, const char *key, int64_t value);
/* With as many digits as tell VALUE from its neighbours; null where it is no number. */
void json_double(struct json *json, const char *key, double value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

#endif
