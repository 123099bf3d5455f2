/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the memory of other processes. A page of it may be mapped from a file system that never
 * answers, or wait for a userfaultfd(2): then process_vm_readv(2) waits as well, and no signal but
 * SIGKILL ends it. So a servant calls it, which is killed if it has waited for some seconds. That
 * process's memory is then left alone for a minute.
 *
 * For one thread at a time.
 */
#ifndef HOST_SYSTEM_MEMORY_READER_H
#define HOST_SYSTEM_MEMORY_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_READER_PIECES 64
#define MEMORY_READER_BYTES ((size_t)256 << 10) /* of all pieces together */

struct memory_reader;

/* SECONDS: how long reading may take; 0: the default. The servant is started by the first read. */
struct memory_reader *memory_reader_create(double seconds);
/* Another owner. Returns READER, which may be NULL. */
struct memory_reader *memory_reader_share(struct memory_reader *reader);
void memory_reader_release(struct memory_reader *reader); /* by an owner; takes NULL */

/*
 * Reads COUNT pieces of BYTES each at ADDRESSES of process PID into RET, one after the other. False
 * and errno: one of them could not be read.
 */
bool memory_reader_read(struct memory_reader *reader, uint32_t pid, const uint64_t *addresses,
			size_t count, size_t bytes, void *ret);

#endif
