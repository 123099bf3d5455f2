/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfvisor stat report: the exits of a recording. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "cmd/pager.h"
#include "cmd/recording.h"
#include "cmd/stat/stat.h"
#include "exits/exits.h"
#include "output/exits_text.h"

#define EVENTS 5

enum sort { SORT_SAMPLE, SORT_TIME, SORT_TOTAL };

struct parsed {
	struct exits_options exits;
	enum sort sort;
};

/* The index of TEXT in WORDS; COUNT: it is none of them. */
static size_t find_word(const char *text, const char *const *words, size_t count)
{
	size_t at = 0;

	while (at < count && strcmp(words[at], text))
		at++;
	return at;
}

static struct error *parse_event(const char *text, enum exits_event *ret)
{
	size_t at = find_word(text, exits_event_words, EVENTS);

	if (at == EVENTS)
		return error_hint(error_create(ERROR_USAGE, "--event: unknown event '%s'", text),
				  "the events are vmexit, mmio, ioport, msr and hypercall");
	*ret = (enum exits_event)at;
	return NULL;
}

static struct error *parse_sort(const char *text, enum sort *ret)
{
	static const char *const words[] = { "sample", "time", "total" };
	size_t at = find_word(text, words, 3);

	if (at == 3)
		return error_hint(error_create(ERROR_USAGE, "--key: unknown key '%s'", text),
				  "the keys are sample, time and total");
	*ret = (enum sort)at;
	return NULL;
}

static struct error *parse_by(const char *text, unsigned int *ret)
{
	static const char *const words[] = { "reason", "gsym", "vcpu" };
	_cleanup_free_ char *copy = memory_strdup(text);
	char *rest = copy, *word;

	while ((word = strsep(&rest, ","))) {
		size_t at = find_word(word, words, 3);

		if (at == 3)
			return error_hint(error_create(ERROR_USAGE, "--by: unknown key '%s'", word),
					  "the keys are reason, gsym and vcpu");
		*ret |= 1u << at;
	}
	return NULL;
}

static struct error *parse(const struct stat_config *config, struct parsed *ret)
{
	const char *vcpus = config->record.vcpu_text;
	struct error *error = parse_by(config->by ? config->by : "reason", &ret->exits.keys);

	if (!error && config->event)
		error = parse_event(config->event, &ret->exits.event);
	if (!error && config->key)
		error = parse_sort(config->key, &ret->sort);
	if (!error && vcpus && !ranges_parse(vcpus, &ret->exits.vcpus))
		error = error_create(ERROR_USAGE,
				     "--vcpu takes numbers and ranges such as 0-3,7, not '%s'",
				     vcpus);
	return error;
}

static double weight_of(const struct exits_row *row, enum sort sort)
{
	switch (sort) {
	case SORT_TIME:
		return row->mean_ns;
	case SORT_TOTAL:
		return row->total_ns;
	default:
		return row->count;
	}
}

struct sorting {
	enum sort sort;
	const struct intern *strings;
};

/* Those of equal weight are sorted by name, then by vCPU. */
static int compare_rows(const void *left, const void *right, void *data)
{
	const struct exits_row *a = left, *b = right;
	const struct sorting *sorting = data;
	double difference = weight_of(b, sorting->sort) - weight_of(a, sorting->sort);
	int names = strcmp(intern_string(sorting->strings, a->reason),
			   intern_string(sorting->strings, b->reason));

	if (difference)
		return difference > 0 ? 1 : -1;
	if (!names)
		names = strcmp(intern_string(sorting->strings, a->symbol),
			       intern_string(sorting->strings, b->symbol));
	return names ? names : (a->vcpu > b->vcpu) - (a->vcpu < b->vcpu);
}

/* An event of which the recording has nothing is an error, not a table without rows. */
static struct error *check_event(const struct exit_sources *sources, enum exits_event event)
{
	static const struct {
		enum exit_role role;
		const char *tracepoint;
	} needs[EVENTS] = {
		[EXITS_VMEXIT] = { EXIT_OF_GUEST, "kvm:kvm_exit" },
		[EXITS_MMIO] = { EXIT_MMIO, "kvm:kvm_mmio" },
		[EXITS_IOPORT] = { EXIT_PORT, "kvm:kvm_pio" },
		[EXITS_MSR] = { EXIT_MSR, "kvm:kvm_msr" },
		[EXITS_HYPERCALL] = { EXIT_HYPERCALL, "kvm:kvm_hypercall" },
	};

	if (exit_sources_have(sources, needs[event].role))
		return NULL;
	return error_hint(error_create(ERROR_NOT_FOUND, "the recording has no events for --event "
				       "%s", exits_event_words[event]),
			  "it needs %s, or what takes its place on other architectures",
			  needs[event].tracepoint);
}

/* Those of --vm and of --pid. */
static struct error *select_vms(const struct record_options *options, struct session *session,
				const struct exit_sources *sources, struct machine_list *ret)
{
	struct error *error;

	if (!options->vms.count && !options->pids.count)
		return NULL;
	exits_find_vms(session, sources);
	error = recording_select_vms(session, &options->vms, ret);
	return error ? error : recording_select_vms(session, &options->pids, ret);
}

static struct error *show(const struct stat_config *config, const struct parsed *parsed,
			  const struct machine_list *vms, struct session *session,
			  struct exits *exits, int fd)
{
	struct sorting sorting = { parsed->sort, session->strings };
	struct exits_view view = { session, exits, parsed->exits.event, parsed->exits.keys,
				   vms, config->record.vcpu_text };

	if (exits->rows.count)
		qsort_r(exits->rows.items, exits->rows.count, sizeof(*exits->rows.items),
			compare_rows, &sorting);
	if (!config->json)
		return exits_text_write(fd, &view);
	exits_json_write(stdout, &view); /* main() checks stdout */
	return NULL;
}

static struct error *count_and_show(const struct stat_config *config, struct parsed *parsed,
				    struct session *session, int fd)
{
	_cleanup_exit_sources_ struct exit_sources *sources = NULL;
	_cleanup_(exits_deinit) struct exits exits = { 0 };
	struct machine_list vms = { 0 };
	struct error *error;

	if (!session->timed)
		return error_create(ERROR_UNSUPPORTED, "the recording has no times");
	error = exit_sources_create(session, &sources);
	if (!error)
		error = check_event(sources, parsed->exits.event);
	if (!error)
		error = select_vms(&config->record, session, sources, &vms);
	if (!error) {
		parsed->exits.vms = vms.items;
		parsed->exits.vm_count = vms.count;
		exits_count(session, sources, &parsed->exits, &exits);
		error = recording_symbols_error(session);
	}
	if (!error)
		error = show(config, parsed, &vms, session, &exits, fd);
	free(vms.items);
	return error;
}

static struct error *report(const struct stat_config *config, struct parsed *parsed)
{
	const struct record_options *record = &config->record;
	struct kernel_source_options symbols = { .guestkallsyms = record->guestkallsyms,
						 .guestmodules = record->guestmodules,
						 .guestvmlinux = record->guestvmlinux,
						 .guestmount = record->guestmount };
	_cleanup_session_ struct session *session = NULL;
	_cleanup_pager_ struct pager pager = { .fd = 1 };
	const char *path;
	struct error *error;

	if (!config->json)
		pager_start(&pager);
	error = recording_raise_walls(&config->input, 1, &symbols, NULL);
	if (!error)
		error = recording_open(config->input, &symbols, &path, &session);
	if (!error)
		error = count_and_show(config, parsed, session, pager.fd);
	pager_finish(&pager);
	if (!error)
		recording_warn(session, path);
	return error;
}

struct error *stat_report(const struct stat_config *config)
{
	struct parsed parsed = { 0 };
	struct error *error = parse(config, &parsed);

	if (!error)
		error = report(config, &parsed);
	free(parsed.exits.vcpus.items);
	return error;
}
