/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the code of functions in which samples were taken: each function once, and of a guest no
 * more than MAX_FUNCTIONS and MAX_BYTES. Programs are read through a process that is still there.
 */
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/progress.h"
#include "host/record/guest_reader_state.h"
#include "symbol/code_pieces.h"

#define MAX_FUNCTIONS 256
#define MAX_BYTES ((size_t)1 << 20)
#define MAX_QUESTIONS 64 /* of all guests */
#define ANSWER_MAX_BYTES (2 * GUEST_FUNCTIONS_BYTES)
#define LAST_NS 3000000000ull /* after all else at the end; what has begun is completed */

void guest_reader_ask_code(struct guest_reader *reader, uint32_t vm,
			   const struct hot_place *places, size_t count)
{
	struct code_question question = { .vm = vm };

	if (!count)
		return;
	question.places = memory_dup(places, count * sizeof(*places));
	question.count = count;
	pthread_mutex_lock(&reader->lock);
	if (queue_left(&reader->code_questions) < MAX_QUESTIONS) {
		queue_append(&reader->code_questions, question);
		question.places = NULL;
		pthread_cond_signal(&reader->wanted);
	}
	pthread_mutex_unlock(&reader->lock);
	free(question.places);
}

/* Whose code it is: of the kernel, or of a file. */
struct owner {
	bool kernel;
	const char *path;
	const struct guest_build_id *build_id;
};

static uint64_t key_of(const struct guest *guest, const struct owner *owner, uint64_t start)
{
	uint64_t seed = hash_u64(guest->known_code.seed ^ start);

	if (owner->kernel)
		return hash_u64(seed ^ guest->state.kernel);
	return hash_bytes_seeded(seed, owner->path, strlen(owner->path)) ^
	       hash_bytes_seeded(seed + 1, owner->build_id->data, owner->build_id->bytes);
}

/* Those of PIECES that are new, as far as there is room for them, into RET. */
static void keep_new(struct guest *guest, const struct owner *owner,
		     const struct code_pieces *pieces, struct buffer *ret)
{
	code_pieces_begin(ret, pieces->machine, pieces->big_endian);
	for (size_t i = 0; i < pieces->items.count; i++) {
		const struct code_piece *piece = &pieces->items.items[i];
		bool added;

		if (guest->known_code.count >= MAX_FUNCTIONS ||
		    piece->size > MAX_BYTES - guest->code_bytes)
			return;
		map_insert(&guest->known_code, key_of(guest, owner, piece->address), &added);
		if (!added)
			continue;
		guest->code_bytes += piece->size;
		code_pieces_add(ret, piece);
	}
}

/* ANSWER comes from the cage: it is checked, and what is new in it is kept. */
static struct error *take_answer(struct guest_reader *reader, struct guest *guest,
				 const struct owner *owner, const struct buffer *answer)
{
	struct guest_reader_code code = { .vm = guest->vm, .pid = guest->pid };
	struct code_pieces pieces;
	size_t before = guest->known_code.count;
	struct error *error = code_pieces_decode(answer->data, answer->size, &pieces);

	if (error)
		return error;
	buffer_init(&code.pieces, ANSWER_MAX_BYTES);
	keep_new(guest, owner, &pieces, &code.pieces);
	code_pieces_deinit(&pieces);
	if (guest->known_code.count == before ||
	    !guest_reader_charge(reader, guest, code.pieces.capacity, "code")) {
		buffer_deinit(&code.pieces);
		return NULL;
	}
	code.kernel = owner->kernel;
	if (owner->kernel) {
		code.from_ns = reader->kernels.items[guest->kernel].from_ns;
	} else {
		code.path = memory_strdup(owner->path);
		code.build_id = *owner->build_id;
	}
	pthread_mutex_lock(&reader->lock);
	vector_append(&reader->codes, code);
	pthread_mutex_unlock(&reader->lock);
	return NULL;
}

static struct error *ask(struct guest_reader *reader, struct guest *guest,
			 const struct owner *owner, struct gva mm, struct gva start,
			 const uint64_t *addresses, size_t count)
{
	_cleanup_buffer_ struct buffer answer;
	struct error *error;

	buffer_init(&answer, ANSWER_MAX_BYTES);
	error = guest_view_functions(guest->view, mm, start, addresses, count, &answer);
	return error ? error : take_answer(reader, guest, owner, &answer);
}

/* The code around those places of QUESTION that are in MAPPING. */
static struct error *read_mapping(struct guest_reader *reader, struct guest *guest,
				  const struct code_question *question, struct gva mm,
				  const struct guest_mapping *mapping, const char *path)
{
	const struct owner owner = { .path = path, .build_id = &mapping->build_id };
	uint64_t addresses[GUEST_FUNCTION_ADDRESSES];
	size_t count = 0;

	for (size_t i = 0; i < question->count && count < GUEST_FUNCTION_ADDRESSES; i++) {
		uint64_t ip = question->places[i].ip.value;

		if (question->places[i].mm.value == mm.value && ip >= mapping->start.value &&
		    ip < mapping->end.value)
			addresses[count++] = ip - mapping->start.value + mapping->file_offset;
	}
	if (!count)
		return NULL;
	return ask(reader, guest, &owner, mm, mapping->start, addresses, count);
}

static void note(const struct guest *guest, struct error *error)
{
	if (error)
		log_detail("could not read code of the VM of pid %u: %s", guest->pid,
			   error_message(error));
	error_destroy(error);
}

static void read_process(struct guest_reader *reader, struct guest *guest,
			 const struct code_question *question, struct gva mm)
{
	struct intern *strings = intern_create();
	struct guest_mappings mappings = { 0 };
	struct error *error = guest_view_mappings(guest->view, mm, strings, &mappings);

	for (size_t i = 0; !error && i < mappings.items.count; i++) {
		const struct guest_mapping *mapping = &mappings.items.items[i];

		if (mapping->execute)
			note(guest, read_mapping(reader, guest, question, mm, mapping,
						 intern_string(strings, mapping->path)));
	}
	note(guest, error);
	guest_mappings_deinit(&mappings);
	intern_destroy(strings);
}

static void read_kernel(struct guest_reader *reader, struct guest *guest,
			const struct code_question *question)
{
	const struct owner owner = { .kernel = true };
	uint64_t addresses[GUEST_FUNCTION_ADDRESSES];
	size_t count = 0;

	for (size_t i = 0; i < question->count && count < GUEST_FUNCTION_ADDRESSES; i++)
		if (!question->places[i].mm.value)
			addresses[count++] = question->places[i].ip.value;
	if (count)
		note(guest, ask(reader, guest, &owner, GVA(0), GVA(0), addresses, count));
}

/* Each process of QUESTION once, the hottest first. */
static void answer(struct guest_reader *reader, struct guest *guest,
		   const struct code_question *question)
{
	_cleanup_map_ struct map seen;

	map_init(&seen);
	read_kernel(reader, guest, question);
	for (size_t i = 0; i < question->count && guest->view; i++) {
		struct gva mm = question->places[i].mm;
		bool added;

		map_insert(&seen, mm.value, &added);
		if (added && mm.value && !reader->options.kernel_only)
			read_process(reader, guest, question, mm);
	}
}

static struct guest *find_guest(struct guest_reader *reader, uint32_t vm)
{
	for (size_t i = 0; i < reader->guests.count; i++)
		if (reader->guests.items[i].vm == vm && !reader->guests.items[i].gone)
			return &reader->guests.items[i];
	return NULL;
}

bool guest_reader_take_code(struct guest_reader *reader)
{
	uint64_t begin = clock_monotonic_ns();
	struct code_question question;
	struct guest *guest;

	if (reader->stop && !reader->code_until_ns)
		reader->code_until_ns = begin + LAST_NS;
	if (reader->stop && begin >= reader->code_until_ns)
		return false;
	if (!queue_take(&reader->code_questions, &question))
		return false;
	pthread_mutex_unlock(&reader->lock);
	guest = find_guest(reader, question.vm);
	if (guest && guest->kernel != SIZE_MAX && guest_reader_need_view(reader, guest) &&
	    guest->kernel != SIZE_MAX) {
		answer(reader, guest, &question);
		guest_reader_spend(guest, begin);
	}
	free(question.places);
	pthread_mutex_lock(&reader->lock);
	return true;
}

void guest_reader_forget_code(struct guest_reader *reader)
{
	struct code_question question;

	while (queue_take(&reader->code_questions, &question))
		free(question.places);
	queue_deinit(&reader->code_questions);
	for (size_t i = 0; i < reader->guests.count; i++)
		map_deinit(&reader->guests.items[i].known_code);
	for (size_t i = 0; i < reader->codes.count; i++) {
		buffer_deinit(&reader->codes.items[i].pieces);
		free(reader->codes.items[i].path);
	}
	vector_deinit(&reader->codes);
}

bool guest_reader_code(struct guest_reader *reader, size_t number, struct guest_reader_code *ret)
{
	bool there;

	pthread_mutex_lock(&reader->lock);
	there = number < reader->codes.count;
	if (there)
		*ret = reader->codes.items[number];
	pthread_mutex_unlock(&reader->lock);
	return there;
}

void guest_reader_drop_code(struct guest_reader *reader, size_t number)
{
	struct guest_reader_code *code;

	pthread_mutex_lock(&reader->lock);
	code = &reader->codes.items[number];
	guest_quotas_release(&reader->quotas, code->vm, code->pieces.capacity);
	buffer_deinit(&code->pieces);
	pthread_mutex_unlock(&reader->lock);
}
