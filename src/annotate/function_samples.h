/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of functions, counted by address, in one pass over a recording. Only where samples were
 * taken counts, not their callers.
 */
#ifndef ANNOTATE_FUNCTION_SAMPLES_H
#define ANNOTATE_FUNCTION_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vector.h"
#include "annotate/source_text.h"
#include "session/filter/filter.h"
#include "session/resolver.h"

/* Which samples are counted; what is NULL is no condition. All is borrowed. */
struct function_choice {
	const char *symbol; /* the function's name, as it is shown */
	const char *dso;    /* the short name of its file or kernel */
	const struct machine *vm;
	const struct filter *filter;
};

struct address_samples {
	uint64_t offset; /* from the function's start */
	uint64_t period, count;
};

/* A function with samples of an event. */
struct function_samples {
	uint32_t event;	   /* its index in the recording */
	uint32_t location; /* of the resolver; it has a symbol */
	struct machine *machine;
	uint32_t kernel; /* that of the first sample; MACHINE_NO_KERNEL: it is no guest's kernel */
	uint64_t period, count;
	VECTOR(struct address_samples) addresses; /* in any order */
	struct map by_offset;			  /* -> index in addresses */
};

struct functions_samples {
	struct session *session;   /* borrowed */
	struct resolver *resolver; /* owned */
	VECTOR(struct function_samples) items; /* by event; of an event, the largest period first */
	uint64_t *event_periods; /* of the samples that the filter takes, by event; owned */
	uint64_t samples; /* that the filter takes */
	struct source_texts *texts; /* owned */
};

/* Reads all samples of SESSION. RET is to be freed by functions_samples_deinit(). */
void functions_samples_count(struct session *session, const struct function_choice *choice,
			     struct functions_samples *ret);
void functions_samples_deinit(struct functions_samples *functions);

#endif
