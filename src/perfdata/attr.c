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
		return memory_printf("mem:0x%llx", (unsigned long long)attr->bp_addr);
	}
	return memory_printf("pmu-%u/0x%llx/", attr->type, config);
}

/* ":u", ":kpp", ":G" as in perf's event syntax. */
char *perfdata_attr_name(const struct perf_event_attr *attr)
{
	_cleanup_free_ char *name = base_name(attr);
	bool some = attr->exclude_user || attr->exclude_kernel;
	char modifiers[16] = ":";
	size_t length = 1;

	if (some && !attr->exclude_kernel)
		modifiers[length++] = 'k';
	if (some && !attr->exclude_user)
		modifiers[length++] = 'u';
	for (unsigned i = 0; i < attr->precise_ip; i++)
		modifiers[length++] = 'p';
	if (attr->exclude_host)
		modifiers[length++] = 'G';
	modifiers[length] = 0;
	return memory_printf("%s%s", name, length > 1 ? modifiers : "");
}
