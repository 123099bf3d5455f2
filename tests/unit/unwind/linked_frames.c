/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Generated linked_frames.h: a program for another architecture that prints its own stack and,
 * using the compiler's builtins, who called whom. With Debian 12's cross compilers and
 * qemu-user-static:
 *
 * 	aarch64-linux-gnu-gcc -O2 -fno-omit-frame-pointer -static linked_frames.c
 * 	qemu-aarch64-static a.out
 * 	powerpc64le-linux-gnu-gcc -O2 -static linked_frames.c
 * 	qemu-ppc64le-static a.out
 */
#include <stdint.h>
#include <stdio.h>

#define KNOWN __attribute__((noipa))
#define DEPTH 5

#ifdef __aarch64__
#define NAME "arm64"
register uint64_t frame_register asm("x29");
#else
#define NAME "ppc64"
register uint64_t frame_register asm("r1");
#endif

static uint64_t callers[DEPTH], outermost_frame;

static void print_words(const char *name, const uint64_t *words, uint64_t count)
{
	printf("static const uint64_t %s_%s[] = {", NAME, name);
	for (uint64_t i = 0; i < count; i++)
		printf("%s0x%llx,", i % 4 ? " " : "\n\t", (unsigned long long)words[i]);
	printf("\n};\n");
}

KNOWN static int innermost(int x)
{
	callers[0] = (uint64_t)__builtin_return_address(0);
	printf("#define %s_FRAME 0x%llxULL\n", NAME, (unsigned long long)frame_register);
	print_words("stack", (const uint64_t *)frame_register,
		    (outermost_frame - frame_register) / sizeof(uint64_t) + 4);
	print_words("callers", callers, DEPTH);
	return x;
}

/* Each level uses more of the stack. */
#define LEVEL(number, name, callee)                                                                \
	KNOWN static int name(int x)                                                               \
	{                                                                                          \
		volatile int space[2 * (number)];                                                  \
                                                                                                   \
		callers[number] = (uint64_t)__builtin_return_address(0);                           \
		space[(number)] = x;                                                               \
		return callee(x + 1) + space[(number)];                                            \
	}
LEVEL(1, call_1, innermost)
LEVEL(2, call_2, call_1)
LEVEL(3, call_3, call_2)
LEVEL(4, call_4, call_3)

int main(void)
{
	outermost_frame = frame_register;
	callers[0] = 0;
	return call_4(1) == 0;
}
