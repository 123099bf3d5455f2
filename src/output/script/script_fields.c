/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The syntax of perf script's -F (tools/perf/builtin-script.c, parse_output_fields()). */
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
			  "code_page_size, cgroup, srcline");
}

struct error *script_fields_parse(const char *text, struct script_fields *ret)
{
	_cleanup_free_ char *copy = memory_strdup(text);
	struct script_fields fields = { 0 };
	char *rest = copy, *word;

	while ((word = strsep(&rest, ","))) {
		char sign = *word == '+' || *word == '-' ? *word++ : 0;
		uint32_t field = 0;
		struct error *error = find_field(word, &field);

		if (error)
			return error;
		if (sign == '+')
			fields.more |= field;
		else if (sign == '-')
			fields.less |= field;
		else
			fields.only |= field;
	}
	if (fields.only && (fields.more || fields.less))
		return error_create(ERROR_USAGE, "-F takes either fields with + or -, or "
						 "without, but not both: '%s'", text);
	*ret = fields;
	return NULL;
}
