/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vCPU threads from debugfs: /sys/kernel/debug/kvm/TID-FD/vcpuN/pid (virt/kvm/kvm_main.c:
 * kvm_create_vm_debugfs, vcpu_get_pid). TID is the thread that created the VM, and FD the
 * descriptor that it got; both may be gone by now. The file `pid` exists on x86 and a few other
 * architectures, in kernels since 2022. All pids are those of the initial pid namespace.
 */
#include "host/vm/vm_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "host/system/capability.h"
#include "host/system/process.h"

#define KVM_DEBUGFS "/sys/kernel/debug/kvm"

struct debugfs_vcpu {
	uint32_t number, tid;
};

struct debugfs_vm {
	uint32_t owner, fd;
	VECTOR(struct debugfs_vcpu) vcpus;
};

struct debugfs_vms {
	VECTOR(struct debugfs_vm) list;
};

static void debugfs_vms_deinit(struct debugfs_vms *vms)
{
	for (size_t i = 0; i < vms->list.count; i++)
		vector_deinit(&vms->list.items[i].vcpus);
	vector_deinit(&vms->list);
}

/* Reads the thread of vCPU folder NAME in FOLDER; false: not readable. 0: it has not run yet. */
static bool read_thread(int folder, const char *name, uint32_t *ret)
{
	char path[64];
	char text[32];
	ssize_t got;

	snprintf(path, sizeof(path), "%.40s/pid", name);
	_cleanup_close_ int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, text, sizeof(text) - 1);
	if (got <= 0)
		return false;
	text[got] = 0;
	*ret = strtoul(text, NULL, 10);
	return true;
}

/* Fills RET from /sys/kernel/debug/kvm/TID-FD. False: it is gone or has no thread. */
static bool read_vm(int kvm, const char *name, uint32_t creator, struct debugfs_vm *ret)
{
	int fd = openat(kvm, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (!folder)
		return false;
	ret->owner = host_process_of_thread(creator);
	while ((entry = readdir(folder))) {
		struct debugfs_vcpu vcpu;
		int end = 0;

		if (sscanf(entry->d_name, "vcpu%u%n", &vcpu.number, &end) != 1 ||
		    entry->d_name[end] || !read_thread(fd, entry->d_name, &vcpu.tid))
			continue;
		if (!ret->owner && vcpu.tid)
			ret->owner = host_process_of_thread(vcpu.tid);
		vector_append(&ret->vcpus, vcpu);
	}
	closedir(folder);
	return ret->owner && ret->vcpus.count;
}

static struct error *read_vms(struct debugfs_vms *ret)
{
	DIR *folder = opendir(KVM_DEBUGFS);
	const struct dirent *entry;
	size_t seen = 0;

	if (!folder && errno == ENOENT)
		return error_hint(error_create(ERROR_UNSUPPORTED, "debugfs is not mounted"),
				  "mount -t debugfs none /sys/kernel/debug");
	if (!folder)
		return error_system(errno, "no permission to read debugfs");
	while ((entry = readdir(folder))) {
		struct debugfs_vm vm = { 0 };
		uint32_t creator;
		int end = 0;

		if (sscanf(entry->d_name, "%u-%u%n", &creator, &vm.fd, &end) != 2 ||
		    entry->d_name[end])
			continue;
		seen++;
		if (read_vm(dirfd(folder), entry->d_name, creator, &vm))
			vector_append(&ret->list, vm);
		else
			vector_deinit(&vm.vcpus);
	}
	closedir(folder);
	if (seen && !ret->list.count)
		return error_create(ERROR_UNSUPPORTED, "debugfs does not show vCPU threads here");
	return NULL;
}

static const struct debugfs_vm *find_vm(const struct debugfs_vms *vms, const struct vm_file *file,
					bool by_fd)
{
	for (size_t i = 0; i < vms->list.count; i++) {
		const struct debugfs_vm *vm = &vms->list.items[i];

		if (vm->owner == file->vm && (!by_fd || vm->fd == file->fd))
			return vm;
	}
	return NULL;
}

static size_t count_vms(const struct debugfs_vms *vms, uint32_t owner)
{
	size_t count = 0;

	for (size_t i = 0; i < vms->list.count; i++)
		count += vms->list.items[i].owner == owner;
	return count;
}

/* If the owner has one VM, that keeps the owner's number; several get one each. */
static uint64_t vm_identity(const struct debugfs_vm *vm, size_t vms_of_owner)
{
	return vms_of_owner == 1 ? vm->owner : vm->owner | (uint64_t)(vm->fd + 1) << 32;
}

static void append_vcpus(const struct debugfs_vms *vms, struct vm_files *ret)
{
	for (size_t i = 0; i < vms->list.count; i++) {
		const struct debugfs_vm *vm = &vms->list.items[i];
		uint64_t identity = vm_identity(vm, count_vms(vms, vm->owner));

		for (size_t j = 0; j < vm->vcpus.count; j++) {
			struct vm_file file = {
				.vm = identity,
				.object = (uint64_t)(i + 1) << 32 | vm->vcpus.items[j].number,
				.pid = vm->owner,
				.number = vm->vcpus.items[j].number,
				.tid = vm->vcpus.items[j].tid,
				.is_vcpu = true,
				.owner = true,
			};

			vector_append(&ret->list, file);
		}
	}
}

/* Files of VMs that debugfs knows are replaced by debugfs' vCPUs. */
struct error *vm_debugfs_add_threads(struct vm_files *files)
{
	struct debugfs_vms vms = { 0 };
	struct vm_files merged = { 0 };
	struct error *error;

	if (!host_capability_initial_pids())
		return error_create(ERROR_UNSUPPORTED,
				    "debugfs shows pids of another pid namespace");
	error = read_vms(&vms);
	for (size_t i = 0; !error && i < files->list.count; i++) {
		struct vm_file file = files->list.items[i];
		size_t same_owner = count_vms(&vms, file.vm);
		const struct debugfs_vm *vm = find_vm(&vms, &file, same_owner > 1);

		if (same_owner && (file.is_vcpu || !vm))
			continue;
		if (vm)
			file.vm = vm_identity(vm, same_owner);
		vector_append(&merged.list, file);
	}
	if (!error) {
		append_vcpus(&vms, &merged);
		vector_deinit(&files->list);
		*files = merged;
	}
	debugfs_vms_deinit(&vms);
	return error;
}
