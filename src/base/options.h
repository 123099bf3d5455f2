/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command-line options as tables. A subcommand has one table; parsing fills its config
 * struct by offset, and --help, completion and the test of the man pages read
 * the same table.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/vector.h"

enum option_type {
	OPTION_END = 0,	 /* ends the table */
	OPTION_FLAG,	 /* bool */
	OPTION_STRING,	 /* const char *, borrowed from argv */
	OPTION_STRINGS,	 /* struct string_list: the option may be repeated */
	OPTION_STRINGS_AFTER, /* struct placed_strings: likewise, and what of another came before */
	OPTION_UNSIGNED, /* uint64_t, decimal or 0x…, at least min, at most max (0: no limit) */
	OPTION_UNSIGNEDS, /* struct unsigned_list: the option may be repeated */
	OPTION_SECONDS,	 /* double, more than 0 */
	OPTION_ABSENT,	 /* perf has it; it is an error whose hint is in HELP, and stands last */
	OPTION_PERCENT,	 /* double, more than 0, at most 100 */
};

struct string_list {
	const char **items; /* borrowed from argv */
	size_t count;
	size_t capacity;
};

struct placed_string {
	const char *text; /* borrowed from argv */
	size_t place;	  /* how many strings the other option had then */
};

struct placed_strings {
	struct placed_string *items;
	size_t count;
	size_t capacity;
};

struct unsigned_list {
	uint64_t *items;
	size_t count;
	size_t capacity;
};

/* What an argument names, for completion. */
enum option_completion { COMPLETE_NOTHING, COMPLETE_FILE, COMPLETE_DIRECTORY, COMPLETE_VM,
			 COMPLETE_WORDS };

struct option_spec {
	enum option_type type;
	char short_name; /* 0: none */
	const char *name;     /* NULL: a flag that has only a letter */
	size_t offset;	      /* of the field in the config struct */
	const char *argument; /* its name in --help; NULL for flags */
	const char *help;     /* one line, no full stop */
	uint64_t min, max;    /* OPTION_UNSIGNED and OPTION_UNSIGNEDS */
	enum option_completion completion;
	const char *words; /* COMPLETE_WORDS: the words, separated by spaces */
	/* OPTION_STRING: the value if no argument is given; NULL: the argument is required. */
	const char *fallback;
	bool attached; /* the argument follows = and may be missing: there is a fallback */
	const char *hint; /* OPTION_UNSIGNED: for an argument that is no number; NULL: none */
	size_t other_offset; /* OPTION_STRINGS_AFTER: of the other option's struct string_list */
};

/*
 * Fills CONFIG from ARGV (argv[0] is skipped). Stops at "--" or at the first argument that is not
 * an option; *ret_rest is its index (argc if there is none). "--help" and "-h" must be in the
 * caller's table if it wants them. Errors are ERROR_USAGE.
 */
struct error *options_parse(const struct option_spec *table, void *config, int argc, char **argv,
			    int *ret_rest) MUST_CHECK;

/* Whether SPEC is to be listed: false at the end of the table, and for options that are absent. */
static inline bool option_is_listed(const struct option_spec *spec)
{
	return spec->type != OPTION_END && spec->type != OPTION_ABSENT;
}

/* The table as aligned lines of text. */
void options_print(const struct option_spec *table, FILE *out);

#endif
