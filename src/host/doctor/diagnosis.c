/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The diagnosis as a whole, KVM itself, and the VMs. */
#include "host/doctor/diagnosis.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "host/system/capability.h"
#include "host/system/kvm.h"

#define VMS_NAMED 5 /* more VMs are only counted */

void host_diagnosis_add(struct host_diagnosis *diagnosis, enum host_grade grade,
			const char *subject, const char *mend, const char *format, ...)
{
	struct host_finding finding = { .grade = grade, .subject = subject };
	va_list arguments;

	va_start(arguments, format);
	finding.text = memory_vprintf(format, arguments);
	va_end(arguments);
	finding.mend = mend ? memory_strdup(mend) : NULL;
	vector_append(&diagnosis->findings, finding);
}

void host_diagnosis_deinit(struct host_diagnosis *diagnosis)
{
	for (size_t i = 0; i < diagnosis->findings.count; i++) {
		free(diagnosis->findings.items[i].text);
		free(diagnosis->findings.items[i].mend);
	}
	vector_deinit(&diagnosis->findings);
}

bool host_diagnosis_can_record(const struct host_diagnosis *diagnosis)
{
	for (size_t i = 0; i < diagnosis->findings.count; i++)
		if (diagnosis->findings.items[i].grade == HOST_FAILS)
			return false;
	return true;
}

const char *host_diagnosis_conclusion(const struct host_diagnosis *diagnosis)
{
	if (!host_diagnosis_can_record(diagnosis))
		return "A recording would not work now: see the lines marked [no].";
	if (diagnosis->guests_doubtful)
		return "A recording would work, but may hold no guest samples: see KVM above.";
	return "A recording would work: perfvisor record";
}

/*
 * True on x86 for any module but the two usual vendors': pvm, for one, marks samples of guests as
 * the host's. On other architectures KVM has no vendors.
 */
static bool is_unusual(enum host_kvm_vendor vendor)
{
	return vendor == HOST_KVM_OTHER && !access("/sys/module/kvm/parameters/ignore_msrs", F_OK);
}

void host_diagnose_kvm(struct host_diagnosis *diagnosis)
{
	static const char *const names[] = {
		[HOST_KVM_AMD] = "AMD (kvm_amd)",
		[HOST_KVM_INTEL] = "Intel (kvm_intel)",
		[HOST_KVM_OTHER] = "/dev/kvm exists",
	};
	enum host_kvm_vendor vendor = host_kvm_vendor();

	diagnosis->guests_doubtful = is_unusual(vendor);
	if (access("/dev/kvm", F_OK))
		host_diagnosis_add(diagnosis, HOST_FAILS, "KVM",
				   "modprobe kvm_amd or modprobe kvm_intel; if that fails, turn on "
				   "virtualization in the firmware, or nested virtualization "
				   "where this host is a VM itself",
				   "there is no /dev/kvm, so there are no KVM guests");
	else if (diagnosis->guests_doubtful)
		host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "KVM",
				   "if a recording has no guest samples, try: perfvisor record "
				   "--host",
				   "neither kvm_amd nor kvm_intel: samples of guests may be "
				   "mistaken for the host's");
	else
		host_diagnosis_add(diagnosis, HOST_WORKS, "KVM", NULL, "%s", names[vendor]);
}

static char *name_some(const struct host_vms *vms)
{
	struct buffer names;
	char *text;

	buffer_init(&names, (size_t)64 * 1024);
	for (size_t i = 0; i < vms->items.count && i < VMS_NAMED; i++)
		buffer_printf(&names, "%s%s", i ? ", " : "", vms->items.items[i].name);
	if (vms->items.count > VMS_NAMED)
		buffer_append_string(&names, ", ...");
	text = memory_printf("%.*s", (int)names.size, (const char *)names.data);
	buffer_deinit(&names);
	return text;
}

static void diagnose_threads(struct host_diagnosis *diagnosis, const struct host_vms *vms)
{
	static const char *const ways[] = {
		[HOST_VCPU_BPF] = "by BPF", [HOST_VCPU_DEBUGFS] = "by debugfs"
	};
	size_t vcpus = 0, known = 0;

	for (size_t i = 0; i < vms->items.count; i++) {
		vcpus += vms->items.items[i].vcpus.count;
		for (size_t j = 0; j < vms->items.items[i].vcpus.count; j++)
			known += vms->items.items[i].vcpus.items[j].tid != 0;
	}
	if (vms->vcpu_source == HOST_VCPU_UNKNOWN)
		host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "vCPU threads",
				   host_capability_bpf() ? "mount -t debugfs none /sys/kernel/debug"
							 : HOST_MEND_RIGHTS,
				   "unknown (%s); all threads of a VMM are sampled instead",
				   vms->vcpu_source_reason);
	else
		host_diagnosis_add(diagnosis, HOST_WORKS, "vCPU threads", NULL,
				   "%zu of %zu known %s%s", known, vcpus, ways[vms->vcpu_source],
				   known < vcpus ? "; the others have not run yet" : "");
}

void host_diagnose_vms(struct host_diagnosis *diagnosis, const struct host_vms *vms)
{
	_cleanup_free_ char *names = NULL;

	if (!host_capability_initial_pids())
		host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "Container",
				   "docker run --pid=host ..., or run perfvisor on the host itself",
				   "running in a pid namespace: only VMs inside it are visible");
	if (!vms)
		return;
	if (vms->processes_hidden)
		host_diagnosis_add(
			diagnosis, vms->items.count ? HOST_WORKS_LESS : HOST_FAILS, "Processes",
			HOST_MEND_RIGHTS,
			"%zu of other users may not be inspected: their VMs are not visible",
			vms->processes_hidden);
	if (!vms->items.count) {
		host_diagnosis_add(diagnosis, HOST_FAILS, "VMs",
				   "start one; perfvisor list shows it", "%s",
				   vms->processes_hidden ? "none is visible" : "KVM runs none");
		return;
	}
	names = name_some(vms);
	host_diagnosis_add(diagnosis, HOST_WORKS, "VMs", NULL, "%zu: %s", vms->items.count, names);
	diagnose_threads(diagnosis, vms);
}

/* Those that 'perfvisor list' shows, too. */
static void diagnose_emulated(struct host_diagnosis *diagnosis, struct host_vms *vms)
{
	size_t known = vms->items.count, count;
	const struct host_vm *first;

	host_vms_add_all_emulated(vms);
	count = vms->items.count - known;
	if (!count)
		return;
	first = &vms->items.items[known];
	host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "VMs without KVM",
			   "perfvisor record --engine qmp -p PID, if QEMU has a QMP socket",
			   "%zu: %s (pid %u)%s", count, first->name, first->pid,
			   count > 1 ? ", ..." : "");
}

void host_diagnose(struct host_diagnosis *ret)
{
	_cleanup_host_vms_ struct host_vms vms = { 0 };
	struct error *error = host_vms_find(&vms);

	*ret = (struct host_diagnosis){ 0 };
	host_diagnose_kvm(ret);
	if (error)
		host_diagnosis_add(ret, HOST_FAILS, "VMs", error_hint_text(error), "%s",
				   error_message(error));
	host_diagnose_vms(ret, error ? NULL : &vms);
	host_diagnose_events(ret, error ? NULL : &vms);
	host_diagnose_bpf(ret);
	host_diagnose_guest_memory(ret, error ? NULL : &vms);
	host_diagnose_guest_processes(ret);
	host_diagnose_rights(ret);
	host_diagnose_walls(ret);
	host_diagnose_limits(ret, error ? NULL : &vms);
	if (!error)
		diagnose_emulated(ret, &vms);
	error_destroy(error);
}
