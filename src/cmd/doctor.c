/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfvisor doctor: prints the diagnosis of this host, one line per finding, followed by a line on
 * how to fix it. The exit status is 0 if a recording would work now.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/terminal.h"
#include "cmd/command.h"
#include "host/doctor/diagnosis.h"

struct grade_style {
	const char *mark, *color;
};

static const struct grade_style styles[] = {
	[HOST_WORKS] = { "[ok]", "\033[32m" },
	[HOST_WORKS_LESS] = { "[--]", "\033[33m" },
	[HOST_FAILS] = { "[no]", "\033[31m" },
};

static bool use_colors(void)
{
	return isatty(STDOUT_FILENO) && terminal_wants_colors();
}

static bool needs_mending(const struct host_finding *finding)
{
	return finding->mend && finding->grade != HOST_WORKS;
}

/* The first finding that the same mends; FINDING itself, or one before it. */
static const struct host_finding *first_mended(const struct host_diagnosis *diagnosis,
					       const struct host_finding *finding)
{
	const struct host_finding *first = diagnosis->findings.items;

	while (!needs_mending(first) || strcmp(first->mend, finding->mend))
		first++;
	return first;
}

static void print_finding(const struct host_diagnosis *diagnosis,
			  const struct host_finding *finding, int width, bool colors)
{
	const struct grade_style *style = &styles[finding->grade];
	const struct host_finding *first;

	printf("%s%s%s  %-*s  %s\n", colors ? style->color : "", style->mark,
	       colors ? "\033[0m" : "", width, finding->subject, finding->text);
	if (!needs_mending(finding))
		return;
	first = first_mended(diagnosis, finding);
	printf("      %-*s  -> %s%s\n", width, "", first == finding ? "" : "as for ",
	       first == finding ? finding->mend : first->subject);
}

static void print_diagnosis(const struct host_diagnosis *diagnosis)
{
	bool colors = use_colors();
	int width = 0;

	for (size_t i = 0; i < diagnosis->findings.count; i++) {
		int length = (int)strlen(diagnosis->findings.items[i].subject);

		width = length > width ? length : width;
	}
	for (size_t i = 0; i < diagnosis->findings.count; i++)
		print_finding(diagnosis, &diagnosis->findings.items[i], width, colors);
	printf("\n%s\n", host_diagnosis_conclusion(diagnosis));
}

static struct error *run_doctor(const struct command *command, int argc, char **argv,
				int *ret_status)
{
	_cleanup_host_diagnosis_ struct host_diagnosis diagnosis = { 0 };
	bool help;
	struct error *error = command_parse(command, NULL, argc, argv, NULL, &help);

	if (error || help)
		return error;
	host_diagnose(&diagnosis);
	print_diagnosis(&diagnosis);
	*ret_status = host_diagnosis_can_record(&diagnosis) ? 0 : 1;
	return NULL;
}

static const struct option_spec doctor_options[] = { { 0 } };

const struct command command_doctor = {
	.name = "doctor",
	.summary = "Check what works on this host, and how to fix what does not",
	.arguments = "",
	.options = doctor_options,
	.examples = "  perfvisor doctor    # run it as the user who will record\n",
	.run = run_doctor,
};
