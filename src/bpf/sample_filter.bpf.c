/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lets perf take the samples of known threads only: attached to per-CPU events, it runs before
 * perf writes a sample, and 0 drops it. What it lets pass is counted per thread: whatever of
 * that is not found in the rings was lost. One instance per event, so counts are per event.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define THREADS_MAX 65536

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREADS_MAX);
	__type(key, __u64);   /* process << 32 | thread */
	__type(value, __u64); /* samples that passed */
} threads SEC(".maps");

SEC("perf_event")
int filter_sample(void *context)
{
	__u64 key = bpf_get_current_pid_tgid();
	__u64 *passed = bpf_map_lookup_elem(&threads, &key);

	(void)context;
	if (!passed)
		return 0;
	++*passed; /* a thread is on one CPU at a time */
	return 1;
}

char _license[] SEC("license") = "GPL";
