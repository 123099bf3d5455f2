/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words and the order of perf_event_attr__fprintf() in
 * tools/perf/util/perf_event_attr_fprintf.c, as of Linux 6.1; attributes that are newer are left
 * out.
 */
#include "output/header/header_attr.h"

#include <inttypes.h>
#include <stdbool.h>

struct bit_name {
	uint64_t bit;
	const char *name;
};

#define SAMPLE(name) { PERF_SAMPLE_##name, #name }
#define BRANCH(name) { PERF_SAMPLE_BRANCH_##name, #name }
#define FORMAT(name) { PERF_FORMAT_##name, #name }

static const struct bit_name sample_types[] = {
	SAMPLE(IP), SAMPLE(TID), SAMPLE(TIME), SAMPLE(ADDR), SAMPLE(READ), SAMPLE(CALLCHAIN),
	SAMPLE(ID), SAMPLE(CPU), SAMPLE(PERIOD), SAMPLE(STREAM_ID), SAMPLE(RAW),
	SAMPLE(BRANCH_STACK), SAMPLE(REGS_USER), SAMPLE(STACK_USER), SAMPLE(IDENTIFIER),
	SAMPLE(REGS_INTR), SAMPLE(DATA_SRC), SAMPLE(WEIGHT), SAMPLE(PHYS_ADDR), SAMPLE(AUX),
	SAMPLE(CGROUP), SAMPLE(DATA_PAGE_SIZE), SAMPLE(CODE_PAGE_SIZE), SAMPLE(WEIGHT_STRUCT),
	{ 0 },
};

static const struct bit_name branch_types[] = {
	BRANCH(USER), BRANCH(KERNEL), BRANCH(HV), BRANCH(ANY), BRANCH(ANY_CALL),
	BRANCH(ANY_RETURN), BRANCH(IND_CALL), BRANCH(ABORT_TX), BRANCH(IN_TX), BRANCH(NO_TX),
	BRANCH(COND), BRANCH(CALL_STACK), BRANCH(IND_JUMP), BRANCH(CALL), BRANCH(NO_FLAGS),
	BRANCH(NO_CYCLES), BRANCH(TYPE_SAVE), BRANCH(HW_INDEX), { 0 },
};

static const struct bit_name read_formats[] = {
	FORMAT(TOTAL_TIME_ENABLED), FORMAT(TOTAL_TIME_RUNNING), FORMAT(ID), FORMAT(GROUP),
	{ 1 << 4, "LOST" }, { 0 },
};

static void append_bits(struct buffer *out, const char *title, uint64_t value,
			const struct bit_name *names)
{
	const char *separator = "";

	if (!value)
		return;
	buffer_printf(out, ", %s = ", title);
	for (; names->name; names++) {
		if (!(value & names->bit))
			continue;
		buffer_printf(out, "%s%s", separator, names->name);
		separator = "|";
	}
}

static void append_number(struct buffer *out, const char *title, uint64_t value)
{
	if (value)
		buffer_printf(out, ", %s = %" PRIu64, title, value);
}

static void append_hex(struct buffer *out, const char *title, uint64_t value)
{
	if (value)
		buffer_printf(out, ", %s = %#" PRIx64, title, value);
}

#define FLAG(name) append_number(out, #name, attr->name)

static void append_first_flags(struct buffer *out, const struct perf_event_attr *attr)
{
	FLAG(disabled);
	FLAG(inherit);
	FLAG(pinned);
	FLAG(exclusive);
	FLAG(exclude_user);
	FLAG(exclude_kernel);
	FLAG(exclude_hv);
	FLAG(exclude_idle);
	FLAG(mmap);
	FLAG(comm);
	FLAG(freq);
	FLAG(inherit_stat);
	FLAG(enable_on_exec);
	FLAG(task);
	FLAG(watermark);
	FLAG(precise_ip);
	FLAG(mmap_data);
	FLAG(sample_id_all);
	FLAG(exclude_host);
	FLAG(exclude_guest);
}

static void append_later_flags(struct buffer *out, const struct perf_event_attr *attr)
{
	FLAG(exclude_callchain_kernel);
	FLAG(exclude_callchain_user);
	FLAG(mmap2);
	FLAG(comm_exec);
	FLAG(use_clockid);
	FLAG(context_switch);
	FLAG(write_backward);
	FLAG(namespaces);
	FLAG(ksymbol);
	FLAG(bpf_event);
	FLAG(aux_output);
	FLAG(cgroup);
	FLAG(text_poke);
	FLAG(build_id);
	FLAG(inherit_thread);
	FLAG(remove_on_exec);
	FLAG(sigtrap);
}

void header_attr_append(struct buffer *out, const struct perf_event_attr *attr)
{
	append_number(out, "type", attr->type);
	append_number(out, "size", attr->size);
	append_hex(out, "config", attr->config);
	append_number(out, "{ sample_period, sample_freq }", attr->sample_period);
	append_bits(out, "sample_type", attr->sample_type, sample_types);
	append_bits(out, "read_format", attr->read_format, read_formats);
	append_first_flags(out, attr);
	append_later_flags(out, attr);
	append_number(out, "{ wakeup_events, wakeup_watermark }", attr->wakeup_events);
	append_number(out, "bp_type", attr->bp_type);
	append_hex(out, "{ bp_addr, config1 }", attr->bp_addr);
	append_hex(out, "{ bp_len, config2 }", attr->bp_len);
	append_bits(out, "branch_sample_type", attr->branch_sample_type, branch_types);
	append_hex(out, "sample_regs_user", attr->sample_regs_user);
	append_number(out, "sample_stack_user", attr->sample_stack_user);
	if (attr->clockid)
		buffer_printf(out, ", clockid = %" PRId32, attr->clockid);
	append_hex(out, "sample_regs_intr", attr->sample_regs_intr);
	append_number(out, "aux_watermark", attr->aux_watermark);
	append_number(out, "sample_max_stack", attr->sample_max_stack);
	append_number(out, "aux_sample_size", attr->aux_sample_size);
	append_number(out, "sig_data", attr->sig_data);
}
