/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guests share the reader: whose turn it is, and how much memory each may take. What a guest's
 * limit cost is reported once per guest, and for each table with -v.
 */
#include "base/log.h"
#include "base/progress.h"
#include "host/record/guest_reader_state.h"

/* The caller holds the lock. */
static bool has_work(const struct guest_reader *reader, const struct guest *guest, bool files)
{
	if (files)
		return queue_left(&guest->file_jobs);
	return guest->vm < reader->questions.count &&
	       queue_left(&reader->questions.items[guest->vm].queue) &&
	       guest_reader_may_open(reader, guest);
}

struct guest *guest_reader_next(struct guest_reader *reader, bool files)
{
	uint64_t now = clock_monotonic_ns();
	struct guest *next = NULL;

	for (size_t i = 0; i < reader->guests.count; i++) {
		struct guest *guest = &reader->guests.items[i];
		bool rests = reader->guests.count > 1 && !reader->stop &&
			     now < guest->turn.rests_until_ns;

		if (!rests && has_work(reader, guest, files) &&
		    (!next || guest_turn_is_before(&guest->turn, &next->turn, now)))
			next = guest;
	}
	return next;
}

void guest_reader_spend(struct guest *guest, uint64_t begin_ns)
{
	uint64_t now = clock_monotonic_ns();

	guest_turn_spend(&guest->turn, now, now - begin_ns);
}

bool guest_reader_charge(struct guest_reader *reader, const struct guest *guest, size_t bytes,
			 const char *what)
{
	struct guest_quota *quota;
	bool granted, first;

	pthread_mutex_lock(&reader->lock);
	granted = guest_quotas_charge(&reader->quotas, guest->vm, bytes);
	quota = &reader->quotas.guests.items[guest->vm];
	first = !granted && !quota->told;
	quota->told |= first;
	pthread_mutex_unlock(&reader->lock);
	if (first)
		log_warning("the VM of pid %u has reached its limit of memory: some of its symbols "
			    "and call chains are missing (-v reports each)", guest->pid);
	if (!granted)
		log_detail("the VM of pid %u has no room for %s, %zu KiB", guest->pid, what,
			   bytes >> 10);
	return granted;
}

void guest_reader_release(struct guest_reader *reader, uint32_t vm, size_t bytes)
{
	pthread_mutex_lock(&reader->lock);
	guest_quotas_release(&reader->quotas, vm, bytes);
	pthread_mutex_unlock(&reader->lock);
}

void guest_reader_forget_questions(struct guest_reader *reader, uint32_t vm)
{
	struct question question;

	while (queue_take(&reader->questions.items[vm].queue, &question))
		free(question.areas);
	queue_deinit(&reader->questions.items[vm].queue);
}

void guest_reader_end(struct guest_reader *reader, struct guest *guest)
{
	guest_reader_forget_files(guest);
	pthread_mutex_lock(&reader->lock);
	guest_reader_forget_questions(reader, guest->vm);
	guest_quotas_end(&reader->quotas, guest->vm);
	pthread_mutex_unlock(&reader->lock);
}

uint64_t guest_reader_refused(struct guest_reader *reader)
{
	uint64_t refused = 0;

	pthread_mutex_lock(&reader->lock);
	for (size_t i = 0; i < reader->quotas.guests.count; i++)
		refused += reader->quotas.guests.items[i].refused;
	pthread_mutex_unlock(&reader->lock);
	return refused;
}

void guest_reader_drop_kernel(struct guest_reader *reader, size_t number)
{
	struct guest_reader_kernel *kernel;

	pthread_mutex_lock(&reader->lock);
	kernel = &reader->kernels.items[number];
	guest_quotas_release(&reader->quotas, kernel->vm, kernel->table.capacity);
	buffer_deinit(&kernel->table);
	pthread_mutex_unlock(&reader->lock);
}

void guest_reader_drop_file(struct guest_reader *reader, size_t number)
{
	struct guest_reader_file *file;

	pthread_mutex_lock(&reader->lock);
	file = &reader->files.items[number];
	guest_quotas_release(&reader->quotas, file->vm, file->table.capacity);
	buffer_deinit(&file->table);
	free(file->path);
	file->path = NULL;
	pthread_mutex_unlock(&reader->lock);
}

void guest_reader_drop_unwind_table(struct guest_reader *reader, uint32_t vm,
				    struct unwind_table *table)
{
	if (!table)
		return;
	guest_reader_release(reader, vm, unwind_table_bytes(table));
	unwind_table_destroy(table);
}
