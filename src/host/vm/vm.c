/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The VMs of this host. A BPF iterator finds open files of KVM; if it is not available, /proc and
 * debugfs are used. Here the files are sorted into VMs, however they were found.
 *
 * A VM's files can be open in several processes; its owner is the one with the address space in
 * which the VM lives. Only there does KVM run it, and only there is its memory: where no process
 * has that address space any more, or BPF sees none in this pid namespace, there is no VM. A
 * program must not be read as a guest because it inherited a descriptor.
 *
 * Threads are only trusted if /proc shows them in the owner: KVM remembers the thread that last ran
 * a vCPU, even if the thread is gone.
 */
#include "host/vm/vm.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "host/system/process.h"
#include "host/vm/vm_files.h"
#include "host/vm/vm_name.h"

#define COMMAND_MAX_BYTES ((size_t)2 * 1024 * 1024)
#define MAX_OWNERS_TRIED 64
#define MAX_THREADS_TRIED 256

struct host_vm_finder {
	struct vm_files_bpf *bpf; /* NULL: not available */
	char *reason;		  /* why it is not available */
};

struct host_vm_finder *host_vm_finder_create(void)
{
	struct host_vm_finder *finder = memory_calloc(1, sizeof(*finder));
	_cleanup_error_ struct error *error = vm_files_bpf_create(&finder->bpf);

	if (error)
		finder->reason = memory_strdup(error_message(error));
	return finder;
}

void host_vm_finder_destroy(struct host_vm_finder *finder)
{
	if (!finder)
		return;
	vm_files_bpf_destroy(finder->bpf);
	free(finder->reason);
	free(finder);
}

/* Files of one VM are adjacent, the VM's own files first, then its vCPUs by number. */
static int compare_files(const void *a, const void *b)
{
	const struct vm_file *left = a, *right = b;

	if (left->vm != right->vm)
		return left->vm < right->vm ? -1 : 1;
	if (left->is_vcpu != right->is_vcpu)
		return left->is_vcpu ? 1 : -1;
	if (left->number != right->number)
		return left->number < right->number ? -1 : 1;
	if (left->object != right->object)
		return left->object < right->object ? -1 : 1;
	return left->fd < right->fd ? -1 : left->fd > right->fd;
}

/*
 * Whether CANDIDATE is a better owner than BEST for a VM with COUNT files: both have its address
 * space, or neither has.
 */
static bool better_owner(const struct vm_file *candidate, const struct vm_file *best,
			 const struct vm_file *files, size_t count)
{
	struct host_process_stat its, other;
	size_t tried = 0;

	/* A child of vfork() has its parent's address space, but not its threads. */
	for (size_t i = 0; i < count && tried < MAX_THREADS_TRIED; i++) {
		tried += files[i].tid != 0;
		if (files[i].tid && host_process_has_thread(candidate->pid, files[i].tid))
			return true;
	}
	return host_process_stat(candidate->pid, &its) &&
	       (!host_process_stat(best->pid, &other) || its.start_ticks < other.start_ticks);
}

static bool is_among(uint32_t pid, const uint32_t *pids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* Any number of processes may have the files; /proc is asked about a few of them, once each. */
static const struct vm_file *find_owner(const struct vm_file *files, size_t count)
{
	uint32_t asked[MAX_OWNERS_TRIED];
	const struct vm_file *best = files;
	size_t asked_count = 0;

	for (size_t i = 1; i < count; i++) {
		const struct vm_file *file = &files[i];

		if (file->pid == best->pid || file->owner < best->owner)
			continue;
		if (file->owner > best->owner) {
			best = file;
			continue;
		}
		if (asked_count == MAX_OWNERS_TRIED || is_among(file->pid, asked, asked_count))
			continue;
		asked[asked_count++] = file->pid;
		if (better_owner(file, best, files, count))
			best = file;
	}
	return best;
}

/* The VM's first descriptor in process PID, or else its vCPUs' first one. */
static uint32_t find_descriptor(const struct vm_file *files, size_t count, uint32_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (files[i].pid == pid)
			return files[i].fd;
	return 0;
}

static void add_vcpus(const struct vm_file *files, size_t count, struct host_vm *vm)
{
	for (size_t i = 0; i < count; i++) {
		struct host_vcpu vcpu = { .number = files[i].number,
					  .tid = files[i].tid,
					  .object = files[i].vcpu_object };

		if (!files[i].is_vcpu || (i && files[i - 1].is_vcpu &&
					  files[i].object == files[i - 1].object))
			continue;
		if (vcpu.tid && !host_process_has_thread(vm->pid, vcpu.tid))
			vcpu.tid = 0;
		vector_append(&vm->vcpus, vcpu);
	}
}

static void find_name(struct host_vm *vm)
{
	_cleanup_buffer_ struct buffer command;
	char comm[64] = "", program[256] = "";
	struct vm_process process = { .pid = vm->pid, .comm = comm, .program = program };

	buffer_init(&command, COMMAND_MAX_BYTES);
	host_process_command_line(vm->pid, &command);
	host_process_comm(vm->pid, comm, sizeof(comm));
	host_process_program(vm->pid, program, sizeof(program));
	process.command = (struct vm_command){ (const char *)command.data, command.size };
	vm_name_find(&process, &vm->name, &vm->vmm);
}

/* FILES are those of one VM. False: its process is gone, or executes another program. */
static bool make_vm(const struct vm_file *files, size_t count, struct host_vm *ret)
{
	const struct vm_file *owner = find_owner(files, count);
	struct host_vm vm = { .pid = owner->pid };
	struct host_process_stat stat;

	if (!owner->owner || !host_process_stat(vm.pid, &stat))
		return false;
	vm.fd = find_descriptor(files, count, vm.pid);
	vm.start_time_ns = stat.start_time_ns;
	for (size_t i = 0; i < count; i++)
		if (files[i].memory_bytes)
			vm.memory_bytes = files[i].memory_bytes;
	add_vcpus(files, count, &vm);
	find_name(&vm);
	*ret = vm;
	return true;
}

static int compare_vms(const void *a, const void *b)
{
	const struct host_vm *left = a, *right = b;

	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	return left->fd < right->fd ? -1 : left->fd > right->fd;
}

/* Several VMs of one process have the same name and become NAME:FD, using their descriptors. */
static void tell_apart(struct host_vms *vms)
{
	const struct host_vm *items = vms->items.items;
	uint32_t previous = 0; /* not a valid pid */

	for (size_t i = 0; i < vms->items.count; i++) {
		struct host_vm *vm = &vms->items.items[i];
		bool shared = vm->pid == previous ||
			      (i + 1 < vms->items.count && items[i + 1].pid == vm->pid);
		char *name = shared ? memory_printf("%s:%u", vm->name, vm->fd) : NULL;

		previous = vm->pid;
		if (!name)
			continue;
		free(vm->name);
		vm->name = name;
	}
}

static void collect_vms(struct vm_files *files, struct host_vms *ret)
{
	if (files->list.count)
		qsort(files->list.items, files->list.count, sizeof(*files->list.items),
		      compare_files);
	for (size_t i = 0; i < files->list.count;) {
		const struct vm_file *first = &files->list.items[i];
		struct host_vm vm;
		size_t count = 1;

		while (i + count < files->list.count && first[count].vm == first->vm)
			count++;
		if (make_vm(first, count, &vm))
			vector_append(&ret->items, vm);
		i += count;
	}
	if (ret->items.count)
		qsort(ret->items.items, ret->items.count, sizeof(*ret->items.items), compare_vms);
	tell_apart(ret);
}

/* Uses /proc and debugfs. REASON: why BPF is not used. */
static struct error *scan_without_bpf(const char *reason, struct vm_files *files,
				      struct host_vms *ret)
{
	_cleanup_error_ struct error *no_debugfs = NULL;
	struct error *error = vm_files_proc_scan(files, &ret->processes_hidden);

	if (error)
		return error;
	no_debugfs = vm_debugfs_add_threads(files);
	ret->vcpu_source = no_debugfs ? HOST_VCPU_UNKNOWN : HOST_VCPU_DEBUGFS;
	ret->vcpu_source_reason = no_debugfs ?
		memory_printf("%s; %s", reason, error_message(no_debugfs)) : memory_strdup(reason);
	return NULL;
}

struct error *host_vm_finder_scan(struct host_vm_finder *finder, struct host_vms *ret)
{
	struct host_vms vms = { .vcpu_source = HOST_VCPU_BPF };
	struct vm_files files = { 0 };
	struct error *error;

	if (finder->bpf)
		error = vm_files_bpf_scan(finder->bpf, &files);
	else
		error = scan_without_bpf(finder->reason, &files, &vms);
	if (!error) {
		collect_vms(&files, &vms);
		*ret = vms;
	}
	vector_deinit(&files.list);
	return error;
}

struct error *host_vms_find(struct host_vms *ret)
{
	_cleanup_host_vm_finder_ struct host_vm_finder *finder = host_vm_finder_create();

	return host_vm_finder_scan(finder, ret);
}

const struct host_vm *host_vms_of_process(const struct host_vms *vms, uint32_t pid)
{
	for (size_t i = 0; i < vms->items.count; i++)
		if (vms->items.items[i].pid == pid)
			return &vms->items.items[i];
	return NULL;
}

struct error *host_vms_add_emulated(struct host_vms *vms, uint32_t pid)
{
	struct host_process_stat stat;
	struct host_vm vm = { .pid = pid, .emulated = true };

	if (!host_process_stat(pid, &stat))
		return error_create(ERROR_NOT_FOUND, "there is no process %" PRIu32, pid);
	vm.start_time_ns = stat.start_time_ns;
	find_name(&vm);
	if (strcmp(vm.vmm, "qemu") != 0) {
		free(vm.name);
		free(vm.vmm);
		return error_create(ERROR_NOT_FOUND,
				    "process %" PRIu32 " has no VM and is not a QEMU", pid);
	}
	vector_append(&vms->items, vm);
	return NULL;
}

void host_vms_deinit(struct host_vms *vms)
{
	for (size_t i = 0; i < vms->items.count; i++) {
		free(vms->items.items[i].name);
		free(vms->items.items[i].vmm);
		vector_deinit(&vms->items.items[i].vcpus);
	}
	vector_deinit(&vms->items);
	free(vms->vcpu_source_reason);
	*vms = (struct host_vms){ 0 };
}

static bool names_pid(const char *text, uint32_t pid)
{
	char number[16];

	snprintf(number, sizeof(number), "%" PRIu32, pid);
	return !strcmp(number, text);
}

/* Lists the VMs that TEXT names, or all if it is NULL: "a (pid 1), b (pid 2)". */
static char *describe(const struct host_vms *vms, const char *text)
{
	struct buffer names;
	char *description;

	buffer_init(&names, 1000);
	for (size_t i = 0; i < vms->items.count; i++) {
		const struct host_vm *vm = &vms->items.items[i];

		if (!text || names_pid(text, vm->pid) || !strcmp(text, vm->name))
			buffer_printf(&names, "%s%s (pid %" PRIu32 ")", names.size ? ", " : "",
				      vm->name, vm->pid);
	}
	description = memory_printf("%.*s%s", (int)names.size,
				    names.size ? (const char *)names.data : "",
				    names.overflow ? " ..." : "");
	buffer_deinit(&names);
	return description;
}

/* The VM whose pid (BY_PID) or name is TEXT. *RET_COUNT: how many there are. */
static const struct host_vm *match(const struct host_vms *vms, const char *text, bool by_pid,
				   size_t *ret_count)
{
	const struct host_vm *found = NULL;

	*ret_count = 0;
	for (size_t i = 0; i < vms->items.count; i++) {
		const struct host_vm *vm = &vms->items.items[i];

		if (by_pid ? names_pid(text, vm->pid) : !strcmp(text, vm->name)) {
			found = vm;
			(*ret_count)++;
		}
	}
	return found;
}

/* The error for a TEXT that is the thread of a vCPU; NULL: it is none. */
static struct error *is_thread(const struct host_vms *vms, const char *text)
{
	for (size_t i = 0; i < vms->items.count; i++) {
		const struct host_vm *vm = &vms->items.items[i];

		for (size_t v = 0; v < vm->vcpus.count; v++)
			if (vm->vcpus.items[v].tid && names_pid(text, vm->vcpus.items[v].tid))
				return error_hint(
					error_create(ERROR_USAGE,
						     "%s is the thread of vCPU %" PRIu32
						     " of VM '%s'", text,
						     vm->vcpus.items[v].number, vm->name),
					"the VM is process %" PRIu32, vm->pid);
	}
	return NULL;
}

struct error *host_vms_select(const struct host_vms *vms, const char *text,
			      const struct host_vm **ret)
{
	struct error *error;
	size_t count;
	const struct host_vm *vm = match(vms, text, true, &count);
	_cleanup_free_ char *there = NULL;

	if (!count)
		vm = match(vms, text, false, &count);
	if (count == 1) {
		*ret = vm;
		return NULL;
	}
	there = describe(vms, count ? text : NULL);
	if (count)
		return error_create(ERROR_USAGE, "'%s' is more than one VM: %s", text, there);
	if (!vms->items.count)
		return error_hint(error_create(ERROR_NOT_FOUND,
					       "there is no VM '%s': no VMs were found", text),
				  "'perfvisor doctor' shows what perfvisor can see");
	error = is_thread(vms, text);
	if (error)
		return error;
	return error_hint(error_create(ERROR_NOT_FOUND, "there is no VM '%s'", text),
			  "the VMs are %s", there);
}
