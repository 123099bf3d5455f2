/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of `perfvisor stat`. */
#ifndef CMD_STAT_STAT_H
#define CMD_STAT_STAT_H

#include "base/error.h"
#include "base/options.h"
#include "cmd/record/record.h"

struct stat_config {
	/* Comes first. Its VMs, vCPUs and symbols are those of report, too. */
	struct record_options record;
	const char *input;
	const char *event, *key, *by; /* NULL: not given */
	bool json;
};

struct error *stat_report(const struct stat_config *config) MUST_CHECK;
/* ARGC, ARGV and REST are those of record_run(). */
struct error *stat_record(struct stat_config *config, int argc, char **argv, int rest,
			  int *ret_status) MUST_CHECK;

#endif
