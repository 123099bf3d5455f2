/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads further up a program's stack than it was copied, where code keeps frame pointers: copies
 * the pairs of saved frame pointer and return address that the pointers link, and what is above the
 * last pair, where the C library has frames without frame pointers.
 *
 * All of this is memory as it was at the sample, and no conclusions are drawn here: if BP is not a
 * frame pointer, it leads to words that nobody uses.
 */
#ifndef BPF_GUEST_LINKS_H
#define BPF_GUEST_LINKS_H

#define MAX_COPIED_LINKS 1024 /* within the copied stack */
#define MAX_LINK_PAGES 64     /* in which the others are searched for */

_Static_assert(__builtin_offsetof(struct scratch, data) % 8 == 0, "words of it are aligned");

/* The word at OFFSET, a multiple of 8, of the copied data. */
static __always_inline __u64 copied_word(const struct scratch *scratch, __u64 offset)
{
	__u64 word;

	offset &= SAMPLER_STACK_BYTES - sizeof(word);
	__builtin_memcpy(&word, __builtin_assume_aligned(&scratch->data[offset], 8), sizeof(word));
	return word;
}

/* Whether a frame pointer at AT may lead to NEXT. */
static __always_inline bool is_link(__u64 at, __u64 next)
{
	return next > at && !(next & 7) && IS_KERNEL(next) == IS_KERNEL(at);
}

/* Follows frame pointers through the stack copied last into SCRATCH; false: they end there. */
__noinline int pass_copied_links(struct scratch *scratch)
{
	const struct sampler_stack *stack;
	__u64 begin;

	if (!scratch)
		return 0;
	stack = &scratch->stacks.stacks[SAMPLER_STACKS - 1];
	begin = scratch->used - stack->bytes;
	if ((begin | stack->gva) & 7 || !is_link(stack->gva - 8, scratch->link))
		return 0;
	for (__u32 i = 0; i < MAX_COPIED_LINKS; i++) {
		__u64 at = scratch->link - stack->gva, next;

		if (at + SAMPLER_LINK_BYTES > stack->bytes)
			return 1;
		next = copied_word(scratch, begin + at);
		if (!is_link(scratch->link, next))
			return 0;
		scratch->link = next;
	}
	return 0;
}

/* Copies the pair at ->link and moves on to the next; false: there is none. */
__noinline int copy_link(struct scratch *scratch, struct sampler_vm *vm, __u64 table)
{
	__u64 at, hva, used;

	if (!scratch)
		return 0;
	at = scratch->link;
	if ((at ^ scratch->link_page) >= PAGE_BYTES) {
		if (scratch->link_pages++ == MAX_LINK_PAGES)
			return 0;
		scratch->link_page = at & ~(__u64)(PAGE_BYTES - 1);
		scratch->link_page_hva =
			hva_of(vm, walk(vm, table, scratch->link_page), PAGE_BYTES);
	}
	hva = scratch->link_page_hva;
	used = scratch->used;
	if (!hva || used & 7 || (at & (PAGE_BYTES - 1)) > PAGE_BYTES - SAMPLER_LINK_BYTES ||
	    used >= SAMPLER_STACK_BYTES - SAMPLER_LINK_BYTES)
		return 0;
	if (!read_hva(vm, hva + (at & (PAGE_BYTES - 1)), &scratch->data[used], SAMPLER_LINK_BYTES))
		return 0;
	scratch->used = used + SAMPLER_LINK_BYTES;
	scratch->stacks.links++;
	scratch->last_link = at;
	scratch->link = copied_word(scratch, used);
	return is_link(at, scratch->link);
}

/* Copies what is above the last pair, as far as there is room and it is mapped. */
static __always_inline void copy_above_links(struct scratch *scratch, struct sampler_vm *vm,
					     __u64 table)
{
	__u64 gva = scratch->last_link + SAMPLER_LINK_BYTES, end = gva + SAMPLER_ABOVE_LINKS_BYTES;

	for (__u32 i = 0; i < 2 && gva < end; i++) {
		__u64 size = PAGE_BYTES - (gva & (PAGE_BYTES - 1));

		if (size > end - gva)
			size = end - gva;
		if (!copy_page(scratch, vm, table, gva, size))
			break;
		scratch->stacks.above_links_bytes += size;
		gva += size;
	}
}

/* Starts at frame pointer BP. If the stack ends within its copy, nothing is missing. */
static __always_inline void copy_links(struct scratch *scratch, struct sampler_vm *vm, __u64 table,
				       __u64 bp)
{
	if (!max_user_bytes(vm) ||
	    scratch->stacks.stacks[SAMPLER_STACKS - 1].bytes != max_user_bytes(vm))
		return;
	scratch->link = bp;
	if (!pass_copied_links(scratch))
		return;
	scratch->link_page = NOT_MAPPED;
	scratch->link_page_hva = 0;
	scratch->link_pages = 0;
	scratch->stacks.first_link = scratch->link;
	for (__u32 i = 0; i < SAMPLER_LINKS; i++)
		if (!copy_link(scratch, vm, table))
			break;
	if (scratch->stacks.links)
		copy_above_links(scratch, vm, table);
}

#endif
