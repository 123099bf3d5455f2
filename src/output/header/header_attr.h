/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An event's attributes as text. Part of recording_header.c. */
#ifndef OUTPUT_HEADER_HEADER_ATTR_H
#define OUTPUT_HEADER_HEADER_ATTR_H

#include <linux/perf_event.h>

#include "base/buffer.h"

/* ", type = 1, size = 128, …": all that are not 0, in perf's order. */
void header_attr_append(struct buffer *out, const struct perf_event_attr *attr);

#endif
