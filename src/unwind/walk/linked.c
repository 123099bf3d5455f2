/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows one frame after another, like arch_stack_walk() (arch/arm64/kernel/stacktrace.c,
 * arch/powerpc/kernel/stacktrace.c). The walk's bp is the frame register.
 */
#include "unwind/walk/linked.h"

#include "unwind/walk/walk.h"

struct linked {
	const struct arch *arch;
	const struct unwind_table *table;
	bool kernel;
	struct unwind_walk walk;
};

/* The contents of a frame. */
struct links {
	uint64_t caller, code;
};

static bool read_links(struct linked *linked, struct links *ret)
{
	const struct arch_frames *frames = linked->arch->frames;
	struct unwind_walk *walk = &linked->walk;

	if (walk->bp % frames->alignment)
		return unwind_walk_end(walk, UNWIND_BAD, walk->bp);
	if (!unwind_walk_read(walk, walk->bp + frames->caller_at, &ret->caller))
		return false;
	ret->code = 0;
	return frames->return_in_caller ||
	       unwind_walk_read(walk, walk->bp + frames->return_at, &ret->code);
}

/* The registers in the frame, if entry code made it, else NULL. */
static const struct arch_entry_frame *find_entry(const struct linked *linked,
						 const struct links *links)
{
	const struct arch_entry_frame *entry = linked->arch->frames->entries;
	uint64_t word;

	for (; entry->mark; entry++) {
		if (!unwind_walk_peek(&linked->walk, linked->walk.bp + entry->mark_at, &word) ||
		    word != entry->mark)
			continue;
		if (entry->empty ? !links->caller && !links->code
				 : unwind_walk_peek(&linked->walk,
						    linked->walk.bp + entry->frame_at, &word) &&
					   word == links->caller)
			return entry;
	}
	return NULL;
}

/*
 * Moves to NEXT, which is further up in the same stack, or in another stack. Whether it is valid
 * shows when it is read.
 */
static bool go_to(struct unwind_walk *walk, uint64_t next)
{
	if (next <= walk->bp && next >= walk->stack->start.value)
		return unwind_walk_end(walk, UNWIND_BAD, next);
	walk->bp = walk->sp = next;
	return true;
}

static bool pass_entry(struct linked *linked, const struct arch_entry_frame *entry)
{
	struct unwind_walk *walk = &linked->walk;
	uint64_t mode, next;

	if (!unwind_walk_read(walk, walk->bp + entry->mode_at, &mode))
		return false;
	if (mode & entry->mode_user)
		return unwind_walk_end(walk, UNWIND_COMPLETE, 0);
	if (!unwind_walk_read(walk, walk->bp + entry->ip_at, &walk->ip) ||
	    !unwind_walk_read(walk, walk->bp + entry->frame_at, &next) || !go_to(walk, next))
		return false;
	walk->signal = true;
	return true;
}

/* Nothing called the frame; for a kernel that is only true at the start of a stack. */
static bool end_outermost(struct linked *linked)
{
	struct unwind_walk *walk = &linked->walk;

	if (linked->kernel &&
	    walk->stack->end.value - walk->bp > linked->arch->frames->outermost_bytes)
		return unwind_walk_end(walk, UNWIND_BAD, walk->bp);
	return unwind_walk_end(walk, UNWIND_COMPLETE, 0);
}

static bool pass_call(struct linked *linked, const struct links *links)
{
	const struct arch_frames *frames = linked->arch->frames;
	struct unwind_walk *walk = &linked->walk;

	if (!go_to(walk, links->caller))
		return false;
	walk->ip = links->code;
	if (frames->return_in_caller &&
	    !unwind_walk_read(walk, walk->bp + frames->return_at, &walk->ip))
		return false;
	if (linked->kernel)
		walk->ip |= frames->code_bits;
	walk->guessed |= walk->signal;
	walk->signal = false;
	return true;
}

/* False: the walk has ended. */
static bool step(struct linked *linked)
{
	struct unwind_walk *walk = &linked->walk;
	const struct arch_entry_frame *entry;
	struct links links;

	if (!walk->bp) /* caller of the outermost function with a frame */
		return unwind_walk_end(walk, linked->kernel ? UNWIND_BAD : UNWIND_COMPLETE, 0);
	if (!read_links(linked, &links))
		return false;
	entry = find_entry(linked, &links);
	if (!entry && !links.caller && !links.code)
		return end_outermost(linked);
	if (!(entry ? pass_entry(linked, entry) : pass_call(linked, &links)))
		return false;
	if (linked->table && unwind_table_is_trampoline(linked->table, walk->ip))
		return unwind_walk_end(walk, UNWIND_REPLACED, walk->ip);
	if (linked->kernel && !linked->arch->is_kernel_address(GVA(walk->ip)))
		return unwind_walk_end(walk, UNWIND_NO_DATA, walk->ip);
	return true;
}

void unwind_run_linked(const struct arch *arch, const struct unwind_table *table,
		       const struct unwind_registers *registers, const struct unwind_stack *stacks,
		       size_t stack_count, struct unwind_chain *chain)
{
	struct linked linked = {
		.arch = arch,
		.table = table,
		.kernel = arch->is_kernel_address(GVA(registers->bp)),
		.walk = unwind_walk_begin(registers, stacks, stack_count, chain),
	};

	linked.walk.sp = linked.walk.bp;
	while (unwind_walk_add_frame(&linked.walk) && step(&linked))
		;
}
