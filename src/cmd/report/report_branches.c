/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The branches of a recording's samples, as text. */
#include "base/log.h"
#include "cmd/recording.h"
#include "cmd/report/report.h"
#include "cmd/values.h"
#include "output/branches_text.h"

static struct error *check_branches(const struct report_config *config,
				    const struct session *session)
{
	if (!branches_are_recorded(session))
		return error_hint(error_create(ERROR_UNSUPPORTED, "the recording has no branches"),
				  "'perf record -b' takes them");
	if (config->json || config->graph || config->children)
		return error_hint(error_create(ERROR_UNSUPPORTED,
					       "branches are reported as text, without call "
					       "chains"),
				  "--no-branch-stack reports where samples were taken");
	return NULL;
}

struct error *report_branches(const struct report_config *config, struct session *session,
			      const char *path, const struct pager *pager)
{
	_cleanup_(filter_deinit) struct filter filter = { 0 };
	struct branch_keys keys;
	struct branches branches;
	double min_percent = 0;
	struct error *error = check_branches(config, session);

	if (!error)
		error = branches_text_parse_keys(config->sort, &keys);
	if (!error)
		error = values_percent("--percent-limit", config->percent_limit, &min_percent);
	if (!error)
		error = filter_options_build(&config->filters, session, &filter);
	if (error)
		return error;
	branches_count(session, &keys, &filter, &branches);
	error = recording_symbols_error(session);
	if (!error) {
		recording_warn(session, path);
		if (!branches.rows.count)
			log_warning("no selected sample has branches");
		error = branches_text_write(pager->fd, &branches, &keys, min_percent);
	}
	branches_deinit(&branches);
	return error;
}
