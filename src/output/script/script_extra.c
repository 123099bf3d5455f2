/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/script/script_extra.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/utf8.h"
#include "perfdata/branch.h"
#include "session/context.h"

/* Where an address of a sample is. */
struct place {
	struct resolved resolved;
	bool known;
};

static struct place find(struct script_extra *extra, const struct session_sample *sample,
			 uint64_t address)
{
	struct machine *machine;
	struct space *space = context_address_space(extra->session, sample, address, &machine);

	if (!space)
		return (struct place){ 0 };
	return (struct place){
		.resolved = resolver_find(extra->resolver, machine, space, address, sample->time),
		.known = true,
	};
}

void script_append_symbol(struct resolver *resolver, uint32_t location, uint64_t address,
			  bool offset, struct buffer *out)
{
	const char *name = resolver_symbol_name(resolver, location);

	if (!name) {
		buffer_append_string(out, "[unknown]");
		return;
	}
	utf8_append_escaped(out, name);
	if (offset)
		buffer_printf(out, "+0x%" PRIx64,
			      address - resolver_symbol_start(resolver, location));
}

static void append_symbol(struct script_extra *extra, const struct place *place, bool offset,
			  struct buffer *out)
{
	if (place->known)
		script_append_symbol(extra->resolver, place->resolved.location,
				     place->resolved.address, offset, out);
	else
		buffer_append_string(out, "[unknown]");
}

static void append_dso(struct script_extra *extra, const struct place *place, struct buffer *out)
{
	buffer_append_u8(out, '(');
	utf8_append_escaped(out, place->known ? resolver_dso_path(extra->resolver,
								  place->resolved.location)
					      : "[unknown]");
	buffer_append_u8(out, ')');
}

/* sample_addr_correlates_sym(): of page faults the address is one of the program's. */
static bool is_page_fault(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_PAGE_FAULTS ||
						    attr->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
						    attr->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

static void append_data_address(struct script_extra *extra, const struct session_sample *sample,
				uint32_t fields, struct buffer *out)
{
	uint64_t address = sample->decoded.sample.addr;
	struct place place;

	buffer_printf(out, "%16" PRIx64, address);
	if (!is_page_fault(extra->session->attrs[sample->decoded.event_index]))
		return;
	place = find(extra, sample, address);
	if (fields & SCRIPT_SYMBOL) {
		buffer_append_u8(out, ' ');
		append_symbol(extra, &place, fields & SCRIPT_OFFSET, out);
	}
	if (fields & SCRIPT_DSO) {
		buffer_append_u8(out, ' ');
		append_dso(extra, &place, out);
	}
}

static void append_data_source(struct script_extra *extra, uint64_t data_src, struct buffer *out)
{
	size_t start = out->size, width;

	buffer_printf(out, "%16" PRIx64 " ", data_src);
	script_append_memory(data_src, out);
	width = out->size - start;
	if (width > extra->memory_width)
		extra->memory_width = width;
	for (; width < extra->memory_width; width++)
		buffer_append_u8(out, ' ');
}

void script_append_machine(const struct session_sample *sample, uint32_t fields,
			   struct buffer *out)
{
	const struct perfdata_id *id = sample->decoded.id;

	if (!id || !id->machine_pid)
		return;
	if (fields & SCRIPT_MACHINE_PID)
		buffer_printf(out, "VM:%5d ", (int)id->machine_pid);
	if (fields & SCRIPT_VCPU)
		buffer_printf(out, "VCPU:%03d ", (int)id->vcpu);
}

void script_extra_before(struct script_extra *extra, const struct session_sample *sample,
			 uint32_t fields, struct buffer *out)
{
	const struct perfdata_sample *values = &sample->decoded.sample;

	if (fields & SCRIPT_ADDR)
		append_data_address(extra, sample, fields, out);
	if (fields & SCRIPT_DATA_SRC)
		append_data_source(extra, values->data_src, out);
	if (fields & SCRIPT_WEIGHT)
		buffer_printf(out, "%16" PRIu64, values->weight);
	if (fields & SCRIPT_INS_LAT)
		buffer_printf(out, "%16u", values->instruction_latency);
}

static char mispredicted(const struct perfdata_branch *branch)
{
	if (branch->predicted)
		return 'P';
	return branch->mispredicted ? 'M' : '-';
}

/* get_branch_type() of tools/perf/util/branch.c: PERF_BR_* from 1 on. */
static const char *type_name(uint8_t type)
{
	static const char *const names[] = { "",	   "COND",     "UNCOND", "IND",
					     "CALL",	   "IND_CALL", "RET",	 "SYSCALL",
					     "SYSRET",	   "COND_CALL", "COND_RET", "ERET",
					     "IRQ", };

	return type < sizeof(names) / sizeof(*names) ? names[type] : "";
}

static void append_branch(struct script_extra *extra, const struct session_sample *sample,
			  const struct perfdata_branch *branch, uint32_t fields,
			  struct buffer *out)
{
	const uint64_t ends[] = { branch->from, branch->to };
	bool symbols = fields & SCRIPT_BRSTACKSYM, dsos = fields & SCRIPT_DSO;

	for (int i = 0; i < 2; i++) {
		struct place place = { 0 };

		if (symbols || dsos)
			place = find(extra, sample, ends[i]);
		if (!symbols)
			buffer_printf(out, i ? "/0x%" PRIx64 : " 0x%" PRIx64, ends[i]);
		else if (i)
			buffer_append_u8(out, '/');
		if (symbols)
			append_symbol(extra, &place, true, out);
		if (dsos)
			append_dso(extra, &place, out);
	}
	buffer_printf(out, "/%c/%c/%c/%u/%s ", mispredicted(branch),
		      branch->in_transaction ? 'X' : '-', branch->abort ? 'A' : '-',
		      branch->cycles, type_name(branch->type));
}

static void append_branches(struct script_extra *extra, const struct session_sample *sample,
			    uint32_t fields, struct buffer *out)
{
	const struct perfdata_sample *values = &sample->decoded.sample;
	bool swap = perfdata_reader_swap(extra->session->reader);

	for (uint64_t i = 0; i < values->branch_count; i++) {
		struct perfdata_branch branch = perfdata_branch_take(values, swap, i);

		append_branch(extra, sample, &branch, fields, out);
	}
}

/* " 4K", " 2M"; " N/A" for 0 (get_page_size_name()) */
static void append_page_size(uint64_t bytes, struct buffer *out)
{
	static const char units[] = "BKMGTPE";
	int unit = 0;

	if (!bytes) {
		buffer_append_string(out, " N/A");
		return;
	}
	/* unit_number__scnprintf(): of 1024 of a unit it stays with that. */
	for (; bytes > 1024 && units[unit + 1]; bytes /= 1024)
		unit++;
	buffer_printf(out, " %" PRIu64 "%c", bytes, units[unit]);
}

static void append_registers(struct script_extra *extra, const struct session_sample *sample,
			     uint32_t fields, struct buffer *out)
{
	const struct perfdata_sample *values = &sample->decoded.sample;
	const struct perf_event_attr *attr = extra->session->attrs[sample->decoded.event_index];
	struct script_registers registers = {
		.swap = perfdata_reader_swap(extra->session->reader),
		.arch = perfdata_reader_features(extra->session->reader)->arch,
		.words = values->interrupt_registers,
		.mask = attr->sample_regs_intr,
		.abi = values->interrupt_abi,
	};

	if (fields & SCRIPT_IREGS)
		script_append_registers(&registers, out);
	if (!(fields & SCRIPT_UREGS))
		return;
	registers.words = values->user_registers;
	registers.mask = attr->sample_regs_user;
	registers.abi = values->user_abi;
	script_append_registers(&registers, out);
}

void script_extra_after(struct script_extra *extra, const struct session_sample *sample,
			 uint32_t fields, struct buffer *out)
{
	const struct perfdata_sample *values = &sample->decoded.sample;

	append_registers(extra, sample, fields, out);
	if (fields & (SCRIPT_BRSTACK | SCRIPT_BRSTACKSYM))
		append_branches(extra, sample, fields, out);
	if (fields & SCRIPT_PHYS_ADDR)
		buffer_printf(out, "%16" PRIx64, values->phys_addr);
	if (fields & SCRIPT_DATA_PAGE_SIZE)
		append_page_size(values->data_page_size, out);
	if (fields & SCRIPT_CODE_PAGE_SIZE)
		append_page_size(values->code_page_size, out);
	if (fields & SCRIPT_CGROUP)
		buffer_printf(out, " cgroup:%" PRIu64, values->cgroup);
}
