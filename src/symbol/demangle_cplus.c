/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounds what libiberty's demangler of the Itanium C++ ABI (libiberty/cp-demangle.c of GCC) does
 * for a name. It works in two steps:
 *
 * 1. The parser is linear, with one exception: the type of a conversion operator ("cv") that begins
 *    with a template parameter and arguments is parsed, thrown away, and parsed again, and these
 *    can be nested. Names with more than MAX_RETRIES such places are refused.
 * 2. Its result is a tree whose parts are shared. Printing visits a shared part each time that it
 *    is met, and visits what a template parameter stands for at each of its uses. This file gets
 *    the tree (cplus_demangle_v3_components(), part of the library's interface) and adds up these
 *    visits, once for each component.
 *
 * What a parameter stands for is not in the tree: it depends on the function template around it.
 * The bound takes the most expensive argument of all those templates. Arguments can again use
 * parameters, so this is repeated until nothing changes, at most as often as parameters can be
 * nested: the library prints no component more than twice at a time.
 *
 * Costs are in bytes of output, each about a nanosecond; a component costs NODE_COST.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <libiberty/demangle.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "symbol/demangle_cost.h"

#define MAX_BYTES 1024 /* libiberty's own limit is half of DEMANGLE_RECURSION_LIMIT, the same */
#define NODE_COST 8
#define TEXT_COST 32 /* most of the library's own words */
#define MAX_COST (1u << 20)
#define MAX_RETRIES 8
#define MAX_COMPONENTS (2 * MAX_BYTES) /* cplus_demangle_init_info() */
#define CONSTRUCTORS "_GLOBAL__I_"
#define BYTE_COST 16 /* of the check, for each byte of the name and each repetition */

enum { UNKNOWN = 0, OPEN = UINT32_MAX };

struct tree {
	const struct demangle_component *components, *root;
	size_t bytes; /* of the name: no list, and no stack of components in the name, is longer */
	size_t params;
	uint32_t pack;	/* the longest pack of arguments */
	uint32_t param; /* what a template parameter costs, assumed so far */
	bool any_template; /* any template may be the one that parameters refer to */
	bool seen[MAX_COMPONENTS];
	bool is_scope[MAX_COMPONENTS]; /* templates that parameters may refer to */
	uint32_t cost[2][MAX_COMPONENTS]; /* [1]: among the parameters of a lambda */
};

/* The components below COMPONENT; false: it has none. */
static bool children_of(const struct demangle_component *component,
			const struct demangle_component *ret[2])
{
	ret[0] = ret[1] = NULL;
	switch (component->type) {
	case DEMANGLE_COMPONENT_NAME:
	case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
	case DEMANGLE_COMPONENT_FUNCTION_PARAM:
	case DEMANGLE_COMPONENT_SUB_STD:
	case DEMANGLE_COMPONENT_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_OPERATOR:
	case DEMANGLE_COMPONENT_CHARACTER:
	case DEMANGLE_COMPONENT_NUMBER:
	case DEMANGLE_COMPONENT_UNNAMED_TYPE:
		return false;
	case DEMANGLE_COMPONENT_CTOR:
		ret[0] = component->u.s_ctor.name;
		return true;
	case DEMANGLE_COMPONENT_DTOR:
		ret[0] = component->u.s_dtor.name;
		return true;
	case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
		ret[0] = component->u.s_extended_operator.name;
		return true;
	case DEMANGLE_COMPONENT_FIXED_TYPE:
		ret[0] = component->u.s_fixed.length;
		return true;
	case DEMANGLE_COMPONENT_LAMBDA:
	case DEMANGLE_COMPONENT_DEFAULT_ARG:
		ret[0] = component->u.s_unary_num.sub;
		return true;
	default:
		ret[0] = component->u.s_binary.left;
		ret[1] = component->u.s_binary.right;
		return true;
	}
}

static size_t index_of(const struct tree *tree, const struct demangle_component *component)
{
	return component - tree->components;
}

static uint32_t add(uint64_t first, uint64_t second)
{
	return first + second < MAX_COST ? first + second : MAX_COST;
}

static uint32_t list_length(const struct demangle_component *list)
{
	uint32_t length = 0;

	for (; list && list->type == DEMANGLE_COMPONENT_TEMPLATE_ARGLIST &&
	       length < MAX_COMPONENTS;
	     list = list->u.s_binary.right)
		length++;
	return length;
}

/* Finds the function template whose parameters a TYPED_NAME's type may use, as d_print_comp(). */
static void mark_scope(struct tree *tree, const struct demangle_component *name)
{
	for (size_t i = 0; name && i < MAX_COMPONENTS; i++) {
		switch (name->type) {
		case DEMANGLE_COMPONENT_TEMPLATE:
			tree->is_scope[index_of(tree, name)] = true;
			return;
		case DEMANGLE_COMPONENT_LOCAL_NAME:
			name = name->u.s_binary.right;
			break;
		case DEMANGLE_COMPONENT_DEFAULT_ARG:
			name = name->u.s_unary_num.sub;
			break;
		case DEMANGLE_COMPONENT_RESTRICT_THIS:
		case DEMANGLE_COMPONENT_VOLATILE_THIS:
		case DEMANGLE_COMPONENT_CONST_THIS:
		case DEMANGLE_COMPONENT_REFERENCE_THIS:
		case DEMANGLE_COMPONENT_RVALUE_REFERENCE_THIS:
		case DEMANGLE_COMPONENT_TRANSACTION_SAFE:
		case DEMANGLE_COMPONENT_NOEXCEPT:
		case DEMANGLE_COMPONENT_THROW_SPEC:
			name = name->u.s_binary.left;
			break;
		default:
			return;
		}
	}
}

static void look_at(struct tree *tree, const struct demangle_component *component)
{
	const struct demangle_component *left = component->u.s_binary.left;

	switch (component->type) {
	case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
		tree->params++;
		return;
	case DEMANGLE_COMPONENT_TEMPLATE_ARGLIST:
		if (list_length(left) > tree->pack)
			tree->pack = list_length(left);
		return;
	case DEMANGLE_COMPONENT_TYPED_NAME:
		mark_scope(tree, left);
		return;
	case DEMANGLE_COMPONENT_CONVERSION:
	case DEMANGLE_COMPONENT_TEMPLATE_HEAD:
		tree->any_template = true;
		return;
	default:
		return;
	}
}

static void survey(struct tree *tree, const struct demangle_component *component)
{
	const struct demangle_component *children[2];

	if (!component || tree->seen[index_of(tree, component)])
		return;
	tree->seen[index_of(tree, component)] = true;
	look_at(tree, component);
	if (!children_of(component, children))
		return;
	survey(tree, children[0]);
	survey(tree, children[1]);
}

static uint32_t cost_of(struct tree *tree, const struct demangle_component *component,
			bool in_lambda);

/* What COMPONENT costs besides its children. */
static uint32_t own_cost(const struct tree *tree, const struct demangle_component *component,
			 bool in_lambda)
{
	const struct demangle_component *left = component->u.s_binary.left;

	switch (component->type) {
	case DEMANGLE_COMPONENT_NAME:
		return NODE_COST + component->u.s_name.len;
	case DEMANGLE_COMPONENT_SUB_STD:
		return NODE_COST + component->u.s_string.len;
	case DEMANGLE_COMPONENT_TEMPLATE_PARAM: /* is searched for in a list */
		return NODE_COST + tree->bytes / 8 + (in_lambda ? 0 : tree->param);
	case DEMANGLE_COMPONENT_REFERENCE: /* search saved scopes, and the stack of components */
	case DEMANGLE_COMPONENT_RVALUE_REFERENCE:
		return NODE_COST + (left && left->type == DEMANGLE_COMPONENT_TEMPLATE_PARAM
					    ? tree->bytes / 2
					    : 0);
	case DEMANGLE_COMPONENT_FUNCTION_TYPE: /* search modifiers */
	case DEMANGLE_COMPONENT_ARRAY_TYPE:
		return NODE_COST + tree->bytes / 8;
	case DEMANGLE_COMPONENT_ARGLIST:
	case DEMANGLE_COMPONENT_TEMPLATE_ARGLIST:
	case DEMANGLE_COMPONENT_QUAL_NAME:
	case DEMANGLE_COMPONENT_TEMPLATE:
	case DEMANGLE_COMPONENT_POINTER:
	case DEMANGLE_COMPONENT_CONST:
		return NODE_COST;
	default:
		return TEXT_COST;
	}
}

static uint32_t children_cost(struct tree *tree, const struct demangle_component *component,
			      bool in_lambda)
{
	const struct demangle_component *children[2];
	uint32_t left;

	if (!children_of(component, children))
		return 0;
	if (component->type == DEMANGLE_COMPONENT_TEMPLATE_HEAD)
		in_lambda = false;
	else if (component->type == DEMANGLE_COMPONENT_LAMBDA)
		in_lambda = true;
	left = cost_of(tree, children[0], in_lambda);
	if (component->type == DEMANGLE_COMPONENT_PACK_EXPANSION) /* d_find_pack(), then each */
		return add(left, (uint64_t)left * tree->pack);
	return add(left, cost_of(tree, children[1], in_lambda));
}

/* MAX_COST also if the component contains itself. */
static uint32_t cost_of(struct tree *tree, const struct demangle_component *component,
			bool in_lambda)
{
	uint32_t *cost;

	if (!component)
		return 0;
	cost = &tree->cost[in_lambda][index_of(tree, component)];
	if (*cost == UNKNOWN) {
		*cost = OPEN;
		*cost = add(own_cost(tree, component, in_lambda),
			    children_cost(tree, component, in_lambda));
	}
	return *cost == OPEN ? MAX_COST : *cost;
}

/* The most expensive thing that a template parameter may stand for. */
static uint32_t most_expensive_argument(struct tree *tree)
{
	uint32_t most = 0;

	for (size_t i = 0; i < 2 * tree->bytes; i++) {
		const struct demangle_component *component = &tree->components[i], *list;
		uint32_t cost;

		if (!tree->seen[i])
			continue;
		if (component->type == DEMANGLE_COMPONENT_TEMPLATE_HEAD)
			most = MAX_COST;
		if (component->type != DEMANGLE_COMPONENT_TEMPLATE ||
		    (!tree->is_scope[i] && !tree->any_template))
			continue;
		list = component->u.s_binary.right;
		cost = cost_of(tree, list, false);
		if (cost > most)
			most = cost;
	}
	return most;
}

/* The costs of printing; adds those of adding them up to *COST. */
static uint32_t printing_cost(struct tree *tree, uint64_t *cost)
{
	survey(tree, tree->root);
	for (size_t i = 0; i <= 2 * tree->params && tree->param < MAX_COST; i++) {
		uint32_t before = tree->param;

		*cost += tree->bytes * BYTE_COST;
		memset(tree->cost, 0, sizeof(tree->cost));
		tree->param = most_expensive_argument(tree);
		if (tree->param == before)
			break;
	}
	*cost += tree->bytes * BYTE_COST;
	memset(tree->cost, 0, sizeof(tree->cost));
	return cost_of(tree, tree->root, false);
}

/* "T_I", "T0_I", …, where the parser may have to try twice. */
static bool is_retry(const char *text)
{
	if (*text++ != 'T')
		return false;
	text += strspn(text, "0123456789L_");
	return *text == 'I' && text[-1] == '_';
}

/* False: the parser may take more than 2^MAX_RETRIES times as long. */
static bool parser_is_linear(const char *name, uint64_t *cost)
{
	size_t bytes = strlen(name), retries = 0;

	if (!strstr(name, "cv"))
		return true;
	for (; *name; name++)
		retries += is_retry(name);
	if (retries > MAX_RETRIES)
		return false;
	*cost += (bytes * NODE_COST) << retries;
	return true;
}

/* Functions that construct or destroy globals, "_GLOBAL__I_…"; a mangled name may follow. */
static bool has_constructors(const char *name)
{
	return !strncmp(name, CONSTRUCTORS, 8) && name[8] && strchr("._$", name[8]) &&
	       (name[9] == 'I' || name[9] == 'D') && name[10] == '_';
}

bool demangle_is_cheap_cplus(const char *name, uint64_t *cost)
{
	size_t bytes = strnlen(name, MAX_BYTES + 1);
	bool is_constructors = has_constructors(name);
	_cleanup_free_ struct tree *tree = NULL;
	_cleanup_free_ void *components = NULL;
	uint32_t printing;

	*cost += bytes * BYTE_COST;
	if (bytes > MAX_BYTES || !parser_is_linear(name, cost))
		return false;
	name += is_constructors ? strlen(CONSTRUCTORS) : 0;
	if (strncmp(name, "_Z", 2))
		return is_constructors;
	tree = memory_calloc(1, sizeof(*tree));
	tree->root = cplus_demangle_v3_components(
		name, is_constructors ? DMGL_PARAMS : DMGL_NO_OPTS, &components);
	if (!tree->root)
		return false;
	tree->components = components;
	tree->bytes = bytes;
	printing = printing_cost(tree, cost);
	*cost += printing < MAX_COST ? printing : 0;
	return printing < MAX_COST;
}
