/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the kernel of a converted recording. The recording of an ordinary machine has one kernel;
 * ours may have several symbol tables for a guest: one boot has a table for each set of loaded
 * modules, and there may be several boots. Tables whose kernels start at the same address belong to
 * the same boot, and their symbols are merged into one table. If there are several boots, the one
 * with the most samples is used.
 *
 * Limits: two boots at the same address (no KASLR) count as one. If two modules were loaded at the
 * same address one after the other, only one of them provides the names.
 */
#include <string.h>

#include "base/memory.h"
#include "cmd/convert/convert.h"

/* Start address of TABLE's kernel; 0 if it has no code. */
static uint64_t text_start(const struct symbol_table *table)
{
	static const char *const names[] = { "_text", "_stext" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct symbol *symbol = symbol_table_find_name(table, names[i]);

		if (symbol)
			return symbol->start;
	}
	for (size_t i = 0; i < symbol_table_count(table); i++) {
		const struct symbol *symbol = symbol_table_at(table, i);

		if (strchr("tT", symbol->type) && !symbol_module(table, symbol))
			return symbol->start;
	}
	return 0;
}

/* Counts the guest's samples per kernel. COUNTS has an element for each, and one for no kernel. */
static void count_samples(const struct native *native, uint64_t *counts)
{
	size_t kernels = native->machine->kernels->list.count;
	struct session_sample sample;

	session_rewind(native->session);
	while (session_next_sample(native->session, &sample) == PERFDATA_RECORD) {
		const struct perfdata_id *id = sample.valid ? sample.decoded.id : NULL;
		uint32_t kernel;

		if (!id || id->machine_pid != native->machine->pid)
			continue;
		kernel = session_kernel_at(native->machine, sample.time);
		counts[kernel == MACHINE_NO_KERNEL ? kernels : kernel]++;
	}
}

/* The start address of the boot with the most samples, from the kernels' start addresses STARTS. */
static uint64_t choose_boot(const struct native *native, const uint64_t *starts)
{
	size_t kernels = native->machine->kernels->list.count, best = 0;
	uint64_t *counts = memory_calloc(kernels + 1, sizeof(*counts));

	count_samples(native, counts);
	for (size_t i = 0; i < kernels; i++) {
		size_t first = 0;

		while (starts[first] != starts[i])
			first++;
		if (first != i)
			counts[first] += counts[i];
		if (counts[first] > counts[best])
			best = first;
	}
	free(counts);
	return starts[best];
}

static struct symbol_table *merge_tables(const struct native *native, const uint64_t *starts)
{
	struct symbol_builder *builder = symbol_builder_create();

	for (size_t i = 0; i < native->machine->kernels->list.count; i++) {
		const struct symbol_table *table =
			session_kernel_table(native->session, native->machine, i);

		if (table && starts[i] == native->kernel_text)
			symbol_builder_add_table(builder, table);
	}
	return symbol_builder_finish(builder);
}

/* Uses the COUNT tables of the recording. */
static void choose_recorded(struct native *native, size_t count)
{
	uint64_t *starts = memory_calloc(count, sizeof(*starts));
	bool same = true;

	for (size_t i = 0; i < count; i++) {
		const struct symbol_table *table =
			session_kernel_table(native->session, native->machine, i);

		starts[i] = table ? text_start(table) : 0;
		same = same && starts[i] == starts[0];
	}
	native->kernel_text = same ? starts[0] : choose_boot(native, starts);
	native->kernel = merge_tables(native, starts);
	if (same)
		free(starts);
	else
		native->boot_starts = starts;
}

struct error *native_choose_kernel(struct native *native)
{
	struct machine *machine = native->machine;
	const struct symbol_table *named =
		session_kernel_table(native->session, machine, MACHINE_NO_KERNEL);

	if (named) { /* by the user: valid at all times */
		struct symbol_builder *builder = symbol_builder_create();

		symbol_builder_add_table(builder, named);
		native->kernel = symbol_builder_finish(builder);
		native->kernel_text = text_start(named);
	} else if (machine->kernels->list.count) {
		choose_recorded(native, machine->kernels->list.count);
	}
	return take_pointer(native->session->symbols_error);
}

bool native_has_time(const struct native *native, uint64_t time)
{
	uint32_t kernel;

	if (!native->boot_starts)
		return true;
	kernel = session_kernel_at(native->machine, time);
	return kernel != MACHINE_NO_KERNEL && native->boot_starts[kernel] == native->kernel_text;
}

bool native_kernel_range(const struct native *native, uint64_t *ret_start, uint64_t *ret_end)
{
	uint64_t start = native->kernel_text, end = 0;

	if (!native->kernel || !start)
		return false;
	for (size_t i = 0; i < symbol_table_count(native->kernel); i++) {
		const struct symbol *symbol = symbol_table_at(native->kernel, i);

		/*
		 * Modules may lie below the kernel. Per-CPU offsets, lower still, are not
		 * addresses.
		 */
		if (symbol->start < start && symbol_module(native->kernel, symbol))
			start = symbol->start;
		if (symbol->end > end)
			end = symbol->end;
	}
	*ret_start = start;
	*ret_end = end;
	return start < end;
}
