/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pointer to the current task is a per-CPU variable: current_task until 6.1, a field of
 * pcpu_hot from 6.2 to 6.14, current_task again since then (arch/x86/include/asm/current.h). A
 * per-CPU symbol is an offset until 6.14 and a kernel address since then. Either way, GS base plus
 * the symbol is the address of this CPU's variable (arch/x86/kernel/setup_percpu.c,
 * cpu_kernelmode_gs_base()).
 */
#include "guest/process/running.h"

#include <string.h>

#include "base/map.h"
#include "guest/kernel/kernel_search.h"
#include "guest/process/areas.h"

#define CR4_LA57 (1u << 12)
#define BANNER_BYTES 256
#define MAX_MODULES 4096
#define MODULE_NAME_BYTES 64
#define MAX_STACK_BYTES (64 << 10)

struct current_layout {
	struct guest_btf_field pid, tgid, comm, mm, pgd, stack, hot_current, hot_irq_stack;
	struct guest_btf_field hot_irq_use, hot_preempt_count, queue_task;
};

#define ROW(structure, path, field)                                                                \
	{                                                                                          \
		structure, path, offsetof(struct current_layout, field), false                     \
	}
#define MAYBE(structure, path, field)                                                              \
	{                                                                                          \
		structure, path, offsetof(struct current_layout, field), true                      \
	}

static const struct guest_layout_row current_rows[] = {
	ROW("task_struct", "pid", pid),
	ROW("task_struct", "tgid", tgid),
	ROW("task_struct", "comm", comm),
	ROW("task_struct", "mm", mm),
	ROW("mm_struct", "pgd", pgd),
	MAYBE("task_struct", "stack", stack),
	MAYBE("pcpu_hot", "current_task", hot_current),
	MAYBE("pcpu_hot", "hardirq_stack_ptr", hot_irq_stack),
	MAYBE("pcpu_hot", "hardirq_stack_inuse", hot_irq_use),
	MAYBE("pcpu_hot", "preempt_count", hot_preempt_count),
	MAYBE("rq", "curr", queue_task),
	{ 0 },
};

/* A kernel with 5-level support that runs with 4 levels has the same table: check CR4. */
static bool find_page_tables(const struct guest_kernel *kernel, struct gpa *ret)
{
	struct guest_space *space = guest_kernel_space(kernel);
	struct gva table;

	if (space->mmu.arch != &arch_x86_64)
		return false;
	if (!guest_kernel_find_symbol(kernel, "init_top_pgt", &table) &&
	    !guest_kernel_find_symbol(kernel, "swapper_pg_dir", &table))
		return false;
	return guest_space_translate(space, table, ret);
}

void guest_kernel_use_own_page_tables(const struct guest_kernel *kernel)
{
	struct guest_space *space = guest_kernel_space(kernel), own;
	struct gva start = guest_kernel_get_image(kernel)->start;
	struct gpa table, here, there;
	struct arch_mmu mmu = space->mmu;

	if (!find_page_tables(kernel, &table) || !guest_space_translate(space, start, &here))
		return;
	mmu.x86.cr3 = table.value;
	guest_space_init(&own, space->memory, &mmu);
	if (guest_space_translate(&own, start, &there) && here.value == there.value)
		*space = own;
}

/*
 * The offset of the per-CPU variable NAME, which was the field HOT of pcpu_hot for some releases.
 */
static bool find_offset(const struct guest_kernel *kernel, const char *name,
			const struct guest_btf_field *hot, __s64 *ret)
{
	struct gva variable;

	if (guest_kernel_find_symbol(kernel, name, &variable)) {
		*ret = variable.value;
		return true;
	}
	if (!hot->size || !guest_kernel_find_symbol(kernel, "pcpu_hot", &variable))
		return false;
	*ret = variable.value + hot->offset;
	return true;
}

/*
 * Kernel stacks have the size of the first task's stack, which is part of the image
 * (include/asm-generic/vmlinux.lds.h, INIT_TASK_DATA; the name of its end changed in 6.10).
 */
static void find_stacks(const struct guest_kernel *kernel, const struct current_layout *layout,
			struct guest_current *ret)
{
	struct gva start, end;

	if (!layout->stack.size || !guest_kernel_find_symbol(kernel, "init_stack", &start) ||
	    (!guest_kernel_find_symbol(kernel, "__end_init_stack", &end) &&
	     !guest_kernel_find_symbol(kernel, "__end_init_task", &end)) ||
	    end.value - start.value - 1 >= MAX_STACK_BYTES)
		return;
	ret->task_stack = layout->stack.offset;
	ret->stack_bytes = end.value - start.value;
	find_offset(kernel, "hardirq_stack_ptr", &layout->hot_irq_stack, &ret->irq_stack_offset);
}

/*
 * hardirq_stack_inuse is set before switching to the stack, and cleared after leaving it. Until
 * 5.11, irq_count counts up from -1 in the same places (arch/x86/include/asm/irq_stack.h).
 */
static void find_irq_use(const struct guest_kernel *kernel, const struct current_layout *layout,
			 struct guest_current *ret)
{
	if (find_offset(kernel, "hardirq_stack_inuse", &layout->hot_irq_use,
			&ret->irq_use_offset)) {
		ret->irq_use_bytes = sizeof(uint8_t);
		ret->irq_unused = 0;
	} else if (find_offset(kernel, "irq_count", &(struct guest_btf_field){ 0 },
			       &ret->irq_use_offset)) {
		ret->irq_use_bytes = sizeof(uint32_t);
		ret->irq_unused = UINT32_MAX;
	}
}

/* The fields that together show whose stack is in use: src/bpf/stacks_in_use.h. */
static void find_stack_use(const struct guest_kernel *kernel, const struct current_layout *layout,
			   struct guest_current *ret)
{
	struct gva queues;

	if (!ret->irq_stack_offset || !layout->queue_task.size ||
	    !guest_kernel_find_symbol(kernel, "runqueues", &queues) ||
	    !find_offset(kernel, "__preempt_count", &layout->hot_preempt_count,
			 &ret->preempt_count_offset))
		return;
	ret->run_queue_task_offset = queues.value + layout->queue_task.offset;
	find_irq_use(kernel, layout, ret);
}

struct error *guest_current_find(const struct guest_kernel *kernel, struct guest_current *ret)
{
	struct current_layout layout;
	struct guest_current current = { 0 };
	struct gpa page_tables;
	struct error *error = guest_kernel_layout(kernel, current_rows, &layout);

	if (error)
		return error;
	if (!find_page_tables(kernel, &page_tables) ||
	    !find_offset(kernel, "current_task", &layout.hot_current, &current.task_offset))
		return error_create(ERROR_UNSUPPORTED,
				    "the guest's kernel has no symbol for its page tables or the "
				    "current task (CONFIG_KALLSYMS_ALL)");
	current.page_tables = page_tables.value;
	current.levels = guest_kernel_space(kernel)->mmu.x86.cr4 & CR4_LA57 ? 5 : 4;
	current.task_pid = layout.pid.offset;
	current.task_tgid = layout.tgid.offset;
	current.task_comm = layout.comm.offset;
	current.task_mm = layout.mm.offset;
	current.mm_pgd = layout.pgd.offset;
	find_stacks(kernel, &layout, &current);
	find_stack_use(kernel, &layout, &current);
	guest_areas_find(kernel, &current.areas);
	*ret = current;
	return NULL;
}

static uint64_t mix(uint64_t number, const void *data, size_t size)
{
	/* Never 0, which means that nothing could be read. */
	return (number * 31 + hash_bytes(data, size)) | 1;
}

static uint64_t read_kernel_state(const struct guest_kernel *kernel)
{
	char banner[BANNER_BYTES] = "";
	struct gva address;

	if (!guest_kernel_find_symbol(kernel, "linux_banner", &address))
		return 1; /* they cannot be told apart, so assume they are the same */
	if (!guest_space_read(guest_kernel_space(kernel), address, banner, sizeof(banner)) ||
	    strncmp(banner, "Linux version ", 14))
		return 0;
	return mix(0, banner, sizeof(banner));
}

struct module_layout {
	struct guest_btf_field state, list, name;
};

#define MODULE_ROW(field) { "module", #field, offsetof(struct module_layout, field), false }

static const struct guest_layout_row module_rows[] = {
	MODULE_ROW(state),
	MODULE_ROW(list),
	MODULE_ROW(name),
	{ 0 },
};

static uint64_t read_module_state(const struct guest_kernel *kernel)
{
	struct guest_space *space = guest_kernel_space(kernel);
	struct module_layout layout;
	_cleanup_error_ struct error *error = guest_kernel_layout(kernel, module_rows, &layout);
	uint64_t next, number = 0;
	struct gva head;

	if (error || !guest_kernel_find_symbol(kernel, "modules", &head) ||
	    !guest_space_read_u64(space, head, &next))
		return 0;
	number = mix(number, &head, sizeof(head));
	for (size_t i = 0; next != head.value && i < MAX_MODULES; i++) {
		struct gva at = GVA(next - layout.list.offset);
		struct {
			uint64_t at, state;
			char name[MODULE_NAME_BYTES];
		} module = { .at = at.value };

		if (!guest_kernel_read_field(kernel, at, &layout.state, &module.state))
			break;
		guest_space_read_string(space, GVA(at.value + layout.name.offset), module.name,
					sizeof(module.name));
		number = mix(number, &module, sizeof(module));
		if (!guest_space_read_u64(space, GVA(next), &next))
			break;
	}
	return number;
}

/*
 * Checks the vCPU's page tables; if its CR3 is unknown, those that the kernel keeps for booting
 * CPUs.
 */
static bool maps_kernel(const struct guest_kernel *kernel, const struct arch_mmu *mmu)
{
	struct guest_space *own = guest_kernel_space(kernel), its;
	struct gva start = guest_kernel_get_image(kernel)->start;
	_cleanup_error_ struct error *error = NULL;
	struct arch_mmu found = *mmu;
	struct gpa here, there;

	if (guest_kernel_search_wanted(mmu))
		error = guest_kernel_search(own->memory, &found);
	if (error)
		return false;
	guest_space_init(&its, own->memory, &found);
	return guest_space_translate(own, start, &here) &&
	       guest_space_translate(&its, start, &there) && here.value == there.value;
}

struct guest_state guest_state_read(const struct guest_kernel *kernel, const struct arch_mmu *mmus,
				    size_t count)
{
	struct guest_state state = { 0 };

	for (size_t i = 0; i < count && !state.kernel; i++)
		if (maps_kernel(kernel, &mmus[i]))
			state.kernel = read_kernel_state(kernel);
	if (state.kernel)
		state.modules = read_module_state(kernel);
	return state;
}
