/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The syntax of perf script's -F (tools/perf/builtin-script.c, parse_output_fields()). */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "output/script/script_text.h"

static const struct {
	const char *word;
	enum script_field field;
} words[] = {
	{ "comm", SCRIPT_COMM },     { "tid", SCRIPT_TID },
	{ "pid", SCRIPT_PID },	     { "time", SCRIPT_TIME },
	{ "cpu", SCRIPT_CPU },	     { "event", SCRIPT_EVENT },
	{ "trace", SCRIPT_TRACE },   { "ip", SCRIPT_IP },
	{ "sym", SCRIPT_SYMBOL },    { "dso", SCRIPT_DSO },
	{ "symoff", SCRIPT_OFFSET }, { "period", SCRIPT_PERIOD },
	{ "vcpu", SCRIPT_VCPU },     { "machine_pid", SCRIPT_MACHINE_PID },
	{ "addr", SCRIPT_ADDR },     { "data_src", SCRIPT_DATA_SRC },
	{ "weight", SCRIPT_WEIGHT }, { "ins_lat", SCRIPT_INS_LAT },
	{ "iregs", SCRIPT_IREGS },   { "uregs", SCRIPT_UREGS },
	{ "brstack", SCRIPT_BRSTACK },
	{ "brstacksym", SCRIPT_BRSTACKSYM },
	{ "phys_addr", SCRIPT_PHYS_ADDR },
	{ "data_page_size", SCRIPT_DATA_PAGE_SIZE },
	{ "code_page_size", SCRIPT_CODE_PAGE_SIZE },
	{ "cgroup", SCRIPT_CGROUP }, { "srcline", SCRIPT_SOURCE },
	{ "misc", SCRIPT_MISC },     { "tod", SCRIPT_TOD },
};

static struct error *find_field(const char *word, uint32_t *ret)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!strcmp(words[i].word, word)) {
			*ret = words[i].field;
			return NULL;
		}
	}
	return error_hint(error_create(ERROR_USAGE, "-F: unknown field '%s'", word),
			  "the fields are comm, tid, pid, time, cpu, event, ip, sym, symoff, dso, "
			  "period, machine_pid, vcpu, trace, addr, data_src, weight, ins_lat, "
			  "iregs, uregs, brstack, brstacksym, phys_addr, data_page_size, "
			  "code_page_size, cgroup, srcline, misc, tod");
}

/* What precedes the words: which kind of event they are of. */
static const struct {
	const char *word;
	uint32_t type;
} kinds[] = {
	{ "hw", PERF_TYPE_HARDWARE }, { "sw", PERF_TYPE_SOFTWARE },
	{ "trace", PERF_TYPE_TRACEPOINT }, { "raw", PERF_TYPE_RAW },
	{ "break", PERF_TYPE_BREAKPOINT },
};

static struct error *find_kind(const char *word, uint32_t *ret)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!strcmp(kinds[i].word, word)) {
			*ret = kinds[i].type;
			return NULL;
		}
	}
	return error_hint(error_create(ERROR_USAGE, "-F: unknown kind of event '%s'", word),
			  "it is hw, sw, trace, raw or break");
}

static struct error *parse_words(char *rest, const char *text, struct script_choice *ret)
{
	struct script_choice choice = { 0 };
	char *word;

	while ((word = strsep(&rest, ","))) {
		char sign = *word == '+' || *word == '-' ? *word++ : 0;
		uint32_t field = 0;
		struct error *error = find_field(word, &field);

		if (error)
			return error;
		if (sign == '+')
			choice.more |= field;
		else if (sign == '-')
			choice.less |= field;
		else
			choice.only |= field;
	}
	choice.set = choice.only;
	if (choice.only && (choice.more || choice.less))
		return error_create(ERROR_USAGE, "-F takes either fields with + or -, or "
						 "without, but not both: '%s'", text);
	*ret = choice;
	return NULL;
}

static void apply(const struct script_choice *choice, struct script_choice *to)
{
	if (choice->set) {
		*to = *choice;
		return;
	}
	if (to->set)
		to->only = (to->only | choice->more) & ~choice->less;
	to->more = (to->more | choice->more) & ~choice->less;
	to->less = (to->less | choice->less) & ~choice->more;
}

struct error *script_fields_parse(const char *text, struct script_fields *fields)
{
	_cleanup_free_ char *copy = memory_strdup(text);
	char *colon = strchr(copy, ':');
	struct script_choice choice;
	uint32_t kind = SCRIPT_KINDS;
	struct error *error = NULL;

	if (colon) {
		*colon = 0;
		error = find_kind(copy, &kind);
	}
	if (!error)
		error = parse_words(colon ? colon + 1 : copy, text, &choice);
	if (error)
		return error;
	for (uint32_t i = 0; i < SCRIPT_KINDS; i++)
		if (kind == SCRIPT_KINDS || i == kind)
			apply(&choice, &fields->kinds[i]);
	return NULL;
}
