/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call tree of a profile's event in the form of names, for flame graphs and folded stacks.
 * Functions with the same name below the same parent become one node. The requested keys are levels
 * above the functions.
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
	STACK_SMALL, /* what was merged: stacks_small.h */
};

#define STACK_NONE UINT32_MAX

struct stack_node {
	uint32_t parent;	 /* its index is lower than the node's */
	/* first child, next sibling; STACK_NONE: there is none */
	uint32_t child, sibling;
	uint32_t name, dso;	 /* indices into names; dso 0: not a function, or not known */
	enum stack_kind kind;
	uint64_t period, count;		  /* of samples that end here or below */
	uint64_t self_period, self_count; /* of samples that end here */
};

struct stacks {
	VECTOR(struct stack_node) nodes; /* siblings are sorted by name */
	struct intern *names;
};

/* Guests' code as such, or host and guests alike: as guests', or as the host's. */
enum stack_level { STACK_LEVEL_OWN, STACK_LEVEL_GUEST, STACK_LEVEL_HOST };

struct stacks_options {
	bool vms, vcpus; /* add levels for the VM and the vCPU to the command */
	bool tidy;     /* make names like those of stackcollapse-perf.pl */
	/* Functions of different builds and kernels are the same: compare/function_name.h. */
	bool any_build;
	enum stack_level level;
};

/* PROFILE must have a tree, and the keys vm, vcpu and comm if OPTIONS need them. */
struct stacks *stacks_create(const struct profile *profile, size_t event,
			     const struct stacks_options *options);
struct stacks_source {
	const struct profile *profile;
	size_t event;
};
/*
 * The nodes of all SOURCES together; periods and counts are the last one's. RET_PLACES[i]: for each
 * node of the tree of source i its node; STACK_NONE: it is of another event. The caller frees them.
 */
struct stacks *stacks_create_common(const struct stacks_source *sources, size_t count,
				    const struct stacks_options *options, uint32_t **ret_places);
/*
 * The node after AT, where each is followed by all below it. *UP: how many levels its parent is
 * above AT. STACK_NONE: AT is the last.
 */
uint32_t stacks_next(const struct stack_node *nodes, uint32_t at, uint32_t *up);
/* Whether both are one function, or level, wherever they stand. */
bool stacks_is_same_function(const struct stack_node *left, const struct stack_node *right);
/* The order of neighbours: of the nodes LEFT and RIGHT by name, kind and file. */
int stacks_compare(const struct stacks *stacks, uint32_t left, uint32_t right);
void stacks_destroy(struct stacks *stacks); /* takes NULL */

/* The event to show if only one can be shown: the first that has samples. */
size_t stacks_choose_event(const struct profile *profile);

#endif
