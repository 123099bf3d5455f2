/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments that say how a profile is shown, alike in all commands that show one. */
#ifndef CMD_PROFILE_OPTIONS_H
#define CMD_PROFILE_OPTIONS_H

#include "base/error.h"
#include "output/sample_texts.h"
#include "profile/profile.h"

/* The keys of --sort, in their order; those that are texts are then found in TEXTS. */
struct error *profile_options_parse_keys(const char *text, struct sample_texts *texts,
					 struct profile_keys *ret) MUST_CHECK;

#endif
