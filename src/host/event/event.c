/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The -e syntax: distinguishes the kinds of events and parses their modifiers, with the same
 * meaning as in perf (tools/perf/util/parse-events.{l,y,c}): naming one level (u, k, h) excludes
 * the others, and naming one side (G, H) excludes the other.
 *
 * On a host with several kinds of cores, a generalised event becomes one event per kind, as in
 * perf: the upper half of attr.config holds the PMU's type (PERF_PMU_TYPE_SHIFT). An event without
 * it would count on one kind only.
 */
#include "host/event/event.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "host/event/event_names.h"
#include "host/event/event_pmu.h"
#include "host/event/event_private.h"
#include "host/event/tracefs.h"

#define PMU_TYPE_SHIFT 32 /* PERF_PMU_TYPE_SHIFT of newer headers */
#define MAX_EVENTS 256

static void drop_events(struct host_events *events, size_t from)
{
	while (events->items.count > from) {
		struct host_event *event = &events->items.items[--events->items.count];

		free(event->name);
		free(event->group_name);
		free(event->filter);
	}
}

void host_events_deinit(struct host_events *events)
{
	drop_events(events, 0);
	vector_deinit(&events->items);
}

static struct host_event *add_event(struct host_events *events, const char *name)
{
	struct host_event event = { .name = memory_strdup(name) };

	event.attr.size = sizeof(event.attr);
	vector_append(&events->items, event);
	return &events->items.items[events->items.count - 1];
}

static struct error *unknown_event(const char *name, const char *system)
{
	struct event_candidates candidates = { 0 };
	const char *root = tracefs_find();
	_cleanup_free_ char *near = NULL;
	struct error *error = error_create(ERROR_NOT_FOUND, "unknown event '%s'", name);

	event_pmu_list_events(EVENT_PMU_ROOT, &candidates);
	if (root && system)
		tracefs_list_events(root, system, &candidates);
	near = event_name_suggest(name, &candidates);
	for (size_t i = 0; i < candidates.names.count; i++)
		free(candidates.names.items[i]);
	vector_deinit(&candidates.names);
	if (near)
		return error_hint(error, "similar names: %s; 'perf list' shows all events", near);
	return error_hint(error, "'perf list' shows the names");
}

/* Applies one letter; false: unknown modifier. */
static bool apply_modifier(struct host_event *event, char letter)
{
	switch (letter) {
	case 'u':
		event->levels_named = event->user = true;
		break;
	case 'k':
		event->levels_named = event->kernel = true;
		break;
	case 'h':
		event->levels_named = event->hypervisor = true;
		break;
	case 'G':
		event->sides_named = event->guest = true;
		break;
	case 'H':
		event->sides_named = event->host = true;
		break;
	case 'p':
		if (event->attr.precise_ip == 3)
			return false;
		event->attr.precise_ip++;
		break;
	case 'P':
		event->precise_best = true;
		break;
	case 'I':
		event->attr.exclude_idle = 1;
		break;
	case 'D':
		event->attr.pinned = 1;
		break;
	case 'e':
		event->attr.exclusive = 1;
		break;
	case 'S':
		event->values_read = true;
		break;
	case 'W':
		event->weak = true;
		break;
	default:
		return false;
	}
	return true;
}

struct error *event_apply_modifiers(const char *modifiers, struct host_events *events,
				    size_t first)
{
	for (size_t i = first; i < events->items.count; i++)
		for (const char *letter = modifiers; *letter; letter++)
			if (!apply_modifier(&events->items.items[i], *letter))
				return error_hint(error_create(ERROR_USAGE,
							       "invalid event modifiers '%s'",
							       modifiers),
						  "u k h: levels; G H: guest, host; p pp ppp P: "
						  "precise; I: not idle; D: pinned; e: exclusive; "
						  "of a group also S: its first event "
						  "samples; W: weak");
	return NULL;
}

static struct error *parse_tracepoint(const char *system, const char *name,
				      struct host_events *events)
{
	const char *root = tracefs_find();
	struct tracefs_events found = { 0 };
	struct error *error;

	if (!root)
		return error_hint(
			error_create(ERROR_PERMISSION,
				     "tracepoint '%s:%s' cannot be found: tracefs is not "
				     "mounted or not readable",
				     system, name),
			"as root: mount -t tracefs nodev /sys/kernel/tracing");
	error = tracefs_find_events(root, system, name, &found);
	if (error) {
		_cleanup_free_ char *whole = memory_printf("%s:%s", system, name);

		error_destroy(error);
		return unknown_event(whole, system);
	}
	for (size_t i = 0; i < found.items.count; i++) {
		const struct tracefs_event *item = &found.items.items[i];
		_cleanup_free_ char *whole = memory_printf("%s:%s", item->system, item->name);
		struct host_event *event = add_event(events, whole);

		event->attr.type = PERF_TYPE_TRACEPOINT;
		event->attr.config = item->id;
		event->software = event->tracepoint = true;
	}
	tracefs_events_deinit(&found);
	return NULL;
}

static void add_generalised(struct host_events *events, const char *name, uint32_t type,
			    uint64_t config)
{
	struct event_core_pmus cores = { 0 };
	struct host_event *event;

	if (type != PERF_TYPE_SOFTWARE)
		event_pmu_find_cores(EVENT_PMU_ROOT, &cores);
	for (size_t i = 0; i < cores.items.count; i++) {
		_cleanup_free_ char *full =
			memory_printf("%s/%s/", cores.items.items[i].name, name);

		event = add_event(events, full);
		event->attr.type = type;
		event->attr.config = config | (uint64_t)cores.items.items[i].type << PMU_TYPE_SHIFT;
	}
	if (!cores.items.count) {
		event = add_event(events, name);
		event->attr.type = type;
		event->attr.config = config;
		event->software = type == PERF_TYPE_SOFTWARE;
	}
	event_core_pmus_deinit(&cores);
}

static bool is_raw(const char *name, uint64_t *ret_config)
{
	size_t digits = *name == 'r' ? strspn(name + 1, "0123456789abcdefABCDEF") : 0;

	if (!digits || digits > 16 || name[1 + digits])
		return false;
	*ret_config = strtoull(name + 1, NULL, 16);
	return true;
}

/* Parses a name without ':' or '/'. False: no such event. */
static bool parse_name(const char *name, struct host_events *events, struct error **ret_error)
{
	uint32_t type;
	uint64_t config;
	_cleanup_free_ char *pmu = NULL;

	if (event_name_find(name, &type, &config)) {
		add_generalised(events, name, type, config);
		return true;
	}
	if (is_raw(name, &config)) {
		struct host_event *event = add_event(events, name);

		event->attr.type = PERF_TYPE_RAW;
		event->attr.config = config;
		return true;
	}
	pmu = event_pmu_find_event(EVENT_PMU_ROOT, name);
	if (pmu)
		*ret_error = event_pmu_parse(EVENT_PMU_ROOT, pmu, name, add_event(events, name));
	return pmu != NULL;
}

/* PMUs implemented in software; sysfs does not distinguish them from hardware. */
static bool is_software_pmu(const char *pmu)
{
	static const char *const names[] = { "software", "tracepoint", "kprobe", "uprobe",
					     "breakpoint" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(pmu, names[i]))
			return true;
	return false;
}

static struct error *parse_pmu_event(const char *text, struct host_events *events)
{
	size_t first = events->items.count;
	const char *slash = strchr(text, '/'), *last = strrchr(text, '/');
	_cleanup_free_ char *pmu = memory_strndup(text, slash - text);
	_cleanup_free_ char *terms = NULL;
	const char *modifiers = last + 1 + (last[1] == ':');
	struct host_event *event;
	struct error *error;

	if (slash == last)
		return error_hint(
			error_create(ERROR_USAGE, "event '%s' lacks the second '/'", text),
			"example: cpu/event=0x3c,umask=0x01/G");
	terms = memory_strndup(slash + 1, last - slash - 1);
	event = add_event(events, text);
	error = event_pmu_parse(EVENT_PMU_ROOT, pmu, terms, event);
	event->software = is_software_pmu(pmu);
	return error ? error : event_apply_modifiers(modifiers, events, first);
}

static struct error *parse_colons(const char *text, struct host_events *events)
{
	size_t first = events->items.count;
	size_t head_length = strcspn(text, ":");
	const char *tail = text + head_length + 1;
	_cleanup_free_ char *head = memory_strndup(text, head_length);
	_cleanup_free_ char *name = memory_strndup(tail, strcspn(tail, ":"));
	struct error *error = NULL;

	if (!strchr(tail, ':') && parse_name(head, events, &error)) {
		for (size_t i = first; !error && i < events->items.count; i++) {
			char *full = memory_printf("%s:%s", events->items.items[i].name, tail);

			free(events->items.items[i].name);
			events->items.items[i].name = full;
		}
		return error ? error : event_apply_modifiers(tail, events, first);
	}
	error = parse_tracepoint(head, name, events);
	tail += strlen(name);
	return error || !*tail ? error : event_apply_modifiers(tail + 1, events, first);
}

struct error *event_parse_one(const char *text, struct host_events *events)
{
	struct error *error = NULL;

	if (!*text)
		return error_create(ERROR_USAGE, "empty event name");
	if (strchr(text, '/'))
		return parse_pmu_event(text, events);
	if (strchr(text, ':'))
		return parse_colons(text, events);
	if (parse_name(text, events, &error))
		return error;
	return unknown_event(text, NULL);
}

size_t event_length(const char *text)
{
	bool terms = false, group = false;
	size_t length = 0;

	for (; text[length] && (terms || group || text[length] != ','); length++) {
		if (text[length] == '/')
			terms = !terms;
		else if (!terms && strchr("{}", text[length]))
			group = text[length] == '{';
	}
	return length;
}

struct error *host_events_parse(const char *text, struct host_events *events)
{
	size_t before = events->items.count;
	struct error *error = NULL;

	for (bool more = true; more && !error;) {
		size_t length = event_length(text);
		_cleanup_free_ char *one = memory_strndup(text, length);

		error = strpbrk(one, "{}") ? event_parse_group(one, events)
					   : event_parse_one(one, events);
		if (!error && events->items.count > MAX_EVENTS)
			error = error_create(ERROR_USAGE, "'%s' expands to more than %d events",
					     one,
					     MAX_EVENTS);
		more = text[length] == ',';
		text += length + more;
	}
	if (error)
		drop_events(events, before);
	return error;
}

static host_modes named_levels(const struct host_event *event, host_modes modes)
{
	host_modes named = 1 << PERF_RECORD_MISC_CPUMODE_UNKNOWN;

	if (!event->levels_named)
		return modes;
	if (event->user)
		named |= 1 << PERF_RECORD_MISC_USER | 1 << PERF_RECORD_MISC_GUEST_USER;
	if (event->kernel)
		named |= 1 << PERF_RECORD_MISC_KERNEL | 1 << PERF_RECORD_MISC_GUEST_KERNEL;
	if (event->hypervisor)
		named |= 1 << PERF_RECORD_MISC_HYPERVISOR;
	return modes & named;
}

void host_event_set_modes(struct host_event *event, bool guest, bool host, host_modes *ret_modes)
{
	if (event->sides_named) {
		guest = event->guest;
		host = event->host;
	} else if (event->tracepoint) {
		guest = host = true;
	}
	*ret_modes =
		named_levels(event, (guest ? HOST_MODES_GUEST : 0) | (host ? HOST_MODES_HOST : 0));
	if (event->software)
		return;
	event->attr.exclude_host = !host;
	event->attr.exclude_guest = !guest;
	if (event->levels_named) {
		event->attr.exclude_user = !event->user;
		event->attr.exclude_kernel = !event->kernel;
		event->attr.exclude_hv = !event->hypervisor;
	}
}

void host_event_set_sampling(struct host_event *event)
{
	struct perf_event_attr *attr = &event->attr;

	attr->disabled = !event->group_rank; /* its leader enables all */
	/* The clock that a BPF program has, too; not local_clock(), which it has not. */
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			    PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			    (event->tracepoint ? PERF_SAMPLE_RAW : 0);
	attr->read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	if (event->values_read && !event->group_rank) {
		attr->sample_type |= PERF_SAMPLE_READ;
		attr->read_format |= PERF_FORMAT_GROUP;
	}
}

bool host_event_sees_host(const struct host_event *event)
{
	return !event->attr.exclude_host;
}

bool host_event_sees_guest(const struct host_event *event)
{
	return !event->attr.exclude_guest;
}

/*
 * The counters of KVM's own events go to guests first: these are pinned events of the vCPU's thread
 * (pmc_reprogram_counter(), arch/x86/kvm/pmu.c), ours give way. Only another pinned one does not; a
 * guest's that finds no counter then is in error and counts nothing (perf_event_open(2), "pinned").
 */
char *host_event_harm(const struct host_event *event, enum host_vpmu vpmu)
{
	if (event->software || vpmu == HOST_VPMU_NONE)
		return NULL;
	if (vpmu == HOST_VPMU_MEDIATED)
		return event->attr.exclude_guest
			       ? NULL
			       : memory_printf("while '%s' is recorded, VMs with a mediated vPMU "
					       "cannot start",
					       event->name);
	return event->attr.pinned
		       ? memory_printf("'%s' is pinned (D): it takes a counter from VMs with a "
				       "vPMU, whose own events may count nothing",
				       event->name)
		       : NULL;
}

bool host_event_samples(const struct host_event *event)
{
	return !event->values_read || !event->group_rank;
}

bool host_event_is_clock(const struct host_event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE &&
	       (event->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
		event->attr.config == PERF_COUNT_SW_TASK_CLOCK);
}
