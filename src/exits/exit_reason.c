/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reasons are named like in perf (tools/perf/arch/ARCH/util/kvm-stat.c), with two differences: a
 * number that has no name is shown, and what VMX adds to the reason's upper half is split off, as
 * the kernel does when it prints kvm_exit.
 */
#include "exits/exit_reason.h"

#include <inttypes.h>

#include "arch/exit_names.h"

#define VMX_BASIC_REASON 0xffff
#define VMX_FAILED_VMENTRY 0x80000000 /* VMX_EXIT_REASONS_FAILED_VMENTRY */
#define ARM_EXCEPTION_TRAP 2
#define MMIO_WRITE 2 /* KVM_TRACE_MMIO_WRITE */

static void append_name(const struct arch_exit_name *names, uint64_t code, struct buffer *out)
{
	const char *name = arch_exit_name(names, code);

	if (name)
		buffer_append_string(out, name);
	else
		buffer_printf(out, "UNKNOWN:%#" PRIx64, code);
}

static void append_vmexit(const struct exits_row *row, struct buffer *out)
{
	static const struct arch_exit_name none[] = { { 0, NULL } };

	switch (row->isa) {
	case EXIT_ISA_VMX:
		append_name(arch_exits_vmx, row->code & VMX_BASIC_REASON, out);
		if (row->code & VMX_FAILED_VMENTRY)
			buffer_append_string(out, " FAILED_VMENTRY");
		break;
	case EXIT_ISA_SVM:
		append_name(arch_exits_svm, row->code, out);
		break;
	case EXIT_ISA_ARM64:
		if (row->code == ARM_EXCEPTION_TRAP)
			append_name(arch_traps_arm64, row->info, out);
		else
			append_name(arch_exits_arm64, row->code, out);
		break;
	case EXIT_ISA_PPC64:
		append_name(arch_exits_ppc64, row->code, out);
		break;
	default:
		append_name(none, row->code, out);
	}
}

void exit_reason_append(enum exits_event event, const struct exits_row *row, struct buffer *out)
{
	const char *name = NULL;

	switch (event) {
	case EXITS_VMEXIT:
		append_vmexit(row, out);
		break;
	case EXITS_MMIO:
		buffer_printf(out, "%#" PRIx64 ":%s", row->code,
			      row->info == MMIO_WRITE ? "W" : "R");
		break;
	case EXITS_IOPORT:
		buffer_printf(out, "%#" PRIx64 ":%s", row->code, row->info ? "POUT" : "PIN");
		break;
	case EXITS_MSR:
		buffer_printf(out, "%#" PRIx64 ":%s", row->code, row->info ? "W" : "R");
		break;
	case EXITS_HYPERCALL:
		if (row->isa == EXIT_ISA_PPC64)
			name = arch_exit_name(arch_hypercalls_ppc64, row->code);
		if (name)
			buffer_append_string(out, name);
		else
			buffer_printf(out, "%#" PRIx64, row->code);
		break;
	}
}
