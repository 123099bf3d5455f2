/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile in a browser on the terminal. */
#ifndef CMD_REPORT_BROWSE_H
#define CMD_REPORT_BROWSE_H

#include <stdbool.h>

#include "output/report_text.h"
#include "profile/profile.h"

/*
 * Shows PROFILE, counted with COUNTED, until the user quits, within walls that let the terminal's
 * modes be changed. False: it was not shown, because it is empty or the terminal cannot do it.
 * Does not return if a signal ends the process.
 */
bool report_browse(const struct profile *profile, const struct profile_options *counted,
		   const struct report_text_options *text);

#endif
