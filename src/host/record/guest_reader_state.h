/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What guest_reader.c and guest_reader_{views,kernels,files}.c share. */
#ifndef HOST_RECORD_GUEST_READER_STATE_H
#define HOST_RECORD_GUEST_READER_STATE_H

#include <pthread.h>

#include "base/map.h"
#include "base/queue.h"
#include "host/record/guest_reader.h"

#define GUEST_READER_TABLE_MAX_BYTES ((size_t)64 << 20)

struct guest {
	uint32_t vm, pid;
	bool late;
	bool gone;
	bool said; /* that it has no names, or it had some */
	/* NULL with a kernel: closed for others' sake, or the guest is gone */
	struct guest_view *view;
	uint64_t used_ns;	 /* when it was last wanted */
	uint64_t slots;		 /* guest_view_slots() of what capture knows */
	struct guest_state state;
	uint64_t version;
	size_t kernel; /* number of its current table; SIZE_MAX: none */
	size_t ended;  /* of the one before, whose end may be too early yet; likewise */
	uint64_t good_ns; /* when its state was last found as it is */
	uint64_t retry_ns, retry_share; /* while it has no kernel */
	size_t table_bytes; /* of all its tables */
};

/* A table, of a VM's kernel or of a file, by number. */
struct unwind_change {
	uint32_t of;
	uint32_t version; /* of a kernel's: for samples with it (struct capture_guest) */
	struct unwind_table *table;
};

struct unwind_news {
	QUEUE(struct unwind_change) changes;
};

struct image_news {
	uint32_t vm;
	struct guest_image_code code;
};

struct question {
	uint32_t vm, tgid;
	struct gva mm;
	uint64_t time_ns;
};

/* A file that is mapped from START on in the process of MM. */
struct file_job {
	uint32_t vm;
	struct gva mm, start;
	char *path;
	struct guest_build_id build_id;
	uint32_t number; /* of the file */
	bool wants_symbols, wants_unwind_data;
	uint32_t tries;
};

struct guest_reader {
	struct capture *capture;
	struct guest_reader_options options;

	/* The thread's own until it is joined. */
	struct vm_memory_finder *finder; /* NULL: no guest was looked at yet */
	struct host_vms vms; /* as of the last look */
	VECTOR(struct guest) guests;
	VECTOR(struct guest_reader_kernel) kernels;
	VECTOR(struct guest_reader_file) files;
	size_t file_bytes;
	QUEUE(struct file_job) file_jobs;
	uint32_t file_count; /* each file of a VM once */
	struct map known_files; /* hash of VM, path and build-id -> its job's number + 1 */
	size_t views, failures;
	uint64_t opening_ns; /* before that none that was closed is opened for a question */
	bool said_too_many;
	uint64_t looked_ns, look_cost_ns;

	pthread_t thread;
	bool running;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t wanted, done;
	bool stop;
	uint64_t deadline_ns; /* with stop: new VMs are still read until then */
	QUEUE(struct guest) added;
	size_t contacts_left; /* those that were added and have not been looked at */
	QUEUE(struct question) questions;
	QUEUE(struct guest_reader_process) answers;
	struct unwind_news kernel_unwind, file_unwind;
	QUEUE(struct image_news) images;
	struct map seen; /* VM -> time of the newest sample whose task was found */
};

/* All of these are for the thread, without the lock. */

struct guest *guest_reader_find_guest(struct guest_reader *reader, uint32_t vm); /* or NULL */

/* The VM may have come after the last look; NULL: it is gone. */
const struct host_vm *guest_reader_look_for_vm(struct guest_reader *reader, uint32_t pid);
/* Opens GUEST's, and closes another's where there are too many. */
struct error *guest_reader_open_view(struct guest_reader *reader, struct guest *guest,
				     const struct host_vm *vm) MUST_CHECK;
void guest_reader_close_view(struct guest_reader *reader, struct guest *guest);
/*
 * The guest's state now. A vCPU's page tables may be those of a process that has just ended: a
 * kernel that none of them maps is looked for a few times before it is taken to be gone.
 */
struct error *guest_reader_look_again(struct guest_reader *reader, struct guest *guest,
				      const struct host_vm *vm) MUST_CHECK;
/*
 * Opens GUEST's view if it was closed for others' sake, and checks it then. False: it has none.
 * With many guests that goes on and on: guest_reader_may_open() says whether it is time.
 */
bool guest_reader_need_view(struct guest_reader *reader, struct guest *guest);
bool guest_reader_may_open(const struct guest_reader *reader, const struct guest *guest);
void guest_reader_pause_opening(struct guest_reader *reader, uint64_t cost_ns);

/*
 * The first look at a guest, or the first after its kernel went. FROM_NS: when the table that it
 * gives begins to hold.
 */
void guest_reader_make_contact(struct guest_reader *reader, struct guest *guest, uint64_t from_ns);
/* The second and later looks, if it is time: at guests with a kernel, and at those without. */
void guest_reader_check_all(struct guest_reader *reader);
void guest_reader_retry_all(struct guest_reader *reader);
/* A guest without a Linux kernel may be of another kind: its stacks are copied all the same. */
void guest_reader_look_at_image(struct guest_reader *reader, struct guest *guest,
				const struct host_vm *vm);
struct vm_memory_finder *guest_reader_finder(struct guest_reader *reader);
/*
 * A kernel that is gone ran until the last sample whose task was found by it, though the last look
 * was before. Samples come late, so this waits until its successor is looked for.
 */
void guest_reader_extend_ended(struct guest_reader *reader, struct guest *guest);

/*
 * Gives PROCESS' files their numbers, and puts those that are new on the list of those to be read.
 */
void guest_reader_note_files(struct guest_reader *reader, struct guest_reader_process *process);
/* Passes TABLE on. */
void guest_reader_tell_unwind_table(struct guest_reader *reader, struct unwind_news *news,
				    const struct unwind_change *change);
/* Takes over JOB's path. */
void guest_reader_read_file(struct guest_reader *reader, struct file_job job);

#endif
