/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys that a recording adds to those of view.h: texts that its samples have. As in perf's
 * --sort: "trace", all that a tracepoint says, and its fields, FIELD, NAME.FIELD or
 * SYSTEM:NAME.FIELD; and "cgroup", the path of the control group.
 */
#ifndef OUTPUT_SAMPLE_TEXTS_H
#define OUTPUT_SAMPLE_TEXTS_H

#include "base/cleanup.h"
#include "base/error.h"
#include "profile/profile.h"

struct sample_texts;

struct sample_texts *sample_texts_create(struct session *session);
void sample_texts_destroy(struct sample_texts *texts); /* takes NULL */

/*
 * The key that WORD of OPTION means, those of view.h included. A text becomes one of those below;
 * there may be PROFILE_TEXTS. OTHERS: what else OPTION takes, for the hint: "sample, period, ".
 */
struct error *sample_texts_find_key(struct sample_texts *texts, const char *option,
				    const char *others, const char *word,
				    enum profile_key *ret) MUST_CHECK;

/* Those that were found, for profile_options; NULL: none. Borrowed from TEXTS. */
const struct profile_texts *sample_texts_found(const struct sample_texts *texts);

DEFINE_CLEANUP(cleanup_sample_texts, struct sample_texts *, sample_texts_destroy)
#define _cleanup_sample_texts_ _cleanup_(cleanup_sample_texts)

#endif
