/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Without a build-id: what is known of the recording's kernel must agree, and must be enough. */
#include "test.h"

#include <sys/utsname.h>

#include "symbol/kallsyms.h"
#include "symbol/kernel_build.h"

static void expect_refused(const struct dso_request *request)
{
	_cleanup_free_ char *reason = kernel_build_differs(request);

	assert_non_null(reason);
}

static void expect_taken(const struct dso_request *request)
{
	assert_null(kernel_build_differs(request));
}

static void release_and_architecture_agree(void **state)
{
	struct dso_request request = { .path = "[kernel.kallsyms]_stext" };
	struct utsname here;

	(void)state;
	uname(&here);
	expect_refused(&request);
	request.release = here.release;
	expect_refused(&request);
	request.machine = "s390x";
	expect_refused(&request);
	request.machine = here.machine;
	expect_taken(&request);
	request.release = "6.1.67-1-lts";
	expect_refused(&request);
}

/* The text's, as /proc/kallsyms has it: to _etext, which every kernel has. */
static void the_size_agrees(void **state)
{
	struct utsname here;
	struct dso_request request = { .path = "[kernel.kallsyms]_stext" };
	uint64_t start, end;
	struct error *error = kallsyms_find_symbol(NULL, "/proc/kallsyms", "_etext", &end);

	(void)state;
	if (!error)
		error = kallsyms_find_symbol(NULL, "/proc/kallsyms", "_text", &start);
	if (error)
		skip_for(error);
	uname(&here);
	request.text_bytes = end - start;
	expect_taken(&request);
	request.release = here.release;
	request.machine = here.machine;
	request.text_bytes ^= 0x10008;
	expect_refused(&request);
	request.text_bytes = UINT64_MAX - start; /* as perf wrote it before Linux 5.0 */
	expect_taken(&request);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(release_and_architecture_agree),
		cmocka_unit_test(the_size_agrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
