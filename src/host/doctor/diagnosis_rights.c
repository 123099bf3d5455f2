/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BPF and BTF, capabilities, and the kernel's limits. */
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "host/capture/guest_sampler.h"
#include "host/doctor/diagnosis.h"
#include "host/system/capability.h"
#include "host/vm/vm_files.h"

#define FILES_BESIDES 192  /* descriptors for everything except vCPUs */
#define RATE_WANTED_HZ 999 /* record's default rate */

/* Reads a number from the one-line file PATH; false: there is none. */
static bool read_number(const char *path, long *ret)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");

	return file && fscanf(file, "%ld", ret) == 1;
}

static bool is_locked_down(void)
{
	_cleanup_fclose_ FILE *file = fopen("/sys/kernel/security/lockdown", "re");
	char line[128];

	return file && fgets(line, sizeof(line), file) && strstr(line, "[confidentiality]");
}

static void diagnose_btf(struct host_diagnosis *diagnosis)
{
	if (access("/sys/kernel/btf/vmlinux", F_OK))
		host_diagnosis_add(
			diagnosis, HOST_WORKS_LESS, "BTF",
			"a kernel with CONFIG_DEBUG_INFO_BTF=y, as in distributions' kernels",
			"the kernel has none, so BPF does not work");
	else
		host_diagnosis_add(diagnosis, HOST_WORKS, "BTF", NULL, "of the kernel%s",
				   access("/sys/kernel/btf/kvm", F_OK) ? ""
								       : " and of the module kvm");
}

static const char *bpf_mend(const struct error *error)
{
	if (is_locked_down())
		return "the kernel is locked down (confidentiality), which forbids BPF: boot with "
		       "lockdown=integrity";
	switch (error_code(error)) {
	case ERROR_PERMISSION:
		return HOST_MEND_RIGHTS;
	case ERROR_UNSUPPORTED:
		return HAVE_BPF ? "a kernel with CONFIG_DEBUG_INFO_BTF=y, whose BTF describes kvm"
				: "build perfvisor with libbpf, clang and bpftool";
	default:
		return NULL;
	}
}

void host_diagnose_bpf(struct host_diagnosis *diagnosis)
{
	struct vm_files_bpf *bpf = NULL;
	_cleanup_error_ struct error *error = vm_files_bpf_create(&bpf);

	diagnose_btf(diagnosis);
	if (error)
		host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "BPF", bpf_mend(error),
				   "%s; /proc and debugfs are used instead", error_message(error));
	else
		host_diagnosis_add(diagnosis, HOST_WORKS, "BPF", NULL,
				   "finds VMs, their vCPU threads and memory");
	vm_files_bpf_destroy(bpf);
}

void host_diagnose_guest_processes(struct host_diagnosis *diagnosis)
{
	struct guest_sampler *sampler = NULL;
	struct guest_sampler_options options = { .vms = 1, .ring_bytes = 1 };
	_cleanup_error_ struct error *error = guest_sampler_create(&options, &sampler);

	if (error)
		host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "Guest processes", bpf_mend(error),
				   "samples do not include guest processes: %s",
				   error_message(error));
	else if (!guest_sampler_sees_guests(sampler))
		host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "Guest processes",
				   "an AMD host with Linux 5.17 or later, an Intel host with 6.3",
				   "samples do not include guest processes: this host's KVM does "
				   "not keep what BPF needs for that");
	else if (!guest_sampler_sees_registers(sampler))
		host_diagnosis_add(
			diagnosis, HOST_WORKS_LESS, "Guest processes",
			"an AMD host, for all call chains",
			"samples of Linux guests include them, but have call chains only where "
			"code keeps frame pointers, and in kernels also where memory proves the "
			"stack pointer (not tried on an Intel host)");
	else
		host_diagnosis_add(diagnosis, HOST_WORKS, "Guest processes", NULL,
				   "samples of Linux guests include them");
	guest_sampler_destroy(sampler);
}

static void diagnose_capabilities(struct host_diagnosis *diagnosis)
{
	static const struct {
		int capability;
		const char *name;
		const char *use;
	} wanted[] = {
		{ CAP_PERFMON, "CAP_PERFMON", "sampling" },
		{ CAP_BPF, "CAP_BPF", "VMs and vCPU threads" },
		{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "memory of other users' VMs" },
	};
	_cleanup_buffer_ struct buffer missing;

	buffer_init(&missing, 1000);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		/* CAP_SYS_ADMIN implies the two newer ones. */
		bool has = host_capability_have(wanted[i].capability) ||
			   (wanted[i].capability != CAP_SYS_PTRACE &&
			    host_capability_have(CAP_SYS_ADMIN));

		if (!has)
			buffer_printf(&missing, "%s%s (%s)", missing.size ? ", " : "",
				      wanted[i].name, wanted[i].use);
	}
	if (missing.size)
		host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "Capabilities", HOST_MEND_RIGHTS,
				   "missing: %.*s", (int)missing.size, (const char *)missing.data);
	else if (!host_capability_initial_user())
		host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "Capabilities",
				   "run perfvisor outside of the container",
				   "those of a user namespace, which have no effect here");
	else
		host_diagnosis_add(diagnosis, HOST_WORKS, "Capabilities", NULL,
				   "CAP_PERFMON, CAP_BPF, CAP_SYS_PTRACE");
}

/*
 * kernel.perf_event_paranoid: from 2 on users may not sample the kernel, and so no guests; from 1
 * on they may not sample CPUs.
 */
static void diagnose_paranoid(struct host_diagnosis *diagnosis)
{
	long level;

	if (!read_number("/proc/sys/kernel/perf_event_paranoid", &level)) {
		host_diagnosis_add(diagnosis, HOST_FAILS, "perf_event_paranoid",
				   "a kernel with CONFIG_PERF_EVENTS=y",
				   "this kernel has no perf events");
		return;
	}
	if (host_capability_perf() || level < 0)
		host_diagnosis_add(diagnosis, HOST_WORKS, "perf_event_paranoid", NULL, "%ld%s",
				   level,
				   level < 0 ? "" : ", which does not restrict this process");
	else
		host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "perf_event_paranoid",
				   "run it as root, or for every user and all that runs here: "
				   "sysctl kernel.perf_event_paranoid=-1",
				   "%ld: without CAP_PERFMON %s", level,
				   level > 1
					   ? "no guest can be sampled"
					   : "this user's VMs can be sampled, thread by thread");
}

void host_diagnose_rights(struct host_diagnosis *diagnosis)
{
	diagnose_paranoid(diagnosis);
	diagnose_capabilities(diagnosis);
}

static void diagnose_files(struct host_diagnosis *diagnosis, const struct host_vms *vms)
{
	struct rlimit limit;
	size_t wanted = FILES_BESIDES;

	for (size_t i = 0; vms && i < vms->items.count; i++)
		wanted += vms->items.items[i].vcpus.count;
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	if (limit.rlim_max >= wanted || host_capability_have(CAP_SYS_RESOURCE))
		host_diagnosis_add(diagnosis, HOST_WORKS, "Open files", NULL,
				   "enough for every vCPU (%zu of %ju)", wanted,
				   (uintmax_t)limit.rlim_max);
	else
		host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "Open files",
				   "ulimit -Hn 65536, as root, in the shell that starts perfvisor",
				   "%ju are allowed, but an event per vCPU needs %zu: events per "
				   "CPU are used instead",
				   (uintmax_t)limit.rlim_max, wanted);
}

static void diagnose_locked_memory(struct host_diagnosis *diagnosis)
{
	long kib, level;

	if (host_capability_have(CAP_IPC_LOCK) ||
	    (read_number("/proc/sys/kernel/perf_event_paranoid", &level) && level < 0)) {
		host_diagnosis_add(diagnosis, HOST_WORKS, "Locked memory", NULL,
				   "no limit for sample buffers");
		return;
	}
	if (!read_number("/proc/sys/kernel/perf_event_mlock_kb", &kib))
		return;
	host_diagnosis_add(
		diagnosis, HOST_WORKS_LESS, "Locked memory",
		"sysctl kernel.perf_event_mlock_kb=65536, or give it cap_ipc_lock",
		"%ld KiB per CPU: sample buffers are smaller, and more samples are lost", kib);
}

static void diagnose_rate(struct host_diagnosis *diagnosis)
{
	long rate;

	if (!read_number("/proc/sys/kernel/perf_event_max_sample_rate", &rate))
		return;
	if (rate >= RATE_WANTED_HZ)
		host_diagnosis_add(diagnosis, HOST_WORKS, "Sample rate", NULL, "up to %ld Hz",
				   rate);
	else
		host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "Sample rate",
				   "sysctl kernel.perf_event_max_sample_rate=100000",
				   "the kernel allows only %ld Hz", rate);
}

void host_diagnose_limits(struct host_diagnosis *diagnosis, const struct host_vms *vms)
{
	diagnose_files(diagnosis, vms);
	diagnose_locked_memory(diagnosis);
	diagnose_rate(diagnosis);
}
