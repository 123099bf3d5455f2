/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of known functions, built without frame pointers; the deepest one copies the registers and
 * the stack. Every variant calls deep_calls_here() once.
 */
#ifndef DEEP_CALLS_H
#define DEEP_CALLS_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#define DEEP_CALLS_MAX 64
#define DEEP_CALLS_STACK (512 * 1024)

struct deep_calls {
	uint64_t ip, sp, bp;      /* in deep_calls_here() */
	const uint8_t *stack_end; /* set by the caller: the end of the copy */
	size_t bytes;             /* copied, starting at SP */
	uint8_t stack[DEEP_CALLS_STACK];
	void *wanted[DEEP_CALLS_MAX]; /* from backtrace(3); the first is in deep_calls_here() */
	int wanted_count;
	const void *known[DEEP_CALLS_MAX]; /* return addresses, as the known functions give them */
	size_t known_count;
	volatile long sink;
};

extern struct deep_calls deep_calls;

int deep_calls_here(void);
int deep_calls_plain(int x); /* three functions */
int deep_calls_sort(void);   /* through libc's qsort() and its callback */
int deep_calls_signal(void); /* through a signal handler */
int deep_calls_aligned(
	int x);              /* a frame with its own alignment and variable size */
/* the same, in a function that saves registers; called by one with a frame pointer */
int deep_calls_busy(int x);
int deep_calls_sized(int x); /* a frame of variable size, with a frame pointer */
int deep_calls_large(int x); /* a frame of 200,000 bytes */

/*
 * Calls all of these except the signal's, and a libc function that the dynamic linker has to
 * resolve. HANDLER handles SIGTRAP before each instruction of them and of the functions they call.
 */
void deep_calls_step(void (*handler)(int number, siginfo_t *info, void *context));

#endif
