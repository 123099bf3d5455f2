/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maple tree introduced in Linux 6.1 (include/linux/maple_tree.h, lib/maple_tree.c).
 *
 * An encoded node pointer has the node's address (256-byte aligned), its type in bits 6:3, and
 * flags below. A node has slots, and one fewer pivots: a pivot is the greatest index of its slot.
 * The slots end where a pivot reaches the node's own maximum, or where it is 0 after the first
 * slot: that slot then ends at the maximum. Anything after that is stale. Slots of leaves (types 0,
 * 1) are entries, others are nodes.
 */
#include "guest/process/maple.h"

#define MAX_SLOTS 32
#define MAX_DEPTH 16
#define MAX_NODES 100000

#define NODE_MASK 255ULL
#define TYPE_SHIFT 3
#define TYPE_MASK 15
enum { MAPLE_DENSE, MAPLE_LEAF_64, MAPLE_RANGE_64, MAPLE_ARANGE_64 };

#define ROW(structure, path, field)                                                                \
	{ structure, path, offsetof(struct guest_maple_layout, field), true }

static const struct guest_layout_row layout_rows[] = {
	ROW("maple_tree", "ma_root", root),
	ROW("maple_range_64", "pivot", range_pivot),
	ROW("maple_range_64", "slot", range_slot),
	ROW("maple_arange_64", "pivot", arange_pivot),
	ROW("maple_arange_64", "slot", arange_slot),
	{ 0 },
};

struct error *guest_maple_layout(const struct guest_kernel *kernel, struct guest_maple_layout *ret)
{
	return guest_kernel_layout(kernel, layout_rows, ret);
}

struct walk {
	struct guest_space *space;
	const struct guest_maple_layout *layout;
	struct guest_pointers *entries;
	size_t max_entries;
	size_t nodes_left;
};

struct node {
	uint64_t pivots[MAX_SLOTS], slots[MAX_SLOTS];
	size_t slot_count;
	bool leaf;
};

/*
 * xa_is_internal(), xa_is_node(): entries other than plain pointers have bit 1 set and bit 0 clear.
 */
static bool is_node(uint64_t entry)
{
	return (entry & 3) == 2 && entry > 4096;
}

static bool read_node(struct walk *walk, uint64_t encoded, struct node *ret)
{
	unsigned int type = encoded >> TYPE_SHIFT & TYPE_MASK;
	uint64_t address = encoded & ~NODE_MASK;
	const struct guest_btf_field *pivot = &walk->layout->range_pivot;
	const struct guest_btf_field *slot = &walk->layout->range_slot;

	if (type != MAPLE_LEAF_64 && type != MAPLE_RANGE_64 && type != MAPLE_ARANGE_64)
		return false;
	if (type == MAPLE_ARANGE_64) {
		pivot = &walk->layout->arange_pivot;
		slot = &walk->layout->arange_slot;
	}
	if (pivot->size > sizeof(ret->pivots) || slot->size > sizeof(ret->slots))
		return false;
	*ret = (struct node){ .slot_count = slot->size / 8, .leaf = type == MAPLE_LEAF_64 };
	return guest_space_read(walk->space, GVA(address + pivot->offset), ret->pivots,
				pivot->size) &&
	       guest_space_read(walk->space, GVA(address + slot->offset), ret->slots, slot->size);
}

static bool walk_node(struct walk *walk, uint64_t encoded, uint64_t maximum, int depth)
{
	struct node node;

	if (depth == MAX_DEPTH || !walk->nodes_left || !read_node(walk, encoded, &node))
		return false;
	walk->nodes_left--;
	for (size_t i = 0; i < node.slot_count; i++) {
		uint64_t pivot = i + 1 < node.slot_count ? node.pivots[i] : maximum;

		if ((!pivot && i) || pivot > maximum)
			pivot = maximum;
		if (node.leaf && node.slots[i] && (node.slots[i] & 3) == 0) {
			if (walk->entries->items.count == walk->max_entries)
				return false;
			vector_append(&walk->entries->items, GVA(node.slots[i]));
		} else if (!node.leaf && !walk_node(walk, node.slots[i], pivot, depth + 1)) {
			return false;
		}
		if (pivot == maximum)
			break;
	}
	return true;
}

bool guest_maple_read(const struct guest_kernel *kernel, const struct guest_maple_layout *layout,
		      struct gva tree, size_t max, struct guest_pointers *entries)
{
	struct walk walk = { .space = guest_kernel_space(kernel),
			     .layout = layout,
			     .entries = entries,
			     .max_entries = max,
			     .nodes_left = MAX_NODES };
	uint64_t root;

	if (!layout->range_slot.size || !layout->arange_slot.size ||
	    !guest_kernel_read_field(kernel, tree, &layout->root, &root))
		return false;
	if (is_node(root))
		return walk_node(&walk, root, UINT64_MAX, 0);
	if (root && (root & 3) == 0)
		vector_append(&entries->items, GVA(root));
	return true;
}
