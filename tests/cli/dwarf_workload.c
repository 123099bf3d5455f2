// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What test_dwarf_chains_perf.sh samples: recursion, callbacks from the C library, the vDSO, a
 * signal handler, a thread, a frame of variable size, and a library that is loaded late, if one is
 * named; with "made", code made at run time; with "deep", very deep recursion. Built with LIBRARY,
 * it is that library.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

#define ROUNDS 400

volatile unsigned long sum;

__attribute__((noinline)) void leaf(int count)
{
	for (int i = 0; i < count; i++)
		sum += i * sum;
}

#ifdef LIBRARY
int in_library(void (*call)(int))
{
	leaf(300000);
	call(300000);
	return (int)sum;
}
#else
__attribute__((noinline)) int recurse(int depth)
{
	if (!depth) {
		leaf(100000);
		return 1;
	}
	return recurse(depth - 1) + (int)(sum & 1);
}

__attribute__((noinline)) static int compare(const void *left, const void *right)
{
	leaf(20);
	return *(const int *)left - *(const int *)right;
}

__attribute__((noinline)) void sort_some(void)
{
	int numbers[300];

	for (int i = 0; i < 300; i++)
		numbers[i] = rand();
	qsort(numbers, 300, sizeof(int), compare);
}

__attribute__((noinline)) void large_frame(int bytes)
{
	volatile char *space = __builtin_alloca(bytes);

	space[0] = space[bytes - 1] = 1;
	leaf(50000);
	sum += space[0];
}

__attribute__((noinline)) void ask_time(void)
{
	struct timespec now;

	for (int i = 0; i < 3000; i++) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		sum += now.tv_nsec;
	}
}

static void handler(int signal)
{
	(void)signal;
	leaf(200000);
	sum++;
}

static void *thread(void *argument)
{
	for (int i = 0; i < ROUNDS; i++)
		recurse(3);
	return argument;
}

/* Code made at run time: push %rbp, mov %rsp,%rbp, call *%rsi, pop %rbp, ret. */
static int run_made_code(void)
{
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3 };
	void *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (made == MAP_FAILED)
		return 1;
	memcpy(made, code, sizeof(code));
	for (int i = 0; i < ROUNDS; i++)
		((void (*)(int, void (*)(int)))made)(400000, leaf);
	return 0;
}

static void use_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*in_library)(void (*)(int)) = library ? dlsym(library, "in_library") : NULL;

	if (!in_library)
		exit(1);
	for (int i = 0; i < 100; i++)
		sum += in_library(leaf);
	dlclose(library);
}

int main(int argc, char **argv)
{
	struct itimerval often = { { 0, 20000 }, { 0, 20000 } };
	pthread_t other;
	char text[64];

	if (argc > 1 && !strcmp(argv[1], "made"))
		return run_made_code();
	if (argc > 1 && !strcmp(argv[1], "deep")) {
		/* on any machine for as many samples */
		for (int i = 0; clock() < CLOCKS_PER_SEC / 5; i++)
			recurse(100 + i % ROUNDS);
		return 0;
	}
	signal(SIGVTALRM, handler);
	setitimer(ITIMER_VIRTUAL, &often, NULL);
	pthread_create(&other, NULL, thread, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		recurse(i % 20);
		sort_some();
		ask_time();
		large_frame(1000 + i);
		snprintf(text, sizeof(text), "%d %f", i, i * 1.5);
		sum += strlen(text);
	}
	pthread_join(other, NULL);
	if (argc > 1)
		use_library(argv[1]);
	return 0;
}
#endif
