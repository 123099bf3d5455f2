/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which VMs and threads are recorded, and how that changes during the recording.
 *
 * Looking for VMs means scanning all open files of the host. It therefore happens in another thread
 * (vm_scan.h), at most once a second, takes at most 1/50 of the time, and is done only if something
 * may have changed: a process or thread was created (/proc/stat counts them), one of ours has
 * ended, or a vCPU has not run yet. It is also done from time to time in any case, since an
 * existing process may create a VM.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/progress.h"
#include "host/record/recorder_state.h"
#include "host/system/process.h"
#include "host/vm/qemu_monitor.h"
#include "host/vm/vm_qemu.h"

#define SCAN_NS 1000000000ull
#define FULL_SCAN_NS 5000000000ull
#define SCAN_SHARE 50 /* a look at the host's VMs may take that share of the thread's time */
#define MAX_SCAN_NS 5000000000ull /* but no new VM or vCPU is missed for longer than this */
#define THREADS_MAX 65536

/* Processes and threads created since boot; 0: not known. */
static uint64_t count_forks(void)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/stat", "re");
	char line[4096];
	uint64_t forks;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "processes %" SCNu64, &forks) == 1)
			return forks;
	return 0;
}

static struct error *hint_at_engine(struct error *error, const struct host_vm *vm)
{
	if (!qemu_monitors_exist(vm->pid))
		return error_hint(error, "VM '%s' is a QEMU without KVM, which only a QMP socket "
				  "(qemu -qmp unix:PATH,server=on,wait=off) makes readable, and it "
				  "has none", vm->name);
	return error_hint(error, "VM '%s' is a QEMU without KVM: --engine qmp -p %" PRIu32
			  " records it", vm->name, vm->pid);
}

/* FOUND has no VM; this may add those that KVM does not run. */
static struct error *no_vms(struct host_vms *found)
{
	struct error *error = error_create(ERROR_NOT_FOUND, "%s",
					   found->processes_hidden ? "no VM to record can be seen"
								   : "there is no VM to record");

	if (found->processes_hidden)
		return error_hint(error,
				  "%zu processes could not be inspected: run as root, or with "
				  "cap_sys_ptrace; see 'perfvisor doctor'",
				  found->processes_hidden);
	host_vms_add_all_emulated(found);
	if (found->items.count)
		return hint_at_engine(error, &found->items.items[0]);
	return error_hint(error,
			  "'perfvisor list' shows the processes that have a KVM VM open, "
			  "and 'perfvisor doctor' whether KVM works here");
}

/*
 * If TEXT is a pid that has no VM, adds what it is instead. The VMs that KVM does not run are added
 * to FOUND.
 */
static struct error *explain_selection(struct host_vms *found, struct error *error,
				       const char *text)
{
	const struct host_vm *vm;
	char comm[64];
	char *end;
	unsigned long pid = strtoul(text, &end, 10);

	if (error_code(error) != ERROR_NOT_FOUND)
		return error;
	host_vms_add_all_emulated(found);
	error_destroy(error);
	error = host_vms_select(found, text, &vm);
	if (!error)
		return hint_at_engine(error_create(ERROR_NOT_FOUND, "KVM does not run VM '%s'",
						   vm->name), vm);
	if (error_code(error) != ERROR_NOT_FOUND || *end || !pid || pid > INT32_MAX)
		return error;
	error_destroy(error);
	if (!host_process_comm(pid, comm, sizeof(comm)))
		return error_hint(error_create(ERROR_NOT_FOUND, "there is no process %lu", pid),
				  "'perfvisor list' shows the VMs");
	return error_hint(error_create(ERROR_NOT_FOUND, "process %lu (%s) has no VM", pid, comm),
			  "'perfvisor list' shows the VMs");
}

static struct error *add_vm(struct recorder *recorder, const struct host_vm *vm, bool named)
{
	struct perfdata_vm *added;

	added = perfdata_inventory_add(&recorder->inventory, vm->pid, vm->name, vm->vmm);
	added->memory_bytes = vm->memory_bytes;
	added->start_time_ns = vm->start_time_ns;
	vector_append(&recorder->vms, (struct recorder_vm){ .alive = true, .named = named });
	map_init(&recorder->vms.items[recorder->vms.count - 1].task_of);
	map_init(&recorder->vms.items[recorder->vms.count - 1].process_of);
	if (recorder->reader)
		guest_reader_add(recorder->reader, recorder->vms.count - 1, vm->pid,
				 recorder->writer != NULL);
	return recorder->writer ? recorder_introduce_vm(recorder, recorder->vms.count - 1) : NULL;
}

/* The index of the recorded VM of process PID that has not ended; SIZE_MAX: none. */
static size_t find_recorded(const struct recorder *recorder, uint32_t pid)
{
	for (size_t i = recorder->vms.count; i-- > 0;)
		if (recorder->vms.items[i].alive && recorder->inventory.vms.items[i].pid == pid)
			return i;
	return SIZE_MAX;
}

struct error *recorder_find_vms(struct recorder *recorder, struct host_vms *ret)
{
	struct vm_scan_result result;
	struct error *error;

	recorder->forks = count_forks();
	recorder->scanned_ns = recorder->full_scan_ns = clock_monotonic_ns();
	error = vm_scan_now(recorder->scan, &result);
	if (error)
		return error;
	*ret = result.vms;
	recorder->scan_cost_ns = result.cost_ns;
	if (recorder->config.qmp)
		error = vm_qemu_find(recorder->config.vms[0], ret);
	for (size_t i = 0; i < recorder->config.vm_count && !error; i++) {
		const struct host_vm *vm;

		error = host_vms_select(ret, recorder->config.vms[i], &vm);
		if (error)
			return explain_selection(ret, error, recorder->config.vms[i]);
		if (find_recorded(recorder, vm->pid) == SIZE_MAX)
			error = add_vm(recorder, vm, true);
	}
	if (!error && !recorder->config.vm_count && !ret->items.count &&
	    !recorder->config.may_begin_empty)
		error = no_vms(ret);
	return error;
}

static size_t find_thread(const struct recorder *recorder, uint32_t pid, uint32_t tid)
{
	const uint64_t *entry = map_find(&recorder->thread_of_tid, tid);

	if (!entry || !recorder->threads.items[*entry - 1].alive ||
	    recorder->threads.items[*entry - 1].pid != pid)
		return SIZE_MAX;
	return *entry - 1;
}

/*
 * A new thread that cannot be recorded does not end the recording of the others. It stays known, so
 * that it is not tried again and again.
 */
static struct error *leave_out(struct recorder *recorder, size_t number, struct error *error)
{
	struct recorder_thread *thread = &recorder->threads.items[number];

	log_warning("thread %u of VM %u is not recorded: %s", thread->tid, thread->pid,
		    error_message(error));
	error_destroy(error);
	free(thread->ids);
	thread->ids = NULL;
	capture_remove_thread(recorder->capture, number);
	return NULL;
}

static struct error *add_thread(struct recorder *recorder, size_t vm,
				const struct host_vcpu *vcpu)
{
	uint32_t pid = recorder->inventory.vms.items[vm].pid;
	uint32_t tid = vcpu->tid;
	struct capture_thread spec = { .pid = pid,
				       .tid = tid,
				       .vcpu = vcpu->number,
				       .vm = vm,
				       .vcpu_object = vcpu->object };
	size_t number = recorder->threads.count, captured;
	struct error *error;

	vector_append(&recorder->threads,
		      (struct recorder_thread){
			      .vm = vm,
			      .pid = pid,
			      .tid = tid,
			      .vcpu = vcpu->number,
			      .vcpu_object = vcpu->object,
			      .alive = true });
	*map_insert(&recorder->thread_of_tid, tid, NULL) = number + 1;
	error = capture_add_thread(recorder->capture, &spec, &captured);
	if (!error && captured == CAPTURE_NO_THREAD) {
		recorder->threads.items[number].alive = false;
		return NULL;
	}
	/* Its first samples are delivered by the next pass at the earliest, when it has its ids. */
	if (!error && recorder->writer)
		error = recorder_introduce_thread(recorder, number);
	if (error)
		return recorder->writer ? leave_out(recorder, number, error) : error;
	vector_append(&recorder->inventory.vms.items[vm].vcpus,
		      (struct perfdata_vcpu){ .number = vcpu->number, .tid = tid });
	return NULL;
}

/* Whether the user chose this vCPU; TID 0: its thread is not known yet. */
static bool is_chosen(const struct recorder *recorder, uint32_t number, uint32_t tid)
{
	return ranges_admit(&recorder->config.vcpus, number) &&
	       (!tid || ranges_admit(&recorder->config.threads, tid));
}

/* Lists the threads of PID; if the vCPUs' threads are not known, all are sampled. */
static size_t list_threads(uint32_t pid, uint32_t *tids, size_t max)
{
	_cleanup_free_ char *path = memory_printf("/proc/%" PRIu32 "/task", pid);
	DIR *folder = opendir(path);
	struct dirent *entry;
	size_t count = 0;

	while (folder && count < max && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			tids[count++] = strtoul(entry->d_name, NULL, 10);
	if (folder)
		closedir(folder);
	return count;
}

static struct error *add_all_threads(struct recorder *recorder, size_t vm)
{
	_cleanup_free_ uint32_t *tids = memory_calloc(THREADS_MAX, sizeof(*tids));
	uint32_t pid = recorder->inventory.vms.items[vm].pid;
	size_t count = list_threads(pid, tids, THREADS_MAX);
	struct error *error = NULL;

	recorder->vms.items[vm].all_threads = true;
	for (size_t i = 0; i < count && !error; i++) {
		struct host_vcpu unknown = { .number = PERFDATA_NO_VCPU, .tid = tids[i] };

		if (is_chosen(recorder, unknown.number, tids[i]) &&
		    find_thread(recorder, pid, tids[i]) == SIZE_MAX)
			error = add_thread(recorder, vm, &unknown);
	}
	return error;
}

static struct error *add_vcpus(struct recorder *recorder, size_t vm, const struct host_vm *found)
{
	struct error *error = NULL;

	for (size_t i = 0; i < found->vcpus.count && !error; i++) {
		const struct host_vcpu *vcpu = &found->vcpus.items[i];

		if (vcpu->tid && is_chosen(recorder, vcpu->number, vcpu->tid) &&
		    find_thread(recorder, found->pid, vcpu->tid) == SIZE_MAX)
			error = add_thread(recorder, vm, vcpu);
	}
	return error;
}

static bool is_wanted(const struct recorder *recorder, const struct host_vm *vm)
{
	return !recorder->config.vm_count || find_recorded(recorder, vm->pid) != SIZE_MAX;
}

struct error *recorder_add_vms(struct recorder *recorder, const struct host_vms *found)
{
	bool unknown = found->vcpu_source == HOST_VCPU_UNKNOWN;
	struct error *error = NULL;

	for (size_t i = 0; i < found->items.count && !error; i++) {
		const struct host_vm *vm = &found->items.items[i];
		size_t recorded;

		if (!is_wanted(recorder, vm))
			continue;
		if (find_recorded(recorder, vm->pid) == SIZE_MAX)
			error = add_vm(recorder, vm, false);
		if (error)
			break;
		recorded = find_recorded(recorder, vm->pid);
		error = unknown ? add_all_threads(recorder, recorded)
				: add_vcpus(recorder, recorded, vm);
	}
	return error;
}

size_t recorder_count_threads(const struct recorder *recorder, const struct host_vms *found)
{
	size_t count = 0;

	for (size_t i = 0; i < found->items.count; i++)
		if (is_wanted(recorder, &found->items.items[i]))
			count += found->items.items[i].vcpus.count;
	return count;
}

/* True if a thread of ours has ended since the last call. */
static bool drop_ended_threads(struct recorder *recorder)
{
	bool ended = false;

	for (size_t i = 0; i < recorder->threads.count; i++) {
		struct recorder_thread *thread = &recorder->threads.items[i];

		if (!thread->alive || host_process_has_thread(thread->pid, thread->tid))
			continue;
		capture_remove_thread(recorder->capture, i);
		thread->alive = false;
		ended = true;
	}
	return ended;
}

/* Maps each vCPU's object to its process. */
static void map_vcpus(const struct host_vms *found, struct map *ret)
{
	map_init(ret);
	for (size_t i = 0; i < found->items.count; i++) {
		const struct host_vm *vm = &found->items.items[i];

		for (size_t j = 0; j < vm->vcpus.count; j++)
			*map_insert(ret, vm->vcpus.items[j].object, NULL) = vm->pid;
	}
}

/*
 * A thread can outlive its vCPU: a VMM may close a VM and make another. Nothing must read the state
 * of a vCPU that is gone, since the host's kernel may have put something else there. The thread is
 * added again if it runs another one.
 */
static void drop_ended_vcpus(struct recorder *recorder, const struct host_vms *found)
{
	_cleanup_map_ struct map vcpus;

	map_vcpus(found, &vcpus);
	for (size_t i = 0; i < recorder->threads.count; i++) {
		struct recorder_thread *thread = &recorder->threads.items[i];
		const uint64_t *pid = map_find(&vcpus, thread->vcpu_object);

		if (!thread->alive || !thread->vcpu_object || (pid && *pid == thread->pid))
			continue;
		log_detail("thread %u of VM %u has lost its vCPU", thread->tid, thread->pid);
		capture_remove_thread(recorder->capture, i);
		thread->alive = false;
	}
}

/* What remains of it is in the file. */
static void end_vm(struct recorder *recorder, size_t vm)
{
	if (!recorder->vms.items[vm].alive)
		return;
	recorder_wait_end(recorder); /* its samples need what is forgotten now */
	recorder->vms.items[vm].alive = false;
	recorder_forget_processes(&recorder->vms.items[vm]);
	recorder_forget_code(&recorder->vms.items[vm]);
	recorder_forget_unwind_tables(recorder, vm);
}

/* Ends the VMs that are no longer in FOUND. */
static void end_vms(struct recorder *recorder, const struct host_vms *found)
{
	for (size_t i = 0; i < recorder->vms.count; i++) {
		bool there = false;

		for (size_t j = 0; j < found->items.count; j++)
			there |= found->items.items[j].pid == recorder->inventory.vms.items[i].pid;
		if (!there)
			end_vm(recorder, i);
	}
}

/* Rescans the only VM with QMP; its vCPUs are those of the first look. */
static void rescan_asked(struct recorder *recorder)
{
	uint32_t pid = recorder->inventory.vms.items[0].pid;

	drop_ended_threads(recorder);
	recorder->vms.items[0].alive = host_process_has_thread(pid, pid);
}

static bool waits_for_vcpus(const struct recorder *recorder, const struct host_vms *found)
{
	for (size_t i = 0; i < found->items.count; i++) {
		const struct host_vm *vm = &found->items.items[i];

		for (size_t j = 0; is_wanted(recorder, vm) && j < vm->vcpus.count; j++)
			if (!vm->vcpus.items[j].tid &&
			    is_chosen(recorder, vm->vcpus.items[j].number, 0))
				return true;
	}
	return false;
}

/* Recording continues, and the scan is repeated later. */
static void warn_of_scan(struct recorder *recorder, struct error *error)
{
	if (!recorder->scan_failed)
		log_warning("new VMs and vCPUs may be missed: %s", error_message(error));
	recorder->scan_failed = true;
	error_destroy(error);
}

/* Takes the result of a scan that has ended. */
static struct error *take_scan(struct recorder *recorder)
{
	struct vm_scan_result result;
	struct error *error;

	if (!vm_scan_take(recorder->scan, &result))
		return NULL;
	recorder->scan_cost_ns = result.cost_ns;
	if (result.error) {
		warn_of_scan(recorder, result.error);
		return NULL;
	}
	drop_ended_vcpus(recorder, &result.vms);
	end_vms(recorder, &result.vms);
	error = recorder_add_vms(recorder, &result.vms);
	/* Keeps looking for a vCPU that has not run yet, even if no thread is created. */
	recorder->forks = waits_for_vcpus(recorder, &result.vms) ? 0 : recorder->scan_forks;
	host_vms_deinit(&result.vms);
	return error;
}

struct error *recorder_rescan(struct recorder *recorder)
{
	uint64_t now = clock_monotonic_ns(), pause = recorder->scan_cost_ns * SCAN_SHARE;
	struct error *error = take_scan(recorder);
	uint64_t forks;
	bool ended;

	if (error)
		return error;
	pause = pause < SCAN_NS ? SCAN_NS : pause > MAX_SCAN_NS ? MAX_SCAN_NS : pause;
	if (now - recorder->scanned_ns < pause)
		return NULL;
	recorder->scanned_ns = now;
	if (recorder->config.qmp) {
		rescan_asked(recorder);
		return NULL;
	}
	ended = drop_ended_threads(recorder);
	forks = count_forks();
	if (!ended && forks && forks == recorder->forks &&
	    now - recorder->full_scan_ns < FULL_SCAN_NS)
		return NULL;
	if (vm_scan_begin(recorder->scan)) {
		recorder->scan_forks = forks;
		recorder->full_scan_ns = now;
	}
	return NULL;
}

bool recorder_vms_gone(const struct recorder *recorder)
{
	if (!recorder->config.vm_count)
		return false;
	for (size_t i = 0; i < recorder->vms.count; i++)
		if (recorder->vms.items[i].alive)
			return false;
	return true;
}
