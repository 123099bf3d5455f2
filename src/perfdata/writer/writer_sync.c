/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has the disk take what was written, in a thread: the recorder does not wait for a disk. When the
 * power fails, what was flushed before the last sync is there.
 */
#include <pthread.h>
#include <unistd.h>

#include "base/memory.h"
#include "perfdata/writer/writer_state.h"

struct writer_sync {
	int fd; /* borrowed */
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t wanted;
	bool start, stop;
};

static void *run(void *context)
{
	struct writer_sync *sync = context;

	pthread_mutex_lock(&sync->lock);
	while (!sync->stop) {
		if (!sync->start) {
			pthread_cond_wait(&sync->wanted, &sync->lock);
			continue;
		}
		sync->start = false;
		pthread_mutex_unlock(&sync->lock);
		/* What cannot be synced is written all the same. */
		(void)!fdatasync(sync->fd);
		pthread_mutex_lock(&sync->lock);
	}
	pthread_mutex_unlock(&sync->lock);
	return NULL;
}

struct writer_sync *writer_sync_create(int fd)
{
	struct writer_sync *sync = memory_calloc(1, sizeof(*sync));

	sync->fd = fd;
	pthread_mutex_init(&sync->lock, NULL);
	pthread_cond_init(&sync->wanted, NULL);
	if (!pthread_create(&sync->thread, NULL, run, sync))
		return sync;
	pthread_cond_destroy(&sync->wanted);
	pthread_mutex_destroy(&sync->lock);
	free(sync);
	return NULL;
}

void writer_sync_start(struct writer_sync *sync)
{
	pthread_mutex_lock(&sync->lock);
	sync->start = true;
	pthread_cond_signal(&sync->wanted);
	pthread_mutex_unlock(&sync->lock);
}

void writer_sync_destroy(struct writer_sync *sync)
{
	if (!sync)
		return;
	pthread_mutex_lock(&sync->lock);
	sync->stop = true;
	pthread_cond_signal(&sync->wanted);
	pthread_mutex_unlock(&sync->lock);
	pthread_join(sync->thread, NULL);
	pthread_cond_destroy(&sync->wanted);
	pthread_mutex_destroy(&sync->lock);
	free(sync);
}
