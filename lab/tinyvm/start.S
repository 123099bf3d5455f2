/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entry, exception entries and the way to CPL 3 and back of the unikernel.
 *
 * tinyvm enters each vCPU at _start in long mode with RDI = address of the boot info page,
 * RSI = index of the vCPU, GS base = its struct vcpu_area, RSP = the end of its stack,
 * RBP = 0 and interrupts off. Return addresses end in _start, whose CFI says "outermost".
 */
#include "guestabi.h"

.macro function name
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
.endm

.macro end name
	.cfi_endproc
	.size \name, . - \name
.endm

	.text

function _start
	.cfi_undefined rip
	call	kernel_main
	ud2				/* kernel_main does not return */
end _start

/*
 * void enter_user(uint64_t entry, uint64_t stack, uint64_t argument)
 * Runs entry(argument) at CPL 3 until it makes a system call. As in Linux the kernel's GS
 * base is in KERNEL_GS_BASE meanwhile.
 */
function enter_user
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	%rsp, %gs:AREA_KERNEL_RSP
	movq	%rdi, %rcx
	movq	%rsi, %rsp
	movq	%rdx, %rdi
	movl	$2, %r11d		/* RFLAGS: nothing but the bit that is always set */
	xorl	%ebp, %ebp
	swapgs
	sysretq
end enter_user

/* Where SYSCALL arrives: back to the caller of enter_user. */
function syscall_entry
	.cfi_undefined rip
	swapgs
	movq	%gs:AREA_KERNEL_RSP, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	ret
end syscall_entry

/*
 * Exceptions are told to the VMM with all registers as they were: the frame on the stack
 * is a struct fault_frame. One entry of 16 bytes for each of the 32 vectors.
 */
#define VECTORS_WITH_ERROR_CODE \
	((1 << 8) | (1 << 10) | (1 << 11) | (1 << 12) | (1 << 13) | (1 << 14) | (1 << 17) | \
	 (1 << 21) | (1 << 29) | (1 << 30))

	.balign	16
	.globl	exception_entries
	.type	exception_entries, @function
exception_entries:
	.set	vector, 0
	.rept	32
	.balign	16
	.if	!((VECTORS_WITH_ERROR_CODE >> vector) & 1)
	pushq	$0
	.endif
	pushq	$vector
	jmp	exception_report
	.set	vector, vector + 1
	.endr
	.size	exception_entries, . - exception_entries

function exception_report
	.cfi_undefined rip
1:	outl	%eax, $PORT_FAULT
	jmp	1b
end exception_report

/* 64-bit addresses of what lies out of the reach of -mcmodel=kernel. */
	.section .rodata
	.balign	8
	.globl	user_main_gva, user_stacks_gva
	.type	user_main_gva, @object
	.type	user_stacks_gva, @object
user_main_gva:
	.quad	user_main
	.size	user_main_gva, 8
user_stacks_gva:
	.quad	user_stacks
	.size	user_stacks_gva, 8

	.section .note.GNU-stack, "", @progbits
