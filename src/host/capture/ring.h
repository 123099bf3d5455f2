/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's ring buffer of a perf event, mapped and read in passes.
 *
 *	ring_begin(&ring);                     this pass ends at what has been written so far
 *	while ((header = ring_next(&ring, scratch))) …
 *	ring_end(&ring);                       the kernel may overwrite it
 */
#ifndef HOST_CAPTURE_RING_H
#define HOST_CAPTURE_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

struct ring {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	const uint8_t *data;
	size_t data_bytes; /* a power of two */
	size_t mapped_bytes;
	uint64_t head, tail; /* of this pass; they only grow */
};

#define RING_RECORD_MAX 65536 /* a record's size is 16 bits */

/* Maps DATA_BYTES (a power of two times the page size) and the control page. -1: see errno. */
int ring_map(struct ring *ring, int fd, size_t data_bytes);
void ring_unmap(struct ring *ring);

void ring_begin(struct ring *ring);
/*
 * The next record, or NULL at the end of the pass; valid until ring_end(). A record that wraps
 * around the end of the ring is assembled in SCRATCH (RING_RECORD_MAX bytes), valid until the next
 * call.
 */
const struct perf_event_header *ring_next(struct ring *ring, uint8_t *scratch);
void ring_end(struct ring *ring);

#endif
