/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which code of guests the recording is to have: that of the functions in which most samples are.
 * It is asked for a while after a guest was first sampled, now and then after that, so that a guest
 * that ends leaves some, and at the end. Since the code that is kept of a guest is limited, what is
 * asked for before the end is, too: what was hot at first may not be what is hot in the end.
 */
#include "base/progress.h"
#include "host/record/recorder_state.h"

#define FIRST_NS 2000000000ull
#define AGAIN_NS 10000000000ull
#define WORTHWHILE 20 /* one of so many samples is somewhere new */
#define ASKED_AT_ONCE 512
#define EARLY_AT_ONCE 32
#define EARLY_MAX 128 /* places, for each of which a function is kept at most */

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

/* Asks for up to MAX places of the guest; false: there are not so many. */
static bool ask(struct recorder *recorder, size_t vm, size_t max)
{
	struct hot_place places[ASKED_AT_ONCE];
	size_t count = hot_code_choose(recorder->vms.items[vm].hot, places, max);

	guest_reader_ask_code(recorder->reader, vm, places, count);
	return count == max;
}

static void ask_early(struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->vms.count; i++) {
		const struct hot_code *hot = recorder->vms.items[i].hot;
		size_t left = hot && hot->chosen < EARLY_MAX ? EARLY_MAX - hot->chosen : 0;

		if (left && hot->unchosen * WORTHWHILE >= hot->samples)
			(void)ask(recorder, i, left < EARLY_AT_ONCE ? left : EARLY_AT_ONCE);
	}
}

/* One guest after another, as long as any has more: there is a limit for all together. */
static void ask_for_rest(struct recorder *recorder)
{
	bool more = true;

	for (size_t round = 0; more && round < HOT_CODE_PLACES / ASKED_AT_ONCE; round++) {
		more = false;
		for (size_t i = 0; i < recorder->vms.count; i++)
			if (recorder->vms.items[i].hot)
				more |= ask(recorder, i, ASKED_AT_ONCE);
	}
}

void recorder_ask_code(struct recorder *recorder, bool last)
{
	uint64_t now = clock_monotonic_ns();

	if (!recorder->config.code || !recorder->reader)
		return;
	if (!recorder->code_due_ns)
		recorder->code_due_ns = now + FIRST_NS;
	if (last) {
		ask_for_rest(recorder);
	} else if (now >= recorder->code_due_ns) {
		recorder->code_due_ns = now + AGAIN_NS;
		ask_early(recorder);
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
