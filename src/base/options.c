/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Option tables on top of getopt_long(3), whose arrays are built from the table for each call. */
#include "base/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <string.h>

#include "base/suggestion.h"

/* What getopt_long() returns for table row N; larger than any character. */
#define ROW_BASE 256

static size_t table_size(const struct option_spec *table)
{
	size_t count = 0;

	while (table[count].type != OPTION_END)
		count++;
	return count;
}

/* For getopt_long(): none, required or optional, which are as many colons. */
static int argument_of(const struct option_spec *spec)
{
	if (spec->type == OPTION_ABSENT || spec->attached)
		return optional_argument;
	return spec->type == OPTION_FLAG ? no_argument : required_argument;
}

static struct error *parse_unsigned(const struct option_spec *spec, const char *text, uint64_t *ret)
{
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (*text < '0' || *text > '9' || *end || errno) {
		struct error *error = error_create(ERROR_USAGE,
						   "--%s takes a whole number, not '%s'",
						   spec->name, text);

		return spec->hint ? error_hint(error, "%s", spec->hint) : error;
	}
	if (value < spec->min)
		return error_create(ERROR_USAGE, "--%s must be at least %llu", spec->name,
				    (unsigned long long)spec->min);
	if (spec->max && value > spec->max)
		return error_create(ERROR_USAGE, "--%s must be at most %llu", spec->name,
				    (unsigned long long)spec->max);
	*ret = value;
	return NULL;
}

static struct error *append_unsigned(const struct option_spec *spec, const char *text,
				     struct unsigned_list *list)
{
	uint64_t value;
	struct error *error = parse_unsigned(spec, text, &value);

	if (error)
		return error;
	vector_append(list, value);
	return NULL;
}

/* Accepts numbers above 0; false otherwise. */
static bool parse_number(const char *text, double *ret)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !isfinite(value) || value <= 0)
		return false;
	*ret = value;
	return true;
}

static struct error *parse_seconds(const struct option_spec *spec, const char *text, double *ret)
{
	if (parse_number(text, ret))
		return NULL;
	return error_create(ERROR_USAGE, "--%s takes seconds (such as 10 or 0.5), not '%s'",
			    spec->name, text);
}

static struct error *parse_percent(const struct option_spec *spec, const char *text, double *ret)
{
	double value;

	if (!parse_number(text, &value) || value > 100)
		return error_create(ERROR_USAGE,
				    "--%s takes a percentage (2 or 0.5, at most 100), not '%s'",
				    spec->name, text);
	*ret = value;
	return NULL;
}

static void append_after(struct placed_strings *list, const char *text,
			 const struct string_list *other)
{
	vector_append(list, (struct placed_string){ .text = text, .place = other->count });
}

static struct error *store(const struct option_spec *spec, void *config, const char *text)
{
	void *field = (char *)config + spec->offset;

	switch (spec->type) {
	case OPTION_FLAG:
		*(bool *)field = true;
		return NULL;
	case OPTION_STRING:
		*(const char **)field = text;
		return NULL;
	case OPTION_STRINGS:
		vector_append((struct string_list *)field, text);
		return NULL;
	case OPTION_STRINGS_AFTER:
		append_after(field, text, (const void *)((char *)config + spec->other_offset));
		return NULL;
	case OPTION_UNSIGNED:
		return parse_unsigned(spec, text, field);
	case OPTION_UNSIGNEDS:
		return append_unsigned(spec, text, field);
	case OPTION_SECONDS:
		return parse_seconds(spec, text, field);
	case OPTION_PERCENT:
		return parse_percent(spec, text, field);
	case OPTION_ABSENT:
	case OPTION_END:
		break;
	}
	return NULL;
}

static void fill_getopt(const struct option_spec *table, size_t count, struct option *longs,
			char *shorts)
{
	*shorts++ = '+'; /* stop at the first argument that is not an option */
	*shorts++ = ':'; /* distinguish a missing argument from an unknown option */
	for (size_t i = 0; i < count; i++) {
		if (table[i].name)
			*longs++ = (struct option){ .name = table[i].name,
						    .has_arg = argument_of(&table[i]),
						    .val = ROW_BASE + (int)i };
		if (!table[i].short_name)
			continue;
		*shorts++ = table[i].short_name;
		for (int colons = argument_of(&table[i]); colons; colons--)
			*shorts++ = ':';
	}
	*longs = (struct option){ 0 };
	*shorts = 0;
}

static const struct option_spec *row_of(const struct option_spec *table, size_t count, int value)
{
	if (value >= ROW_BASE)
		return &table[value - ROW_BASE];
	for (size_t i = 0; i < count; i++)
		if (table[i].short_name == value)
			return &table[i];
	return NULL;
}

/*
 * The optional argument of the option that getopt_long() returned last. It is missing if another
 * option follows (which getopt_long() has taken for the argument), or nothing.
 */
static const char *take_argument(const struct option_spec *spec, char **argv)
{
	if (spec->fallback && optarg && optarg == argv[optind - 1] && *optarg == '-')
		optind--;
	else if (optarg)
		return optarg;
	return spec->fallback;
}

static struct error *unknown_option(const struct option_spec *table, size_t count,
				    const char *option)
{
	struct error *error = error_create(ERROR_USAGE, "unknown option '%s'", option);
	_cleanup_free_ char *name = memory_strdup(option + strspn(option, "-"));
	struct suggestion suggestion = { .text = name };

	name[strcspn(name, "=")] = 0;
	for (size_t i = 0; i < count; i++)
		if (table[i].name && table[i].type != OPTION_ABSENT)
			suggestion_consider(&suggestion, table[i].name);
	return suggestion.best ? error_hint(error, "did you mean --%s?", suggestion.best) : error;
}

static struct error *absent_option(const struct option_spec *spec)
{
	return error_hint(error_create(ERROR_USAGE, "perf's option %s%s is not available",
				       spec->name ? "--" : "-",
				       spec->name ? spec->name : (char[]){ spec->short_name, 0 }),
			  "%s", spec->help);
}

struct error *options_parse(const struct option_spec *table, void *config, int argc, char **argv,
			    int *ret_rest)
{
	size_t count = table_size(table);
	_cleanup_free_ struct option *longs = memory_calloc(count + 1, sizeof(*longs));
	_cleanup_free_ char *shorts = memory_calloc(3 * count + 3, 1);
	const struct option_spec *spec;
	struct error *error;
	int value;

	fill_getopt(table, count, longs, shorts);
	optind = 0; /* glibc: restart the scan */
	opterr = 0;
	while ((value = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (value == ':' && row_of(table, count, optopt)->fallback)
			value = optopt;
		if (value == ':')
			return error_create(ERROR_USAGE, "%s needs an argument", argv[optind - 1]);
		if (value == '?' && optopt && optopt < ROW_BASE)
			return error_create(ERROR_USAGE, "unknown option '-%c'", optopt);
		if (value == '?' && optopt)
			return error_create(ERROR_USAGE, "%s takes no argument", argv[optind - 1]);
		if (value == '?')
			return unknown_option(table, count, argv[optind - 1]);
		spec = row_of(table, count, value);
		if (spec->type == OPTION_ABSENT)
			return absent_option(spec);
		error = store(spec, config, take_argument(spec, argv));
		if (error)
			return error;
	}
	*ret_rest = optind;
	return NULL;
}

void options_print(const struct option_spec *table, FILE *out)
{
	int width = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; option_is_listed(&table[i]); i++) {
			const char *optional = table[i].fallback ? "[" : "";
			_cleanup_free_ char *left = memory_printf(
				"%c%c%s%s%s%s%s%s%s%s", table[i].short_name ? '-' : ' ',
				table[i].short_name ? table[i].short_name : ' ',
				table[i].short_name && table[i].name ? "," : " ",
				table[i].name ? " --" : "", table[i].name ? table[i].name : "",
				table[i].argument && !table[i].attached ? " " : "", optional,
				table[i].attached ? "=" : "",
				table[i].argument ? table[i].argument : "",
				*optional ? "]" : "");

			if (pass)
				fprintf(out, "  %-*s  %s\n", width, left, table[i].help);
			else if ((int)strlen(left) > width)
				width = (int)strlen(left);
		}
	}
}
