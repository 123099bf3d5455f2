/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of `perfvisor stat`. */
#ifndef CMD_STAT_STAT_H
#define CMD_STAT_STAT_H

#include "base/error.h"
#include "base/options.h"
#include "symbol/kernel_source.h"

struct stat_config {
	const char *input;
	struct string_list vms, pids;
	const char *vcpus;
	const char *event, *key, *by; /* NULL: not given */
	bool json, force;
	struct kernel_source_options symbols;
};

struct error *stat_report(struct stat_config *config) MUST_CHECK;

#endif
