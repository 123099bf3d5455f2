/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of perfvisor works on this host, determined by trying: events are opened and closed, and the
 * BPF iterator is loaded and run. Nothing is changed. A finding is a line for the user.
 */
#ifndef HOST_DOCTOR_DIAGNOSIS_H
#define HOST_DOCTOR_DIAGNOSIS_H

#include "base/cleanup.h"
#include "base/vector.h"
#include "host/vm/vm.h"

enum host_grade {
	HOST_WORKS,
	HOST_WORKS_LESS, /* there is a substitute, or recording does not need it */
	HOST_FAILS,	 /* recording is not possible without it */
};

struct host_finding {
	enum host_grade grade;
	const char *subject; /* one or two words */
	char *text;	     /* what was found, and the consequences */
	char *mend;	     /* how to fix it: a command, or other advice; NULL: nothing to fix */
};

/*
 * How to give a process the missing rights. A program with capabilities that everyone may run would
 * show every guest to every user. chgrp(1) removes capabilities, so setcap(8) comes last.
 */
#define HOST_MEND_RIGHTS                                                                           \
	"run it as root, or for a group, whose members then see into every VM of this host: "      \
	"f=$(command -v perfvisor); groupadd -f perfvisor; chgrp perfvisor \"$f\"; "               \
	"chmod 0750 \"$f\"; setcap " HOST_CAPABILITIES "+ep \"$f\""
#if HAVE_BPF
#define HOST_CAPABILITIES "cap_perfmon,cap_bpf,cap_sys_ptrace"
#else /* without BPF, VMs are found in /proc/PID/fd, which only owners may read */
#define HOST_CAPABILITIES "cap_perfmon,cap_sys_ptrace,cap_dac_read_search"
#endif

struct host_diagnosis {
	VECTOR(struct host_finding) findings; /* in the order in which they are printed */
	bool guests_doubtful; /* samples of guests may be mistaken for the host's */
};

void host_diagnose(struct host_diagnosis *ret);
void host_diagnosis_deinit(struct host_diagnosis *diagnosis);
/* Whether a recording would work now: no finding is HOST_FAILS. */
bool host_diagnosis_can_record(const struct host_diagnosis *diagnosis);

/* The same in a sentence, as far as it is known. */
const char *host_diagnosis_conclusion(const struct host_diagnosis *diagnosis);

/*
 * For the files that do the checks: appends a finding. MEND (may be NULL) and the text are copied.
 */
void host_diagnosis_add(struct host_diagnosis *diagnosis, enum host_grade grade,
			const char *subject, const char *mend, const char *format, ...)
	PRINTF_LIKE(5, 6);

/*
 * To add a check, write a function like these and call it in host_diagnose(). VMS: the VMs found,
 * NULL if the search failed.
 */
void host_diagnose_kvm(struct host_diagnosis *diagnosis);
void host_diagnose_vms(struct host_diagnosis *diagnosis, const struct host_vms *vms);
void host_diagnose_events(struct host_diagnosis *diagnosis, const struct host_vms *vms);
void host_diagnose_bpf(struct host_diagnosis *diagnosis);
void host_diagnose_guest_memory(struct host_diagnosis *diagnosis, const struct host_vms *vms);
void host_diagnose_guest_processes(struct host_diagnosis *diagnosis);
void host_diagnose_rights(struct host_diagnosis *diagnosis);
void host_diagnose_walls(struct host_diagnosis *diagnosis);
void host_diagnose_limits(struct host_diagnosis *diagnosis, const struct host_vms *vms);

#define _cleanup_host_diagnosis_ _cleanup_(host_diagnosis_deinit)

#endif
