/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the words of the command line to a filter of a recording's samples. */
#include "cmd/filter_options.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/recording.h"

void filter_options_deinit(struct filter_options *options)
{
	struct string_list *lists[] = { &options->vms,	   &options->vcpus, &options->comms,
					&options->pids,	   &options->tids,  &options->dsos,
					&options->symbols, &options->cpus,  &options->modes,
					&options->symbol_parts };

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		free(lists[i]->items);
}

static struct error *parse_ranges(const char *option, const struct string_list *words,
				  struct ranges *ret)
{
	for (size_t i = 0; i < words->count; i++)
		if (!ranges_parse(words->items[i], ret))
			return error_create(ERROR_USAGE,
					    "%s takes numbers and ranges such as 0-3,7, not '%s'",
					    option, words->items[i]);
	return NULL;
}

/* What stands between the commas; the words themselves are FILTER's. */
static void split_names(const struct string_list *words, struct filter *filter,
			struct string_list *ret)
{
	for (size_t i = 0; i < words->count; i++) {
		const char *word = words->items[i];
		char *rest = arena_strndup(filter->texts, word, strlen(word)), *name;

		while ((name = strsep(&rest, ",")))
			if (*name)
				vector_append(ret, name);
	}
}

/* perf's: what stands for an address is one, with the 0x that keeps "add" a name. */
static void take_addresses(struct filter *filter)
{
	size_t names = 0;

	for (size_t i = 0; i < filter->symbols.count; i++) {
		const char *word = filter->symbols.items[i];
		char *end;
		uint64_t address = strtoull(word, &end, 16);

		if (!strncmp(word, "0x", 2) && end > word + 2 && !*end)
			vector_append(&filter->addresses,
				      (struct range){ address, address });
		else
			filter->symbols.items[names++] = word;
	}
	filter->symbols.count = names;
}

/* The sides and the levels that were named; all of those of which none was. */
static struct error *parse_modes(const struct string_list *words, uint32_t *ret)
{
	static const struct {
		const char *word;
		uint32_t cpumodes;
		bool side;
	} modes[] = {
		{ "guest", 1 << PERF_RECORD_MISC_GUEST_KERNEL | 1 << PERF_RECORD_MISC_GUEST_USER,
		  true },
		{ "host", 1 << PERF_RECORD_MISC_KERNEL | 1 << PERF_RECORD_MISC_USER |
				  1 << PERF_RECORD_MISC_HYPERVISOR, true },
		{ "kernel", 1 << PERF_RECORD_MISC_KERNEL | 1 << PERF_RECORD_MISC_GUEST_KERNEL |
				    1 << PERF_RECORD_MISC_HYPERVISOR, false },
		{ "user", 1 << PERF_RECORD_MISC_USER | 1 << PERF_RECORD_MISC_GUEST_USER, false },
	};
	uint32_t sides = 0, levels = 0;

	for (size_t i = 0; i < words->count; i++) {
		_cleanup_free_ char *copy = memory_strdup(words->items[i]);
		char *rest = copy, *word;

		while ((word = strsep(&rest, ","))) {
			size_t at = 0;

			while (at < 4 && strcmp(modes[at].word, word))
				at++;
			if (at == 4)
				return error_hint(error_create(ERROR_USAGE,
							       "unknown --mode '%s'", word),
						  "the modes are guest, host, kernel and user");
			*(modes[at].side ? &sides : &levels) |= modes[at].cpumodes;
		}
	}
	*ret = (sides ? sides : UINT32_MAX) & (levels ? levels : UINT32_MAX);
	return NULL;
}

static struct error *parse_time(const char *text, struct session *session,
				struct ranges *ret)
{
	struct filter_span span = { 0 };

	if (!session->timed)
		return error_create(ERROR_UNSUPPORTED, "the recording has no times: --time has "
						       "nothing to go by");
	if (strchr(text, '%'))
		span = filter_find_span(session);
	if (!filter_parse_times(text, &span, ret) || span.first_ns > span.last_ns)
		return error_hint(error_create(ERROR_USAGE, "--time does not understand '%s'",
					       text),
				  "it takes START,END in seconds, as script prints them, one of "
				  "which may be missing; several of these, separated by blanks; or "
				  "10%%-20%%,40%%-50%% or 10%%/2 of the recording");
	return NULL;
}

/* As perf, rather than to show samples that may have been anywhere. */
static struct error *check_cpus(const struct session *session)
{
	for (size_t i = 0; i < perfdata_reader_event_count(session->reader); i++)
		if (!(session->attrs[i]->sample_type & PERF_SAMPLE_CPU))
			return error_create(ERROR_UNSUPPORTED,
					    "the recording does not say on which CPUs samples of "
					    "'%s' were taken: --cpu has nothing to go by",
					    perfdata_reader_event(session->reader, i)->name);
	return NULL;
}

struct error *filter_options_build(const struct filter_options *options, struct session *session,
				   struct filter *ret)
{
	const struct {
		const char *option;
		const struct string_list *words;
		struct ranges *ret;
	} numbers[] = {
		{ "--vcpu", &options->vcpus, &ret->vcpus },
		{ "--pid", &options->pids, &ret->pids },
		{ "--tid", &options->tids, &ret->tids },
		{ "--cpu", &options->cpus, &ret->cpus },
	};
	struct error *error = recording_select_vms(session, &options->vms, &ret->vms);

	for (size_t i = 0; !error && i < sizeof(numbers) / sizeof(*numbers); i++)
		error = parse_ranges(numbers[i].option, numbers[i].words, numbers[i].ret);
	if (!error && options->cpus.count)
		error = check_cpus(session);
	if (!error && options->modes.count)
		error = parse_modes(&options->modes, &ret->cpumodes);
	if (!error && options->time)
		error = parse_time(options->time, session, &ret->times);
	if (error)
		return error;
	ret->texts = arena_create();
	split_names(&options->comms, ret, &ret->comms);
	split_names(&options->dsos, ret, &ret->dsos);
	split_names(&options->symbols, ret, &ret->symbols);
	for (size_t i = 0; i < options->symbol_parts.count; i++)
		vector_append(&ret->symbol_parts, options->symbol_parts.items[i]);
	take_addresses(ret);
	ret->places = ret->dsos.count || ret->symbols.count || ret->addresses.count ||
		      ret->symbol_parts.count;
	ret->any = ret->places || ret->vms.count || ret->vcpus.count || ret->pids.count ||
		   ret->tids.count || ret->cpus.count || ret->times.count || ret->comms.count ||
		   ret->cpumodes;
	return NULL;
}
