/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Used in an iterator over open files (iter/task_file): which of them are KVM's, and whose. KVM's
 * files are anonymous inodes named "kvm-vm" and "kvm-vcpu:N" (virt/kvm/kvm_main.c:
 * kvm_dev_ioctl_create_vm, create_vcpu_fd), whose private_data is the struct kvm or the struct
 * kvm_vcpu.
 */
#ifndef BPF_KVM_FILES_BPF_H
#define BPF_KVM_FILES_BPF_H

#define ANON_INODE_FS_MAGIC 0x09041934

struct qstr {
	const unsigned char *name;
} __attribute__((preserve_access_index));

struct dentry {
	struct qstr d_name;
} __attribute__((preserve_access_index));

struct path {
	struct dentry *dentry;
} __attribute__((preserve_access_index));

struct super_block {
	unsigned long s_magic;
} __attribute__((preserve_access_index));

struct inode {
	struct super_block *i_sb;
} __attribute__((preserve_access_index));

struct file {
	struct inode *f_inode;
	struct path f_path;
	void *private_data;
} __attribute__((preserve_access_index));

struct pid_namespace;

struct upid {
	int nr;
	struct pid_namespace *ns;
} __attribute__((preserve_access_index));

struct pid {
	unsigned int level;
	struct upid numbers[1];
} __attribute__((preserve_access_index));

struct mm_struct;

struct task_struct {
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct mm_struct *mm;
} __attribute__((preserve_access_index));

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	unsigned int fd;
	struct file *file;
} __attribute__((preserve_access_index));

/* PID's number in the pid namespace of the iterator's reader; 0: not in it. */
static __always_inline __u32 pid_number(const struct pid *pid)
{
	const struct task_struct *reader = (void *)(unsigned long)bpf_get_current_task();
	const struct pid *reader_pid = BPF_CORE_READ(reader, thread_pid);
	unsigned int level = BPF_CORE_READ(reader_pid, level);
	__u64 number = bpf_core_field_offset(struct pid, numbers) +
		       (__u64)level * bpf_core_type_size(struct upid);
	struct upid *mine = (void *)((unsigned long)reader_pid + number);
	struct upid *its = (void *)((unsigned long)pid + number);

	if (!pid || BPF_CORE_READ(pid, level) < level ||
	    BPF_CORE_READ(its, ns) != BPF_CORE_READ(mine, ns))
		return 0;
	return BPF_CORE_READ(its, nr);
}

/* 1: a VM's file, 2: a vCPU's file, 0: neither. */
static __always_inline int kvm_file_kind(const struct file *file)
{
	const unsigned char *name;
	char start[10] = { 0 };

	if (file->f_inode->i_sb->s_magic != ANON_INODE_FS_MAGIC)
		return 0;
	name = file->f_path.dentry->d_name.name;
	if (bpf_probe_read_kernel_str(start, sizeof(start), name) < 7)
		return 0;
	if (start[0] != 'k' || start[1] != 'v' || start[2] != 'm' || start[3] != '-' ||
	    start[4] != 'v')
		return 0;
	if (start[5] == 'm' && !start[6])
		return 1;
	return start[5] == 'c' && start[6] == 'p' && start[7] == 'u' && start[8] == ':' ? 2 : 0;
}

#endif
