/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A vCPU's registers in KVM's order, and those that unwinding needs. */
#ifndef HOST_SYSTEM_KVM_REGISTERS_H
#define HOST_SYSTEM_KVM_REGISTERS_H

#include "unwind/walk/unwind.h"

/* enum kvm_reg of arch/x86/include/asm/kvm_host.h */
enum {
	KVM_REGISTER_AX,
	KVM_REGISTER_CX,
	KVM_REGISTER_DX,
	KVM_REGISTER_BX,
	KVM_REGISTER_SP,
	KVM_REGISTER_BP,
	KVM_REGISTER_SI,
	KVM_REGISTER_DI,
	KVM_REGISTER_R8,
	KVM_REGISTER_IP = KVM_REGISTER_R8 + 8,
};

/* For code that was interrupted at IP. REGISTERS, up to R15, are borrowed. */
static inline struct unwind_registers kvm_registers_for_unwind(const uint64_t *registers,
							       uint64_t ip)
{
	return (struct unwind_registers){ .ip = ip,
					  .sp = registers[KVM_REGISTER_SP],
					  .bp = registers[KVM_REGISTER_BP],
					  .others = registers };
}

#endif
