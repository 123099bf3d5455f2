/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which samples of a recording to show: the options, alike in all commands that read one. */
#ifndef CMD_FILTER_OPTIONS_H
#define CMD_FILTER_OPTIONS_H

#include "base/error.h"
#include "base/options.h"
#include "session/filter/filter.h"

struct filter_options {
	struct string_list vms, vcpus, comms, pids, tids, dsos, symbols, symbol_parts, cpus, modes;
	const char *time;
};

void filter_options_deinit(struct filter_options *options);

/*
 * The filter that OPTIONS ask for, of samples of SESSION, which may be read for it. RET is to be
 * freed by filter_deinit(), also after an error; it is zeroed before.
 */
struct error *filter_options_build(const struct filter_options *options, struct session *session,
				   struct filter *ret) MUST_CHECK;

/* Rows of option tables, for a config of TYPE with a struct filter_options as FIELD. */
#define FILTER_VM_OPTION(type, field, text)                                                        \
	{ OPTION_STRINGS, 0, "vm", offsetof(type, field.vms), "NAME|PID", text,                    \
	  .completion = COMPLETE_VM }
/* perf gives some of them other letters in some commands: the letters are characters, or 0. */
#define FILTER_COMMS_OPTION(type, field, letter)                                                   \
	{ OPTION_STRINGS, letter, "comms", offsetof(type, field.comms), "NAMES",                   \
	  "only threads with these names (the guest's, for guest samples), by commas" }
#define FILTER_PLACE_OPTIONS(type, field, dsos_letter)                                             \
	FILTER_NAMED_PLACE_OPTIONS(type, field, dsos_letter),                                      \
	{ OPTION_STRINGS, 0, "symbol", offsetof(type, field.symbols), "NAMES",                     \
	  "the same as --symbols" }
#define FILTER_NAMED_PLACE_OPTIONS(type, field, dsos_letter)                                       \
	{ OPTION_STRINGS, dsos_letter, "dsos", offsetof(type, field.dsos), "NAMES",                \
	  "only code of these files or kernels, separated by commas" },                            \
	{ OPTION_STRINGS, 'S', "symbols", offsetof(type, field.symbols), "NAMES",                  \
	  "only these functions, or addresses (0x...), separated by commas" },                     \
	{ OPTION_STRINGS, 0, "symbol-filter", offsetof(type, field.symbol_parts), "TEXT",          \
	  "only functions with TEXT anywhere in their name" }
#define FILTER_MODE_OPTION(type, field)                                                            \
	{ OPTION_STRINGS, 0, "mode", offsetof(type, field.modes), "WORDS",                         \
	  "only guest or host, kernel or user; separated by commas",                               \
	  .completion = COMPLETE_WORDS, .words = "guest host kernel user" }
#define FILTER_SAMPLE_OPTIONS(type, field, comms_letter, cpu_letter)                               \
	FILTER_THREAD_OPTIONS(type, field, comms_letter, cpu_letter),                              \
	FILTER_PLACE_OPTIONS(type, field, 'd')
/* All of these but what is on places. */
#define FILTER_THREAD_OPTIONS(type, field, comms_letter, cpu_letter)                               \
	{ OPTION_STRINGS, 0, "vcpu", offsetof(type, field.vcpus), "LIST",                          \
	  "only these vCPUs: numbers and ranges such as 0-3,7" },                                  \
	FILTER_COMMS_OPTION(type, field, comms_letter),                                            \
	{ OPTION_STRINGS, 0, "pid", offsetof(type, field.pids), "LIST",                            \
	  "only these processes (the guest's, for guest samples)" },                              \
	{ OPTION_STRINGS, 0, "tid", offsetof(type, field.tids), "LIST",                            \
	  "only these threads (the guest's, for guest samples)" },                                \
	{ OPTION_STRINGS, cpu_letter, "cpu", offsetof(type, field.cpus), "LIST",                   \
	  "only samples taken on these CPUs of the host" },                                        \
	{ OPTION_STRING, 0, "time", offsetof(type, field.time), "START,END",                       \
	  "only this time: START,END in the recording's seconds, 10%-20%, or 10%/2" },             \
	FILTER_MODE_OPTION(type, field)
#define FILTER_OPTIONS(type, field)                                                                \
	FILTER_VM_OPTION(type, field, "only this VM; may be repeated"),                            \
	FILTER_SAMPLE_OPTIONS(type, field, 'c', 'C')

#endif
