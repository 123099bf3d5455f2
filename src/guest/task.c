/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes hang on init_task.tasks, the threads of each on signal->thread_head by thread_node
 * (include/linux/sched.h, sched/signal.h). The pid in a namespace is thread_pid->numbers[level]
 * (include/linux/pid.h), the one in the first is task->pid.
 */
#include "guest/task.h"

#include <string.h>

#include "base/map.h"

#define MAX_TASKS 65536
#define PF_KTHREAD 0x00200000 /* include/linux/sched.h, the same since 2.6 */
#define MAX_NAMESPACE_LEVEL 32 /* MAX_PID_NS_LEVEL */

struct layout {
	struct guest_btf_field pid, tgid, comm, flags, mm, stack, tasks, signal, thread_pid, thread_node;
	struct guest_btf_field thread_head;
	struct guest_btf_field pgd;
	struct guest_btf_field level, numbers, number_in_namespace;
};

#define ROW(structure, path, field) { structure, path, offsetof(struct layout, field), false }

static const struct guest_layout_row layout_rows[] = {
	ROW("task_struct", "pid", pid),
	ROW("task_struct", "tgid", tgid),
	ROW("task_struct", "comm", comm),
	ROW("task_struct", "flags", flags),
	ROW("task_struct", "mm", mm),
	ROW("task_struct", "stack", stack),
	ROW("task_struct", "tasks", tasks),
	ROW("task_struct", "signal", signal),
	ROW("task_struct", "thread_pid", thread_pid),
	ROW("task_struct", "thread_node", thread_node),
	ROW("signal_struct", "thread_head", thread_head),
	ROW("mm_struct", "pgd", pgd),
	ROW("pid", "level", level),
	ROW("pid", "numbers", numbers),
	ROW("upid", "nr", number_in_namespace),
	{ 0 },
};

struct walk {
	const struct guest_kernel *kernel;
	struct guest_space *space;
	struct layout layout;
	struct guest_tasks *tasks;
	struct map seen; /* task_structs: a list that goes round ends */
	uint64_t number_stride;
};

static bool field(struct walk *walk, struct gva base, const struct guest_btf_field *at, uint64_t *ret)
{
	return guest_kernel_read_field(walk->kernel, base, at, ret);
}

/* Threads keep the pid of the outermost namespace where anything of this fails. */
static void read_namespace(struct walk *walk, struct guest_task *task)
{
	const struct layout *layout = &walk->layout;
	uint64_t pid, level, number;

	task->namespace_pid = task->pid;
	if (!field(walk, task->at, &layout->thread_pid, &pid) || !pid ||
	    !field(walk, GVA(pid), &layout->level, &level) || !level ||
	    level > MAX_NAMESPACE_LEVEL)
		return;
	pid += layout->numbers.offset + level * walk->number_stride;
	if (!field(walk, GVA(pid), &layout->number_in_namespace, &number))
		return;
	task->namespace_level = level;
	task->namespace_pid = number;
}

static void read_mm(struct walk *walk, struct guest_task *task)
{
	uint64_t mm, pgd;

	if (!field(walk, task->at, &walk->layout.mm, &mm) || !mm)
		return;
	task->mm = GVA(mm);
	if (field(walk, task->mm, &walk->layout.pgd, &pgd))
		guest_space_translate(walk->space, GVA(pgd), &task->page_tables);
}

static bool read_task(struct walk *walk, struct gva at, struct guest_task *ret)
{
	const struct layout *layout = &walk->layout;
	struct guest_task task = { .at = at };
	uint64_t pid, tgid, flags, stack;

	if (!field(walk, at, &layout->pid, &pid) || !field(walk, at, &layout->tgid, &tgid) ||
	    !field(walk, at, &layout->flags, &flags) || !field(walk, at, &layout->stack, &stack) ||
	    layout->comm.size < sizeof(task.comm) ||
	    !guest_space_read(walk->space, GVA(at.value + layout->comm.offset), task.comm,
			      sizeof(task.comm)))
		return false;
	task.comm[sizeof(task.comm) - 1] = 0;
	task.pid = pid;
	task.tgid = tgid;
	task.kernel_thread = flags & PF_KTHREAD;
	task.stack = GVA(stack);
	read_namespace(walk, &task);
	read_mm(walk, &task);
	*ret = task;
	return true;
}

/* False: seen before, unreadable, or too many. */
static bool add_task(struct walk *walk, struct gva at)
{
	struct guest_task task;
	bool added;

	map_insert(&walk->seen, at.value, &added);
	if (!added || walk->tasks->items.count == MAX_TASKS || !read_task(walk, at, &task))
		return false;
	vector_append(&walk->tasks->items, task);
	return true;
}

static void add_threads(struct walk *walk, struct gva leader)
{
	const struct layout *layout = &walk->layout;
	uint64_t signal, next;
	struct gva head;

	if (!field(walk, leader, &layout->signal, &signal) || !signal)
		return;
	head = GVA(signal + layout->thread_head.offset);
	if (!guest_space_read_u64(walk->space, head, &next))
		return;
	for (size_t i = 0; next != head.value && i < MAX_TASKS; i++) {
		struct gva thread = GVA(next - layout->thread_node.offset);

		if (thread.value != leader.value && !add_task(walk, thread))
			return;
		if (!guest_space_read_u64(walk->space, GVA(next), &next))
			return;
	}
}

static void add_processes(struct walk *walk, struct gva init_task, enum guest_task_scope scope)
{
	uint64_t head = init_task.value + walk->layout.tasks.offset;
	uint64_t next = head;

	do {
		struct gva task = GVA(next - walk->layout.tasks.offset);

		if (!add_task(walk, task))
			return;
		if (scope == GUEST_THREADS)
			add_threads(walk, task);
		if (!guest_space_read_u64(walk->space, GVA(next), &next))
			return;
	} while (next != head);
}

struct error *guest_tasks_read(const struct guest_kernel *kernel, enum guest_task_scope scope,
			       struct guest_tasks *ret)
{
	struct guest_tasks tasks = { 0 };
	struct walk walk = { .kernel = kernel,
			     .space = guest_kernel_space(kernel),
			     .tasks = &tasks };
	struct error *error = guest_kernel_layout(kernel, layout_rows, &walk.layout);
	struct gva init_task;

	if (!error && !guest_kernel_find_symbol(kernel, "init_task", &init_task))
		error = error_create(ERROR_UNSUPPORTED,
				     "the guest's kernel names no data (CONFIG_KALLSYMS_ALL)");
	if (error)
		return error_prefix(error, "could not read the guest's processes");
	walk.number_stride = guest_btf_size(guest_kernel_btf(kernel),
				      guest_btf_find_struct(guest_kernel_btf(kernel), "upid"));
	map_init(&walk.seen);
	add_processes(&walk, init_task, scope);
	map_deinit(&walk.seen);
	*ret = tasks;
	return NULL;
}

void guest_tasks_deinit(struct guest_tasks *tasks)
{
	vector_deinit(&tasks->items);
}

const struct guest_task *guest_tasks_find(const struct guest_tasks *tasks, uint32_t pid)
{
	for (size_t i = 0; i < tasks->items.count; i++)
		if (tasks->items.items[i].pid == pid)
			return &tasks->items.items[i];
	return NULL;
}
