/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns a running guest's kernel structures into an attack on who reads them, from the host, by
 * writing into its VMM's memory (what perfvisor itself never does):
 *
 *	scribble VM data|lists|stacks|tables MILLISECONDS
 *	scribble VM release TEXT
 *
 * data: BTF, symbol tables and what else a kernel does not write; lists: modules, tasks, mappings;
 * stacks: the kernel stacks of its tasks, and its unwind data; tables: its page tables. Words
 * become pointers to themselves and to each other, lengths without end, garbage. Of all others the
 * old words come back after some milliseconds, so that they change while they are read; page tables
 * stay as they are written: their guest does not live on. The guest goes on meanwhile, as far as it
 * can. release: what the guest's kernel calls its release becomes TEXT.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/progress.h"
#include "guest/process/task.h"
#include "host/vm/vm_memory.h"

#define MAX_BYTES (256ULL << 20)
#define WORDS_AT_ONCE 64
#define MAX_WAIT_MS 100
#define TABLE_BYTES 4096
#define STACK_BYTES 16384 /* THREAD_SIZE */

struct target {
	struct gpa at; /* up to the end of its page */
	uint64_t bytes;
	uint64_t gva;
};

struct scribble {
	int memory; /* /proc/PID/mem of the VMM */
	struct host_vm_memory slots;
	struct guest_space space;
	struct guest_kernel *kernel;
	VECTOR(struct target) targets;
};

static void die(const char *what, struct error *error)
{
	fprintf(stderr, "scribble: %s%s%s\n", what, error ? ": " : "",
		error ? error_message(error) : "");
	exit(1);
}

static void add(struct scribble *scribble, uint64_t gva, uint64_t bytes)
{
	uint64_t end = gva + bytes;

	while (gva < end) {
		uint64_t page_end = (gva | (GUEST_PAGE_BYTES - 1)) + 1;
		struct target target = { .gva = gva, .bytes = page_end - gva };

		if (guest_space_translate(&scribble->space, GVA(gva), &target.at))
			vector_append(&scribble->targets, target);
		gva = page_end;
	}
}

/* COUNT times, to be chosen more often than by its size. */
static void add_symbol(struct scribble *scribble, const char *name, uint64_t bytes, int count)
{
	struct gva gva;

	if (guest_kernel_find_symbol(scribble->kernel, name, &gva))
		while (count--)
			add(scribble, gva.value, bytes);
}

static void add_data(struct scribble *scribble)
{
	const struct guest_kernel_image *image = guest_kernel_get_image(scribble->kernel);

	for (size_t i = 0; i < image->regions.count; i++)
		if (image->regions.items[i].kind == GUEST_REGION_READ_ONLY)
			add(scribble, image->regions.items[i].start.value,
			    image->regions.items[i].end.value -
				    image->regions.items[i].start.value);
	add_symbol(scribble, "__start_BTF", 65536, 50);
	add_symbol(scribble, "kallsyms_token_table", 1024, 100);
	add_symbol(scribble, "kallsyms_token_index", 512, 100);
	add_symbol(scribble, "kallsyms_num_syms", 64, 200);
	add_symbol(scribble, "linux_banner", 64, 100);
}

/* Field PATH of the structure at BASE. */
static uint64_t add_field(struct scribble *scribble, const char *structure, const char *path,
			  uint64_t base)
{
	struct guest_btf_field field;

	if (!guest_btf_find_field(guest_kernel_btf(scribble->kernel), structure, path, &field))
		return 0;
	add(scribble, base + field.offset, field.size);
	return base + field.offset;
}

static void add_task(struct scribble *scribble, const struct guest_task *task)
{
	static const char *const fields[] = { "tasks", "thread_node", "signal", "thread_pid",
					      "mm", "comm" };
	static const char *const mm_fields[] = { "pgd", "mm_mt", "mmap", "brk" };
	uint64_t root;

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		add_field(scribble, "task_struct", fields[i], task->at.value);
	if (!task->mm.value)
		return;
	for (size_t i = 0; i < sizeof(mm_fields) / sizeof(*mm_fields); i++)
		add_field(scribble, "mm_struct", mm_fields[i], task->mm.value);
	root = add_field(scribble, "mm_struct", "mm_mt.ma_root", task->mm.value);
	if (root && guest_space_read_u64(&scribble->space, GVA(root), &root) && root & 2)
		add(scribble, root & ~255ULL, 256); /* the root node of its maple tree */
}

static void add_modules(struct scribble *scribble)
{
	static const char *const fields[] = { "list", "name", "kallsyms", "syms", "num_syms",
					      "source_list", "core_layout", "mem" };
	struct guest_btf_field list;
	struct gva head;
	uint64_t next;

	if (!guest_kernel_find_symbol(scribble->kernel, "modules", &head) ||
	    !guest_btf_find_field(guest_kernel_btf(scribble->kernel), "module", "list", &list))
		die("no modules", NULL);
	for (next = head.value; guest_space_read_u64(&scribble->space, GVA(next), &next) &&
				next != head.value;)
		for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
			add_field(scribble, "module", fields[i], next - list.offset);
	add_symbol(scribble, "modules", 16, 4);
}

static void add_lists(struct scribble *scribble)
{
	struct guest_task_reader *reader;
	struct guest_tasks tasks;
	struct error *error = guest_task_reader_create(scribble->kernel, &reader);

	if (error)
		die("no tasks", error);
	guest_tasks_read(reader, GUEST_THREADS, &tasks);
	for (size_t i = 0; i < tasks.items.count; i++)
		add_task(scribble, &tasks.items.items[i]);
	add_modules(scribble);
}

/* From one end of the tables to the other. */
static void add_between(struct scribble *scribble, const char *start_name, const char *end_name)
{
	struct gva start, end;

	if (guest_kernel_find_symbol(scribble->kernel, start_name, &start) &&
	    guest_kernel_find_symbol(scribble->kernel, end_name, &end))
		add(scribble, start.value, end.value - start.value);
}

static void add_stacks(struct scribble *scribble)
{
	struct guest_task_reader *reader;
	struct guest_tasks tasks;
	struct error *error = guest_task_reader_create(scribble->kernel, &reader);

	if (error)
		die("no tasks", error);
	guest_tasks_read(reader, GUEST_THREADS, &tasks);
	/* Their upper halves, which are in use; above all of those that run now and then. */
	for (size_t i = 0; i < tasks.items.count; i++)
		for (int j = 0; j < (tasks.items.items[i].mm.value ? 40 : 1); j++)
			add(scribble, tasks.items.items[i].stack.value + STACK_BYTES / 2,
			    STACK_BYTES / 2);
	add_between(scribble, "__start_orc_unwind", "__stop_orc_unwind");
	add_between(scribble, "__start_orc_unwind_ip", "__stop_orc_unwind_ip");
}

/* The kernel's own table, and what it leads to by its last entries. */
static void add_tables(struct scribble *scribble)
{
	uint64_t table = scribble->space.mmu.x86.cr3 & ~(uint64_t)(TABLE_BYTES - 1);

	for (int level = 0; level < 4; level++) {
		uint64_t entry;

		for (int i = 0; i < 8; i++)
			vector_append(&scribble->targets,
				      (struct target){ GPA(table), TABLE_BYTES, table | 0x63 });
		if (!guest_memory_read(scribble->space.memory, GPA(table + 511 * 8), &entry, 8) ||
		    !(entry & 1))
			break;
		table = entry & 0x000ffffffffff000ULL;
	}
	add_symbol(scribble, "init_top_pgt", TABLE_BYTES, 4);
	add_symbol(scribble, "level2_kernel_pgt", TABLE_BYTES, 4);
}

/* The VMM's address of GPA; 0: it has none. */
static off_t hva_of(const struct scribble *scribble, struct gpa gpa)
{
	for (size_t i = 0; i < scribble->slots.slots.count; i++) {
		const struct host_vm_slot *slot = &scribble->slots.slots.items[i];

		if (gpa.value >= slot->start.value && gpa.value - slot->start.value < slot->bytes)
			return slot->hva + (gpa.value - slot->start.value);
	}
	return 0;
}

static const struct target *any_target(const struct scribble *scribble)
{
	return &scribble->targets.items[(size_t)random() % scribble->targets.count];
}

static uint64_t bad_word(const struct scribble *scribble, uint64_t own, uint64_t old)
{
	switch (random() % 8) {
	case 0:
		return own;
	case 1:
	case 2:
		return any_target(scribble)->gva + 8 * (random() % 16);
	case 3:
		return old ^ 1ULL << random() % 64;
	case 4:
		return 0;
	case 5:
		return UINT64_MAX;
	case 6:
		return old + random() % 512 - 256;
	default:
		return (uint64_t)random() << 33 ^ (uint64_t)random();
	}
}

static void scribble_once(const struct scribble *scribble, bool restore)
{
	struct {
		off_t at;
		uint64_t old;
	} words[WORDS_AT_ONCE];
	size_t count = 0;

	for (int i = 1 + random() % WORDS_AT_ONCE; i; i--) {
		const struct target *target = any_target(scribble);
		uint64_t offset = (uint64_t)random() % target->bytes & ~7ULL;
		off_t at = hva_of(scribble, GPA((target->at.value + offset) & ~7ULL));
		uint64_t word;

		if (!at || pread(scribble->memory, &words[count].old, 8, at) != 8)
			continue;
		word = bad_word(scribble, target->gva + offset, words[count].old);
		words[count++].at = at;
		if (pwrite(scribble->memory, &word, 8, at) != 8)
			die("the VMM's memory cannot be written", NULL);
	}
	usleep(1000 * (1 + random() % MAX_WAIT_MS));
	while (restore && count--)
		if (pwrite(scribble->memory, &words[count].old, 8, words[count].at) != 8)
			die("the VMM's memory cannot be written", NULL);
}

static void open_guest(struct scribble *scribble, const char *name)
{
	struct guest_memory_source source = host_vm_memory_source(&scribble->slots);
	VECTOR(struct guest_slot) slots = { 0 };
	const struct host_vm *vm;
	struct host_vms vms;
	struct error *error = host_vms_find(&vms);
	char path[64];

	if (!error)
		error = host_vms_select(&vms, name, &vm);
	if (!error)
		error = vm_memory_find(vm_memory_finder_create(), vm, &scribble->slots);
	if (error || !scribble->slots.registers.count)
		die("no guest", error);
	for (size_t i = 0; i < scribble->slots.slots.count; i++)
		vector_append(&slots, (struct guest_slot){ scribble->slots.slots.items[i].start,
							   scribble->slots.slots.items[i].bytes });
	guest_space_init(&scribble->space,
			 guest_memory_create(&source, slots.items, slots.count, MAX_BYTES),
			 &scribble->slots.registers.items[0].mmu);
	error = guest_kernel_open(&scribble->space, &scribble->kernel);
	if (error)
		die("no kernel", error);
	snprintf(path, sizeof(path), "/proc/%u/mem", vm->pid);
	scribble->memory = open(path, O_RDWR | O_CLOEXEC);
	if (scribble->memory < 0)
		die("the VMM's memory cannot be opened", NULL);
}

/* Writes TEXT into init_uts_ns.name.release. */
static void set_release(struct scribble *scribble, const char *text)
{
	struct guest_btf_field field;
	char bytes[65] = ""; /* __NEW_UTS_LEN + 1 */
	struct gva names;
	struct gpa at;
	off_t hva;

	snprintf(bytes, sizeof(bytes), "%s", text);
	if (!guest_kernel_find_symbol(scribble->kernel, "init_uts_ns", &names) ||
	    !guest_btf_find_field(guest_kernel_btf(scribble->kernel), "uts_namespace",
				  "name.release", &field) ||
	    field.size != sizeof(bytes))
		die("the release is not known", NULL);
	for (size_t i = 0; i < sizeof(bytes); i++) { /* it may cross a page */
		if (!guest_space_translate(&scribble->space,
					   GVA(names.value + field.offset + i), &at) ||
		    !(hva = hva_of(scribble, at)) ||
		    pwrite(scribble->memory, &bytes[i], 1, hva) != 1)
			die("the release cannot be written", NULL);
	}
}

int main(int argc, char **argv)
{
	struct scribble scribble = { 0 };
	uint64_t end_ns;
	bool restore;

	if (argc != 4)
		die("VM data|lists|stacks|tables MILLISECONDS, or VM release TEXT", NULL);
	open_guest(&scribble, argv[1]);
	if (!strcmp(argv[2], "release")) {
		set_release(&scribble, argv[3]);
		return 0;
	}
	restore = strcmp(argv[2], "tables") != 0;
	if (!restore)
		add_tables(&scribble);
	else if (!strcmp(argv[2], "lists"))
		add_lists(&scribble);
	else if (!strcmp(argv[2], "stacks"))
		add_stacks(&scribble);
	else
		add_data(&scribble);
	printf("scribble: %zu targets\n", scribble.targets.count);
	fflush(stdout);
	end_ns = clock_monotonic_ns() + strtoull(argv[3], NULL, 10) * 1000000;
	while (clock_monotonic_ns() < end_ns)
		scribble_once(&scribble, restore);
	return 0;
}
