/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which code of guests the recording is to have: that of the functions in which most samples are.
 * It is asked for a while after a guest was first sampled, now and then after that, so that a guest
 * that ends leaves some, and at the end.
 */
#include "base/progress.h"
#include "host/record/recorder_state.h"

#define FIRST_NS 2000000000ull
#define AGAIN_NS 10000000000ull
#define WORTHWHILE 20 /* one of so many samples is somewhere new */
#define ASKED_AT_ONCE 512

void recorder_note_code(struct recorder *recorder, size_t vm, const struct capture_guest *guest,
			const struct perfdata_sample *sample)
{
	struct recorder_vm *its = &recorder->vms.items[vm];
	bool user = (sample->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_GUEST_USER;
	struct hot_place place = { .ip = GVA(sample->ip) };

	if (!recorder->config.code || !recorder->reader || (guest && guest->nested))
		return;
	if (user && (!guest || !guest->has_task || !guest->mm.value))
		return;
	if (user)
		place.mm = guest->mm;
	if (!its->hot) {
		its->hot = memory_alloc(sizeof(*its->hot));
		hot_code_init(its->hot);
	}
	hot_code_note(its->hot, &place);
}

void recorder_ask_code(struct recorder *recorder, bool last)
{
	struct hot_place places[ASKED_AT_ONCE];
	uint64_t now = clock_monotonic_ns();

	if (!recorder->config.code || !recorder->reader)
		return;
	if (!recorder->code_due_ns)
		recorder->code_due_ns = now + FIRST_NS;
	if (!last && now < recorder->code_due_ns)
		return;
	recorder->code_due_ns = now + AGAIN_NS;
	for (size_t i = 0; i < recorder->vms.count; i++) {
		struct hot_code *hot = recorder->vms.items[i].hot;

		if (!hot || (!last && hot->unchosen * WORTHWHILE < hot->samples))
			continue;
		guest_reader_ask_code(recorder->reader, i, places,
				      hot_code_choose(hot, places, ASKED_AT_ONCE));
	}
}

void recorder_forget_code(struct recorder_vm *vm)
{
	if (vm->hot)
		hot_code_deinit(vm->hot);
	free(vm->hot);
	vm->hot = NULL;
}

bool recorder_code(const struct recorder *recorder, size_t number, struct guest_reader_code *ret)
{
	return recorder->reader && guest_reader_code(recorder->reader, number, ret);
}

void recorder_drop_code(struct recorder *recorder, size_t number)
{
	guest_reader_drop_code(recorder->reader, number);
}
