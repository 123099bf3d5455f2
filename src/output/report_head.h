/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first lines of a report: where and how the recording was made, and the totals. */
#ifndef OUTPUT_REPORT_HEAD_H
#define OUTPUT_REPORT_HEAD_H

#include "base/buffer.h"
#include "output/report_text.h"
#include "profile/profile.h"

void report_head_append(struct buffer *out, const struct profile *profile,
			const struct report_text_options *options);

#endif
