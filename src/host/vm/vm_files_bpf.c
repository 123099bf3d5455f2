/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open files of KVM, found by the BPF iterator src/bpf/vm_files.bpf.c. It needs CAP_BPF and
 * CAP_PERFMON, but no rights over the processes. Cost: loading (some 10 ms), then 0.2 us for each
 * open file of the host, in the kernel (190,000 files: 40 ms). A file that a process has open many
 * times counts once.
 */
#include "host/vm/vm_files.h"

#include "base/map.h"
#include "base/memory.h"

#if HAVE_BPF
#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "host/system/bpf_log.h"
#include "host/vm/vm_layout.h"
#include "vm_files.skel.h"

#define RECORDS_AT_ONCE 256
#define MAX_FILES 4000000 /* more open files of KVM than a host can have */

struct vm_files_bpf {
	struct vm_files_skeleton *skeleton;
	struct bpf_link *link;
};

/* Prepares the object for LAYOUT: only the program that fits it is loaded. */
static struct bpf_program *choose_program(struct vm_files_skeleton *skeleton,
					  const struct vm_files_layout *layout)
{
	struct bpf_program *hashed = skeleton->progs.find_with_hashed_slots;
	struct bpf_program *array = skeleton->progs.find_with_slot_array;

	skeleton->rodata->layout = *layout;
	bpf_program__set_autoload(layout->slots_hashed ? array : hashed, false);
	return layout->slots_hashed ? hashed : array;
}

static struct error *load(struct vm_files_bpf *bpf, const struct vm_files_layout *layout)
{
	struct bpf_program *program = NULL;
	struct bpf_log log;
	int result = 0;

	bpf_log_begin(&log);
	bpf->skeleton = vm_files_skeleton__open();
	if (!bpf->skeleton) {
		result = -errno;
	} else {
		program = choose_program(bpf->skeleton, layout);
		result = vm_files_skeleton__load(bpf->skeleton);
	}
	if (!result) {
		bpf->link = bpf_program__attach_iter(program, NULL);
		result = bpf->link ? 0 : -errno;
	}
	bpf_log_end();
	return result ? bpf_log_error(&log, result, "could not load the BPF iterator") : NULL;
}

struct error *vm_files_bpf_create(struct vm_files_bpf **ret)
{
	struct vm_files_bpf *bpf;
	struct vm_files_layout layout;
	struct error *error = vm_layout_find(&layout);

	if (error)
		return error;
	bpf = memory_calloc(1, sizeof(*bpf));
	error = load(bpf, &layout);
	if (error) {
		vm_files_bpf_destroy(bpf);
		return error;
	}
	*ret = bpf;
	return NULL;
}

void vm_files_bpf_destroy(struct vm_files_bpf *bpf)
{
	if (!bpf)
		return;
	bpf_link__destroy(bpf->link);
	vm_files_skeleton__destroy(bpf->skeleton);
	free(bpf);
}

static void append_record(const struct vm_file_record *record, uint64_t page_bytes,
			  struct vm_files *ret)
{
	struct vm_file file = {
		.vm = record->kvm,
		.object = record->object,
		.memory_bytes = record->guest_pages * page_bytes,
		.pid = record->pid,
		.fd = record->fd,
		.number = record->vcpu_id,
		.tid = record->tid,
		.vcpu_object = record->flags & VM_FILE_VCPU ? record->object : 0,
		.is_vcpu = record->flags & VM_FILE_VCPU,
		.owner = record->flags & VM_FILE_OWNER,
	};

	vector_append(&ret->list, file);
}

static void begin_scan(struct vm_files_bpf *bpf)
{
	bpf->skeleton->bss->scan++;
	bpf->skeleton->bss->visits_left = VM_FILES_MAX_VISITS;
	bpf->skeleton->bss->last_file = bpf->skeleton->bss->last_task = 0;
}

/* Whether the record is of a file that its process has not shown yet. */
static bool is_new(struct map *seen, const struct vm_file_record *record)
{
	bool added;

	map_insert(seen, hash_u64(record->object) ^ record->pid, &added);
	return added;
}

/*
 * The kernel returns whole records. After a million files without one, it wants to be called again
 * (EAGAIN).
 */
struct error *vm_files_bpf_scan(struct vm_files_bpf *bpf, struct vm_files *ret)
{
	_cleanup_close_ int fd = bpf_iter_create(bpf_link__fd(bpf->link));
	struct vm_file_record records[RECORDS_AT_ONCE];
	uint64_t page_bytes = sysconf(_SC_PAGESIZE);
	_cleanup_map_ struct map seen;

	map_init(&seen);
	begin_scan(bpf);
	if (fd < 0)
		return error_system(errno, "could not start the BPF iterator");
	for (;;) {
		ssize_t got = read(fd, records, sizeof(records));

		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got < 0)
			return error_system(errno, "could not read the BPF iterator");
		if (!got)
			return NULL;
		if (got % sizeof(*records) || ret->list.count > MAX_FILES)
			return error_create(ERROR_BAD_DATA,
					    "the BPF iterator returned %zd odd bytes", got);
		for (size_t i = 0; i < got / sizeof(*records); i++)
			if (is_new(&seen, &records[i]))
				append_record(&records[i], page_bytes, ret);
	}
}

#else

struct error *vm_files_bpf_create(struct vm_files_bpf **ret)
{
	(void)ret;
	return error_create(ERROR_UNSUPPORTED, "this perfvisor was built without BPF");
}

void vm_files_bpf_destroy(struct vm_files_bpf *bpf)
{
	(void)bpf;
}

struct error *vm_files_bpf_scan(struct vm_files_bpf *bpf, struct vm_files *ret)
{
	(void)bpf;
	(void)ret;
	return error_create(ERROR_UNSUPPORTED, "this perfvisor was built without BPF");
}

#endif
