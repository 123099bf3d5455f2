/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages from a QMP socket: one JSON object per line (QEMU's docs/interop/qmp-spec). A message
 * with more than QMP_VALUES_MAX values is not parsed: QEMU's answers are one text, and json-c needs
 * up to 200 times a message's size for its values.
 */
#ifndef HOST_VM_QMP_MESSAGE_H
#define HOST_VM_QMP_MESSAGE_H

#include "base/buffer.h"

#define QMP_VALUES_MAX 4096
#define QMP_REASON_BYTES 200 /* of an error's description, with its terminator */

enum qmp_message_kind {
	QMP_MALFORMED, /* no JSON object, or one with too many values */
	QMP_GREETING,
	QMP_RETURN,
	QMP_ERROR,
	QMP_EVENT, /* or anything else */
};

struct qmp_parser;

struct qmp_parser *qmp_parser_create(void); /* NULL: out of memory */
void qmp_parser_destroy(struct qmp_parser *parser); /* takes NULL */

/*
 * Parses LINE of LENGTH bytes. An answer to another command than ID, the number that was sent with
 * it, is a QMP_EVENT; QEMU repeats it in its answer. If it is a QMP_RETURN with a text, appends
 * that to TEXT, if that is not NULL. If it is a QMP_ERROR, stores its description, terminated and
 * printable.
 */
enum qmp_message_kind qmp_parse(struct qmp_parser *parser, const char *line, size_t length,
				uint32_t id, struct buffer *text,
				char ret_reason[QMP_REASON_BYTES]);

#endif
