/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which kernels are doubted (by their symbols), and how their samples are corrected. */
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/record/guest_mode.h"

static bool doubts(const char *kallsyms)
{
	char path[] = "/tmp/test_guest_mode_XXXXXX";
	int fd = mkstemp(path);
	struct host_kernel_symbols symbols;
	struct guest_mode mode;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, kallsyms, strlen(kallsyms)), (ssize_t)strlen(kallsyms));
	close(fd);
	host_kernel_symbols_read(path, &symbols);
	guest_mode_init(&mode, &symbols);
	unlink(path);
	return mode.doubtful;
}

static void test_kernels(void **state)
{
	(void)state;
#if !defined(__x86_64__)
	skip_because("only x86 kernels are doubted");
#endif
	/* 6.1 */
	assert_true(doubts("ffffffff81000000 T _text\n"
			   "ffffffffc0a31230 T kvm_arch_vcpu_in_kernel\t[kvm]\n"));
	/* 5.10 */
	assert_false(doubts("ffffffffc0a31000 t kvm_is_user_mode\t[kvm]\n"
			    "ffffffffc0a31230 T kvm_arch_vcpu_in_kernel\t[kvm]\n"));
	/* 6.12 */
	assert_false(doubts("0000000000000000 T kvm_arch_vcpu_in_kernel\t[kvm]\n"
			    "0000000000000000 T kvm_arch_vcpu_preempted_in_kernel\t[kvm]\n"));
	assert_false(doubts("ffffffff81000000 T kvm_arch_vcpu_in_kernel_not\n"));
	assert_false(doubts(""));
}

static uint16_t correct(struct guest_mode_vm *vm, bool doubtful, uint16_t misc, uint64_t ip)
{
	struct guest_mode mode = { .doubtful = doubtful };
	struct perfdata_sample sample = { .misc = misc, .ip = ip };

	return guest_mode_correct(&mode, vm, &sample);
}

#define KERNEL PERF_RECORD_MISC_GUEST_KERNEL
#define USER PERF_RECORD_MISC_GUEST_USER

static void test_samples(void **state)
{
	struct guest_mode_vm vm = { false };

	(void)state;
	/* a unikernel in the lower half, as far as known */
	assert_int_equal(correct(&vm, true, KERNEL, 0x401000), KERNEL);
	assert_int_equal(correct(&vm, true, USER, 0x401000), USER);
	assert_int_equal(correct(&vm, true, USER, 0xffffffff81000000), KERNEL);
	/* now it has shown a kernel in the upper half */
	assert_int_equal(correct(&vm, true, KERNEL, 0x401000), USER);
	assert_int_equal(correct(&vm, true, KERNEL | PERF_RECORD_MISC_EXACT_IP, 0x401000),
			 USER | PERF_RECORD_MISC_EXACT_IP);
	assert_int_equal(correct(&vm, true, USER, 0xffffffffff600400), USER); /* vsyscall */
	/* the host's own samples, and those of hosts with correct labels, are not changed */
	assert_int_equal(correct(&vm, true, PERF_RECORD_MISC_KERNEL, 0x401000),
			 PERF_RECORD_MISC_KERNEL);
	assert_int_equal(correct(&vm, false, USER, 0xffffffff81000000), USER);
	assert_int_equal(correct(&vm, false, KERNEL, 0x401000), KERNEL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
