/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tinyvm: a VMM that runs a small unikernel on KVM and nothing else: options, the VM's life,
 * its statistics. It stands for the VMMs that are not QEMU and the guests that are not Linux.
 * Everything that needs no KVM is done before /dev/kvm is opened. Linux on x86-64 only.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "tinyvm.h"

#define EXIT_USAGE 2

#define MAX_SECONDS 1000000
#define MIN_MEMORY_MB 4
#define MAX_MEMORY_MB (IDENTITY_END_GVA / MEBIBYTE)
#define MAX_NAME_CHARACTERS 64
#define MAX_CPUID_ENTRIES 256

struct options {
	const char *unikernel; /* NULL: look for it */
	unsigned vcpu_count;
	unsigned memory_mb;
	unsigned seconds; /* 0: until a signal */
	enum boot_mode mode;
	bool la57;
	bool stats;
};

static const char *const mode_names[] = {
	[BOOT_MODE_LOOP] = "loop", [BOOT_MODE_DEEP] = "deep",   [BOOT_MODE_IDLE] = "idle",
	[BOOT_MODE_USER] = "user", [BOOT_MODE_FAULT] = "fault",
	[BOOT_MODE_EXITS] = "exits",
};

static const char help_text[] =
	"Usage: tinyvm [OPTION]... [UNIKERNEL.elf]\n"
	"Runs a unikernel on KVM until SIGINT, SIGTERM or --seconds; exits 0 then.\n"
	"\n"
	"  --vcpus N     vCPUs, 1 to 64 (default 1), in threads named tinyvm-vcpuN\n"
	"  --mem MB      guest memory of all slots, 4 to 1024 (default 4)\n"
	"  --name NAME   a name for messages and for who reads the command line\n"
	"  --seconds S   end after S seconds\n"
	"  --mode MODE   what the guest does (default loop):\n"
	"                  loop   75 % in hot_a, 25 % in hot_b\n"
	"                  deep   works below 100 frames of recursion\n"
	"                  idle   a few rounds of loop twice a second, else asleep\n"
	"                  user   as loop, and half of the time at CPL 3\n"
	"                  fault  raises an exception, which ends the VM with an error\n"
	"                  exits  after SIGUSR2, exits in known numbers from known functions\n"
	"  --la57        5-level page tables, where the CPU has them\n"
	"  --stats       at exit print each vCPU's completed rounds, and their ticks\n"
	"  --help        this text\n"
	"\n"
	"Without UNIKERNEL.elf: unikernel.elf beside the program, or in\n"
	"../share/perfvisor-lab.\n"
	"\n"
	"Examples:\n"
	"  tinyvm --vcpus 2 --seconds 10 --stats\n"
	"  for i in $(seq 300); do tinyvm --mode idle --name vm$i & done\n"
	"  tinyvm --mode user & perf kvm --guest record -e cpu-clock -p $!\n";

static const char *message_name = "tinyvm"; /* --name, once it is known */

void complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	flockfile(stderr);
	fprintf(stderr, "%s: ", message_name);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	funlockfile(stderr);
	va_end(arguments);
}

static int number_parse(const char *option, const char *text, unsigned long most, unsigned *ret)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || value < 1 || value > most) {
		complain("%s wants a number from 1 to %lu, not \"%s\"", option, most, text);
		return -1;
	}
	*ret = (unsigned)value;
	return 0;
}

static int mode_parse(const char *text, enum boot_mode *ret)
{
	for (size_t i = 0; i < sizeof(mode_names) / sizeof(mode_names[0]); i++) {
		if (strcmp(text, mode_names[i]) == 0) {
			*ret = (enum boot_mode)i;
			return 0;
		}
	}
	complain("unknown mode \"%s\": loop, deep, idle, user, fault or exits", text);
	return -1;
}

static int name_parse(const char *text)
{
	size_t length = strnlen(text, MAX_NAME_CHARACTERS + 1);

	if (length == 0 || length > MAX_NAME_CHARACTERS) {
		complain("--name wants 1 to %d characters", MAX_NAME_CHARACTERS);
		return -1;
	}
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '!' || text[i] > '~') {
			complain("--name wants printable characters without spaces");
			return -1;
		}
	}
	message_name = text;
	return 0;
}

static int option_apply(int letter, struct options *options)
{
	switch (letter) {
	case 'v':
		return number_parse("--vcpus", optarg, MAX_VCPUS, &options->vcpu_count);
	case 'm':
		return number_parse("--mem", optarg, MAX_MEMORY_MB, &options->memory_mb);
	case 'n':
		return name_parse(optarg);
	case 's':
		return number_parse("--seconds", optarg, MAX_SECONDS, &options->seconds);
	case 'o':
		return mode_parse(optarg, &options->mode);
	case '5':
		options->la57 = true;
		return 0;
	case 't':
		options->stats = true;
		return 0;
	default:
		return -1; /* getopt has said why */
	}
}

/* Exits for --help. */
static int options_parse(int argc, char **argv, struct options *options)
{
	static const struct option table[] = {
		{ "vcpus", required_argument, NULL, 'v' },
		{ "mem", required_argument, NULL, 'm' },
		{ "name", required_argument, NULL, 'n' },
		{ "seconds", required_argument, NULL, 's' },
		{ "mode", required_argument, NULL, 'o' },
		{ "la57", no_argument, NULL, '5' },
		{ "stats", no_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "", table, NULL)) != -1) {
		if (letter == 'h') {
			fputs(help_text, stdout);
			exit(EXIT_SUCCESS);
		}
		if (option_apply(letter, options))
			return -1;
	}
	if (argc - optind > 1) {
		complain("one unikernel at most, not also \"%s\"", argv[optind + 1]);
		return -1;
	}
	if (options->memory_mb < MIN_MEMORY_MB) {
		complain("--mem wants %d MB at least", MIN_MEMORY_MB);
		return -1;
	}
	options->unikernel = argv[optind];
	return 0;
}

/* Where the build tree has it, and the lab's host with programs in /usr/local/bin. */
static int unikernel_find(char *path, size_t path_bytes)
{
	static const char *const places[] = {
		"unikernel.elf",
		"../share/perfvisor-lab/unikernel.elf",
		"../../share/perfvisor-lab/unikernel.elf",
	};
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (length > 0) {
		self[length] = '\0';
		slash = strrchr(self, '/');
		if (slash)
			slash[1] = '\0';
		for (size_t i = 0; slash && i < sizeof(places) / sizeof(places[0]); i++) {
			int wanted = snprintf(path, path_bytes, "%s%s", self, places[i]);

			if (wanted > 0 && (size_t)wanted < path_bytes && access(path, F_OK) == 0)
				return 0;
		}
	}
	complain("no unikernel.elf beside the program or in ../share/perfvisor-lab: name one");
	return -1;
}

static int kvm_open(struct vm *vm)
{
	vm->kvm_fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (vm->kvm_fd < 0) {
		const char *hint =
			errno == EACCES
				? "run as root, or join the group kvm"
				: "modprobe kvm_amd or kvm_intel; is virtualization enabled?";

		complain("cannot open /dev/kvm: %s: %s", strerror(errno), hint);
		return -1;
	}
	if (ioctl(vm->kvm_fd, KVM_GET_API_VERSION, 0) != KVM_API_VERSION) {
		complain("/dev/kvm does not speak version %d of the KVM API", KVM_API_VERSION);
		return -1;
	}
	vm->fd = ioctl(vm->kvm_fd, KVM_CREATE_VM, 0);
	if (vm->fd < 0) {
		complain("cannot create a VM: %s", strerror(errno));
		return -1;
	}
	return memory_register(&vm->memory, vm->fd);
}

static bool cpuid_has_la57(const struct kvm_cpuid2 *cpuid)
{
	for (unsigned i = 0; i < cpuid->nent; i++) {
		const struct kvm_cpuid_entry2 *entry = &cpuid->entries[i];

		if (entry->function == 7 && entry->index == 0)
			return entry->ecx >> 16 & 1;
	}
	return false;
}

static int vcpus_create(struct vm *vm)
{
	struct kvm_cpuid2 *cpuid =
		calloc(1, sizeof(*cpuid) + MAX_CPUID_ENTRIES * sizeof(cpuid->entries[0]));
	int result = -1;

	if (!cpuid) {
		complain("out of memory");
		return -1;
	}
	cpuid->nent = MAX_CPUID_ENTRIES;
	if (ioctl(vm->kvm_fd, KVM_GET_SUPPORTED_CPUID, cpuid)) {
		complain("KVM does not say what CPU it supports: %s", strerror(errno));
	} else if (vm->memory.levels == 5 && !cpuid_has_la57(cpuid)) {
		complain("this CPU has no 5-level page tables: leave out --la57");
	} else {
		result = 0;
		for (unsigned i = 0; i < vm->vcpu_count && result == 0; i++)
			result = vcpu_create(vm, i, cpuid);
	}
	free(cpuid);
	return result;
}

void vm_stop(struct vm *vm)
{
	uint64_t one = 1;

	atomic_store(&vm->stop, true);
	if (write(vm->stop_fd, &one, sizeof(one)) < 0)
		complain("cannot stop: %s", strerror(errno));
}

/* SIGUSR2 lets the guest go on, in mode "exits". False: another signal. */
static bool guest_told(struct vm *vm, int signal_fd)
{
	struct boot_info *boot = memory_at(&vm->memory, BOOT_INFO_GPA, sizeof(*boot));
	struct signalfd_siginfo info;

	if (read(signal_fd, &info, sizeof(info)) != sizeof(info) || info.ssi_signo != SIGUSR2)
		return false;
	boot->go = 1;
	return true;
}

/* Until a signal other than SIGUSR2, the end of the time, or a vCPU's failure. */
static void vm_wait(struct vm *vm, int signal_fd, unsigned seconds)
{
	struct pollfd events[] = {
		{ .fd = signal_fd, .events = POLLIN },
		{ .fd = vm->stop_fd, .events = POLLIN },
	};
	struct timespec time = { .tv_sec = seconds };

	for (;;) {
		int ready = ppoll(events, 2, seconds ? &time : NULL, NULL);

		if (ready < 0 ? errno != EINTR
			      : !events[0].revents || !guest_told(vm, signal_fd))
			break;
	}
	vm_stop(vm);
}

static void vcpus_join(struct vm *vm)
{
	for (unsigned i = 0; i < vm->vcpu_count; i++) {
		struct vcpu *vcpu = &vm->vcpus[i];

		if (!vcpu->started)
			continue;
		vcpu->run->immediate_exit = 1;
		pthread_kill(vcpu->thread, SIGUSR1);
		pthread_join(vcpu->thread, NULL);
	}
}

/* They wait until vm_wait sees them, whenever they come; threads inherit that. */
static void signals_block(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGINT);
	sigaddset(ret, SIGTERM);
	sigaddset(ret, SIGUSR2);
	sigprocmask(SIG_BLOCK, ret, NULL);
}

static int vm_run(struct vm *vm, const sigset_t *signals, unsigned seconds)
{
	int signal_fd = signalfd(-1, signals, SFD_CLOEXEC), result = 0;

	if (signal_fd < 0) {
		complain("cannot wait for signals: %s", strerror(errno));
		return -1;
	}
	for (unsigned i = 0; i < vm->vcpu_count && result == 0; i++)
		result = vcpu_start(&vm->vcpus[i]);
	if (result == 0)
		vm_wait(vm, signal_fd, seconds);
	else
		vm_stop(vm);
	vcpus_join(vm);
	close(signal_fd);
	return result || atomic_load(&vm->failed) ? -1 : 0;
}

static int stats_print(const struct vm *vm)
{
	const struct vcpu_area *areas =
		memory_at(&vm->memory, vm->image.areas_gpa, MAX_VCPUS * sizeof(*areas));

	for (unsigned i = 0; i < vm->vcpu_count; i++)
		printf("vcpu %u: rounds_a=%" PRIu64 " rounds_b=%" PRIu64 " rounds_user=%" PRIu64
		       " ticks_a=%" PRIu64 " ticks_b=%" PRIu64 " ticks_user=%" PRIu64 "\n",
		       i, areas[i].rounds_a, areas[i].rounds_b, areas[i].rounds_user,
		       areas[i].ticks_a, areas[i].ticks_b, areas[i].ticks_user);
	if (fflush(stdout)) {
		complain("cannot write the statistics: %s", strerror(errno));
		return -1;
	}
	return 0;
}

static void boot_info_fill(struct vm *vm, enum boot_mode mode)
{
	struct boot_info *boot = memory_at(&vm->memory, BOOT_INFO_GPA, sizeof(*boot));

	*boot = (struct boot_info){
		.magic = BOOT_MAGIC,
		.vcpu_count = vm->vcpu_count,
		.mode = mode,
	};
}

static int vm_make(struct vm *vm, const struct options *options)
{
	vm->vcpu_count = options->vcpu_count;
	if (memory_init(&vm->memory, options->memory_mb * MEBIBYTE, vm->vcpu_count, options->la57))
		return -1;
	if (image_load(options->unikernel, &vm->memory, &vm->image))
		return -1;
	if (memory_map(&vm->memory, DEVICE_GVA, DEVICE_GPA, PAGE_WRITE))
		return -1;
	boot_info_fill(vm, options->mode);
	vm->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (vm->stop_fd < 0) {
		complain("cannot create an eventfd: %s", strerror(errno));
		return -1;
	}
	return kvm_open(vm) || vcpus_create(vm) ? -1 : 0;
}

static void vm_destroy(struct vm *vm)
{
	int *fds[] = { &vm->stop_fd, &vm->fd, &vm->kvm_fd };

	for (unsigned i = 0; i < vm->vcpu_count; i++)
		vcpu_destroy(&vm->vcpus[i]);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
	}
	memory_deinit(&vm->memory);
}

int main(int argc, char **argv)
{
	struct options options = { .vcpu_count = 1, .memory_mb = MIN_MEMORY_MB };
	struct vm vm = { .kvm_fd = -1, .fd = -1, .stop_fd = -1 };
	sigset_t signals;
	char path[PATH_MAX];
	int result;

	if (options_parse(argc, argv, &options)) {
		fprintf(stderr, "Try: tinyvm --help\n");
		return EXIT_USAGE;
	}
	if (!options.unikernel) {
		if (unikernel_find(path, sizeof(path)))
			return EXIT_FAILURE;
		options.unikernel = path;
	}
	signals_block(&signals);
	result = vm_make(&vm, &options);
	if (result == 0)
		result = vm_run(&vm, &signals, options.seconds);
	if (result == 0 && options.stats)
		result = stats_print(&vm);
	vm_destroy(&vm);
	return result ? EXIT_FAILURE : EXIT_SUCCESS;
}
