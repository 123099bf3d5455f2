/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounds what libiberty's demangler of Rust's names (libiberty/rust-demangle.c of GCC) does for a
 * name. The legacy mangling is linear. The v0 mangling (RFC 2603) is parsed while it is printed,
 * and anew for each reference back. Two things make this expensive: references to parts with many
 * references, and numbers of lifetimes ("for<'a, 'b, …>"), which are counted out even where nothing
 * is printed. So this file parses the name in the same order, prints nothing, and counts.
 *
 * What the library does not know, such as constants other than integers, is refused as the library
 * does.
 */
#include <stdint.h>
#include <string.h>

#include "symbol/demangle_cost.h"

#define MAX_BYTES 2048
#define MAX_COST ((uint32_t)1 << 18) /* steps */
#define STEP_COST 4		     /* in nanoseconds, of the library's and those here */
#define MAX_DEPTH 1024 /* RUST_MAX_RECURSION_COUNT */

struct walk {
	const char *text; /* after "_R" */
	size_t bytes, at;
	uint32_t cost, depth;
	bool failed;
	bool silent; /* an impl's own path is parsed, but references in it are not followed */
};

static void walk_path(struct walk *walk);
static void walk_type(struct walk *walk);
static void walk_const(struct walk *walk);

static void add_cost(struct walk *walk, uint64_t cost)
{
	if (cost >= MAX_COST || walk->cost + cost >= MAX_COST)
		walk->failed = true;
	else
		walk->cost += cost;
}

static char peek(const struct walk *walk)
{
	return !walk->failed && walk->at < walk->bytes ? walk->text[walk->at] : 0;
}

static char next(struct walk *walk)
{
	char byte = peek(walk);

	add_cost(walk, 1);
	if (byte)
		walk->at++;
	else
		walk->failed = true;
	return byte;
}

static bool eat(struct walk *walk, char byte)
{
	if (!byte || peek(walk) != byte)
		return false;
	walk->at++;
	return true;
}

/* In base 62, ended by '_'. */
static uint64_t walk_number(struct walk *walk)
{
	uint64_t value = 0;

	if (eat(walk, '_'))
		return 0;
	while (!walk->failed && !eat(walk, '_')) {
		char byte = next(walk);
		unsigned int digit;

		if (byte >= '0' && byte <= '9')
			digit = byte - '0';
		else if (byte >= 'a' && byte <= 'z')
			digit = 10 + byte - 'a';
		else if (byte >= 'A' && byte <= 'Z')
			digit = 36 + byte - 'A';
		else
			walk->failed = true;
		if (walk->failed)
			return 0;
		/* The library refuses those that do not fit, or lets them wrap around. */
		if (value > UINT64_MAX / 62 - 2)
			walk->failed = true;
		else
			value = value * 62 + digit;
	}
	return value + 1;
}

static uint64_t walk_optional_number(struct walk *walk, char tag)
{
	return eat(walk, tag) ? 1 + walk_number(walk) : 0;
}

static void walk_identifier(struct walk *walk)
{
	bool punycode = eat(walk, 'u');
	size_t bytes = 0;
	char byte = next(walk);

	if (byte < '0' || byte > '9') {
		walk->failed = true;
		return;
	}
	bytes = byte - '0';
	while (bytes && peek(walk) >= '0' && peek(walk) <= '9' && bytes <= MAX_BYTES)
		bytes = bytes * 10 + (next(walk) - '0');
	eat(walk, '_');
	if (walk->failed || bytes > walk->bytes - walk->at) {
		walk->failed = true;
		return;
	}
	/* A character of Punycode is inserted into those before it. */
	add_cost(walk, punycode ? 1 + bytes * 4 : 1 + bytes / 8);
	walk->at += bytes;
}

static void follow(struct walk *walk, void (*walk_part)(struct walk *walk))
{
	uint64_t target = walk_number(walk);
	size_t back = walk->at;

	if (walk->failed || walk->silent)
		return;
	walk->at = target < walk->bytes ? target : walk->bytes;
	walk_part(walk);
	walk->at = back;
}

/* False if it is nested too deeply, or the walk has failed. */
static bool enter(struct walk *walk)
{
	add_cost(walk, 1);
	if (walk->failed || ++walk->depth > MAX_DEPTH)
		walk->failed = true;
	return !walk->failed;
}

static void walk_argument(struct walk *walk)
{
	if (eat(walk, 'L'))
		walk_number(walk);
	else if (eat(walk, 'K'))
		walk_const(walk);
	else
		walk_type(walk);
}

static void walk_list(struct walk *walk, void (*walk_part)(struct walk *walk))
{
	while (!walk->failed && !eat(walk, 'E')) {
		add_cost(walk, 1);
		walk_part(walk);
	}
}

static void walk_silently(struct walk *walk)
{
	bool before = walk->silent;

	walk_optional_number(walk, 's');
	walk->silent = true;
	walk_path(walk);
	walk->silent = before;
}

static void walk_nested_path(struct walk *walk)
{
	next(walk);
	walk_path(walk);
	walk_optional_number(walk, 's');
	walk_identifier(walk);
}

static void walk_path(struct walk *walk)
{
	char tag;

	if (!enter(walk))
		return;
	tag = next(walk);
	switch (tag) {
	case 'C':
		walk_optional_number(walk, 's');
		walk_identifier(walk);
		break;
	case 'N':
		walk_nested_path(walk);
		break;
	case 'M':
	case 'X':
		walk_silently(walk);
		walk_type(walk);
		if (tag == 'X')
			walk_path(walk);
		break;
	case 'Y':
		walk_type(walk);
		walk_path(walk);
		break;
	case 'I':
		walk_path(walk);
		walk_list(walk, walk_argument);
		break;
	case 'B':
		follow(walk, walk_path);
		break;
	default:
		walk->failed = true;
	}
	walk->depth--;
}

/* "for<'a, 'b>": the library counts the lifetimes. */
static void walk_binder(struct walk *walk)
{
	add_cost(walk, walk_optional_number(walk, 'G'));
}

static void walk_function(struct walk *walk)
{
	walk_binder(walk);
	eat(walk, 'U');
	if (eat(walk, 'K') && !eat(walk, 'C'))
		walk_identifier(walk);
	walk_list(walk, walk_type);
	if (!eat(walk, 'u'))
		walk_type(walk);
}

/* The path of a trait, which may be the target of a reference. */
static void walk_generics(struct walk *walk)
{
	if (!enter(walk))
		return;
	if (eat(walk, 'B')) {
		follow(walk, walk_generics);
	} else if (eat(walk, 'I')) {
		walk_path(walk);
		walk_list(walk, walk_argument);
	} else {
		walk_path(walk);
	}
	walk->depth--;
}

static void walk_trait(struct walk *walk)
{
	walk_generics(walk);
	while (eat(walk, 'p')) {
		walk_identifier(walk);
		walk_type(walk);
	}
}

static void walk_traits(struct walk *walk)
{
	walk_binder(walk);
	walk_list(walk, walk_trait);
	if (!eat(walk, 'L'))
		walk->failed = true;
	else
		walk_number(walk);
}

static void walk_compound_type(struct walk *walk, char tag)
{
	switch (tag) {
	case 'R':
	case 'Q':
		if (eat(walk, 'L'))
			walk_number(walk);
		walk_type(walk);
		break;
	case 'P':
	case 'O':
	case 'S':
		walk_type(walk);
		break;
	case 'A':
		walk_type(walk);
		walk_const(walk);
		break;
	case 'T':
		walk_list(walk, walk_type);
		break;
	case 'F':
		walk_function(walk);
		break;
	case 'D':
		walk_traits(walk);
		break;
	case 'B':
		follow(walk, walk_type);
		break;
	default:
		walk->at--;
		walk_path(walk);
	}
}

static void walk_type(struct walk *walk)
{
	char tag = next(walk);

	if (walk->failed || (tag && strchr("bcealmxnsjfthoyidvuzp", tag)))
		return;
	if (!enter(walk))
		return;
	walk_compound_type(walk, tag);
	walk->depth--;
}

/* A number in hexadecimal digits, or a reference. */
static void walk_const(struct walk *walk)
{
	char tag;

	if (!enter(walk))
		return;
	tag = next(walk);
	if (tag == 'B') {
		follow(walk, walk_const);
	} else if (tag && strchr("hmjytoaslxnibc", tag)) {
		eat(walk, 'n');
		while (!walk->failed && !eat(walk, '_')) {
			char byte = next(walk);

			if (!byte || !strchr("0123456789abcdef", byte))
				walk->failed = true;
		}
	} else if (tag != 'p') {
		walk->failed = true;
	}
	walk->depth--;
}

bool demangle_is_cheap_rust(const char *name, uint64_t *cost)
{
	size_t bytes = strnlen(name, MAX_BYTES + 1);
	struct walk walk = { 0 };

	*cost += bytes * STEP_COST;
	if (bytes > MAX_BYTES)
		return false;
	if (!strncmp(name, "_ZN", 3))
		return true;
	if (strncmp(name, "_R", 2))
		return false;
	walk.text = name + 2;
	walk.bytes = strcspn(walk.text, ".");
	walk_path(&walk);
	if (!walk.failed && walk.at < walk.bytes) {
		walk.silent = true;
		walk_path(&walk);
	}
	*cost += walk.cost * STEP_COST;
	return !walk.failed;
}
