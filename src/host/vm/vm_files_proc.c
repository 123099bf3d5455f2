/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open files of KVM, found by the links in /proc/PID/fd, for hosts where the BPF iterator cannot be
 * used. Cost: a readlink(2), 3 us, for every open file of the host.
 *
 * Links do not show which descriptors refer to the same file: a process may have a file open twice,
 * and files can be inherited or sent to other processes. kcmp(2) compares two descriptors and gives
 * them an order, so files can be sorted into classes with few calls. KVM lets a VM be used only in
 * the address space in which it was created, so an inherited file is usable only by the parent. Of
 * several processes, the one that started first is therefore the owner.
 *
 * Links do not show to which VM a vCPU belongs either: all files of a process are assumed to belong
 * to one VM. If the kernel has no kcmp(2), an inherited file looks like another VM.
 */
#include "host/vm/vm_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kcmp.h>
#include <string.h>
#include <sys/syscall.h>

#include "host/system/process.h"

/* All descriptors of one open file. */
struct class {
	uint32_t pid, fd; /* one of the descriptors, to compare with */
	uint32_t owner;	  /* the process that started first, of those that have it */
};

struct classes {
	VECTOR(struct class) list;     /* in the order in which they were found */
	VECTOR(uint32_t) sorted;       /* their indices, in kcmp's order */
};

static bool parse_number(const char *text, uint32_t *ret)
{
	uint64_t value = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		value = value * 10 + (*text - '0');
		if (value > UINT32_MAX)
			return false;
	}
	*ret = value;
	return true;
}

/* Whether the link TARGET is one of KVM's files; sets kind and number in RET. */
static bool parse_link(const char *target, struct vm_file *ret)
{
	static const char vcpu[] = "anon_inode:kvm-vcpu:";

	if (!strcmp(target, "anon_inode:kvm-vm")) {
		ret->is_vcpu = false;
		return true;
	}
	ret->is_vcpu = true;
	return !strncmp(target, vcpu, sizeof(vcpu) - 1) &&
	       parse_number(target + sizeof(vcpu) - 1, &ret->number);
}

static void look_at_descriptors(DIR *folder, uint32_t pid, struct vm_files *ret)
{
	const struct dirent *entry;

	while ((entry = readdir(folder))) {
		struct vm_file file = { .pid = pid };
		char target[64];
		ssize_t length;

		if (!parse_number(entry->d_name, &file.fd))
			continue;
		length = readlinkat(dirfd(folder), entry->d_name, target, sizeof(target) - 1);
		if (length < 0)
			continue;
		target[length] = 0;
		if (parse_link(target, &file))
			vector_append(&ret->list, file);
	}
}

static void look_at_process(uint32_t pid, struct vm_files *ret, size_t *hidden)
{
	struct host_process_stat stat;
	char path[64];
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fd", pid);
	folder = opendir(path);
	if (folder) {
		look_at_descriptors(folder, pid, ret);
		closedir(folder);
	} else if ((errno == EACCES || errno == EPERM) && host_process_stat(pid, &stat) &&
		   !stat.kernel_thread) {
		(*hidden)++;
	}
}

/*
 * Below 0, 0 or above 0: how FILE compares with CLASS. Descriptors that are gone, or that may not
 * be compared, differ from all others.
 */
static int compare(const struct vm_file *file, const struct class *class)
{
	long order = syscall(SYS_kcmp, file->pid, class->pid, KCMP_FILE, (unsigned long)file->fd,
			     (unsigned long)class->fd);

	if (order == 0)
		return 0;
	if (order == 1 || order == 2)
		return order == 1 ? -1 : 1;
	if (file->pid != class->pid)
		return file->pid < class->pid ? -1 : 1;
	return file->fd < class->fd ? -1 : file->fd > class->fd;
}

/* The index of FILE's class, which is created if there is none. */
static uint32_t classify(struct classes *classes, const struct vm_file *file)
{
	size_t low = 0, high = classes->sorted.count;
	struct class class = { .pid = file->pid, .fd = file->fd, .owner = file->pid };

	while (low < high) { /* each comparison is a system call, and may end it */
		size_t middle = low + (high - low) / 2;
		uint32_t number = classes->sorted.items[middle];
		int order = compare(file, &classes->list.items[number]);

		if (!order)
			return number;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	vector_append(&classes->list, class);
	vector_append(&classes->sorted, 0);
	memmove(&classes->sorted.items[low + 1], &classes->sorted.items[low],
		(classes->sorted.count - 1 - low) * sizeof(*classes->sorted.items));
	classes->sorted.items[low] = classes->list.count - 1;
	return classes->list.count - 1;
}

static uint32_t older(uint32_t pid, uint32_t other)
{
	struct host_process_stat a, b;

	if (pid == other || !host_process_stat(pid, &a))
		return other;
	if (!host_process_stat(other, &b))
		return pid;
	return a.start_ticks < b.start_ticks ||
	       (a.start_ticks == b.start_ticks && pid < other) ? pid : other;
}

static void find_owners(struct vm_files *files)
{
	struct classes classes = { 0 };

	for (size_t i = 0; i < files->list.count; i++) {
		struct vm_file *file = &files->list.items[i];
		uint32_t number = classify(&classes, file);
		struct class *class = &classes.list.items[number];

		file->object = number + 1;
		class->owner = older(file->pid, class->owner);
	}
	for (size_t i = 0; i < files->list.count; i++) {
		struct vm_file *file = &files->list.items[i];

		file->vm = classes.list.items[file->object - 1].owner;
		file->owner = file->vm == file->pid;
	}
	vector_deinit(&classes.list);
	vector_deinit(&classes.sorted);
}

struct error *vm_files_proc_scan(struct vm_files *ret, size_t *ret_hidden)
{
	DIR *folder = opendir("/proc");
	const struct dirent *entry;
	size_t hidden = 0;
	uint32_t pid;

	if (!folder)
		return error_system(errno, "could not look for VMs in /proc");
	while ((entry = readdir(folder)))
		if (parse_number(entry->d_name, &pid))
			look_at_process(pid, ret, &hidden);
	closedir(folder);
	find_owners(ret);
	*ret_hidden = hidden;
	return NULL;
}
