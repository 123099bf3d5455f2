/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages of a QMP socket, one per line, as anybody's server could send them. */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "host/vm/qmp_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct qmp_parser *parser = qmp_parser_create();
	const char *at = (const char *)data, *end = at + size, *line;
	_cleanup_buffer_ struct buffer text;

	assert(parser);
	buffer_init(&text, 4096);
	for (line = at; line <= end; line = at + 1) {
		size_t left = end - line, before = text.size;
		char reason[QMP_REASON_BYTES] = "";
		enum qmp_message_kind kind;

		at = left ? memchr(line, '\n', left) : NULL;
		at = at ? at : end;
		kind = qmp_parse(parser, line, at - line, 1, &text, reason);
		assert(kind <= QMP_EVENT && memchr(reason, 0, sizeof(reason)));
		assert(kind == QMP_RETURN || text.size == before);
		assert(kind == QMP_ERROR || !*reason);
	}
	qmp_parser_destroy(parser);
	return 0;
}
