/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads numbers in the host kernel's memory; 0 if there is nothing at the address. */
#ifndef BPF_KERNEL_READ_BPF_H
#define BPF_KERNEL_READ_BPF_H

static __always_inline __u64 read_word(__u64 address)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (void *)(unsigned long)address);
	return value;
}

static __always_inline __u32 read_u32(__u64 address)
{
	__u32 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (void *)(unsigned long)address);
	return value;
}

static __always_inline __u8 read_byte(__u64 address)
{
	__u8 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (void *)(unsigned long)address);
	return value;
}

#endif
