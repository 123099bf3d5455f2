/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of perfvisor works on this host, found out by trying: events are opened and closed,
 * the BPF iterator is loaded and run, nothing is changed. A finding is a line for a person.
 */
#ifndef HOST_DOCTOR_DIAGNOSIS_H
#define HOST_DOCTOR_DIAGNOSIS_H

#include "base/cleanup.h"
#include "base/vector.h"
#include "host/vm/vm.h"

enum host_grade {
	HOST_WORKS,
	HOST_WORKS_LESS, /* something else takes its place, or it is not needed for a recording */
	HOST_FAILS,	 /* no recording without it */
};

struct host_finding {
	enum host_grade grade;
	const char *subject; /* one or two words */
	char *text;	     /* what was found, and what follows from it */
	char *mend;	     /* a command, or what else to do; NULL: nothing to mend */
};

/* What gives a process the rights that it lacks. */
#define HOST_MEND_RIGHTS                                                                           \
	"run it as root, or: setcap " HOST_CAPABILITIES "+ep \"$(command -v perfvisor)\""
#if HAVE_BPF
#define HOST_CAPABILITIES "cap_perfmon,cap_bpf,cap_sys_ptrace"
#else /* without BPF VMs are looked for in /proc/PID/fd, which only owners may read */
#define HOST_CAPABILITIES "cap_perfmon,cap_sys_ptrace,cap_dac_read_search"
#endif

struct host_diagnosis {
	VECTOR(struct host_finding) findings; /* in the order in which they are to be read */
};

void host_diagnose(struct host_diagnosis *ret);
void host_diagnosis_deinit(struct host_diagnosis *diagnosis);
/* Whether a recording would work now: nothing fails. */
bool host_diagnosis_can_record(const struct host_diagnosis *diagnosis);

/* For the files that look: appends a finding, whose MEND (may be NULL) and text are copied. */
void host_diagnosis_add(struct host_diagnosis *diagnosis, enum host_grade grade,
			const char *subject, const char *mend, const char *format, ...)
	PRINTF_LIKE(5, 6);

/*
 * How to add a check: a function like these, called in host_diagnose(). VMS: those found, NULL
 * where looking failed.
 */
void host_diagnose_kvm(struct host_diagnosis *diagnosis);
void host_diagnose_vms(struct host_diagnosis *diagnosis, const struct host_vms *vms);
void host_diagnose_events(struct host_diagnosis *diagnosis, const struct host_vms *vms);
void host_diagnose_bpf(struct host_diagnosis *diagnosis);
void host_diagnose_guest_memory(struct host_diagnosis *diagnosis, const struct host_vms *vms);
void host_diagnose_guest_processes(struct host_diagnosis *diagnosis);
void host_diagnose_rights(struct host_diagnosis *diagnosis);
void host_diagnose_limits(struct host_diagnosis *diagnosis, const struct host_vms *vms);

#define _cleanup_host_diagnosis_ _cleanup_(host_diagnosis_deinit)

#endif
