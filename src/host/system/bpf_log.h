/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libbpf prints its reasons to stderr; this turns them into errors instead. Only with HAVE_BPF.
 *
 *	struct bpf_log log;
 *	bpf_log_begin(&log);
 *	skeleton = x_bpf__open_and_load();
 *	bpf_log_end();
 *	if (!skeleton)
 *		return bpf_log_error(&log, errno, "could not load …");
 */
#ifndef HOST_SYSTEM_BPF_LOG_H
#define HOST_SYSTEM_BPF_LOG_H

#include "base/error.h"

struct bpf_log {
	char reason[256]; /* the first warning since begin, "" if none */
};

/*
 * Until bpf_log_end(), libbpf's first warning in this thread goes to LOG. After the first call,
 * libbpf prints nothing any more, in any thread.
 */
void bpf_log_begin(struct bpf_log *log);
void bpf_log_end(void);

/*
 * "WHAT: REASON", or "WHAT: strerror" if libbpf gave no reason. If a right is missing, the error
 * names the capabilities that would be enough.
 */
struct error *bpf_log_error(const struct bpf_log *log, int errno_value, const char *what)
	MUST_CHECK;

#endif
