/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of the reasons for which guests exit, a table for each way in which KVM runs them. All are
 * compiled in: a recording is read on any machine.
 */
#ifndef ARCH_EXIT_NAMES_H
#define ARCH_EXIT_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct arch_exit_name {
	uint64_t code;
	const char *name; /* NULL: end of the table */
};

extern const struct arch_exit_name arch_exits_vmx[], arch_exits_svm[], arch_exits_arm64[],
	arch_traps_arm64[], arch_exits_ppc64[], arch_hypercalls_ppc64[];

/* NULL: NAMES has no such CODE. */
const char *arch_exit_name(const struct arch_exit_name *names, uint64_t code);

#endif
