/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread works through its lists in this order: VMs that nobody has looked at, questions, files
 * whose symbols are to be read, and once a second all VMs again, for at most 1/20 of the time. That second look finds a guest
 * that has rebooted (its kernel is no longer where it was: its tables end with the last look that
 * found it there), modules that came or went, and memory slots that changed.
 *
 * A look at a VM keeps a caged parser alive. Past MAX_VIEWS a VM's parser is ended when its kernel
 * has been read: such a VM has names for its kernel, but no mappings.
 */
#include "host/guest_reader.h"

#include <pthread.h>
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/progress.h"
#include "host/process.h"
#include "symbol/table.h"

#define TABLE_MAX_BYTES ((size_t)64 << 20)
#define MAX_VIEWS 64
#define MAX_QUESTIONS 4096
#define MAX_FILES 65536
#define FILES_MAX_BYTES ((size_t)512 << 20) /* of all their tables */
#define LOOK_NS 1000000000ull
#define LOOK_SHARE 20
#define FIRST_RETRY_SHARE 2 /* of a guest without a kernel: it may boot; doubled each time */
#define MAX_RETRY_SHARE 256

struct guest {
	uint32_t vm, pid;
	bool late;
	bool gone;
	bool said; /* that it has no names, or it had some */
	struct guest_view *view;
	struct guest_state state;
	uint64_t version;
	size_t kernel; /* number of its current table; SIZE_MAX: none */
	size_t ended;  /* of the one before, whose end may be too early yet; likewise */
	uint64_t good_ns; /* when its state was last found as it is */
	uint64_t retry_ns, retry_share; /* while it has no kernel */
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
};

struct guest_reader {
	struct capture *capture;
	bool kernel_only;

	/* The thread's own until it is joined. */
	struct vm_memory_finder *finder; /* NULL: not tried, or not to be had */
	bool tried;
	struct host_vms vms; /* as of the last look */
	VECTOR(struct guest) guests;
	VECTOR(struct guest_reader_kernel) kernels;
	VECTOR(struct guest_reader_file) files;
	size_t file_bytes;
	VECTOR(struct file_job) file_jobs; /* each file of a VM once */
	size_t file_jobs_taken;
	struct map known_files; /* hash of VM, path and build-id */
	size_t views, failures;
	uint64_t looked_ns, look_cost_ns;

	pthread_t thread;
	bool running;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t wanted, done;
	bool stop;
	uint64_t deadline_ns; /* with stop: new VMs are still read until then */
	VECTOR(struct guest) added;
	size_t added_taken, added_done;
	VECTOR(struct question) questions;
	size_t questions_taken;
	VECTOR(struct guest_reader_process) answers;
	size_t answers_taken;
	struct map seen; /* VM -> time of the newest sample whose task was found */
};

static const struct host_vm *find_vm(const struct host_vms *vms, uint32_t pid)
{
	for (size_t i = 0; i < vms->items.count; i++)
		if (vms->items.items[i].pid == pid)
			return &vms->items.items[i];
	return NULL;
}

/* The VM may have come after the last look; NULL: it is gone. */
static const struct host_vm *look_for_vm(struct guest_reader *reader, uint32_t pid)
{
	_cleanup_error_ struct error *error = NULL;
	const struct host_vm *vm = find_vm(&reader->vms, pid);

	if (vm)
		return vm;
	host_vms_deinit(&reader->vms);
	error = host_vms_find(&reader->vms);
	return error ? NULL : find_vm(&reader->vms, pid);
}

/* Once a recording: without a finder there is no guest memory, and one note says why. */
static bool have_finder(struct guest_reader *reader)
{
	_cleanup_error_ struct error *error = NULL;

	if (reader->tried)
		return reader->finder;
	reader->tried = true;
	error = vm_memory_finder_create(&reader->finder);
	if (error)
		log_note("guest kernels stay without names: %s", error_message(error));
	return !error;
}

/* Of hundreds of unikernels one stands for all. */
static void note_failure(struct guest_reader *reader, struct guest *guest, const char *name,
			 const struct error *error)
{
	if (guest->said) {
		log_detail("VM '%s': %s", name, error_message(error));
		return;
	}
	guest->said = true;
	if (!reader->failures++)
		log_note("the guest kernel of VM '%s' stays without names: %s%s", name,
			 error_message(error),
			 log_enabled(LOG_DETAIL) ? "" : " (of further VMs -v says it)");
	else
		log_detail("the guest kernel of VM '%s' stays without names: %s", name,
			   error_message(error));
}

static void close_view(struct guest_reader *reader, struct guest *guest)
{
	if (!guest->view)
		return;
	guest_view_close(guest->view);
	guest->view = NULL;
	reader->views--;
}

/* Samples are no longer to be given processes by what was known of this guest. */
static void forget(struct guest_reader *reader, struct guest *guest)
{
	static const struct sampler_vm nothing = { 0 };

	capture_set_guest(reader->capture, guest->vm, &nothing);
	close_view(reader, guest);
}

static void end_table(struct guest_reader *reader, struct guest *guest, uint64_t until_ns)
{
	if (guest->kernel != SIZE_MAX)
		reader->kernels.items[guest->kernel].until_ns = until_ns;
	guest->ended = guest->kernel;
	guest->kernel = SIZE_MAX;
}

/*
 * A kernel that is gone ran until the last sample whose task was found by it, though the last look
 * was before. Samples come late, so this waits until its successor is looked for.
 */
static void extend_ended(struct guest_reader *reader, struct guest *guest)
{
	const uint64_t *seen;

	pthread_mutex_lock(&reader->lock);
	seen = map_find(&reader->seen, guest->vm);
	if (guest->ended != SIZE_MAX && seen &&
	    *seen > reader->kernels.items[guest->ended].until_ns)
		reader->kernels.items[guest->ended].until_ns = *seen;
	pthread_mutex_unlock(&reader->lock);
}

/* Adds the guest's symbols as they are now, to hold from FROM_NS on. */
static struct error *add_table(struct guest_reader *reader, struct guest *guest, uint64_t from_ns)
{
	const struct guest_view_kernel *kernel = guest_view_get_kernel(guest->view);
	struct guest_reader_kernel added = { .vm = guest->vm, .pid = guest->pid, .from_ns = from_ns };
	_cleanup_symbol_table_ struct symbol_table *checked = NULL;
	struct error *error;

	buffer_init(&added.table, TABLE_MAX_BYTES);
	error = guest_view_symbols(guest->view, &added.table);
	/* It goes into a file that others trust: what the caged parser gave must be a table. */
	if (!error)
		error = symbol_table_decode(added.table.data, added.table.size, &checked);
	if (error) {
		buffer_deinit(&added.table);
		return error;
	}
	log_detail("VM of pid %u runs Linux %s: %zu symbols, %llu KiB of its memory read",
		   guest->pid, kernel->names.release, symbol_table_count(checked),
		   (unsigned long long)guest_view_bytes_read(guest->view) >> 10);
	memcpy(added.release, kernel->names.release, sizeof(added.release));
	memcpy(added.host_name, kernel->names.host_name, sizeof(added.host_name));
	guest->kernel = reader->kernels.count;
	vector_append(&reader->kernels, added);
	return NULL;
}

/* From now on samples of this guest say their process, where its kernel lets us find it. */
static void tell_capture(struct guest_reader *reader, struct guest *guest)
{
	_cleanup_error_ struct error *error = NULL;
	struct sampler_vm description;

	if (reader->kernel_only)
		return;
	error = guest_view_describe(guest->view, ++guest->version, &description);
	if (!error)
		capture_set_guest(reader->capture, guest->vm, &description);
	else
		log_detail("the processes of the VM of pid %u are not told: %s", guest->pid,
			   error_message(error));
}

static struct error *open_view(struct guest_reader *reader, struct guest *guest,
			       const struct host_vm *vm)
{
	struct error *error = guest_view_open(reader->finder, vm, &guest->view);

	if (error)
		return error;
	reader->views++;
	return guest_view_state(guest->view, &guest->state);
}

/* A guest that boots is tried again soon, a unikernel seldom. COST_NS: what the failure took. */
static void plan_retry(struct guest *guest, uint64_t cost_ns)
{
	uint64_t pause;

	guest->retry_share = guest->retry_share ? 2 * guest->retry_share : FIRST_RETRY_SHARE;
	if (guest->retry_share > MAX_RETRY_SHARE)
		guest->retry_share = MAX_RETRY_SHARE;
	pause = cost_ns * guest->retry_share;
	guest->retry_ns = clock_monotonic_ns() + (pause > LOOK_NS ? pause : LOOK_NS);
}

/* The first look at a guest, or the first after its kernel went: FROM_NS is when a table of it holds. */
static void make_contact(struct guest_reader *reader, struct guest *guest, uint64_t from_ns)
{
	const struct host_vm *vm = look_for_vm(reader, guest->pid);
	uint64_t begin = clock_monotonic_ns();
	_cleanup_error_ struct error *error = NULL;

	if (!vm)
		return;
	extend_ended(reader, guest);
	error = open_view(reader, guest, vm);
	if (!error)
		error = add_table(reader, guest, from_ns);
	if (error) {
		note_failure(reader, guest, vm->name, error);
		close_view(reader, guest);
		plan_retry(guest, clock_monotonic_ns() - begin);
		return;
	}
	guest->good_ns = clock_monotonic_ns();
	guest->retry_share = 0;
	guest->ended = SIZE_MAX; /* from here on tasks are found by the new kernel */
	guest->said = true;
	tell_capture(reader, guest);
	if (reader->views > MAX_VIEWS)
		close_view(reader, guest);
}

/*
 * Its memory slots are others, or its parser is gone. In the end it is still the kernel that it was,
 * and its table goes on; else that has ended when it was last seen.
 */
static void open_again(struct guest_reader *reader, struct guest *guest)
{
	const struct host_vm *vm = look_for_vm(reader, guest->pid);
	struct guest_state before = guest->state;
	uint64_t now = clock_monotonic_ns();
	struct error *error;

	forget(reader, guest);
	if (!vm)
		return;
	error = open_view(reader, guest, vm);
	if (!error && guest->state.kernel == before.kernel) {
		tell_capture(reader, guest);
		return;
	}
	error_destroy(error);
	close_view(reader, guest);
	end_table(reader, guest, guest->good_ns);
	make_contact(reader, guest, now);
}

/* The second and later looks. */
static void check(struct guest_reader *reader, struct guest *guest)
{
	const struct host_vm *vm = look_for_vm(reader, guest->pid);
	struct guest_state before = guest->state;
	uint64_t now = clock_monotonic_ns();
	struct error *error;

	if (!vm)
		return;
	error = guest_view_check(guest->view, reader->finder, vm, &guest->state);
	if (error) {
		error_destroy(error);
		open_again(reader, guest);
	} else if (guest->state.kernel != before.kernel) {
		log_detail("the guest of pid %u runs another kernel", guest->pid);
		forget(reader, guest);
		end_table(reader, guest, guest->good_ns);
		make_contact(reader, guest, now);
	} else if (guest->state.modules != before.modules) {
		/* What both tables name they name alike: the new one holds for the time between. */
		end_table(reader, guest, guest->good_ns);
		guest->ended = SIZE_MAX;
		error_destroy(add_table(reader, guest, guest->good_ns));
		guest->good_ns = now;
	} else {
		guest->good_ns = now;
	}
}

static bool is_there(struct guest_reader *reader, struct guest *guest)
{
	if (!guest->gone && !host_process_has_thread(guest->pid, guest->pid)) {
		guest->gone = true;
		forget(reader, guest);
	}
	return !guest->gone;
}

/* Guests without a kernel may have booted meanwhile. */
static void retry_all(struct guest_reader *reader)
{
	for (size_t i = 0; i < reader->guests.count; i++) {
		struct guest *guest = &reader->guests.items[i];
		uint64_t now = clock_monotonic_ns();

		if (!guest->view && guest->kernel == SIZE_MAX && now >= guest->retry_ns &&
		    is_there(reader, guest))
			make_contact(reader, guest, now);
	}
}

static void check_all(struct guest_reader *reader)
{
	uint64_t begin = clock_monotonic_ns();
	uint64_t pause = reader->look_cost_ns * LOOK_SHARE;

	if (begin - reader->looked_ns < (pause > LOOK_NS ? pause : LOOK_NS))
		return;
	for (size_t i = 0; i < reader->guests.count; i++) {
		struct guest *guest = &reader->guests.items[i];

		if (guest->view && is_there(reader, guest))
			check(reader, guest);
	}
	reader->looked_ns = clock_monotonic_ns();
	reader->look_cost_ns = reader->looked_ns - begin;
}

/* Only what code runs from. */
static void keep_executable(struct guest_mappings *mappings)
{
	size_t kept = 0;

	for (size_t i = 0; i < mappings->items.count; i++)
		if (mappings->items.items[i].execute)
			mappings->items.items[kept++] = mappings->items.items[i];
	mappings->items.count = kept;
}

static struct guest *find_guest(struct guest_reader *reader, uint32_t vm)
{
	for (size_t i = 0; i < reader->guests.count; i++)
		if (reader->guests.items[i].vm == vm)
			return &reader->guests.items[i];
	return NULL;
}

static bool has_program(const struct guest_mapping *mapping, const char *path)
{
	return mapping->kind == GUEST_MAPPING_FILE ||
	       (mapping->kind == GUEST_MAPPING_SPECIAL && !strcmp(path, "[vdso]"));
}

/* Puts the files of PROCESS that are new on the list of those to be read. */
static void note_files(struct guest_reader *reader, const struct guest_reader_process *process)
{
	for (size_t i = 0; i < process->mappings.items.count; i++) {
		const struct guest_mapping *mapping = &process->mappings.items.items[i];
		const char *path = intern_string(process->strings, mapping->path);
		uint64_t key = hash_bytes(path, strlen(path)) ^
			       hash_bytes(mapping->build_id.data, mapping->build_id.bytes) ^
			       hash_u64(process->vm + 1);
		bool added;

		if (!has_program(mapping, path) || reader->file_jobs.count >= MAX_FILES)
			continue;
		map_insert(&reader->known_files, key, &added);
		if (added)
			vector_append(&reader->file_jobs,
				      (struct file_job){ .vm = process->vm,
							 .mm = process->mm,
							 .start = mapping->start,
							 .path = memory_strdup(path),
							 .build_id = mapping->build_id });
	}
}

static void read_file(struct guest_reader *reader, const struct file_job *job)
{
	struct guest *guest = find_guest(reader, job->vm);
	struct guest_reader_file file = { .vm = job->vm, .build_id = job->build_id };
	_cleanup_symbol_table_ struct symbol_table *checked = NULL;
	_cleanup_error_ struct error *error = NULL;

	if (!guest || !guest->view || reader->file_bytes >= FILES_MAX_BYTES)
		return;
	buffer_init(&file.table, TABLE_MAX_BYTES);
	error = guest_view_file_symbols(guest->view, job->mm, job->start, &file.table);
	if (!error) /* as add_table() */
		error = symbol_table_decode(file.table.data, file.table.size, &checked);
	if (error) {
		log_detail("no symbols of '%s' from the guest's memory: %s", job->path,
			   error_message(error));
		buffer_deinit(&file.table);
		return;
	}
	file.pid = guest->pid;
	file.path = memory_strdup(job->path);
	reader->file_bytes += file.table.size;
	vector_append(&reader->files, file);
}

/* The caller has the lock; the list is the thread's own. */
static bool take_file(struct guest_reader *reader)
{
	if (reader->file_jobs_taken == reader->file_jobs.count)
		return false;
	if (reader->stop && clock_monotonic_ns() >= reader->deadline_ns)
		return false;
	pthread_mutex_unlock(&reader->lock);
	read_file(reader, &reader->file_jobs.items[reader->file_jobs_taken++]);
	pthread_mutex_lock(&reader->lock);
	return true;
}

static void answer(struct guest_reader *reader, const struct question *question)
{
	struct guest_reader_process process = { .vm = question->vm,
						.tgid = question->tgid,
						.mm = question->mm,
						.time_ns = question->time_ns };
	struct guest *guest = find_guest(reader, question->vm);
	struct error *error;

	if (!guest || !guest->view)
		return;
	process.strings = intern_create();
	error = guest_view_refresh(guest->view);
	if (!error)
		error = guest_view_mappings(guest->view, question->mm, process.strings,
					    &process.mappings);
	if (error) { /* the next look at the guest finds out what is the matter */
		error_destroy(error);
		intern_destroy(process.strings);
		return;
	}
	keep_executable(&process.mappings);
	note_files(reader, &process);
	pthread_mutex_lock(&reader->lock);
	vector_append(&reader->answers, process);
	pthread_mutex_unlock(&reader->lock);
}

/* Takes the next VM that nobody has looked at; the caller has the lock. */
static bool take_added(struct guest_reader *reader)
{
	struct guest guest;

	if (reader->added_taken == reader->added.count)
		return false;
	if (reader->stop && clock_monotonic_ns() >= reader->deadline_ns)
		return false;
	guest = reader->added.items[reader->added_taken++];
	pthread_mutex_unlock(&reader->lock);
	vector_append(&reader->guests, guest);
	if (have_finder(reader))
		make_contact(reader, &reader->guests.items[reader->guests.count - 1],
			     guest.late ? clock_monotonic_ns() : 0);
	pthread_mutex_lock(&reader->lock);
	reader->added_done++;
	pthread_cond_broadcast(&reader->done);
	return true;
}

static bool take_question(struct guest_reader *reader)
{
	struct question question;

	if (reader->stop || reader->questions_taken == reader->questions.count)
		return false;
	question = reader->questions.items[reader->questions_taken++];
	if (reader->questions_taken == reader->questions.count)
		reader->questions.count = reader->questions_taken = 0;
	pthread_mutex_unlock(&reader->lock);
	answer(reader, &question);
	pthread_mutex_lock(&reader->lock);
	return true;
}

static void wait_for_work(struct guest_reader *reader)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec++;
	pthread_cond_timedwait(&reader->wanted, &reader->lock, &until);
	if (reader->stop || reader->added_taken < reader->added.count)
		return;
	pthread_mutex_unlock(&reader->lock);
	if (have_finder(reader)) {
		check_all(reader);
		retry_all(reader);
	}
	pthread_mutex_lock(&reader->lock);
}

static void *run(void *context)
{
	struct guest_reader *reader = context;

	pthread_mutex_lock(&reader->lock);
	for (;;) {
		if (take_added(reader) || take_question(reader) || take_file(reader))
			continue;
		if (reader->stop)
			break;
		wait_for_work(reader);
	}
	pthread_mutex_unlock(&reader->lock);
	return NULL;
}

struct guest_reader *guest_reader_create(struct capture *capture, bool kernel_only)
{
	struct guest_reader *reader = memory_calloc(1, sizeof(*reader));
	pthread_condattr_t attributes;

	reader->capture = capture;
	reader->kernel_only = kernel_only;
	map_init(&reader->known_files);
	map_init(&reader->seen);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&reader->lock, NULL);
	pthread_cond_init(&reader->wanted, &attributes);
	pthread_cond_init(&reader->done, &attributes);
	pthread_condattr_destroy(&attributes);
	reader->looked_ns = clock_monotonic_ns();
	/* Without a thread there are no names; that is said by those who miss them. */
	reader->running = !pthread_create(&reader->thread, NULL, run, reader);
	return reader;
}

static void stop(struct guest_reader *reader, double seconds)
{
	if (!reader->running)
		return;
	pthread_mutex_lock(&reader->lock);
	reader->stop = true;
	reader->deadline_ns = clock_monotonic_ns() + (uint64_t)(seconds * 1e9);
	pthread_cond_broadcast(&reader->wanted);
	pthread_mutex_unlock(&reader->lock);
	pthread_join(reader->thread, NULL);
	reader->running = false;
}

void guest_reader_process_deinit(struct guest_reader_process *process)
{
	guest_mappings_deinit(&process->mappings);
	intern_destroy(process->strings);
}

void guest_reader_destroy(struct guest_reader *reader)
{
	struct guest_reader_process process;

	if (!reader)
		return;
	stop(reader, 0);
	while (guest_reader_take(reader, &process))
		guest_reader_process_deinit(&process);
	for (size_t i = 0; i < reader->guests.count; i++)
		guest_view_close(reader->guests.items[i].view);
	for (size_t i = 0; i < reader->kernels.count; i++)
		buffer_deinit(&reader->kernels.items[i].table);
	for (size_t i = 0; i < reader->files.count; i++) {
		buffer_deinit(&reader->files.items[i].table);
		free(reader->files.items[i].path);
	}
	for (size_t i = 0; i < reader->file_jobs.count; i++)
		free(reader->file_jobs.items[i].path);
	vector_deinit(&reader->files);
	vector_deinit(&reader->file_jobs);
	map_deinit(&reader->known_files);
	map_deinit(&reader->seen);
	vm_memory_finder_destroy(reader->finder);
	host_vms_deinit(&reader->vms);
	vector_deinit(&reader->guests);
	vector_deinit(&reader->kernels);
	vector_deinit(&reader->added);
	vector_deinit(&reader->questions);
	vector_deinit(&reader->answers);
	pthread_cond_destroy(&reader->wanted);
	pthread_cond_destroy(&reader->done);
	pthread_mutex_destroy(&reader->lock);
	free(reader);
}

void guest_reader_add(struct guest_reader *reader, uint32_t vm, uint32_t pid, bool late)
{
	struct guest guest = {
		.vm = vm, .pid = pid, .late = late, .kernel = SIZE_MAX, .ended = SIZE_MAX
	};

	pthread_mutex_lock(&reader->lock);
	vector_append(&reader->added, guest);
	pthread_cond_signal(&reader->wanted);
	pthread_mutex_unlock(&reader->lock);
}

void guest_reader_wait(struct guest_reader *reader, double seconds)
{
	struct timespec until;
	uint64_t until_ns = clock_monotonic_ns() + (uint64_t)(seconds * 1e9);

	until.tv_sec = until_ns / 1000000000;
	until.tv_nsec = until_ns % 1000000000;
	pthread_mutex_lock(&reader->lock);
	while (reader->running && reader->added_done < reader->added.count &&
	       !pthread_cond_timedwait(&reader->done, &reader->lock, &until))
		;
	pthread_mutex_unlock(&reader->lock);
}

void guest_reader_ask(struct guest_reader *reader, uint32_t vm, uint32_t tgid, struct gva mm,
		      uint64_t time_ns)
{
	struct question question = { vm, tgid, mm, time_ns };

	if (reader->kernel_only)
		return;
	pthread_mutex_lock(&reader->lock);
	if (reader->questions.count < MAX_QUESTIONS) {
		vector_append(&reader->questions, question);
		pthread_cond_signal(&reader->wanted);
	}
	pthread_mutex_unlock(&reader->lock);
}

void guest_reader_saw(struct guest_reader *reader, uint32_t vm, uint64_t time_ns)
{
	pthread_mutex_lock(&reader->lock);
	*map_insert(&reader->seen, vm, NULL) = time_ns;
	pthread_mutex_unlock(&reader->lock);
}

bool guest_reader_take(struct guest_reader *reader, struct guest_reader_process *ret)
{
	bool there;

	pthread_mutex_lock(&reader->lock);
	there = reader->answers_taken < reader->answers.count;
	if (there)
		*ret = reader->answers.items[reader->answers_taken++];
	if (reader->answers_taken == reader->answers.count)
		reader->answers.count = reader->answers_taken = 0;
	pthread_mutex_unlock(&reader->lock);
	return there;
}

void guest_reader_finish(struct guest_reader *reader, double seconds)
{
	stop(reader, seconds);
	for (size_t i = 0; i < reader->guests.count; i++)
		extend_ended(reader, &reader->guests.items[i]);
}

const struct guest_reader_kernel *guest_reader_kernels(const struct guest_reader *reader,
						       size_t *ret_count)
{
	*ret_count = reader->kernels.count;
	return reader->kernels.items;
}

const struct guest_reader_file *guest_reader_files(const struct guest_reader *reader,
						   size_t *ret_count)
{
	*ret_count = reader->files.count;
	return reader->files.items;
}
