/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layouts are those of process_cpu_topology() and so on, the words those of
 * print_cpu_topology() and so on, in tools/perf/util/header.c. Numbers of elements are the file's,
 * but every element takes some of its bytes, so no loop is longer than the file.
 */
#include "output/header/header_machine.h"

#include <inttypes.h>

#include "base/utf8.h"

#define BITS_SHOWN_BYTES 100 /* with its terminator: a buffer of perf's */

const char *header_string(struct cursor *cursor)
{
	const char *text = cursor_string_field(cursor, cursor_u32(cursor));

	return text ? text : "";
}

/* A line for each of the lists of CPUs. */
static void append_lists(struct buffer *out, struct cursor *cursor, const char *title)
{
	uint32_t count = cursor_u32(cursor);

	for (uint32_t i = 0; i < count && !cursor->failed; i++) {
		const char *cpus = header_string(cursor);

		if (cursor->failed)
			return;
		buffer_printf(out, "# sibling %-8s: ", title);
		utf8_append_escaped(out, cpus);
		buffer_append_u8(out, '\n');
	}
}

static void skip_strings(struct cursor *cursor)
{
	uint32_t count = cursor_u32(cursor);

	for (uint32_t i = 0; i < count && !cursor->failed; i++)
		header_string(cursor);
}

/* On these the numbers of sockets may be anything: process_cpu_topology(). */
static bool has_any_sockets(const char *arch)
{
	return !strncmp(arch, "s390", 4) || !strncmp(arch, "aarch64", 7);
}

/* Core and socket of each CPU; false: there are none, or one is too high to be true. */
static bool check_cores(struct cursor cursor, const struct perfdata_features *features)
{
	for (uint32_t i = 0; i < features->cpus_available; i++) {
		uint32_t socket;

		cursor_u32(&cursor);
		socket = cursor_u32(&cursor);
		if (cursor.failed)
			return false;
		if (socket != UINT32_MAX && socket > features->cpus_available &&
		    !has_any_sockets(features->arch))
			return false;
	}
	return true;
}

/* Sockets, threads, each CPU's core and socket, dies, each CPU's die: old files end earlier. */
void header_append_cpus(struct buffer *out, struct cursor *cursor,
			const struct perfdata_features *features)
{
	struct cursor threads, cores, dies;
	bool known;

	append_lists(out, cursor, "sockets");
	cores = threads = *cursor;
	skip_strings(&cores);
	known = check_cores(cores, features);
	dies = cores;
	cursor_skip(&dies, (size_t)features->cpus_available * 2 * sizeof(uint32_t));
	if (!known || !cursor_left(&dies))
		dies.failed = true;
	else
		append_lists(out, &dies, "dies");
	append_lists(out, &threads, "threads");
	if (!known) {
		buffer_append_string(out, "# Core ID and Socket ID information is not available\n");
		return;
	}
	for (uint32_t i = 0; i < features->cpus_available; i++) {
		int core = cursor_u32(&cores), socket = cursor_u32(&cores);

		buffer_printf(out, "# CPU %" PRIu32 ": Core ID %d, ", i, core);
		if (!dies.failed)
			buffer_printf(out, "Die ID %d, ", (int)cursor_u32(&dies));
		buffer_printf(out, "Socket ID %d\n", socket);
	}
}

void header_append_nodes(struct buffer *out, struct cursor *cursor)
{
	uint32_t count = cursor_u32(cursor);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t node = cursor_u32(cursor);
		uint64_t total = cursor_u64(cursor), free_kb = cursor_u64(cursor);
		const char *cpus = header_string(cursor);

		if (cursor->failed)
			return;
		buffer_printf(out, "# node%" PRIu32 " meminfo  : total = %" PRIu64 " kB, free = "
			      "%" PRIu64 " kB\n# node%" PRIu32 " cpu list : ",
			      node, total, free_kb, node);
		utf8_append_escaped(out, cpus);
		buffer_append_u8(out, '\n');
	}
}

void header_append_pmus(struct buffer *out, struct cursor *cursor)
{
	uint32_t count = cursor_u32(cursor);

	if (!count)
		buffer_append_string(out, "# pmu mappings: not available\n");
	for (uint32_t i = 0; i < count; i++) {
		uint32_t type = cursor_u32(cursor);
		const char *name = header_string(cursor);

		if (cursor->failed)
			break;
		buffer_append_string(out, i ? ", " : "# pmu mappings: ");
		utf8_append_escaped(out, name);
		buffer_printf(out, " = %" PRIu32, type);
	}
	if (count)
		buffer_append_u8(out, '\n');
}

/* cpu_cache_level__fprintf() */
void header_append_caches(struct buffer *out, struct cursor *cursor)
{
	uint32_t version = cursor_u32(cursor), count = cursor_u32(cursor);

	if (cursor->failed || version != 1)
		return;
	buffer_append_string(out, "# CPU cache info:\n");
	for (uint32_t i = 0; i < count; i++) {
		uint32_t level = cursor_u32(cursor);
		const char *type, *size, *cpus;

		cursor_skip(cursor, 3 * sizeof(uint32_t)); /* line size, sets, ways */
		type = header_string(cursor);
		size = header_string(cursor);
		cpus = header_string(cursor);
		if (cursor->failed)
			return;
		buffer_printf(out, "#  L%" PRIu32 " ", level);
		utf8_append_escaped(out, type);
		for (size_t width = strlen(type); width < 15; width++)
			buffer_append_u8(out, ' ');
		for (size_t width = strlen(size); width < 9; width++)
			buffer_append_u8(out, ' ');
		utf8_append_escaped(out, size);
		buffer_append_string(out, " [");
		utf8_append_escaped(out, cpus);
		buffer_append_string(out, "]\n");
	}
}

/* "24G": unit_number__scnprintf() */
static void append_size(struct buffer *out, uint64_t bytes)
{
	static const char units[] = "BKMGTPE";
	int unit = 0;

	for (; bytes > 1024 && units[unit + 1]; bytes /= 1024)
		unit++;
	buffer_printf(out, "%" PRIu64 "%c", bytes, units[unit]);
}

/* "0-23,32-199" for the bits set in WORDS, as far as fits perf's buffer; returns how many are. */
static uint64_t list_bits(struct cursor words, uint64_t count, struct buffer *ret)
{
	uint64_t weight = 0, first = 0, word = 0;
	bool in_range = false;

	for (uint64_t bit = 0; bit <= count; bit++) {
		bool set;

		if (bit < count && bit % 64 == 0)
			word = cursor_u64(&words);
		set = bit < count && (word >> bit % 64 & 1);
		weight += set;
		if (set && !in_range)
			first = bit;
		if (!set && in_range) {
			buffer_printf(ret, "%s%" PRIu64, ret->size ? "," : "", first);
			if (bit - 1 > first)
				buffer_printf(ret, "-%" PRIu64, bit - 1);
		}
		in_range = set;
	}
	return weight;
}

void header_append_memory(struct buffer *out, struct cursor *cursor)
{
	uint64_t version = cursor_u64(cursor), block_bytes = cursor_u64(cursor);
	uint64_t count = cursor_u64(cursor);

	if (cursor->failed || version != 1)
		return;
	buffer_printf(out, "# memory nodes (nr %" PRIu64 ", block size 0x%" PRIx64 "):\n", count,
		      block_bytes);
	for (uint64_t i = 0; i < count; i++) {
		_cleanup_buffer_ struct buffer blocks;
		uint64_t node = cursor_u64(cursor), bits, weight;
		struct cursor words;

		cursor_skip(cursor, sizeof(uint64_t)); /* how many blocks: the map says it, too */
		bits = cursor_u64(cursor);
		words = *cursor;
		if (cursor->failed || bits / 8 > cursor_left(cursor))
			return;
		cursor_skip(cursor, (bits + 63) / 64 * sizeof(uint64_t));
		if (cursor->failed)
			return;
		buffer_init(&blocks, BITS_SHOWN_BYTES - 1);
		weight = list_bits(words, bits, &blocks);
		buffer_printf(out, "#  %3" PRIu64 " [", node);
		append_size(out, block_bytes * weight);
		buffer_append_string(out, "]: ");
		buffer_append(out, blocks.data, blocks.size);
		buffer_append_u8(out, '\n');
	}
}

/* The types of BPF programs: of each its id, and its length and data. */
void header_append_btf(struct buffer *out, struct cursor *cursor)
{
	uint32_t count = cursor_u32(cursor);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t id = cursor_u32(cursor);

		cursor_skip(cursor, cursor_u32(cursor));
		if (cursor->failed)
			return;
		buffer_printf(out, "# btf info of id %" PRIu32 "\n", id);
	}
}

void header_append_hybrid(struct buffer *out, struct cursor *cursor)
{
	uint32_t count = cursor_u32(cursor);

	buffer_append_string(out, "# hybrid cpu system:\n");
	for (uint32_t i = 0; i < count; i++) {
		const char *pmu = header_string(cursor), *cpus = header_string(cursor);

		if (cursor->failed)
			return;
		buffer_append_string(out, "# ");
		utf8_append_escaped(out, pmu);
		buffer_append_string(out, " cpu list : ");
		utf8_append_escaped(out, cpus);
		buffer_append_u8(out, '\n');
	}
}

/* COUNT pairs of name and value of the PMU NAME. */
static void append_abilities(struct buffer *out, struct cursor *cursor, uint32_t count,
			     const char *name)
{
	buffer_append_string(out, "# ");
	utf8_append_escaped(out, name);
	buffer_append_string(out, " pmu capabilities: ");
	if (!count)
		buffer_append_string(out, "not available");
	for (uint32_t i = 0; i < count; i++) {
		const char *key = header_string(cursor), *value = header_string(cursor);

		if (cursor->failed)
			break;
		buffer_append_string(out, i ? ", " : "");
		utf8_append_escaped(out, key);
		buffer_append_u8(out, '=');
		utf8_append_escaped(out, value);
	}
	buffer_append_u8(out, '\n');
}

void header_append_cpu_abilities(struct buffer *out, struct cursor *cursor)
{
	append_abilities(out, cursor, cursor_u32(cursor), "cpu");
}

/* The name of each comes after its abilities. */
void header_append_pmu_abilities(struct buffer *out, struct cursor *cursor)
{
	uint32_t count = cursor_u32(cursor);

	for (uint32_t i = 0; i < count && !cursor->failed; i++) {
		uint32_t abilities = cursor_u32(cursor);
		struct cursor pairs = *cursor;
		const char *name;

		for (uint32_t n = 0; n < 2 * (uint64_t)abilities && !cursor->failed; n++)
			header_string(cursor);
		name = header_string(cursor);
		if (!cursor->failed)
			append_abilities(out, &pairs, abilities, name);
	}
}
