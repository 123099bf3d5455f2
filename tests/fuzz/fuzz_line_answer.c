/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the caged parser of source lines answers: the number of frames (first byte), the rest. */
#include <stdlib.h>

#include "fuzz.h"
#include "lines/line_client.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct line_frames frames;
	size_t bytes = 0;

	if (!size || !line_answer_decode(data + 1, size - 1, data[0], &frames))
		return 0;
	for (size_t i = 0; i < frames.count; i++) {
		for (size_t at = 0; at < frames.items[i].function_bytes; at++)
			bytes += frames.items[i].function[at];
		for (size_t at = 0; at < frames.items[i].file_bytes; at++)
			bytes += frames.items[i].file[at];
	}
	return bytes == SIZE_MAX;
}
