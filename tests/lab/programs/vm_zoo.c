/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VMs in every state in which VMMs leave them, for the test of `perfvisor list`:
 *
 *	vm_zoo KIND		makes it, prints the truth, waits to be killed
 *	vm_zoo without-bpf COMMAND…	runs COMMAND without the right to load BPF programs
 *
 * The truth is a line for each VM: KIND PID MEMORY_BYTES NUMBER:TID…, TID "-" for a vCPU
 * without a thread. The guests have no code: the first KVM_RUN ends at once, but from then on
 * the vCPU has a thread.
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MIB (1024ul * 1024)

static void check(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static int make_vm(unsigned long memory_bytes)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	struct kvm_userspace_memory_region region = { .memory_size = memory_bytes };
	void *memory = mmap(NULL, memory_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int vm;

	check(kvm >= 0, "/dev/kvm");
	vm = ioctl(kvm, KVM_CREATE_VM, 0);
	check(vm >= 0, "KVM_CREATE_VM");
	region.userspace_addr = (unsigned long)memory;
	check(!memory_bytes || ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region) >= 0, "memory");
	close(kvm);
	return vm;
}

/* A second memory slot that the guest may not write to, which is ROM. */
static void add_rom(int vm)
{
	struct kvm_userspace_memory_region region = {
		.slot = 1,
		.flags = KVM_MEM_READONLY,
		.guest_phys_addr = 1ul << 31,
		.memory_size = MIB,
		.userspace_addr = (unsigned long)mmap(NULL, MIB, PROT_READ | PROT_WRITE,
						      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
	};

	check(ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region) >= 0, "ROM");
}

static int make_vcpu(int vm, unsigned long number)
{
	int vcpu = ioctl(vm, KVM_CREATE_VCPU, number);

	check(vcpu >= 0, "KVM_CREATE_VCPU");
	return vcpu;
}

struct runner {
	pthread_t thread;
	sem_t ready;
	int vcpu, tid, stays;
};

static void *run(void *argument)
{
	struct runner *runner = argument;

	runner->tid = gettid();
	ioctl(runner->vcpu, KVM_RUN, 0);
	sem_post(&runner->ready);
	while (runner->stays)
		pause();
	return NULL;
}

/* Runs VCPU in a thread of its own, which stays if STAYS. The thread's id. */
static int run_vcpu(int vcpu, int stays)
{
	struct runner *runner = calloc(1, sizeof(*runner));

	runner->vcpu = vcpu;
	runner->stays = stays;
	sem_init(&runner->ready, 0, 0);
	check(!pthread_create(&runner->thread, NULL, run, runner), "pthread_create");
	sem_wait(&runner->ready);
	if (!stays)
		pthread_join(runner->thread, NULL);
	return runner->tid;
}

static void plain(const char *kind)
{
	int vm = make_vm(4 * MIB);
	int first = run_vcpu(make_vcpu(vm, 0), 1), second = run_vcpu(make_vcpu(vm, 1), 1);

	add_rom(vm);
	make_vcpu(vm, 7);
	printf("%s %d %lu 0:%d 1:%d 7:-\n", kind, getpid(), 4 * MIB, first, second);
}

static void forked(const char *kind)
{
	plain(kind);
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
}

/* A child between vfork() and exec() has its parent's memory and copies of its descriptors. */
static void vforked(const char *kind)
{
	plain(kind);
	fflush(stdout);
	if (!vfork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
}

static void several(const char *kind)
{
	for (int i = 1; i <= 3; i++) {
		int vm = make_vm(i * MIB);
		int tid = run_vcpu(make_vcpu(vm, 0), 1);

		printf("%s %d %lu 0:%d 1:-\n", kind, getpid(), i * MIB, tid);
		make_vcpu(vm, 1);
	}
}

static void doubled(const char *kind)
{
	int vm = make_vm(4 * MIB), vcpu = make_vcpu(vm, 0);

	printf("%s %d %lu 0:%d\n", kind, getpid(), 4 * MIB, run_vcpu(vcpu, 1));
	dup(vm);
	dup(vcpu);
	dup(vcpu);
}

static void empty(const char *kind)
{
	make_vm(0);
	printf("%s %d 0\n", kind, getpid());
}

static void headless(const char *kind)
{
	int vm = make_vm(4 * MIB);

	printf("%s %d %lu 0:%d\n", kind, getpid(), 4 * MIB, run_vcpu(make_vcpu(vm, 0), 1));
	close(vm);
}

static void ended(const char *kind)
{
	run_vcpu(make_vcpu(make_vm(4 * MIB), 0), 0);
	printf("%s %d %lu 0:-\n", kind, getpid(), 4 * MIB);
}

/* The VMM is gone; a child that inherited its files is not. */
static void orphaned(const char *kind)
{
	int vcpu = make_vcpu(make_vm(4 * MIB), 0);

	if (fork()) {
		run_vcpu(vcpu, 1);
		_exit(0);
	}
	while (getppid() != 1)
		usleep(1000);
	printf("%s %d %lu 0:-\n", kind, getpid(), 4 * MIB);
}

/* The process executes another program, which inherits the files. */
static void execed(const char *kind)
{
	int vm = make_vm(4 * MIB), vcpu = make_vcpu(vm, 0);

	run_vcpu(vcpu, 0);
	fcntl(vm, F_SETFD, 0);
	fcntl(vcpu, F_SETFD, 0);
	printf("%s %d %lu 0:-\n", kind, getpid(), 4 * MIB);
	fflush(stdout);
	execlp("sleep", "sleep", "3600", NULL);
	perror("sleep");
}

static int without_bpf(char **command)
{
	prctl(PR_CAPBSET_DROP, CAP_BPF);
	prctl(PR_CAPBSET_DROP, CAP_PERFMON);
	prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN);
	execvp(*command, command);
	perror(*command);
	return 127;
}

static const struct {
	const char *name;
	void (*make)(const char *kind);
} kinds[] = {
	{ "plain", plain },	  { "forked", forked },	  { "several", several },
	{ "doubled", doubled },	  { "empty", empty },	  { "headless", headless },
	{ "ended", ended },	  { "orphaned", orphaned }, { "vforked", vforked },
	{ "execed", execed },
};

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "without-bpf"))
		return without_bpf(argv + 2);
	for (size_t i = 0; argc == 2 && i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(argv[1], kinds[i].name))
			continue;
		kinds[i].make(argv[1]);
		fflush(stdout);
		for (;;)
			pause();
	}
	fprintf(stderr, "usage: vm_zoo KIND | without-bpf COMMAND…\n");
	return 2;
}
