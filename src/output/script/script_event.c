/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fields of an event, chosen like in perf (tools/perf/builtin-script.c, output[] and
 * perf_session__check_output_opt()): tracepoints show their own fields instead of an address, or
 * both if they have call chains. Fields that the samples do not have are left out, unless the user
 * asked for them.
 */
#include "output/script/script_event.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"

#define COMMON (SCRIPT_COMM | SCRIPT_TID | SCRIPT_CPU | SCRIPT_TIME | SCRIPT_EVENT)
#define ADDRESS (SCRIPT_IP | SCRIPT_SYMBOL | SCRIPT_OFFSET | SCRIPT_DSO)

static uint32_t default_fields(const struct perf_event_attr *attr, bool chains)
{
	if (attr->type != PERF_TYPE_TRACEPOINT)
		return COMMON | ADDRESS | SCRIPT_PERIOD;
	return COMMON | SCRIPT_TRACE | (chains ? ADDRESS : 0);
}

static const struct {
	uint32_t field;
	uint64_t sample_type;
	const char *word, *what;
} needs[] = {
	{ SCRIPT_IP, PERF_SAMPLE_IP, "ip", "an address" },
	{ SCRIPT_PID, PERF_SAMPLE_TID, "pid", "a process" },
	{ SCRIPT_TID, PERF_SAMPLE_TID, "tid", "a thread" },
	{ SCRIPT_TIME, PERF_SAMPLE_TIME, "time", "a time" },
	{ SCRIPT_TOD, PERF_SAMPLE_TIME, "tod", "a time" },
	{ SCRIPT_CPU, PERF_SAMPLE_CPU, "cpu", "a CPU" },
	{ SCRIPT_ADDR, PERF_SAMPLE_ADDR, "addr", "a data address" },
	{ SCRIPT_DATA_SRC, PERF_SAMPLE_DATA_SRC, "data_src", "a data source" },
	{ SCRIPT_WEIGHT, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, "weight", "a weight" },
	{ SCRIPT_INS_LAT, PERF_SAMPLE_WEIGHT_STRUCT, "ins_lat", "a latency" },
	{ SCRIPT_IREGS, PERF_SAMPLE_REGS_INTR, "iregs", "registers" },
	{ SCRIPT_UREGS, PERF_SAMPLE_REGS_USER, "uregs", "the program's registers" },
	{ SCRIPT_BRSTACK, PERF_SAMPLE_BRANCH_STACK, "brstack", "branches" },
	{ SCRIPT_BRSTACKSYM, PERF_SAMPLE_BRANCH_STACK, "brstacksym", "branches" },
	{ SCRIPT_PHYS_ADDR, PERF_SAMPLE_PHYS_ADDR, "phys_addr", "a physical address" },
	{ SCRIPT_DATA_PAGE_SIZE, PERF_SAMPLE_DATA_PAGE_SIZE, "data_page_size", "a page size" },
	{ SCRIPT_CODE_PAGE_SIZE, PERF_SAMPLE_CODE_PAGE_SIZE, "code_page_size", "a page size" },
	{ SCRIPT_CGROUP, PERF_SAMPLE_CGROUP, "cgroup", "a cgroup" },
};

static const struct script_choice *choice_of(const struct script_fields *fields, uint32_t type)
{
	return &fields->kinds[type < SCRIPT_KINDS - 1 ? type : SCRIPT_KINDS - 1];
}

static struct error *choose(const struct perfdata_event *event, const struct script_choice *choice,
			    bool chains, uint32_t *ret)
{
	uint32_t asked = choice->only | choice->more, chosen = choice->only;

	if (!choice->set)
		chosen = (default_fields(&event->attr, chains) | choice->more) & ~choice->less;
	if (event->attr.type != PERF_TYPE_TRACEPOINT)
		chosen &= ~SCRIPT_TRACE;
	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++) {
		if (!(chosen & needs[i].field) || (event->attr.sample_type & needs[i].sample_type))
			continue;
		if (asked & needs[i].field)
			return error_create(ERROR_UNSUPPORTED,
					    "samples of '%s' do not have %s: field '%s' cannot be "
					    "printed",
					    event->name, needs[i].what, needs[i].word);
		chosen &= ~needs[i].field;
	}
	if ((chosen & SCRIPT_OFFSET) && !(chosen & SCRIPT_SYMBOL))
		return error_create(ERROR_USAGE, "-F symoff needs sym, too");
	if ((chosen & SCRIPT_SOURCE) && !(chosen & SCRIPT_IP))
		return error_create(ERROR_USAGE, "-F srcline needs ip, too");
	*ret = chosen;
	return NULL;
}

/* Event names are right-aligned to the longest one. */
static char *make_name(const char *name, size_t width)
{
	_cleanup_buffer_ struct buffer text;

	buffer_init(&text, 1024 * 1024);
	for (size_t length = strlen(name); length < width; length++)
		buffer_append_u8(&text, ' ');
	utf8_append_escaped(&text, name);
	buffer_append_string(&text, ": ");
	return memory_strndup((const char *)text.data, text.size);
}

struct error *script_events_create(const struct session *session,
				   const struct script_fields *fields, struct script_event **ret)
{
	size_t count = perfdata_reader_event_count(session->reader), width = 0;
	struct script_event *events = memory_calloc(count + 1, sizeof(*events));

	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(perfdata_reader_event(session->reader, i)->name);

		width = length > width ? length : width;
	}
	for (size_t i = 0; i < count; i++) {
		const struct perfdata_event *event = perfdata_reader_event(session->reader, i);
		bool chains = (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN) &&
			      !fields->no_chains;
		struct error *error = choose(event, choice_of(fields, event->attr.type), chains,
					     &events[i].fields);

		if (error) {
			script_events_destroy(events, count);
			return error;
		}
		events[i].chains = chains;
		events[i].name = make_name(event->name, width);
		events[i].name_bytes = strlen(events[i].name);
	}
	*ret = events;
	return NULL;
}

void script_events_destroy(struct script_event *events, size_t count)
{
	for (size_t i = 0; events && i < count; i++)
		free(events[i].name);
	free(events);
}

bool script_events_have(const struct script_event *events, size_t count, uint32_t field)
{
	for (size_t i = 0; i < count; i++)
		if (events[i].fields & field)
			return true;
	return false;
}
