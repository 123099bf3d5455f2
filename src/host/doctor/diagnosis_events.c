/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can be sampled: each event is opened as a recording would open it, and closed at once. If
 * the mediated vPMU is enabled, hardware events are not even tried: while an event that sees guests
 * is open, no VM can be created.
 */
#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "host/doctor/diagnosis.h"
#include "host/event/event.h"
#include "host/event/event_choice.h"
#include "host/event/tracefs.h"
#include "host/system/kvm.h"

/* Opens the event TEXT on THREAD (0: this one), to sample guests, and also the host if HOST. */
static struct error *try_event(const char *text, bool host, uint32_t thread)
{
	struct host_events events = { 0 };
	struct error *error = host_events_parse(text, &events);

	if (!error) {
		struct host_event *event = &events.items.items[0];
		host_modes modes;
		int fd;

		host_event_set_modes(event, true, host, &modes);
		event->attr.disabled = 1;
		event->attr.freq = 1;
		event->attr.sample_freq = 100;
		fd = host_event_open(&event->attr, event->precise_best, (pid_t)thread, -1, -1);
		if (fd < 0)
			error = host_event_open_error(event, errno);
		else
			close(fd);
	}
	host_events_deinit(&events);
	return error;
}

static const char *mend(const struct error *error)
{
	return error_code(error) == ERROR_PERMISSION ? HOST_MEND_RIGHTS : error_hint_text(error);
}

static void diagnose_pmu(struct host_diagnosis *diagnosis)
{
	_cleanup_error_ struct error *any = try_event("cycles", true, 0);
	_cleanup_error_ struct error *guests = any ? NULL : try_event("cycles:G", false, 0);

	if (any && error_code(any) == ERROR_PERMISSION) {
		host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "PMU", HOST_MEND_RIGHTS, "%s",
				   error_message(any));
		return;
	}
	if (any) {
		host_diagnosis_add(
			diagnosis, HOST_WORKS_LESS, "PMU",
			"if this host is a VM, give it a vPMU "
			"(QEMU: -cpu host,pmu=on), or use a bare-metal host",
			"no hardware event counts cycles here: cpu-clock is used instead");
		return;
	}
	host_diagnosis_add(diagnosis, HOST_WORKS, "PMU", NULL, "cycles can be sampled");
	if (guests)
		host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "Guests only", NULL,
				   "the PMU cannot count only in guests (%s)",
				   error_message(guests));
	else
		host_diagnosis_add(diagnosis, HOST_WORKS, "Guests only", NULL,
				   "the PMU can count only in guests");
}

static void diagnose_mediated(struct host_diagnosis *diagnosis)
{
	host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "Mediated vPMU",
			   "with no VM running: modprobe -r kvm_amd && modprobe kvm_amd "
			   "enable_mediated_pmu=0 (or kvm_intel)",
			   "enabled: a hardware event that sees guests could keep VMs from "
			   "starting, so perfvisor only uses one if you name it");
}

static void diagnose_vpmu(struct host_diagnosis *diagnosis)
{
	if (host_kvm_vpmu(HOST_KVM_MODULES) == HOST_VPMU_EVENTS)
		host_diagnosis_add(diagnosis, HOST_WORKS, "vPMU", NULL,
				   "guests' counters take precedence over those of a recording, "
				   "unless its events are pinned (modifier D)");
}

static void diagnose_clock(struct host_diagnosis *diagnosis)
{
	_cleanup_error_ struct error *error = try_event("cpu-clock", true, 0);

	if (error)
		host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "cpu-clock", mend(error), "%s",
				   error_message(error));
	else
		host_diagnosis_add(diagnosis, HOST_WORKS, "cpu-clock", NULL, "can be sampled");
}

/* A vCPU's thread, or the first thread of a VM if its vCPU threads are not known. */
static uint32_t find_thread(const struct host_vms *vms, const struct host_vm **ret)
{
	for (size_t i = 0; vms && i < vms->items.count; i++) {
		*ret = &vms->items.items[i];
		for (size_t j = 0; j < (*ret)->vcpus.count; j++)
			if ((*ret)->vcpus.items[j].tid)
				return (*ret)->vcpus.items[j].tid;
		if (vms->vcpu_source == HOST_VCPU_UNKNOWN)
			return (*ret)->pid;
	}
	return 0;
}

/* Tries the default event where a recording would open it. */
static void diagnose_choice(struct host_diagnosis *diagnosis, const struct host_vms *vms)
{
	struct host_event_choice choice;
	_cleanup_error_ struct error *error = host_event_choose(true, false, &choice);
	const struct host_vm *vm;
	uint32_t thread = find_thread(vms, &vm);

	if (error) {
		host_diagnosis_add(diagnosis, HOST_FAILS, "Sampling", mend(error), "%s",
				   error_message(error));
		return;
	}
	if (thread)
		error = try_event(choice.event, false, thread);
	if (error)
		host_diagnosis_add(diagnosis, HOST_FAILS, "Sampling", mend(error),
				   "thread %u of %s: %s", thread, vm->name, error_message(error));
	else
		host_diagnosis_add(diagnosis, HOST_WORKS, "Sampling", NULL,
				   "%s, unless another event is named (%s)", choice.event,
				   choice.why);
	host_event_choice_deinit(&choice);
}

static void diagnose_tracepoints(struct host_diagnosis *diagnosis)
{
	const char *root = tracefs_find();
	struct tracefs_events events = { 0 };
	struct error *error;

	if (!root) {
		host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "Tracepoints",
				   geteuid() ? "run it as root"
					     : "mount -t tracefs none /sys/kernel/tracing",
				   "tracefs is not mounted or not readable");
		return;
	}
	error = tracefs_find_events(root, "kvm*", "*", &events);
	if (error)
		host_diagnosis_add(
			diagnosis, HOST_WORKS_LESS, "Tracepoints",
			error_code(error) == ERROR_NOT_FOUND ? "modprobe kvm" : mend(error), "%s",
			error_message(error));
	else
		host_diagnosis_add(diagnosis, HOST_WORKS, "Tracepoints", NULL, "%zu of kvm",
				   events.items.count);
	error_destroy(error);
	tracefs_events_deinit(&events);
}

void host_diagnose_events(struct host_diagnosis *diagnosis, const struct host_vms *vms)
{
	if (host_kvm_mediated_pmu()) {
		diagnose_mediated(diagnosis);
	} else {
		diagnose_pmu(diagnosis);
		diagnose_vpmu(diagnosis);
	}
	diagnose_clock(diagnosis);
	diagnose_choice(diagnosis, vms);
	diagnose_tracepoints(diagnosis);
}
