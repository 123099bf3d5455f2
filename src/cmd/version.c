/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfvisor version: the version and the features of this build. */
#include "cmd/command.h"
#include "config.h"

struct feature {
	const char *name;
	bool built_in;
	const char *use;
};

static const struct feature features[] = {
	{ "bpf", HAVE_BPF,
	  "vCPU threads and memory sizes of any VMM, cheap recording of many VMs" },
	{ "debuginfod", HAVE_DEBUGINFOD,
	  "symbols and source lines from the servers in DEBUGINFOD_URLS" },
	{ "zstd", HAVE_ZSTD, "reading zstd-compressed recordings" },
};

static struct error *run_version(const struct command *command, int argc, char **argv,
				 int *ret_status)
{
	bool help;
	struct error *error = command_parse(command, NULL, argc, argv, NULL, &help);

	(void)ret_status;
	if (error || help)
		return error;
	printf("perfvisor %s\n", PERFVISOR_VERSION);
	for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++)
		printf("  %-12s %-3s  %s\n", features[i].name, features[i].built_in ? "yes" : "no",
		       features[i].use);
	return NULL;
}

static const struct option_spec version_options[] = { { 0 } };

const struct command command_version = {
	.name = "version",
	.summary = "Show the version and what is built in",
	.arguments = "",
	.options = version_options,
	.run = run_version,
};
