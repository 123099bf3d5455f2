/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a perf_event_attr from another kernel or byte order, and makes up the name of an event for
 * which the recording has none.
 *
 * The struct has grown since its first 64 bytes (PERF_ATTR_SIZE_VER0), always at its end: fields
 * missing in an older file are 0, and those added in a newer one are cut off. In the other byte
 * order, every field is swapped by its own size. The flags are bit-fields, which compilers lay out
 * from the first byte's lowest bit on little-endian machines and from its highest on big-endian
 * ones: the bytes stay in place, and the bits in each are reversed.
 */
#include <linux/hw_breakpoint.h>
#include <string.h>

#include "perfdata/reader_state.h"

/* The flags: one 64-bit word of bit-fields, after read_format. */
#define FLAGS_OFFSET (offsetof(struct perf_event_attr, read_format) + sizeof(uint64_t))

static uint8_t reverse_bits(uint8_t byte)
{
	byte = (byte & 0x0f) << 4 | byte >> 4;
	byte = (byte & 0x33) << 2 | (byte >> 2 & 0x33);
	return (byte & 0x55) << 1 | (byte >> 1 & 0x55);
}

#define SWAP_16(field) ((field) = __builtin_bswap16(field))
#define SWAP_32(field) ((field) = __builtin_bswap32(field))
#define SWAP_64(field) ((field) = __builtin_bswap64(field))

static void swap_attr(struct perf_event_attr *attr)
{
	uint8_t *flags = (uint8_t *)attr + FLAGS_OFFSET;

	SWAP_32(attr->type);
	SWAP_32(attr->size);
	SWAP_64(attr->config);
	SWAP_64(attr->sample_period);
	SWAP_64(attr->sample_type);
	SWAP_64(attr->read_format);
	for (int i = 0; i < 8; i++)
		flags[i] = reverse_bits(flags[i]);
	SWAP_32(attr->wakeup_events);
	SWAP_32(attr->bp_type);
	SWAP_64(attr->config1);
	SWAP_64(attr->config2);
	SWAP_64(attr->branch_sample_type);
	SWAP_64(attr->sample_regs_user);
	SWAP_32(attr->sample_stack_user);
	SWAP_32(attr->clockid);
	SWAP_64(attr->sample_regs_intr);
	SWAP_32(attr->aux_watermark);
	SWAP_16(attr->sample_max_stack);
	SWAP_32(attr->aux_sample_size);
	SWAP_64(attr->sig_data);
}

void perfdata_attr_decode(const void *data, size_t bytes, bool swap, struct perf_event_attr *ret)
{
	struct perf_event_attr attr = { 0 };

	memcpy(&attr, data, bytes < sizeof(attr) ? bytes : sizeof(attr));
	if (swap)
		swap_attr(&attr);
	attr.size = bytes < sizeof(attr) ? bytes : sizeof(attr);
	*ret = attr;
}

static const char *const hardware_names[] = {
	"cycles", "instructions", "cache-references", "cache-misses", "branches",
	"branch-misses", "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software_names[] = {
	"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations",
	"minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy",
	"bpf-output", "cgroup-switches",
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* config: the cache, then the operation << 8, the result << 16. */
static char *cache_name(uint64_t config)
{
	static const char *const caches[] = { "L1-dcache", "L1-icache", "LLC", "dTLB",
					      "iTLB", "branch", "node" };
	static const char *const operations[] = { "load", "store", "prefetch" };
	unsigned cache = config & 0xff, operation = config >> 8 & 0xff;
	unsigned result = config >> 16 & 0xff;

	if (cache >= COUNT(caches) || operation >= COUNT(operations) || result > 1)
		return NULL;
	if (result == 1)
		return memory_printf("%s-%s-misses", caches[cache], operations[operation]);
	return memory_printf("%s-%s%s", caches[cache], operations[operation],
			     operation == 2 ? "es" : "s");
}

/* "mem:0x1000:rw" (evsel__bp_name()) */
static char *breakpoint_name(const struct perf_event_attr *attr)
{
	return memory_printf("mem:0x%llx:%s%s%s", (unsigned long long)attr->bp_addr,
			     attr->bp_type & HW_BREAKPOINT_R ? "r" : "",
			     attr->bp_type & HW_BREAKPOINT_W ? "w" : "",
			     attr->bp_type & HW_BREAKPOINT_X ? "x" : "");
}

static char *base_name(const struct perf_event_attr *attr)
{
	unsigned long long config = attr->config;
	char *name;

	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		if (config < COUNT(hardware_names))
			return memory_strdup(hardware_names[config]);
		break;
	case PERF_TYPE_SOFTWARE:
		if (config < COUNT(software_names))
			return memory_strdup(software_names[config]);
		break;
	case PERF_TYPE_HW_CACHE:
		name = cache_name(config);
		if (name)
			return name;
		break;
	case PERF_TYPE_RAW:
		return memory_printf("r%llx", config);
	case PERF_TYPE_TRACEPOINT:
		return memory_printf("tracepoint-%llu", config);
	case PERF_TYPE_BREAKPOINT:
		return breakpoint_name(attr);
	}
	return memory_printf("pmu-%u/0x%llx/", attr->type, config);
}

/*
 * ":u", ":kpp", ":G", with room for the longest: evsel__add_modifiers() of tools/perf/util/evsel.c.
 * What perf sets by itself is not shown: guests are left out, unless there are other modifiers.
 */
static void append_modifiers(const struct perf_event_attr *attr, char ret[16])
{
	bool levels = attr->exclude_kernel || attr->exclude_user || attr->exclude_hv;
	bool usual_guest = levels || attr->precise_ip;
	size_t length = 1;

	if (levels && !attr->exclude_kernel)
		ret[length++] = 'k';
	if (levels && !attr->exclude_user)
		ret[length++] = 'u';
	if (levels && !attr->exclude_hv)
		ret[length++] = 'h';
	for (unsigned i = 0; i < attr->precise_ip; i++)
		ret[length++] = 'p';
	if (attr->exclude_host || attr->exclude_guest == usual_guest) {
		if (!attr->exclude_host)
			ret[length++] = 'H';
		if (!attr->exclude_guest)
			ret[length++] = 'G';
	}
	ret[0] = ':';
	ret[length > 1 ? length : 0] = 0;
}

char *perfdata_attr_name(const struct perf_event_attr *attr)
{
	_cleanup_free_ char *name = base_name(attr);
	char modifiers[16] = "";

	if (attr->type != PERF_TYPE_TRACEPOINT)
		append_modifiers(attr, modifiers);
	return memory_printf("%s%s", name, modifiers);
}
