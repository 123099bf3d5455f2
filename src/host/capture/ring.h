/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's ring buffer of a perf event: mapped, read in passes.
 *
 *	ring_begin(&ring);                     what was written up to here is this pass's
 *	while ((header = ring_next(&ring, scratch))) …
 *	ring_end(&ring);                       the kernel may write over it
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

/* Maps DATA_BYTES (a power of two times the page size) and the page before them. -1: errno. */
int ring_map(struct ring *ring, int fd, size_t data_bytes);
void ring_unmap(struct ring *ring);

void ring_begin(struct ring *ring);
/*
 * The next record, NULL at the pass's end; valid until ring_end(). A record that wraps around the
 * ring's end is put together in SCRATCH (RING_RECORD_MAX bytes), valid until the next call.
 */
const struct perf_event_header *ring_next(struct ring *ring, uint8_t *scratch);
void ring_end(struct ring *ring);

#endif
