/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest processes in the file: a COMM record when a thread is first seen or changes its name, and
 * the mappings of a process when a sample was taken in its user code, and again when a sample lies
 * outside the known ones. Mappings arrive from another thread a moment later (guest_reader.h).
 *
 * Addresses in the guest's kernel show whether a pid still belongs to the same process: those of
 * its task_struct and its mm_struct.
 *
 * Times: perf would consider records older than the round before the last to be out of order. A
 * thread's name, when first seen, gets that round's time, because another CPU's ring that is read
 * later may have older samples of the thread. The first mappings of a process get time 0, which
 * perf applies at once: most likely the process already had them before it was first seen. Those of
 * a process whose pid was another program's before begin with its first sample.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "host/record/recorder_state.h"

#define ASK_AGAIN_NS 1000000000ull

/* A guest could make up new ones forever. */
#define MAX_TASKS (1u << 17) /* of a guest */
#define MAX_CODE 2048 /* executable mappings of a process */
#define MAPPING_BYTES ((uint64_t)64 << 20) /* per guest in the file, plus, for each second: */
#define MAPPING_BYTES_PER_SECOND ((uint64_t)1 << 20)
#define MAPPING_RECORD_BYTES 128 /* without its path */
#define MAX_FILES_MAPPED ((size_t)1 << 20)
#define KEPT_BYTES ((size_t)64 << 20) /* of mappings that may have to be written again */

static void keep(struct recorder *recorder, struct error *error)
{
	if (recorder->error)
		error_destroy(error);
	else
		recorder->error = error;
}

static uint32_t machine_of(const struct recorder *recorder, size_t vm)
{
	return recorder->inventory.vms.items[vm].pid;
}

static void write_comm(struct recorder *recorder, size_t vm, const struct capture_guest *guest,
		       uint64_t time_ns)
{
	char comm[sizeof(guest->comm) + 1] = "";

	memcpy(comm, guest->comm, sizeof(guest->comm));
	recorder_write_records(recorder); /* keeps the order */
	keep(recorder, perfdata_writer_guest_comm(recorder->writer, machine_of(recorder, vm),
						  guest->tgid, guest->pid, comm, time_ns));
}

/* From now on TGID is another program, of which nothing is known. */
static void begin_process(struct recorder *recorder, size_t vm, struct recorder_process *process,
			  const struct capture_guest *guest, uint64_t time_ns)
{
	bool replaced = process->mm.value;

	process->mm = guest->mm;
	process->begin_ns = time_ns;
	process->entry_sp = 0;
	process->asked_ns = 0;
	process->replaced = replaced;
	process->code.count = process->kept.count = 0;
	recorder->vms.items[vm].program_mappings -= process->mappings.count;
	process->mappings.count = process->files.count = 0;
	if (!replaced)
		return;
	recorder_write_records(recorder);
	keep(recorder, perfdata_writer_guest_process(recorder->writer, machine_of(recorder, vm),
						     guest->tgid, 0, time_ns));
	write_comm(recorder, vm, guest, time_ns);
}

static bool is_known_code(const struct recorder_process *process, uint64_t ip)
{
	for (size_t i = 0; i < process->code.count; i++)
		if (ip >= process->code.items[i].start.value &&
		    ip < process->code.items[i].end.value)
			return true;
	return false;
}

static struct recorder_process *find_process(struct recorder *recorder, size_t vm, uint32_t tgid)
{
	struct recorder_vm *its = &recorder->vms.items[vm];
	bool added;
	uint64_t *entry = map_insert(&its->process_of, tgid, &added);

	if (added) {
		vector_append(&its->processes, (struct recorder_process){ 0 });
		*entry = its->processes.count - 1;
	}
	return &its->processes.items[*entry];
}

/* Whether there may be another file, or another part of one, with the same processes. */
static bool writes_again(const struct recorder *recorder)
{
	return recorder->config.switches || recorder->config.overwrite;
}

static uint64_t file_key(const char *path, uint32_t machine_pid,
			 const struct guest_build_id *build_id)
{
	return hash_bytes(path, strlen(path)) ^ hash_u64(machine_pid) ^
	       hash_u64(hash_bytes(build_id->data, build_id->bytes));
}

bool recorder_file_is_mapped(const struct recorder *recorder, const struct guest_reader_file *file)
{
	return !writes_again(recorder) || recorder->files_mapped.count == MAX_FILES_MAPPED ||
	       map_find(&recorder->files_mapped,
			file_key(file->path, file->pid, &file->build_id));
}

static void write_mapping(struct recorder *recorder, size_t vm, uint32_t tgid,
			  const struct guest_mapping *mapping, const char *path, uint64_t time_ns)
{
	struct perfdata_mapping record = {
		.pid = tgid,
		.tid = tgid,
		.start = mapping->start.value,
		.length = mapping->end.value - mapping->start.value,
		.file_offset = mapping->file_offset,
		.device_major = mapping->device_major,
		.device_minor = mapping->device_minor,
		.inode = mapping->inode,
		.prot = (mapping->read ? PROT_READ : 0) | (mapping->write ? PROT_WRITE : 0) |
			(mapping->execute ? PROT_EXEC : 0),
		.flags = mapping->shared ? MAP_SHARED : MAP_PRIVATE,
		.misc = PERF_RECORD_MISC_GUEST_USER,
		.path = *path ? path : "//anon", /* as in perf */
		.build_id = mapping->build_id.bytes ? mapping->build_id.data : NULL,
		.build_id_bytes = mapping->build_id.bytes,
	};

	keep(recorder, perfdata_writer_guest_mmap2(recorder->writer, machine_of(recorder, vm),
						   &record, time_ns));
	if (writes_again(recorder) && recorder->files_mapped.count < MAX_FILES_MAPPED)
		map_insert(&recorder->files_mapped,
			   file_key(record.path, machine_of(recorder, vm), &mapping->build_id),
			   NULL);
}

/* Whether another mapping, of PATH, may go into the file. */
static bool spend_mapping(struct recorder_vm *vm, const char *path, uint64_t now_ns)
{
	uint64_t seconds, bytes = MAPPING_RECORD_BYTES + strlen(path);

	if (!vm->mapping_ns)
		vm->mapping_ns = now_ns;
	seconds = now_ns > vm->mapping_ns ? (now_ns - vm->mapping_ns) / 1000000000 : 0;
	if (vm->mapping_bytes + bytes <= MAPPING_BYTES + seconds * MAPPING_BYTES_PER_SECOND) {
		vm->mapping_bytes += bytes;
		return true;
	}
	if (!vm->mappings_cut)
		log_note("a guest maps too many files too often to record all of them");
	vm->mappings_cut = true;
	return false;
}

/* In another file, or in another part of it, than before. */
static void write_again(struct recorder *recorder, size_t vm, uint32_t tgid,
			struct recorder_process *process)
{
	struct recorder_vm *its = &recorder->vms.items[vm];

	recorder_write_records(recorder); /* keeps the order */
	process->file = recorder->file;
	for (size_t i = 0; i < process->kept.count; i++) {
		const struct guest_mapping *mapping = &process->kept.items[i];
		const char *path = intern_string(its->kept_paths, mapping->path);

		if (spend_mapping(its, path, recorder->newest_ns))
			write_mapping(recorder, vm, tgid, mapping, path, recorder->round_ns[0]);
	}
}

/* Notes MAPPING, which belongs to the file at hand if the process does. */
static void keep_mapping(struct recorder *recorder, size_t vm, struct recorder_process *process,
			 const struct guest_mapping *mapping, const char *path)
{
	struct recorder_vm *its = &recorder->vms.items[vm];
	struct guest_mapping kept = *mapping;

	vector_append(&process->code, (struct recorder_code){ mapping->start, mapping->end });
	if (!writes_again(recorder))
		return;
	if (!its->kept_paths)
		its->kept_paths = intern_create();
	kept.path = intern_text(its->kept_paths, path);
	its->kept_bytes += sizeof(kept) + strlen(path);
	vector_append(&process->kept, kept);
}

void recorder_begin_part(struct recorder *recorder)
{
	recorder->file++;
	for (size_t i = 0; i < recorder->vms.count; i++)
		if (recorder->vms.items[i].kept_bytes > KEPT_BYTES)
			recorder_forget_processes(&recorder->vms.items[i]); /* to be asked again */
}

void recorder_want_mappings(struct recorder *recorder, size_t vm, uint32_t tgid,
			    struct recorder_process *process, uint64_t ip, uint64_t time_ns)
{
	if (process->file != recorder->file)
		write_again(recorder, vm, tgid, process);
	if (is_known_code(process, ip) ||
	    (process->asked_ns && time_ns - process->asked_ns < ASK_AGAIN_NS))
		return;
	process->asked_ns = time_ns;
	guest_reader_ask(recorder->reader, vm, tgid, process->mm, time_ns);
}

static struct recorder_process *note_process(struct recorder *recorder, size_t vm,
					     const struct capture_guest *guest,
					     const struct perfdata_sample *sample)
{
	struct recorder_process *process = find_process(recorder, vm, guest->tgid);

	/*
	 * A process that is ending has no mm; what was known of it is still valid. Samples of
	 * another CPU may be older: what ran before the current program must not appear to come
	 * after it.
	 */
	if (guest->mm.value && guest->mm.value != process->mm.value) {
		if (sample->time_ns < process->seen_ns)
			return NULL;
		begin_process(recorder, vm, process, guest, sample->time_ns);
	}
	if (guest->mm.value && sample->time_ns > process->seen_ns)
		process->seen_ns = sample->time_ns;
	return guest->mm.value ? process : NULL;
}

/* Forgets everything of VM at once; what is seen again is written again. */
static void bound_tasks(struct recorder_vm *vm)
{
	if (vm->tasks.count >= MAX_TASKS || vm->processes.count >= MAX_TASKS)
		recorder_forget_processes(vm);
}

struct recorder_process *recorder_note_task(struct recorder *recorder, size_t vm,
					    const struct capture_guest *guest,
					    const struct perfdata_sample *sample)
{
	struct recorder_vm *its = &recorder->vms.items[vm];
	struct recorder_task *task;
	struct capture_guest idle;
	bool added;
	uint64_t *entry;

	if (!guest->pid) { /* the idle tasks of all vCPUs have this number */
		idle = *guest;
		idle.task = GVA(0);
		memcpy(idle.comm, "swapper\0\0\0\0\0\0\0\0", sizeof(idle.comm));
		guest = &idle;
	}
	if (sample->time_ns > its->task_ns)
		its->task_ns = sample->time_ns;
	bound_tasks(its);
	entry = map_insert(&its->task_of, guest->pid, &added);
	if (added) {
		vector_append(&its->tasks, (struct recorder_task){ 0 });
		*entry = its->tasks.count - 1;
	}
	task = &its->tasks.items[*entry];
	if (added || task->file != recorder->file || task->at.value != guest->task.value ||
	    task->tgid != guest->tgid ||
	    memcmp(task->comm, guest->comm, sizeof(task->comm))) {
		uint64_t first_ns = added || task->file != recorder->file ? recorder->round_ns[0]
									  : sample->time_ns;

		task->file = recorder->file;
		task->at = guest->task;
		task->tgid = guest->tgid;
		memcpy(task->comm, guest->comm, sizeof(task->comm));
		write_comm(recorder, vm, guest, first_ns);
	}
	return note_process(recorder, vm, guest, sample);
}

static bool has_code(const struct recorder_process *process, const struct guest_mapping *mapping)
{
	for (size_t i = 0; i < process->code.count; i++)
		if (process->code.items[i].start.value == mapping->start.value &&
		    process->code.items[i].end.value == mapping->end.value)
			return true;
	return false;
}

void recorder_take_answer(struct recorder *recorder, const struct guest_reader_process *answer)
{
	struct recorder_process *process = find_process(recorder, answer->vm, answer->tgid);
	bool first = !process->code.count;
	uint64_t time_ns = first ? process->begin_ns : answer->time_ns;

	if (process->mm.value != answer->mm.value)
		return; /* it has become another program */
	if (recorder->chain)
		recorder_set_program(&recorder->vms.items[answer->vm], process, answer);
	if (time_ns < recorder->round_ns[0])
		time_ns = recorder->round_ns[0];
	if (first && !process->replaced)
		time_ns = 0;
	for (size_t i = 0; i < answer->mappings.items.count; i++) {
		const struct guest_mapping *mapping = &answer->mappings.items.items[i];
		const char *path = intern_string(answer->strings, mapping->path);

		if (process->code.count == MAX_CODE)
			return;
		if (has_code(process, mapping) ||
		    !spend_mapping(&recorder->vms.items[answer->vm], path, answer->time_ns))
			continue;
		if (process->file == recorder->file) /* else it is written when it is seen */
			write_mapping(recorder, answer->vm, answer->tgid, mapping, path, time_ns);
		keep_mapping(recorder, answer->vm, process, mapping, path);
	}
}

void recorder_exchange_with_reader(struct recorder *recorder)
{
	struct guest_reader_process answer;

	if (!recorder->reader)
		return;
	for (size_t i = 0; i < recorder->vms.count; i++) {
		struct recorder_vm *vm = &recorder->vms.items[i];

		if (vm->task_ns > vm->told_ns)
			guest_reader_saw(recorder->reader, i, vm->task_ns);
		vm->told_ns = vm->task_ns;
	}
	recorder_write_records(recorder);
	while (guest_reader_take(recorder->reader, &answer)) {
		if (recorder_wait_answer(recorder, &answer))
			continue;
		recorder_take_answer(recorder, &answer);
		guest_reader_process_deinit(&answer);
	}
}

void recorder_forget_processes(struct recorder_vm *vm)
{
	for (size_t i = 0; i < vm->processes.count; i++) {
		vector_deinit(&vm->processes.items[i].code);
		vector_deinit(&vm->processes.items[i].kept);
		vector_deinit(&vm->processes.items[i].mappings);
		vector_deinit(&vm->processes.items[i].files);
	}
	vector_deinit(&vm->processes);
	vector_deinit(&vm->tasks);
	map_deinit(&vm->process_of);
	map_deinit(&vm->task_of);
	map_init(&vm->process_of);
	map_init(&vm->task_of);
	vm->program_mappings = 0;
	intern_destroy(take_pointer(vm->kept_paths));
	vm->kept_bytes = 0;
}
