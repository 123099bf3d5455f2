/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by commands that read recordings: which recording, symbols and VMs. */
#ifndef CMD_RECORDING_H
#define CMD_RECORDING_H

#include <stdbool.h>

#include "base/error.h"
#include "base/options.h"
#include "profile/profile.h"
#include "session/filter/filter.h"
#include "session/session.h"

/*
 * The recording to read if none is named: the newest of perf.data.guest, perf.data.kvm,
 * perf.data.host and perf.data in the current folder. NULL: there is none.
 */
const char *recording_find(void);

/* INPUT; if it is NULL, as perf: "-" where standard input is a pipe, else what was found. */
const char *recording_input(const char *input);

/*
 * Raises the walls (walls/walls.h), which every command does that reads recordings, before it opens
 * the first one of INPUTS (as recording_input() has them). From then on the process starts no
 * other, and makes files in FOLDER alone, which is no link; NULL: nowhere.
 */
struct error *recording_raise_walls(const char *const *inputs, size_t count,
				    const struct kernel_source_options *symbols,
				    const char *folder) MUST_CHECK;
/* The same before INPUT is opened and shown in a browser, on the terminal. */
struct error *recording_raise_walls_to_browse(const char *input,
					      const struct kernel_source_options *symbols)
	MUST_CHECK;

/*
 * Opens what recording_input() has for INPUT, and returns its name in *RET_PATH. A damaged or
 * truncated recording is read as far as possible, with a warning.
 */
struct error *recording_open(const char *input, const struct kernel_source_options *symbols,
			     const char **ret_path, struct session **ret) MUST_CHECK;

/* Reports damage on stderr. */
void recording_warn_of_damage(const struct session *session, const char *path);
/* The same, and reports kernels without symbols. */
void recording_warn(const struct session *session, const char *path);
/* The error for a symbol file that the user named; recording_warn() does not report it. */
struct error *recording_symbols_error(struct session *session) MUST_CHECK;

/*
 * The VMs that NAMES selects, by name or pid; none if NAMES is empty. The caller frees RET's items.
 */
struct error *recording_select_vms(const struct session *session, const struct string_list *names,
				   struct machine_list *ret) MUST_CHECK;
/* Adds the names of the recording's VMs to ERROR as a hint. Takes and returns ERROR. */
struct error *recording_name_vms(const struct session *session, struct error *error) MUST_CHECK;
/* Reports on stderr why PROFILE is empty, if it is. */
void recording_warn_if_empty(const struct profile *profile);
/* Reports on stderr how many samples are without their callers, if the call tree was too large. */
void recording_warn_if_cut(const struct profile *profile);
/* Reports on stderr how many of all samples a filter left out, if it did. */
void recording_note_filtered(uint64_t left_out, uint64_t all);

/* Rows for option tables; the config TYPE has the named field. */
#define RECORDING_FORCE_OPTION(type, field)                                                        \
	{ OPTION_FLAG, 'f', "force", offsetof(type, field), NULL,                                  \
	  "has no effect: recordings of other users are read without it, too" }
#define RECORDING_INPUT_OPTION(type, field)                                                        \
	{ OPTION_STRING, 'i', "input", offsetof(type, field), "FILE",                              \
	  "the recording; - reads standard input (default: a pipe there, or the newest of "        \
	  "perf.data.guest, perf.data.kvm, perf.data.host and perf.data here)",                    \
	  .completion = COMPLETE_FILE }
/* FIELD is a struct kernel_source_options. */
#define RECORDING_SYMBOL_OPTIONS(type, field)                                                      \
	{ OPTION_STRING, 0, "guestkallsyms", offsetof(type, field.guestkallsyms), "FILE",          \
	  "symbols of the guests' kernel: a copy of a guest's /proc/kallsyms",                     \
	  .completion = COMPLETE_FILE },                                                           \
	{ OPTION_STRING, 0, "guestmodules", offsetof(type, field.guestmodules), "FILE",            \
	  "the guests' modules: a copy of a guest's /proc/modules", .completion = COMPLETE_FILE }, \
	{ OPTION_STRING, 0, "guestvmlinux", offsetof(type, field.guestvmlinux), "FILE",            \
	  "symbols of the guests' kernel, or unikernel: its ELF file",                             \
	  .completion = COMPLETE_FILE },                                                           \
	{ OPTION_STRING, 0, "guestmount", offsetof(type, field.guestmount), "DIR",                 \
	  "guests' root folders, mounted at DIR/PID", .completion = COMPLETE_DIRECTORY }
/* Flags; without either, inlined functions are not shown. */
#define RECORDING_INLINE_OPTIONS(type, yes, no)                                                    \
	{ OPTION_FLAG, 0, "inline", offsetof(type, yes), NULL,                                     \
	  "show inlined functions in call chains, where debugging information is found" },         \
	{ OPTION_FLAG, 0, "no-inline", offsetof(type, no), NULL,                                   \
	  "do not show them (the default)" }

#endif
