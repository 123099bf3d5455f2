/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/groups.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

void groups_init(struct groups *groups, struct session *session)
{
	*groups = (struct groups){ .session = session, .numbers = intern_create() };
	vector_append(&groups->met, 0); /* for 0, which is not a group */
}

void groups_deinit(struct groups *groups)
{
	intern_destroy(groups->numbers);
	vector_deinit(&groups->met);
}

static uint32_t find(struct groups *groups, const struct profile_group *group, uint64_t met)
{
	uint32_t number = intern_bytes(groups->numbers, (const char *)group, sizeof(*group));

	if (number == groups->met.count)
		vector_append(&groups->met, met);
	else if (met < groups->met.items[number])
		groups->met.items[number] = met;
	return number;
}

uint32_t groups_find(struct groups *groups, const struct profile_group *group, uint64_t met)
{
	uint32_t number;

	pthread_mutex_lock(&groups->session->lock);
	number = find(groups, group, met);
	pthread_mutex_unlock(&groups->session->lock);
	return number;
}

struct profile_group groups_get(const struct groups *groups, uint32_t number)
{
	struct profile_group group;

	memcpy(&group, intern_string(groups->numbers, number), sizeof(group));
	return group;
}

uint32_t *groups_order(struct groups *groups)
{
	size_t count = groups->met.count;
	_cleanup_free_ struct sort_key *order = memory_alloc(count * sizeof(*order));
	uint32_t *numbers = memory_calloc(count, sizeof(*numbers));
	struct groups ordered;

	for (size_t i = 0; i < count; i++)
		order[i] = (struct sort_key){ .key = groups->met.items[i], .index = i };
	sort_keys(&order[1], count - 1);
	groups_init(&ordered, groups->session);
	for (size_t i = 1; i < count; i++) {
		struct profile_group group = groups_get(groups, order[i].index);

		numbers[order[i].index] = find(&ordered, &group, order[i].key);
	}
	groups_deinit(groups);
	*groups = ordered;
	return numbers;
}
