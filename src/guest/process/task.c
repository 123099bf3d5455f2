/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes are linked in init_task.tasks, the threads of each in signal->thread_head through
 * thread_node (include/linux/sched.h, sched/signal.h). The pid in a namespace is
 * thread_pid->numbers[level] (include/linux/pid.h), the one in the first namespace is task->pid.
 */
#include "guest/process/task.h"

#include <string.h>

#include "base/map.h"
#include "base/memory.h"

#define MAX_TASKS 65536
#define MAX_LINKS (2 * MAX_TASKS) /* followed in total: lists of threads may be circular */
#define MAX_PID 4194304 /* PID_MAX_LIMIT */
#define PF_KTHREAD 0x00200000 /* include/linux/sched.h, the same since 2.6 */
#define MAX_NAMESPACE_LEVEL 32 /* MAX_PID_NS_LEVEL */

struct layout {
	struct guest_btf_field pid, tgid, comm, flags, mm, stack, tasks, signal, thread_pid,
		thread_node;
	struct guest_btf_field thread_head;
	struct guest_btf_field pgd;
	struct guest_btf_field level, numbers, number_in_namespace;
	struct guest_btf_field worker_private, full_name;
};

#define ROW(structure, path, field) { structure, path, offsetof(struct layout, field), false }
#define MAYBE(structure, path, field) { structure, path, offsetof(struct layout, field), true }

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
	MAYBE("task_struct", "worker_private", worker_private),
	MAYBE("kthread", "full_name", full_name),
	{ 0 },
};

struct guest_task_reader {
	const struct guest_kernel *kernel;
	struct guest_space *space;
	struct layout layout;
	struct gva init_task;
	uint64_t number_stride;
};

struct error *guest_task_reader_create(const struct guest_kernel *kernel,
				       struct guest_task_reader **ret)
{
	_cleanup_guest_task_reader_ struct guest_task_reader *reader =
		memory_calloc(1, sizeof(*reader));
	const struct guest_btf *btf = guest_kernel_btf(kernel);
	struct error *error = guest_kernel_layout(kernel, layout_rows, &reader->layout);

	if (!error && !guest_kernel_find_symbol(kernel, "init_task", &reader->init_task))
		error = error_create(
			ERROR_UNSUPPORTED,
			"the guest's kernel has no data symbols (CONFIG_KALLSYMS_ALL)");
	if (error)
		return error_prefix(error, "could not read the guest's processes");
	reader->kernel = kernel;
	reader->space = guest_kernel_space(kernel);
	reader->number_stride = guest_btf_size(btf, guest_btf_find_struct(btf, "upid"));
	*ret = take_pointer(reader);
	return NULL;
}

void guest_task_reader_destroy(struct guest_task_reader *reader)
{
	free(reader);
}

static bool field(struct guest_task_reader *reader, struct gva base,
		  const struct guest_btf_field *at, uint64_t *ret)
{
	return guest_kernel_read_field(reader->kernel, base, at, ret);
}

/* If any of this fails, threads keep the pid of the outermost namespace. */
static void read_namespace(struct guest_task_reader *reader, struct guest_task *task)
{
	const struct layout *layout = &reader->layout;
	uint64_t pid, level, number;

	task->namespace_pid = task->pid;
	if (!field(reader, task->at, &layout->thread_pid, &pid) || !pid ||
	    !field(reader, GVA(pid), &layout->level, &level) || !level ||
	    level > MAX_NAMESPACE_LEVEL)
		return;
	pid += layout->numbers.offset + level * reader->number_stride;
	if (!field(reader, GVA(pid), &layout->number_in_namespace, &number))
		return;
	task->namespace_level = level;
	task->namespace_pid = number;
}

static void read_mm(struct guest_task_reader *reader, struct guest_task *task)
{
	uint64_t mm, pgd;

	if (!field(reader, task->at, &reader->layout.mm, &mm) || !mm)
		return;
	task->mm = GVA(mm);
	if (field(reader, task->mm, &reader->layout.pgd, &pgd))
		guest_space_translate(reader->space, GVA(pgd), &task->page_tables);
}

/*
 * Since 5.17 (kernel/kthread.c, get_kthread_comm()); a name that fits into comm is only stored
 * there.
 */
static void read_name(struct guest_task_reader *reader, struct guest_task *task)
{
	char text[GUEST_TASK_NAME_BYTES] = "";
	uint64_t kthread, name;

	memcpy(task->name, task->comm, sizeof(task->comm));
	if (!task->kernel_thread ||
	    !field(reader, task->at, &reader->layout.worker_private, &kthread) || !kthread ||
	    !field(reader, GVA(kthread), &reader->layout.full_name, &name) || !name)
		return;
	/* Longer ones are cut, as in the guest's /proc. */
	guest_space_read_string(reader->space, GVA(name), text, sizeof(text));
	if (*text)
		memcpy(task->name, text, sizeof(text));
}

static bool is_kernel_address(const struct guest_task_reader *reader, uint64_t address)
{
	return reader->space->mmu.arch->is_kernel_address(GVA(address));
}

bool guest_task_read(struct guest_task_reader *reader, struct gva at, struct guest_task *ret)
{
	const struct layout *layout = &reader->layout;
	struct guest_task task = { .at = at };
	uint64_t pid, tgid, flags, stack;

	if (!is_kernel_address(reader, at.value) || !field(reader, at, &layout->pid, &pid) ||
	    !field(reader, at, &layout->tgid, &tgid) ||
	    !field(reader, at, &layout->flags, &flags) ||
	    !field(reader, at, &layout->stack, &stack) ||
	    layout->comm.size < sizeof(task.comm) ||
	    !guest_space_read(reader->space, GVA(at.value + layout->comm.offset), task.comm,
			      sizeof(task.comm)) ||
	    pid >= MAX_PID || tgid >= MAX_PID || (stack && !is_kernel_address(reader, stack)))
		return false;
	task.comm[sizeof(task.comm) - 1] = 0;
	task.pid = pid;
	task.tgid = tgid;
	task.kernel_thread = flags & PF_KTHREAD;
	task.stack = GVA(stack);
	read_name(reader, &task);
	read_namespace(reader, &task);
	read_mm(reader, &task);
	*ret = task;
	return true;
}

/* One walk over all lists. */
struct walk {
	struct guest_task_reader *reader;
	struct guest_tasks *tasks;
	struct map seen; /* task_structs: stops at circular lists */
	uint32_t links_left;
};

/* False: already seen, unreadable, or too many. */
static bool add_task(struct walk *walk, struct gva at)
{
	struct guest_task task;
	bool added;

	map_insert(&walk->seen, at.value, &added);
	if (!added || walk->tasks->items.count == MAX_TASKS ||
	    !guest_task_read(walk->reader, at, &task))
		return false;
	vector_append(&walk->tasks->items, task);
	return true;
}

static void add_threads(struct walk *walk, struct gva leader)
{
	struct guest_task_reader *reader = walk->reader;
	const struct layout *layout = &reader->layout;
	uint64_t signal, next;
	struct gva head;

	if (!field(reader, leader, &layout->signal, &signal) || !signal)
		return;
	head = GVA(signal + layout->thread_head.offset);
	if (!guest_space_read_u64(reader->space, head, &next))
		return;
	for (; next != head.value && walk->links_left; walk->links_left--) {
		struct gva thread = GVA(next - layout->thread_node.offset);

		if (thread.value != leader.value && !add_task(walk, thread))
			return;
		if (!guest_space_read_u64(reader->space, GVA(next), &next))
			return;
	}
}

static void add_processes(struct walk *walk, enum guest_task_scope scope)
{
	struct guest_task_reader *reader = walk->reader;
	uint64_t head = reader->init_task.value + reader->layout.tasks.offset;
	uint64_t next = head;

	do {
		struct gva task = GVA(next - reader->layout.tasks.offset);

		if (!add_task(walk, task))
			return;
		if (scope == GUEST_THREADS)
			add_threads(walk, task);
		if (!guest_space_read_u64(reader->space, GVA(next), &next))
			return;
	} while (next != head);
}

void guest_tasks_read(struct guest_task_reader *reader, enum guest_task_scope scope,
		      struct guest_tasks *ret)
{
	struct walk walk = { .reader = reader, .tasks = ret, .links_left = MAX_LINKS };

	*ret = (struct guest_tasks){ 0 };
	map_init(&walk.seen);
	add_processes(&walk, scope);
	map_deinit(&walk.seen);
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
