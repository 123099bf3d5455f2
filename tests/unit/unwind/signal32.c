/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A 32-bit program that spends its time in handlers of signals that it sends itself: hot32(),
 * called by handle32(), which interrupts send32(), called by cause32(), whose frame has its own
 * alignment and size, called by _start(). The handlers return through the vDSO's __kernel_sigreturn
 * and __kernel_rt_sigreturn, and through code whose unwind data is like theirs since Linux 7.0.
 */
#include <stdint.h>

#define WORK 100
#define NR_GETPID 20
#define NR_KILL 37
#define NR_RT_SIGACTION 174
#define SIGUSR1 10
#define SA_SIGINFO 4
#define SA_RESTORER 0x04000000

struct action {
	void (*handler)(int number);
	uint32_t flags;
	void (*restorer)(void);
	uint32_t mask[2];
};

static volatile uint32_t sink;

/*
 * rt_sigreturn. The struct sigcontext is above SP, after the pointers, the siginfo, and the head of
 * struct ucontext.
 */
void return32(void);
__asm__("	.text\n"
	"	nop\n"
	"	.balign 16\n"
	"	.type return32, @function\n"
	"return32:\n"
	"	.cfi_startproc simple\n"
	"	.cfi_signal_frame\n"
	"	.cfi_def_cfa esp, 160\n"
	"	.cfi_offset eip, 56\n"
	"	.cfi_offset eax, 44\n"
	"	.cfi_offset ebx, 32\n"
	"	.cfi_offset ecx, 40\n"
	"	.cfi_offset edx, 36\n"
	"	.cfi_offset esp, 28\n"
	"	.cfi_offset ebp, 24\n"
	"	.cfi_offset esi, 20\n"
	"	.cfi_offset edi, 16\n"
	"	mov $173, %eax\n"
	"	int $0x80\n"
	"	.cfi_endproc\n"
	"	.size return32, . - return32\n");

static inline __attribute__((always_inline)) uint32_t
call(uint32_t number, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	uint32_t ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d)
			 : "memory");
	return ret;
}

__attribute__((noipa)) void hot32(uint32_t seed)
{
	for (unsigned int i = 0; i < WORK; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 17;
		seed ^= seed << 5;
	}
	sink = seed;
}

__attribute__((noipa)) void handle32(int number)
{
	hot32((uint32_t)number + sink);
	sink++;
}

__attribute__((noipa)) void send32(uint32_t process)
{
	call(NR_KILL, process, SIGUSR1, 0, 0);
	sink++;
}

__attribute__((noipa)) void cause32(uint32_t process, uint32_t seed)
{
	_Alignas(64) volatile uint32_t aligned[16];
	volatile uint32_t *space = __builtin_alloca((seed % 8 + 1) * sizeof(*space));

	space[seed % 8] = process;
	aligned[seed % 16] = seed;
	send32(space[seed % 8]);
	sink = aligned[seed % 16];
}

void _start(void)
{
	static struct action actions[] = {
		{ handle32, 0, 0, { 0 } },
		{ handle32, SA_SIGINFO, 0, { 0 } },
		{ handle32, SA_SIGINFO | SA_RESTORER, return32, { 0 } }
	};
	uint32_t process;

	__asm__ volatile(".cfi_undefined 8"); /* eip: nothing called this */
	process = call(NR_GETPID, 0, 0, 0, 0);
	for (uint32_t seed = 1;; seed++) {
		call(NR_RT_SIGACTION, SIGUSR1, (uint32_t)&actions[seed % 3], 0, 8);
		cause32(process, seed);
	}
}
