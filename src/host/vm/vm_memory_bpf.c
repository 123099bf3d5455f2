/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory slots and registers, found by the BPF iterator src/bpf/vm_memory.bpf.c.
 *
 * On AMD, CR3 is in the VMCB. On Intel it is in the VMCS, which cannot be read. KVM's own copy is
 * the value it last needed, which with nested paging may belong to a process that is long gone; it
 * is therefore not used, nor are other registers. CR0, EFER and the relevant bits of CR4 are
 * correct on both, since KVM intercepts changes to them.
 */
#include "host/vm/vm_memory_bpf.h"

#include "base/memory.h"

#if HAVE_BPF
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/system/bpf_log.h"
#include "host/system/process.h"
#include "host/vm/vm_layout.h"
#include "vm_memory.skel.h"

_Static_assert(VM_MEMORY_REGISTERS == HOST_VM_REGISTERS, "there is room for all registers");

struct vm_memory_bpf {
	struct vm_memory_skeleton *skeleton;
	struct bpf_program *program;
	struct bpf_link *link; /* for the files of all processes */
};

static struct error *run_iterator(struct bpf_link *link)
{
	_cleanup_close_ int fd = bpf_iter_create(bpf_link__fd(link));
	char nothing[64];
	ssize_t got;

	if (fd < 0)
		return error_system(errno, "could not start the BPF iterator");
	/*
	 * The iterator writes nothing; after a million files it wants to be called again (EAGAIN).
	 */
	do {
		got = read(fd, nothing, sizeof(nothing));
	} while (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)));
	return got < 0 ? error_system(errno, "could not read the BPF iterator") : NULL;
}

static int compare_slots(const void *left, const void *right)
{
	const struct host_vm_slot *a = left, *b = right;

	return (a->start.value > b->start.value) - (a->start.value < b->start.value);
}

static void take_slots(const struct vm_memory_skeleton *skeleton, struct host_vm_memory *ret)
{
	for (uint32_t i = 0; i < skeleton->bss->slot_count; i++) {
		const struct vm_memory_slot *slot = &skeleton->bss->slots[i];

		if (slot->pages && slot->pages < UINT64_MAX / GUEST_PAGE_BYTES &&
		    slot->base_gfn < UINT64_MAX / GUEST_PAGE_BYTES)
			vector_append(&ret->slots,
				      (struct host_vm_slot){ GPA(slot->base_gfn * GUEST_PAGE_BYTES),
							     slot->pages * GUEST_PAGE_BYTES,
							     slot->userspace_addr });
	}
	if (ret->slots.count)
		qsort(ret->slots.items, ret->slots.count, sizeof(*ret->slots.items),
		      compare_slots);
}

static void take_registers(const struct vm_memory_skeleton *skeleton, struct host_vm_memory *ret)
{
	uint32_t count = skeleton->bss->vcpu_count;

	for (uint32_t i = 0; i < count && i < VM_MEMORY_MAX_VCPUS; i++) {
		const struct vm_memory_vcpu *vcpu = &skeleton->bss->vcpus[i];
		struct host_vm_registers registers = {
			.vcpu = vcpu->number,
			.nested = vcpu->nested,
			.mmu = { .arch = &arch_x86_64,
				 .x86 = { .cr0 = vcpu->cr0,
					  .cr3 = vcpu->cr3,
					  .cr4 = vcpu->cr4,
					  .efer = vcpu->efer } },
			.has_state = skeleton->rodata->memory_layout.is_svm,
			.halted = vcpu->mp_state == KVM_MP_STATE_HALTED,
			.user = vcpu->cpl == 3,
			.gs_base = vcpu->gs_base,
		};

		memcpy(registers.registers, vcpu->registers, sizeof(registers.registers));
		vector_append(&ret->registers, registers);
	}
}

/* Only the files of one process, since Linux 6.1; older kernels refuse, and NULL is returned. */
static struct bpf_link *link_to_process(const struct vm_memory_bpf *bpf, uint32_t pid)
{
	union bpf_iter_link_info info = { .task = { .pid = pid } };
	LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &info,
		    .link_info_len = sizeof(info));
	struct bpf_log log;
	struct bpf_link *link;

	bpf_log_begin(&log);
	link = bpf_program__attach_iter(bpf->program, &options);
	bpf_log_end();
	return link;
}

static struct error *look_at_files(struct vm_memory_bpf *bpf, struct bpf_link *link,
				   const struct host_vm *vm)
{
	struct vm_memory_skeleton *skeleton = bpf->skeleton;
	struct error *error;

	skeleton->bss->found_kvm = 0;
	skeleton->bss->wanted_pid = vm->pid;
	skeleton->bss->wanted_fd = vm->fd;
	error = run_iterator(link);
	if (error)
		return error;
	if (!skeleton->bss->found_kvm)
		return error_create(ERROR_NOT_FOUND, "VM '%s' (pid %u) is gone", vm->name, vm->pid);
	if (!skeleton->bss->slots_valid || skeleton->bss->slot_count > VM_MEMORY_MAX_SLOTS)
		return error_create(ERROR_SYSTEM,
				    "the memory slots of VM '%s' are too many or just changed",
				    vm->name);
	/* Again: vCPU files that came before the VM's own file were not recognized. */
	skeleton->bss->vcpu_count = 0;
	return run_iterator(link);
}

/* On a host with many processes, looking at only one saves nearly all of the time. */
static struct error *look(struct vm_memory_bpf *bpf, const struct host_vm *vm)
{
	struct bpf_link *link = link_to_process(bpf, vm->pid);
	struct error *error = look_at_files(bpf, link ? link : bpf->link, vm);

	bpf_link__destroy(link);
	return error;
}

static struct bpf_program *choose_program(struct vm_memory_skeleton *skeleton,
					  const struct vm_files_layout *files,
					  const struct vm_memory_layout *memory)
{
	struct bpf_program *hashed = skeleton->progs.look_at_hashed_slots;
	struct bpf_program *array = skeleton->progs.look_at_slot_array;

	skeleton->rodata->layout = *files;
	skeleton->rodata->memory_layout = *memory;
	bpf_program__set_autoload(files->slots_hashed ? array : hashed, false);
	return files->slots_hashed ? hashed : array;
}

static struct error *load(struct vm_memory_bpf *bpf)
{
	struct vm_memory_layout memory_layout;
	struct vm_files_layout files_layout;
	struct error *error = vm_layout_find(&files_layout);
	struct bpf_log log;
	int result;

	if (!error)
		error = vm_memory_layout_find(&memory_layout);
	if (error)
		return error;
	bpf_log_begin(&log);
	bpf->skeleton = vm_memory_skeleton__open();
	result = bpf->skeleton ? 0 : -errno;
	if (!result) {
		bpf->program = choose_program(bpf->skeleton, &files_layout, &memory_layout);
		result = vm_memory_skeleton__load(bpf->skeleton);
	}
	if (!result) {
		bpf->link = bpf_program__attach_iter(bpf->program, NULL);
		result = bpf->link ? 0 : -errno;
	}
	bpf_log_end();
	return result ? bpf_log_error(&log, result, "could not load the BPF iterator") : NULL;
}

struct error *vm_memory_bpf_create(struct vm_memory_bpf **ret)
{
	_cleanup_vm_memory_bpf_ struct vm_memory_bpf *bpf = memory_calloc(1, sizeof(*bpf));
	struct error *error = load(bpf);

	if (!error)
		*ret = take_pointer(bpf);
	return error;
}

void vm_memory_bpf_destroy(struct vm_memory_bpf *bpf)
{
	if (!bpf)
		return;
	bpf_link__destroy(bpf->link);
	vm_memory_skeleton__destroy(bpf->skeleton);
	free(bpf);
}

struct error *vm_memory_bpf_find(struct vm_memory_bpf *bpf, const struct host_vm *vm,
			     struct host_vm_memory *ret)
{
	struct host_vm_memory memory = { .pid = vm->pid,
					 .layout = host_process_layout(vm->pid, NULL) };
	struct error *error = look(bpf, vm);

	if (error)
		return error;
	take_slots(bpf->skeleton, &memory);
	take_registers(bpf->skeleton, &memory);
	*ret = memory;
	return NULL;
}

#else

struct error *vm_memory_bpf_create(struct vm_memory_bpf **ret)
{
	(void)ret;
	return error_create(ERROR_UNSUPPORTED, "this perfvisor was built without BPF");
}

void vm_memory_bpf_destroy(struct vm_memory_bpf *bpf)
{
	(void)bpf;
}

struct error *vm_memory_bpf_find(struct vm_memory_bpf *bpf, const struct host_vm *vm,
			     struct host_vm_memory *ret)
{
	(void)bpf;
	(void)vm;
	(void)ret;
	return error_create(ERROR_UNSUPPORTED, "this perfvisor was built without BPF");
}

#endif
