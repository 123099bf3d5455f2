/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a memory access met: union perf_mem_data_src of include/uapi/linux/perf_event.h, in the
 * words of tools/perf/util/mem-events.c (perf_script__meminfo_scnprintf()).
 */
#include <linux/perf_event.h>
#include <stdbool.h>

#include "output/script/script_extra.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define HIT 2U /* in both levels and TLB */
#define MISS 4U

/* A part of a text that consists of alternatives: "L1 or L2". */
struct alternatives {
	struct buffer *out;
	bool any;
};

static void append_alternative(struct alternatives *list, const char *name)
{
	if (list->any)
		buffer_append_string(list->out, " or ");
	buffer_append_string(list->out, name);
	list->any = true;
}

static void append_bits(struct alternatives *list, unsigned int bits, const char *const *names,
			size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (bits >> i & 1)
			append_alternative(list, names[i]);
}

static void append_operation(unsigned int operation, struct buffer *out)
{
	static const char *const names[] = { "N/A", "LOAD", "STORE", "PFETCH", "EXEC" };

	for (size_t i = 0; i < COUNT(names); i++) {
		if (operation >> i & 1) {
			buffer_append_string(out, names[i]);
			return;
		}
	}
	buffer_append_string(out, "No");
}

static void append_outcome(unsigned int bits, struct buffer *out)
{
	if (bits & HIT)
		buffer_append_string(out, " hit");
	if (bits & MISS)
		buffer_append_string(out, " miss");
}

/* mem_lvl_num: 1 to 8 are caches of that level. */
static void append_level_number(struct alternatives *list, unsigned int number)
{
	static const char *const names[] = { "CXL",	"I/O", "Any cache", "LFB/MAB",
					     "RAM", "PMEM", "N/A" };
	char cache[] = { 'L', '0' + number % 10, 0 };

	if (number >= 9)
		append_alternative(list, names[number - 9]);
	else if (number)
		append_alternative(list, cache);
}

static void append_level(const union perf_mem_data_src *source, struct buffer *out)
{
	static const char *const levels[] = {
		"N/A",		      "",	    "",
		"L1",		      "LFB/MAB",    "L2",
		"L3",		      "Local RAM",  "Remote RAM (1 hop)",
		"Remote RAM (2 hops)", "Remote Cache (1 hop)", "Remote Cache (2 hops)",
		"I/O",		      "Uncached",
	};
	static const char *const hops[] = { "", "core, same node ", "node, same socket ",
					    "socket, same board ", "board ", "", "", "" };
	struct alternatives list = { .out = out };

	if (source->mem_remote)
		buffer_append_string(out, "Remote ");
	buffer_append_string(out, hops[source->mem_hops]);
	append_bits(&list, source->mem_lvl & ~(HIT | MISS), levels, COUNT(levels));
	append_level_number(&list, source->mem_lvl_num);
	if (!list.any && !source->mem_remote && !source->mem_hops)
		buffer_append_string(out, "N/A");
	append_outcome(source->mem_lvl, out);
}

static void append_snoop(const union perf_mem_data_src *source, struct buffer *out)
{
	static const char *const names[] = { "N/A", "None", "Hit", "Miss", "HitM" };
	static const char *const more[] = { "Fwd", "Peer" };
	struct alternatives list = { .out = out };

	append_bits(&list, source->mem_snoop, names, COUNT(names));
	append_bits(&list, source->mem_snoopx, more, COUNT(more));
	if (!list.any)
		buffer_append_string(out, "N/A");
}

static void append_tlb(const union perf_mem_data_src *source, struct buffer *out)
{
	static const char *const names[] = { "N/A", "", "", "L1", "L2", "Walker", "Fault" };
	struct alternatives list = { .out = out };

	append_bits(&list, source->mem_dtlb & ~(HIT | MISS), names, COUNT(names));
	if (!list.any)
		buffer_append_string(out, "N/A");
	append_outcome(source->mem_dtlb, out);
}

static const char *lock_word(unsigned int lock)
{
	if (lock & PERF_MEM_LOCK_NA)
		return "N/A";
	return lock & PERF_MEM_LOCK_LOCKED ? "Yes" : "No";
}

static void append_blocked(unsigned int blocked, struct buffer *out)
{
	if (!blocked || (blocked & PERF_MEM_BLK_NA)) {
		buffer_append_string(out, " N/A");
		return;
	}
	if (blocked & PERF_MEM_BLK_DATA)
		buffer_append_string(out, " Data");
	if (blocked & PERF_MEM_BLK_ADDR)
		buffer_append_string(out, " Addr");
}

void script_append_memory(uint64_t data_src, struct buffer *out)
{
	union perf_mem_data_src source = { .val = data_src };

	buffer_append_string(out, "|OP ");
	append_operation(source.mem_op, out);
	buffer_append_string(out, "|LVL ");
	append_level(&source, out);
	buffer_append_string(out, "|SNP ");
	append_snoop(&source, out);
	buffer_append_string(out, "|TLB ");
	append_tlb(&source, out);
	buffer_printf(out, "|LCK %s|BLK ", lock_word(source.mem_lock));
	append_blocked(source.mem_blk, out);
}
