/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes answers of the caged parser about a guest (guest/wire.h). The parser has read what the
 * guest wrote and may be under the guest's control by now, so answers are checked like files.
 *
 * All return false for an answer that does not conform, and leave their results alone then. Texts
 * are terminated, but not fit for terminals.
 */
#ifndef HOST_INSPECT_GUEST_ANSWERS_H
#define HOST_INSPECT_GUEST_ANSWERS_H

#include "base/cursor.h"
#include "host/inspect/guest_view.h"

bool guest_answer_opened(const struct buffer *answer, struct guest_view_kernel *ret);
bool guest_answer_names(const struct buffer *answer, struct guest_uts *ret);
bool guest_answer_tasks(const struct buffer *answer, struct guest_tasks *ret);
bool guest_answer_task(const struct buffer *answer, struct guest_task *ret);
/* Paths go to STRINGS, also those of an answer that does not conform. */
bool guest_answer_mappings(const struct buffer *answer, struct intern *strings,
			   struct guest_mappings *ret);
bool guest_answer_current(const struct buffer *answer, struct guest_current *ret,
			  struct guest_cpus *ret_cpus);
bool guest_answer_state(const struct buffer *answer, struct guest_state *ret);

/* A task inside of an answer. If the cursor fails, the contents of RET are undefined. */
void guest_answer_read_task(struct cursor *cursor, struct guest_task *ret);

#endif
