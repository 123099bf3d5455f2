/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/deep_calls.h"

#include <execinfo.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline, noclone))

struct deep_calls deep_calls;

static inline void know(const void *address)
{
	if (deep_calls.known_count == DEEP_CALLS_MAX)
		return;
	deep_calls.known[deep_calls.known_count++] = address;
}

/* Before a call that must not become a jump. */
#define STAY() __asm__ volatile("" ::: "memory")

/* ASan's own backtrace() adds a frame before the wanted ones: RETURN_ADDRESS is the second. */
static inline void drop_sanitizer(const void *return_address)
{
	while (deep_calls.wanted_count > 1 && deep_calls.wanted[1] != return_address)
		memmove(deep_calls.wanted, deep_calls.wanted + 1,
			--deep_calls.wanted_count * sizeof(*deep_calls.wanted));
}

static volatile int stepping;

NOINLINE int deep_calls_here(void)
{
	ucontext_t context;
	const volatile uint8_t *from;

	if (stepping)
		return 1;
	know(__builtin_return_address(0));
	deep_calls.wanted_count = backtrace(deep_calls.wanted, DEEP_CALLS_MAX);
	drop_sanitizer(__builtin_return_address(0));
	getcontext(&context);
	deep_calls.ip = context.uc_mcontext.gregs[REG_RIP];
	deep_calls.sp = context.uc_mcontext.gregs[REG_RSP];
	deep_calls.bp = context.uc_mcontext.gregs[REG_RBP];
	from = (const uint8_t *)deep_calls.sp;
	deep_calls.bytes = deep_calls.stack_end - from;
	if (deep_calls.bytes > DEEP_CALLS_STACK)
		deep_calls.bytes = DEEP_CALLS_STACK;
	for (size_t i = 0; i < deep_calls.bytes; i++)
		deep_calls.stack[i] = from[i];
	STAY();
	return 1;
}

static NOINLINE int second(int x)
{
	int ret;

	know(__builtin_return_address(0));
	ret = deep_calls_here() + x;
	STAY();
	return ret;
}

static NOINLINE int first(int x, int y)
{
	int ret;

	know(__builtin_return_address(0));
	ret = second(x * y) * y;
	STAY();
	return ret;
}

NOINLINE int deep_calls_plain(int x)
{
	int ret = first(x, x + 1) + x;

	STAY();
	return ret;
}

static int compare(const void *left, const void *right)
{
	static int done;
	int ret = *(const int *)left - *(const int *)right;

	if (!done++)
		ret += deep_calls_plain(0);
	STAY();
	return ret;
}

NOINLINE int deep_calls_sort(void)
{
	int numbers[] = { 5, 3, 4, 1 };

	qsort(numbers, 4, sizeof(*numbers), compare);
	STAY();
	return numbers[0];
}

static void handle(int number)
{
	deep_calls_plain(number);
	STAY();
}

NOINLINE int deep_calls_signal(void)
{
	struct sigaction action = { .sa_handler = handle }, before;

	sigaction(SIGUSR1, &action, &before);
	raise(SIGUSR1);
	sigaction(SIGUSR1, &before, NULL);
	return 1;
}

NOINLINE int deep_calls_aligned(int x)
{
	_Alignas(64) volatile char data[128];
	volatile char *more = __builtin_alloca((size_t)x * 16);
	int ret;

	data[x] = 1;
	more[x] = 2;
	ret = deep_calls_plain(data[x]) + more[x];
	STAY();
	return ret;
}

static NOINLINE int busy(int x)
{
	_Alignas(64) volatile int data[32];
	volatile char *more = __builtin_alloca((size_t)x * 16);
	int a = x * 3, b = x ^ 5, c = x + 7, d = x - 9, e = x | 16;

	data[x] = x;
	more[x] = 1;
	a += deep_calls_plain(data[x]);
	STAY();
	return a + b * 3 + c * 5 + d * 7 + e * 11 + data[x] + more[x];
}

NOINLINE int deep_calls_busy(int x)
{
	volatile char *data = __builtin_alloca((size_t)x * 16);
	int ret;

	data[x] = 1;
	ret = busy(data[x] + 2);
	STAY();
	return ret + data[x];
}

NOINLINE int deep_calls_sized(int x)
{
	volatile char *data = __builtin_alloca((size_t)x * 16);
	int ret;

	data[x] = 1;
	ret = deep_calls_plain(data[x]);
	STAY();
	return ret + data[x];
}

NOINLINE int deep_calls_large(int x)
{
	volatile char data[200000];
	int ret;

	data[x] = 1;
	ret = deep_calls_plain(data[x]);
	STAY();
	return ret + data[x];
}

/* Changes RFLAGS with INSTRUCTION; describes the push in the CFI, as compilers do. */
#define CHANGE_FLAGS(instruction)                                                                  \
	__asm__ volatile("pushfq\n.cfi_adjust_cfa_offset 8\n" instruction                          \
			 ", (%%rsp)\npopfq\n.cfi_adjust_cfa_offset -8" ::                          \
				 : "memory", "cc")

NOINLINE void deep_calls_step(void (*handler)(int number, siginfo_t *info, void *context))
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO }, before;

	sigaction(SIGTRAP, &action, &before);
	stepping = 1;
	CHANGE_FLAGS("orq $0x100");
	deep_calls_plain(1);
	deep_calls_aligned(5);
	deep_calls_busy(4);
	deep_calls_sized(4);
	deep_calls_large(3);
	deep_calls_sort();
	deep_calls.sink = a64l("z"); /* not called by anything else */
	CHANGE_FLAGS("andq $~0x100");
	stepping = 0;
	sigaction(SIGTRAP, &before, NULL);
}
