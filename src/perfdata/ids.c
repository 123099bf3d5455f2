/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the event, and the VM and vCPU, that a record belongs to.
 *
 * A record names its event by an id. With PERF_SAMPLE_IDENTIFIER, the id is a sample's first word
 * and the last word of other records. With only PERF_SAMPLE_ID, its position depends on the other
 * fields, and perf requires all events of a file to agree on it (evlist__valid_sample_type()).
 * Records that perf synthesised have the id 0 and count for the first event. If there is only one
 * event, no id is needed to find it.
 */
#include <string.h>

#include "perfdata/reader_state.h"
#include "perfdata/sample_fields.h"

/* The number of words before the id in a sample of that type, -1 if it has none. */
static int sample_word(uint64_t type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		return 0;
	if (!(type & PERF_SAMPLE_ID))
		return -1;
	return sample_words_before(type, PERF_SAMPLE_ID);
}

/*
 * The number of words from the id to the end of another record, including the id; -1 if it has
 * none.
 */
static int trailer_word(uint64_t type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		return 1;
	if (!(type & PERF_SAMPLE_ID))
		return -1;
	return __builtin_popcountll(type & SAMPLE_TRAILER_BITS) -
	       sample_trailer_words_before(type, PERF_SAMPLE_ID);
}

/* Updates the positions of ids for a new event. */
static void place_ids(struct reader_ids *ids, uint64_t type, const struct perfdata_event *first)
{
	if (!first) {
		ids->sample_word = sample_word(type);
		ids->trailer_word = trailer_word(type);
		ids->uniform = true;
		return;
	}
	if (sample_word(type) != ids->sample_word)
		ids->sample_word = -1;
	if (trailer_word(type) != ids->trailer_word)
		ids->trailer_word = -1;
	if (type != first->attr.sample_type)
		ids->uniform = false;
}

struct perfdata_event *perfdata_ids_add_event(struct perfdata_reader *reader,
					      const struct perf_event_attr *attr)
{
	struct perfdata_event *event;

	if (reader->events.count >= READER_MAX_EVENTS)
		return NULL;
	event = memory_calloc(1, sizeof(*event));
	event->attr = *attr;
	event->name = perfdata_attr_name(attr);
	place_ids(&reader->ids, attr->sample_type,
		  reader->events.count ? reader->events.items[0] : NULL);
	vector_append(&reader->events, event);
	vector_append(&reader->layouts, perfdata_plain_layout(attr));
	return event;
}

bool perfdata_ids_add(struct perfdata_reader *reader, size_t event_index, uint64_t id)
{
	struct perfdata_event *event = reader->events.items[event_index];
	uint64_t *position;
	bool added;

	if (reader->id_count >= READER_MAX_IDS)
		return false;
	position = map_insert(&reader->ids.positions, id, &added);
	if (!added)
		return true; /* if several events claim an id, the first gets it */
	*position = (uint64_t)event_index << 32 | event->id_count;
	/* The array grows by powers of two, so its capacity need not be stored. */
	if (!(event->id_count & (event->id_count - 1)))
		event->ids = memory_resize(event->ids,
					   event->id_count ? 2 * event->id_count : 1,
					   sizeof(*event->ids));
	event->ids[event->id_count++] = (struct perfdata_id){
		.id = id, .vcpu = PERFDATA_NO_VCPU, .cpu = UINT32_MAX,
	};
	reader->id_count++;
	return true;
}

struct perfdata_id *perfdata_ids_find(struct perfdata_reader *reader, uint64_t id,
				      size_t *ret_event_index)
{
	struct id_cache_slot *slot = &reader->ids.cache[id % ID_CACHE_SIZE];

	if (!id)
		return NULL;
	if (slot->id != id) {
		const uint64_t *position = map_find(&reader->ids.positions, id);

		if (!position)
			return NULL;
		*slot = (struct id_cache_slot){ .id = id, .event_index = *position >> 32,
						.id_index = *position & UINT32_MAX };
	}
	*ret_event_index = slot->event_index;
	return &reader->events.items[slot->event_index]->ids[slot->id_index];
}

void perfdata_ids_deinit(struct perfdata_reader *reader)
{
	for (size_t i = 0; i < reader->events.count; i++) {
		free(reader->events.items[i]->name);
		free(reader->events.items[i]->group_name);
		free(reader->events.items[i]->ids);
		free(reader->events.items[i]);
	}
	vector_deinit(&reader->events);
	vector_deinit(&reader->layouts);
	map_deinit(&reader->ids.positions);
}

static uint64_t load_word(const struct perfdata_reader *reader, const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return reader->swap ? __builtin_bswap64(word) : word;
}

/* The event of a record with its id at AT (NULL: it has none), if there are several events. */
static bool find_event(struct perfdata_reader *reader, const uint8_t *at, size_t *ret)
{
	uint64_t id = at ? load_word(reader, at) : 0;

	if (!at && !reader->ids.uniform)
		return false;
	if (!id) {
		*ret = 0;
		return true;
	}
	return perfdata_ids_find(reader, id, ret) != NULL;
}

bool perfdata_reader_decode(struct perfdata_reader *reader, const struct perfdata_record *record,
			    struct perfdata_decoded *ret)
{
	size_t event_index = 0;

	if (record->type != PERF_RECORD_SAMPLE || !reader->events.count)
		return false;
	if (reader->events.count > 1) {
		int word = reader->ids.sample_word;

		if (word >= 0 && (word + 1) * sizeof(uint64_t) > record->body_bytes)
			return false;
		if (!find_event(reader, word < 0 ? NULL : record->body + word * sizeof(uint64_t),
				&event_index))
			return false;
	}
	if (!perfdata_sample_decode(&reader->events.items[event_index]->attr, record->body,
				    record->body_bytes, record->misc, reader->swap,
				    &reader->scratch, &ret->sample))
		return false;
	ret->event_index = event_index;
	ret->id = perfdata_ids_find(reader, ret->sample.id, &event_index);
	return true;
}

bool perfdata_reader_decode_id(struct perfdata_reader *reader,
			       const struct perfdata_record *record, struct perfdata_decoded *ret)
{
	size_t event_index = 0;

	if (record->type == PERF_RECORD_SAMPLE || record->type >= RECORD_USER_FIRST ||
	    !reader->events.count || !reader->events.items[0]->attr.sample_id_all)
		return false;
	if (reader->events.count > 1) {
		int word = reader->ids.trailer_word;

		if (word >= 0 && word * sizeof(uint64_t) > record->body_bytes)
			return false;
		if (!find_event(reader,
				word < 0 ? NULL
					 : record->body + record->body_bytes -
						   word * sizeof(uint64_t),
				&event_index))
			return false;
	}
	if (!perfdata_sample_id_decode(&reader->events.items[event_index]->attr, record->body,
				       record->body_bytes, reader->swap, &ret->sample))
		return false;
	ret->sample.misc = record->misc;
	ret->event_index = event_index;
	ret->id = perfdata_ids_find(reader, ret->sample.id, &event_index);
	return true;
}
