/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by guest_reader.c and guest_reader_*.c. */
#ifndef HOST_RECORD_GUEST_READER_STATE_H
#define HOST_RECORD_GUEST_READER_STATE_H

#include <pthread.h>

#include "base/map.h"
#include "base/queue.h"
#include "host/record/guest_quota.h"
#include "host/record/guest_reader.h"

#define GUEST_READER_TABLE_MAX_BYTES ((size_t)64 << 20)
/* of a guest's symbol tables in the recording: 50 times those of a large kernel */
#define GUEST_READER_SYMBOL_BYTES ((size_t)512 << 20)

/* A file that some process has mapped, or had. */
struct file_job {
	uint32_t vm;
	struct guest_mapping mapping; /* one of its mappings; its path is not used */
	char *path;
	uint32_t number; /* the file's, in its VM */
	bool wants_unwind_data; /* its symbols come afterwards */
	uint32_t tries;
};

struct guest {
	uint32_t vm, pid;
	bool late;
	bool gone;
	bool said; /* a missing kernel was reported, or it had symbols */
	/* NULL although there is a kernel: closed to make room for others, or the guest is gone */
	struct guest_view *view;
	uint64_t refreshed_ns; /* what the view has read is not older */
	uint64_t used_ns;	 /* when it was last used */
	uint64_t slots;		 /* guest_view_slots() as last passed to capture */
	struct guest_state state;
	uint64_t version;
	size_t kernel; /* index of its current table; SIZE_MAX: none */
	size_t ended;  /* index of the previous table, whose end may be too early; SIZE_MAX: none */
	uint64_t good_ns; /* when its state was last found unchanged */
	uint64_t retry_ns, retry_share; /* while it has no kernel */
	size_t table_bytes; /* of all its symbol tables: they go into the recording */
	uint64_t looked_ns, look_cost_ns; /* the last look at an open view */
	struct guest_turn turn;
	QUEUE(struct file_job) file_jobs;
	uint32_t file_count;
	struct map known_files; /* hash of path and build-id -> its job's number */
	struct map known_code;	/* hashes of functions whose code was read */
	size_t code_bytes;	/* of these */
};

/* A table of a VM's kernel, or of a file. */
struct unwind_change {
	uint32_t vm;
	/* the version of samples that it is for (struct capture_guest), or the file's number */
	uint32_t number;
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
	/*
	 * copied mappings, with room for no more than there are, and the number that the answer
	 * gets; NULL: they are to be read
	 */
	struct sampler_areas *areas;
	uint64_t number;
};

/* For the code of functions. */
struct code_question {
	uint32_t vm;
	struct hot_place *places; /* owned */
	size_t count;
};

struct guest_questions {
	QUEUE(struct question) queue;
};

struct guest_reader {
	struct capture *capture;
	struct guest_reader_options options;

	/* Used only by the thread until it is joined. */
	struct vm_memory_finder *finder; /* NULL: no guest was looked at yet */
	struct host_vms vms; /* as of the last look */
	VECTOR(struct guest) guests;
	size_t views, failures;
	uint64_t opening_ns; /* until then, no closed view is opened for a question */
	bool said_too_many;
	uint64_t looked_ns, look_cost_ns;

	pthread_t thread;
	bool running;
	pthread_mutex_t lock; /* protects the fields below */
	pthread_cond_t wanted, done;
	bool stop;
	bool idle; /* the thread waits for work */
	uint64_t code_until_ns; /* if stop is set: questions for code are answered until then */
	uint64_t deadline_ns; /* if stop is set: new VMs are still read until then */
	QUEUE(struct guest) added;
	size_t contacts_left; /* how many added VMs have not been looked at */
	VECTOR(struct guest_questions) questions; /* by VM */
	QUEUE(struct guest_reader_process) answers;
	QUEUE(struct code_question) code_questions;
	struct guest_quotas quotas;
	struct unwind_news kernel_unwind, file_unwind;
	QUEUE(struct image_news) images;
	/* Only the thread changes these: it alone may look at them without the lock. */
	VECTOR(struct guest_reader_kernel) kernels;
	VECTOR(struct guest_reader_file) files;
	VECTOR(struct guest_reader_code) codes;
	struct map seen; /* VM -> time of the newest sample whose task was found */
};

/* All of these are for the thread, and called without the lock. */

/* Searches again if the VM may have appeared after the last look; NULL: it is gone. */
const struct host_vm *guest_reader_look_for_vm(struct guest_reader *reader, uint32_t pid);
/* Opens GUEST's view, and closes another one if there are too many. */
struct error *guest_reader_open_view(struct guest_reader *reader, struct guest *guest,
				     const struct host_vm *vm) MUST_CHECK;
void guest_reader_close_view(struct guest_reader *reader, struct guest *guest);
/*
 * The guest's current state. A vCPU's page tables may belong to a process that has just ended. If
 * no vCPU maps the kernel, tries a few times before concluding that it is gone.
 */
struct error *guest_reader_look_again(struct guest_reader *reader, struct guest *guest,
				      const struct host_vm *vm) MUST_CHECK;
/*
 * Opens GUEST's view if it was closed to make room for others, and checks it. False: it has none.
 * With many guests this could go on forever, so guest_reader_may_open() decides whether it is time.
 */
bool guest_reader_need_view(struct guest_reader *reader, struct guest *guest);
bool guest_reader_may_open(const struct guest_reader *reader, const struct guest *guest);
void guest_reader_pause_opening(struct guest_reader *reader, uint64_t cost_ns);

/*
 * The first look at a guest, or the first after its kernel was gone. FROM_NS: from when on the
 * resulting table is valid.
 */
void guest_reader_make_contact(struct guest_reader *reader, struct guest *guest, uint64_t from_ns);
/* Later looks, when they are due: at guests with a kernel, and at those without. */
void guest_reader_check_all(struct guest_reader *reader);
void guest_reader_retry_all(struct guest_reader *reader);
/* A guest without a Linux kernel may be of another kind; its stacks are copied anyway. */
void guest_reader_look_at_image(struct guest_reader *reader, struct guest *guest,
				const struct host_vm *vm);
struct vm_memory_finder *guest_reader_finder(struct guest_reader *reader);
/*
 * A kernel that is gone was still running at the last sample whose task was found with it, even if
 * the last look was earlier. Samples arrive late, so this waits until its successor is searched
 * for.
 */
void guest_reader_extend_ended(struct guest_reader *reader, struct guest *guest);

/* Assigns numbers to PROCESS' files, and queues the new ones to be read. */
void guest_reader_note_files(struct guest_reader *reader, struct guest *guest,
			     struct guest_reader_process *process);
/* Passes TABLE on. */
void guest_reader_tell_unwind_table(struct guest_reader *reader, struct unwind_news *news,
				    const struct unwind_change *change);
/* A table of symbols that the caged parser has sent: *RET_COUNT of them, or what is wrong. */
struct error *guest_reader_check_symbols(const struct buffer *table,
					 size_t *ret_count) MUST_CHECK;
/* Takes over JOB's path. */
void guest_reader_read_file(struct guest_reader *reader, struct guest *guest,
			    struct file_job job);
void guest_reader_forget_files(struct guest *guest);
/*
 * Answers a question for code; false: there is none to answer. The caller holds the lock, as an
 * exception, and does so afterwards.
 */
bool guest_reader_take_code(struct guest_reader *reader);
/* With the lock or when the thread has ended: frees questions and code. */
void guest_reader_forget_code(struct guest_reader *reader);
/* Those of VM; with the lock, or when the thread has ended. */
void guest_reader_forget_questions(struct guest_reader *reader, uint32_t vm);
/* GUEST is gone: drops what is planned for it, and leaves its share to the others. */
void guest_reader_end(struct guest_reader *reader, struct guest *guest);

/* False: GUEST may not have WHAT, of so many bytes, kept here. The first time this is reported. */
bool guest_reader_charge(struct guest_reader *reader, const struct guest *guest, size_t bytes,
			 const char *what);
void guest_reader_release(struct guest_reader *reader, uint32_t vm, size_t bytes);
/* The guest whose turn it is, of those with questions, or with files to read; NULL: none. */
struct guest *guest_reader_next(struct guest_reader *reader, bool files);
/* Work for GUEST, which began at BEGIN_NS, has ended. */
void guest_reader_spend(struct guest *guest, uint64_t begin_ns);

#endif
