/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mmap()ed ring of perf_event_open(2): a control page followed by the data. The kernel writes
 * data_head and the reader writes data_tail; both count bytes without wrapping. The memory ordering
 * follows the comment in kernel/events/ring_buffer.c (perf_output_put_handle): head is loaded with
 * acquire before the data is read, and tail is stored with release afterwards.
 */
#include "host/capture/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int ring_map(struct ring *ring, int fd, size_t data_bytes)
{
	size_t page_bytes = sysconf(_SC_PAGESIZE);
	size_t bytes = page_bytes + data_bytes;
	void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (mapped == MAP_FAILED)
		return -1;
	*ring = (struct ring){
		.page = mapped,
		.data = (uint8_t *)mapped + page_bytes,
		.data_bytes = data_bytes,
		.mapped_bytes = bytes,
	};
	return 0;
}

void ring_unmap(struct ring *ring)
{
	if (ring->page)
		munmap(ring->page, ring->mapped_bytes);
	ring->page = NULL;
}

void ring_begin(struct ring *ring)
{
	ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

const struct perf_event_header *ring_next(struct ring *ring, uint8_t *scratch)
{
	size_t left = ring->head - ring->tail;
	size_t at = ring->tail & (ring->data_bytes - 1);
	size_t first = ring->data_bytes - at;
	const struct perf_event_header *header = (const void *)(ring->data + at);

	/* Records are 8-byte aligned, so a header never wraps. */
	if (left < sizeof(*header))
		return NULL;
	if (header->size < sizeof(*header) || header->size > left) {
		ring->tail = ring->head; /* never seen; would be a kernel bug: skip the rest */
		return NULL;
	}
	ring->tail += header->size;
	if (header->size <= first)
		return header;
	memcpy(scratch, header, first);
	memcpy(scratch + first, ring->data, header->size - first);
	return (const void *)scratch;
}

void ring_end(struct ring *ring)
{
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}
