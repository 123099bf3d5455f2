/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread processes its lists in this order: VMs that have not been looked at, questions, files
 * whose symbols are wanted, and once a second all VMs again, for at most 1/20 of the time.
 * Questions and files are those of the guest that took the least time lately (guest_quota.h).
 */
#include <string.h>

#include "base/memory.h"
#include "base/progress.h"
#include "host/record/guest_reader_state.h"

#define MAX_QUESTIONS 1024 /* of a guest */
#define MAX_COPIED_QUESTIONS 256 /* each with up to 11 KB */

/* Keeps only executable mappings; no program has as many as the maximum. */
static void keep_executable(struct guest_mappings *mappings)
{
	size_t kept = 0;

	for (size_t i = 0; i < mappings->items.count && kept < GUEST_READER_MAPPINGS; i++)
		if (mappings->items.items[i].execute)
			mappings->items.items[kept++] = mappings->items.items[i];
	mappings->items.count = kept;
}

/* The caller holds the lock; the list belongs to the thread. */
static bool take_file(struct guest_reader *reader)
{
	uint64_t begin = clock_monotonic_ns();
	struct guest *guest;
	struct file_job job;

	if (reader->stop && begin >= reader->deadline_ns)
		return false;
	guest = guest_reader_next(reader, true);
	if (!guest || !queue_take(&guest->file_jobs, &job))
		return false;
	pthread_mutex_unlock(&reader->lock);
	guest_reader_read_file(reader, guest, job);
	guest_reader_spend(guest, begin);
	pthread_mutex_lock(&reader->lock);
	return true;
}

static struct error *read_mappings(struct guest *guest, const struct question *question,
				   struct intern *strings, struct guest_mappings *ret)
{
	uint64_t now = clock_monotonic_ns();
	struct error *error = NULL;

	/* Copied mappings need memory as of then or later: several can share what is read. */
	if (!question->areas || question->time_ns >= guest->refreshed_ns) {
		error = guest_view_refresh(guest->view);
		guest->refreshed_ns = now;
	}
	if (error)
		return error;
	if (question->areas)
		return guest_view_copied_mappings(guest->view, question->areas, strings, ret);
	return guest_view_mappings(guest->view, question->mm, strings, ret);
}

static void answer(struct guest_reader *reader, struct guest *guest,
		   const struct question *question)
{
	struct guest_reader_process process = { .vm = question->vm,
						.tgid = question->tgid,
						.mm = question->mm,
						.time_ns = question->time_ns,
						.entry_sp = question->areas
								    ? question->areas->start_stack
								    : 0,
						.question = question->number };
	struct error *error = NULL;

	process.strings = intern_create();
	if (guest_reader_need_view(reader, guest))
		error = read_mappings(guest, question, process.strings, &process.mappings);
	else if (!question->areas)
		error = error_create(ERROR_NOT_FOUND, "the guest is gone");
	if (error && !question->areas) { /* the next look at the guest will find the cause */
		error_destroy(error);
		intern_destroy(process.strings);
		return;
	}
	error_destroy(error);
	keep_executable(&process.mappings);
	guest_reader_note_files(reader, guest, &process);
	pthread_mutex_lock(&reader->lock);
	queue_append(&reader->answers, process);
	pthread_mutex_unlock(&reader->lock);
}

/* Takes the next VM that has not been looked at. The caller holds the lock. */
static bool take_added(struct guest_reader *reader)
{
	uint64_t begin = clock_monotonic_ns();
	struct guest guest, *added;

	if (reader->stop && begin >= reader->deadline_ns)
		return false;
	if (!queue_take(&reader->added, &guest))
		return false;
	pthread_mutex_unlock(&reader->lock);
	map_init(&guest.known_files);
	map_init(&guest.known_code);
	vector_append(&reader->guests, guest);
	added = &reader->guests.items[reader->guests.count - 1];
	guest_reader_make_contact(reader, added, guest.late ? begin : 0);
	guest_reader_spend(added, begin);
	pthread_mutex_lock(&reader->lock);
	reader->contacts_left--;
	pthread_cond_broadcast(&reader->done);
	return true;
}

static bool take_question(struct guest_reader *reader)
{
	uint64_t begin = clock_monotonic_ns();
	struct guest *guest = reader->stop ? NULL : guest_reader_next(reader, false);
	struct question question = { 0 };

	if (!guest || !queue_take(&reader->questions.items[guest->vm].queue, &question))
		return false;
	pthread_mutex_unlock(&reader->lock);
	answer(reader, guest, &question);
	free(question.areas);
	guest_reader_spend(guest, begin);
	pthread_mutex_lock(&reader->lock);
	return true;
}

static void wait_for_work(struct guest_reader *reader)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec++;
	reader->idle = true;
	pthread_cond_broadcast(&reader->done);
	pthread_cond_timedwait(&reader->wanted, &reader->lock, &until);
	reader->idle = false;
	if (reader->stop || queue_left(&reader->added))
		return;
	pthread_mutex_unlock(&reader->lock);
	guest_reader_check_all(reader);
	guest_reader_retry_all(reader);
	pthread_mutex_lock(&reader->lock);
}

static void *run(void *context)
{
	struct guest_reader *reader = context;

	pthread_mutex_lock(&reader->lock);
	for (;;) {
		if (take_added(reader) || take_question(reader) || take_file(reader) ||
		    guest_reader_take_code(reader))
			continue;
		if (reader->stop)
			break;
		wait_for_work(reader);
	}
	pthread_mutex_unlock(&reader->lock);
	return NULL;
}

struct guest_reader *guest_reader_create(struct capture *capture,
					 const struct guest_reader_options *options)
{
	struct guest_reader *reader = memory_calloc(1, sizeof(*reader));
	pthread_condattr_t attributes;

	reader->capture = capture;
	reader->options = *options;
	guest_quotas_init(&reader->quotas);
	map_init(&reader->seen);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&reader->lock, NULL);
	pthread_cond_init(&reader->wanted, &attributes);
	pthread_cond_init(&reader->done, &attributes);
	pthread_condattr_destroy(&attributes);
	reader->looked_ns = clock_monotonic_ns();
	/* Without a thread there are no symbols; their absence is reported elsewhere. */
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
	free(process->files);
	guest_mappings_deinit(&process->mappings);
	intern_destroy(process->strings);
}

static void forget_news(struct unwind_news *news)
{
	struct unwind_change change;

	while (queue_take(&news->changes, &change))
		unwind_table_destroy(change.table);
	queue_deinit(&news->changes);
}

void guest_reader_destroy(struct guest_reader *reader)
{
	struct guest_reader_process process;
	struct guest_image_code code;
	uint32_t vm;

	if (!reader)
		return;
	stop(reader, 0);
	while (guest_reader_take(reader, &process))
		guest_reader_process_deinit(&process);
	while (guest_reader_take_image_code(reader, &vm, &code))
		vector_deinit(&code);
	guest_reader_forget_code(reader);
	forget_news(&reader->kernel_unwind);
	forget_news(&reader->file_unwind);
	for (size_t i = 0; i < reader->guests.count; i++) {
		guest_view_close(reader->guests.items[i].view);
		guest_reader_forget_files(&reader->guests.items[i]);
	}
	for (size_t i = 0; i < reader->kernels.count; i++)
		buffer_deinit(&reader->kernels.items[i].table);
	for (size_t i = 0; i < reader->files.count; i++) {
		buffer_deinit(&reader->files.items[i].table);
		free(reader->files.items[i].path);
	}
	vector_deinit(&reader->files);
	map_deinit(&reader->seen);
	vm_memory_finder_destroy(reader->finder);
	host_vms_deinit(&reader->vms);
	vector_deinit(&reader->guests);
	vector_deinit(&reader->kernels);
	queue_deinit(&reader->added);
	for (size_t i = 0; i < reader->questions.count; i++)
		guest_reader_forget_questions(reader, i);
	vector_deinit(&reader->questions);
	guest_quotas_deinit(&reader->quotas);
	queue_deinit(&reader->answers);
	queue_deinit(&reader->images);
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
	queue_append(&reader->added, guest);
	guest_quotas_begin(&reader->quotas, vm);
	while (reader->questions.count <= vm)
		vector_append(&reader->questions, (struct guest_questions){ 0 });
	reader->contacts_left++;
	pthread_cond_signal(&reader->wanted);
	pthread_mutex_unlock(&reader->lock);
}

static struct timespec time_after(double seconds)
{
	uint64_t until_ns = clock_monotonic_ns() + (uint64_t)(seconds * 1e9);

	return (struct timespec){ until_ns / 1000000000, until_ns % 1000000000 };
}

static bool has_questions(const struct guest_reader *reader)
{
	for (size_t i = 0; i < reader->questions.count; i++)
		if (queue_left(&reader->questions.items[i].queue))
			return true;
	return false;
}

void guest_reader_settle(struct guest_reader *reader, double seconds)
{
	struct timespec until = time_after(seconds);

	pthread_mutex_lock(&reader->lock);
	while (reader->running && (!reader->idle || has_questions(reader)) &&
	       !pthread_cond_timedwait(&reader->done, &reader->lock, &until))
		;
	pthread_mutex_unlock(&reader->lock);
}

bool guest_reader_wait(struct guest_reader *reader, double seconds)
{
	struct timespec until = time_after(seconds);
	bool done;

	pthread_mutex_lock(&reader->lock);
	while (reader->running && reader->contacts_left &&
	       !pthread_cond_timedwait(&reader->done, &reader->lock, &until))
		;
	done = !reader->running || !reader->contacts_left;
	pthread_mutex_unlock(&reader->lock);
	return done;
}

void guest_reader_ask(struct guest_reader *reader, uint32_t vm, uint32_t tgid, struct gva mm,
		      uint64_t time_ns)
{
	struct question question = { vm, tgid, mm, time_ns, NULL, 0 };

	if (reader->options.kernel_only)
		return;
	pthread_mutex_lock(&reader->lock);
	if (queue_left(&reader->questions.items[vm].queue) < MAX_QUESTIONS) {
		queue_append(&reader->questions.items[vm].queue, question);
		pthread_cond_signal(&reader->wanted);
	}
	pthread_mutex_unlock(&reader->lock);
}

bool guest_reader_ask_copied(struct guest_reader *reader, uint32_t vm,
			     const struct capture_guest *guest, uint64_t time_ns,
			     const struct sampler_areas *areas, uint64_t number)
{
	struct question question = { vm, guest->tgid, guest->mm, time_ns, NULL, number };
	size_t bytes = offsetof(struct sampler_areas, items) + areas->count * sizeof(*areas->items);
	bool room;

	pthread_mutex_lock(&reader->lock);
	room = queue_left(&reader->questions.items[vm].queue) < MAX_COPIED_QUESTIONS;
	if (room) {
		question.areas = memory_dup(areas, bytes);
		queue_append(&reader->questions.items[vm].queue, question);
		pthread_cond_signal(&reader->wanted);
	}
	pthread_mutex_unlock(&reader->lock);
	return room;
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
	there = queue_take(&reader->answers, ret);
	pthread_mutex_unlock(&reader->lock);
	return there;
}

void guest_reader_tell_unwind_table(struct guest_reader *reader, struct unwind_news *news,
				    const struct unwind_change *change)
{
	pthread_mutex_lock(&reader->lock);
	queue_append(&news->changes, *change);
	pthread_mutex_unlock(&reader->lock);
}

static bool take_news(struct guest_reader *reader, struct unwind_news *news,
		      struct unwind_change *ret)
{
	bool there;

	pthread_mutex_lock(&reader->lock);
	there = queue_take(&news->changes, ret);
	pthread_mutex_unlock(&reader->lock);
	return there;
}

bool guest_reader_take_unwind_table(struct guest_reader *reader, uint32_t *ret_vm,
				    uint32_t *ret_version, struct unwind_table **ret)
{
	struct unwind_change change;

	if (!take_news(reader, &reader->kernel_unwind, &change))
		return false;
	*ret_vm = change.vm;
	*ret_version = change.number;
	*ret = change.table;
	return true;
}

bool guest_reader_take_file_unwind_table(struct guest_reader *reader, uint32_t *ret_vm,
					 uint32_t *ret_file, struct unwind_table **ret)
{
	struct unwind_change change;

	if (!take_news(reader, &reader->file_unwind, &change))
		return false;
	*ret_vm = change.vm;
	*ret_file = change.number;
	*ret = change.table;
	return true;
}

bool guest_reader_take_image_code(struct guest_reader *reader, uint32_t *ret_vm,
				  struct guest_image_code *ret)
{
	struct image_news news;
	bool there;

	pthread_mutex_lock(&reader->lock);
	there = queue_take(&reader->images, &news);
	pthread_mutex_unlock(&reader->lock);
	if (!there)
		return false;
	*ret_vm = news.vm;
	*ret = news.code;
	return true;
}

void guest_reader_finish(struct guest_reader *reader, double seconds)
{
	stop(reader, seconds);
	for (size_t i = 0; i < reader->guests.count; i++)
		guest_reader_extend_ended(reader, &reader->guests.items[i]);
}

bool guest_reader_kernel(struct guest_reader *reader, size_t number,
			 struct guest_reader_kernel *ret)
{
	bool there;

	pthread_mutex_lock(&reader->lock);
	there = number < reader->kernels.count;
	if (there)
		*ret = reader->kernels.items[number];
	pthread_mutex_unlock(&reader->lock);
	return there;
}

bool guest_reader_file(struct guest_reader *reader, size_t number, struct guest_reader_file *ret)
{
	bool there;

	pthread_mutex_lock(&reader->lock);
	there = number < reader->files.count;
	if (there)
		*ret = reader->files.items[number];
	pthread_mutex_unlock(&reader->lock);
	return there;
}
