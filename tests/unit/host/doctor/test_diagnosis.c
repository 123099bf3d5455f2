/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a diagnosis comes to: guest samples are promised only if nothing speaks against them. */
#include "test.h"

#include <string.h>

#include "host/doctor/diagnosis.h"

static void test_conclusions(void **state)
{
	_cleanup_host_diagnosis_ struct host_diagnosis diagnosis = { 0 };

	(void)state;
	host_diagnosis_add(&diagnosis, HOST_WORKS_LESS, "PMU", "take another", "none");
	assert_true(host_diagnosis_can_record(&diagnosis));
	assert_string_equal(host_diagnosis_conclusion(&diagnosis),
			    "A recording would work: perfvisor record");
	diagnosis.guests_doubtful = true;
	assert_non_null(strstr(host_diagnosis_conclusion(&diagnosis), "may hold no guest samples"));
	host_diagnosis_add(&diagnosis, HOST_FAILS, "VMs", NULL, "none is running");
	assert_false(host_diagnosis_can_record(&diagnosis));
	assert_non_null(strstr(host_diagnosis_conclusion(&diagnosis), "would not work"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conclusions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
