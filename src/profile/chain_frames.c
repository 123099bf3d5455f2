/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/chain_frames.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

void chain_frames_init(struct chain_frames *frames, struct session *session,
		       struct identities *functions)
{
	*frames = (struct chain_frames){ .session = session, .functions = functions };
}

void chain_frames_deinit(struct chain_frames *frames)
{
	vector_deinit(&frames->list);
	vector_deinit(&frames->met);
	for (size_t i = 0; i < sizeof(frames->numbers) / sizeof(*frames->numbers); i++)
		vector_deinit(&frames->numbers[i]);
}

/* The number of IDENTITY at the level, + 1; 0: it has none yet. Valid until the next call. */
static uint32_t *place_of(struct chain_frames *frames, uint32_t identity, uint16_t cpumode)
{
	while (frames->numbers[cpumode].count <= identity)
		vector_append(&frames->numbers[cpumode], 0);
	return &frames->numbers[cpumode].items[identity];
}

static uint32_t find(struct chain_frames *frames, uint32_t location, uint16_t cpumode, uint64_t met)
{
	uint32_t identity = identities_find(frames->functions, location, cpumode);
	uint32_t *place = place_of(frames, identity, cpumode), number;

	if (!*place) {
		vector_append(&frames->list,
			      (struct chains_frame){ .location = location, .cpumode = cpumode });
		vector_append(&frames->met, met);
		*place = frames->list.count;
	}
	number = *place - 1;
	/* another thread met it later, but got here first */
	if (met < frames->met.items[number]) {
		frames->met.items[number] = met;
		frames->list.items[number].location = location;
	}
	return number;
}

uint32_t chain_frames_find(struct chain_frames *frames, uint32_t location, uint16_t cpumode,
			   uint64_t met)
{
	uint32_t number;

	pthread_mutex_lock(&frames->session->lock);
	number = find(frames, location, cpumode, met);
	pthread_mutex_unlock(&frames->session->lock);
	return number;
}

uint32_t *chain_frames_order(struct chain_frames *frames)
{
	size_t count = frames->list.count;
	_cleanup_free_ struct sort_key *order = memory_alloc((count + 1) * sizeof(*order));
	_cleanup_free_ struct chains_frame *old =
		memory_dup(frames->list.items, count * sizeof(*old));
	uint32_t *numbers = memory_alloc((count + 1) * sizeof(*numbers));

	for (size_t i = 0; i < count; i++)
		order[i] = (struct sort_key){ .key = frames->met.items[i], .index = i };
	sort_keys(order, count);
	for (size_t i = 0; i < count; i++) {
		frames->list.items[i] = old[order[i].index];
		numbers[order[i].index] = i;
	}
	return numbers;
}
