/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What commands that read recordings share: which one, whose symbols, which VMs, the pager. */
#ifndef CMD_RECORDING_H
#define CMD_RECORDING_H

#include <stdbool.h>

#include "base/error.h"
#include "base/options.h"
#include "profile/profile.h"
#include "session/session.h"

/*
 * The recording to read where none is named: of perf.data.guest, perf.data.kvm,
 * perf.data.host and perf.data in this folder the one written last. NULL: there is none.
 */
const char *recording_find(void);

/*
 * Opens INPUT (NULL: the one that recording_find() finds) and returns its name in *RET_PATH.
 * A damaged or truncated recording is warned of and read as far as it goes.
 */
struct error *recording_open(const char *input, const struct kernel_source_options *symbols,
			     const char **ret_path, struct session **ret) MUST_CHECK;

/* Says on stderr what reading met: damage. */
void recording_warn_of_damage(const struct session *session, const char *path);
/* The same, and kernels without symbols. */
void recording_warn(const struct session *session, const char *path);
/* The error of a symbol file that the user named, which recording_warn() does not show. */
struct error *recording_symbols_error(struct session *session) MUST_CHECK;

struct machine_list {
	const struct machine **items;
	size_t count;
	size_t capacity;
};

/*
 * The VMs that NAMES name, by name or pid; none for no names. RET's items are the caller's to free.
 */
struct error *recording_select_vms(const struct session *session, const struct string_list *names,
				   struct machine_list *ret) MUST_CHECK;
/* ERROR with the names of the recording's VMs as its hint. Takes and gives ERROR. */
struct error *recording_name_vms(const struct session *session, struct error *error) MUST_CHECK;
/* Says on stderr why PROFILE is empty, if it is. SELECTED: it is of some VMs only. */
void recording_warn_if_empty(const struct profile *profile, bool selected);

/* Rows of option tables, for a config of TYPE with such a field. */
#define RECORDING_INPUT_OPTION(type, field)                                                        \
	{ OPTION_STRING, 'i', "input", offsetof(type, field), "FILE",                              \
	  "the recording; - reads standard input (default: the newest of perf.data.guest, "        \
	  "perf.data.kvm, perf.data.host and perf.data here)",                                     \
	  .completion = COMPLETE_FILE }
#define RECORDING_VM_OPTION(type, field)                                                           \
	{ OPTION_STRINGS, 0, "vm", offsetof(type, field), "NAME|PID",                              \
	  "only this VM; may be repeated", .completion = COMPLETE_VM }
/* Of a struct kernel_source_options. */
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

/*
 * If stdout is a terminal, starts $PERFVISOR_PAGER, $PAGER or less and gives the descriptor to
 * write to; else stdout's. pager_finish() waits until the user has seen enough.
 */
struct pager {
	int fd;
	int pid; /* 0: none runs */
	bool terminal;
};
void pager_start(struct pager *pager);
void pager_finish(struct pager *pager);

#endif
