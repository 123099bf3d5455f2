/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the samples of a guest are: its hottest addresses, whose functions' code is worth keeping.
 * The memory is bounded: when there are too many addresses, those with the fewest samples are
 * forgotten.
 */
#ifndef HOST_RECORD_HOT_CODE_H
#define HOST_RECORD_HOT_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vector.h"
#include "host/inspect/guest_view.h"

struct hot_place {
	struct gva mm; /* 0: in the kernel */
	struct gva ip;
};

struct hot_count {
	struct hot_place place;
	uint32_t count;
	bool chosen; /* hot_code_choose() has returned it */
};

#define HOT_CODE_PLACES 4096

struct hot_code {
	VECTOR(struct hot_count) counts;
	struct map index; /* hash of a place -> its index in counts */
	size_t chosen; /* how many places hot_code_choose() has returned */
	uint64_t samples, unchosen; /* of the counts; those of places that were not chosen */
};

void hot_code_init(struct hot_code *code);
void hot_code_deinit(struct hot_code *code);
/* A sample was taken there. */
void hot_code_note(struct hot_code *code, const struct hot_place *place);
/*
 * The hottest places, in which 95 % of the samples are: of these, up to MAX that no earlier call
 * has returned. Returns how many RET has.
 */
size_t hot_code_choose(struct hot_code *code, struct hot_place *ret, size_t max);

#endif
