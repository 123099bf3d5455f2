/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What report and script share: which recording, whose symbols, the pager. */
#ifndef CMD_RECORDING_H
#define CMD_RECORDING_H

#include <stdbool.h>

#include "base/error.h"
#include "profile/session.h"

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

/* Says on stderr what reading met: damage, guests without symbols. */
void recording_warn(const struct session *session, const char *path);
/* The error of a symbol file that the user named, which recording_warn() does not show. */
struct error *recording_symbols_error(struct session *session) MUST_CHECK;

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
