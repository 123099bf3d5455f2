/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A BPF program on per-CPU events that lets pass the samples of known threads only. */
#ifndef HOST_SAMPLE_FILTER_H
#define HOST_SAMPLE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct sample_filter;

/* An error where BPF is not built in, not permitted, or not of use (a container's pids). */
struct error *sample_filter_create(struct sample_filter **ret) MUST_CHECK;
void sample_filter_destroy(struct sample_filter *filter); /* takes NULL */

/* Attaches the program to a perf event (hardware or software; not to tracepoints, where it would
 * filter other people's events, too). False: errno. */
bool sample_filter_attach(struct sample_filter *filter, int event_fd);
bool sample_filter_add(struct sample_filter *filter, uint32_t pid, uint32_t tid);
void sample_filter_remove(struct sample_filter *filter, uint32_t pid, uint32_t tid);
/* Samples of the thread that have passed so far. */
uint64_t sample_filter_passed(const struct sample_filter *filter, uint32_t pid, uint32_t tid);

#endif
