/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call tree of a profile's event as words: what flame graphs and folded stacks show. What reads
 * the same under the same parent is one node. The keys that were asked for are levels above the
 * functions.
 */
#ifndef OUTPUT_STACKS_H
#define OUTPUT_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/vector.h"
#include "profile/profile.h"

enum stack_kind {
	STACK_ALL, /* the root, node 0 */
	STACK_VM,
	STACK_VCPU,
	STACK_PROCESS,
	STACK_GUEST_KERNEL,
	STACK_GUEST_USER,
	STACK_HOST_KERNEL,
	STACK_HOST_USER,
	STACK_OTHER,
};

#define STACK_NONE UINT32_MAX

struct stack_node {
	uint32_t parent;	 /* its number is lower than the node's */
	/* the first below, the next beside it; STACK_NONE: there is none */
	uint32_t child, sibling;
	uint32_t name, dso;	 /* in names; dso 0: not a function, or not known */
	enum stack_kind kind;
	uint64_t period, count;		  /* of samples that end here or below */
	uint64_t self_period, self_count; /* that end here */
};

struct stacks {
	VECTOR(struct stack_node) nodes; /* siblings in the order of their names */
	struct intern *names;
};

struct stacks_options {
	bool machines; /* levels for the VM and the vCPU, not for the command alone */
	bool tidy;     /* names as stackcollapse-perf.pl makes them */
};

/* PROFILE has a tree, and vm, vcpu and comm as keys where OPTIONS want them. */
struct stacks *stacks_create(const struct profile *profile, size_t event,
			     const struct stacks_options *options);
void stacks_destroy(struct stacks *stacks); /* takes NULL */

/* The event that is shown where one has to be chosen: the first that has samples. */
size_t stacks_choose_event(const struct profile *profile);

#endif
