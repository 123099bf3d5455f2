/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfvisor script: prints a recording sample by sample. */
#include <linux/perf_event.h>
#include <stddef.h>

#include "cmd/command.h"
#include "cmd/filter_options.h"
#include "cmd/pager.h"
#include "cmd/perf_habits.h"
#include "cmd/recording.h"
#include "output/header/recording_header.h"
#include "output/script/script_text.h"

/* Which records besides samples are printed, and which types they have. */
struct record_flags {
	bool tasks, mmaps, switches, namespaces, lost, bpf, cgroups, text_pokes;
};

#define BIT(type) (1u << (type))

static const struct {
	size_t flag; /* in struct record_flags */
	uint32_t types;
} record_types[] = {
	{ offsetof(struct record_flags, tasks),
	  BIT(PERF_RECORD_COMM) | BIT(PERF_RECORD_FORK) | BIT(PERF_RECORD_EXIT) },
	{ offsetof(struct record_flags, mmaps), BIT(PERF_RECORD_MMAP) | BIT(PERF_RECORD_MMAP2) },
	{ offsetof(struct record_flags, switches),
	  BIT(PERF_RECORD_SWITCH) | BIT(PERF_RECORD_SWITCH_CPU_WIDE) },
	{ offsetof(struct record_flags, namespaces), BIT(PERF_RECORD_NAMESPACES) },
	{ offsetof(struct record_flags, lost), BIT(PERF_RECORD_LOST) },
	{ offsetof(struct record_flags, bpf),
	  BIT(PERF_RECORD_KSYMBOL) | BIT(PERF_RECORD_BPF_EVENT) },
	{ offsetof(struct record_flags, cgroups), BIT(PERF_RECORD_CGROUP) },
	{ offsetof(struct record_flags, text_pokes),
	  BIT(PERF_RECORD_KSYMBOL) | BIT(PERF_RECORD_TEXT_POKE) },
};

struct script_config {
	const char *input;
	bool force;
	struct string_list fields;
	bool nanoseconds, relative, delta, no_chains;
	uint64_t max_stack;
	struct record_flags records;
	bool inlined, no_inlined;
	bool header, header_only, info;
	struct filter_options filters;
	struct kernel_source_options symbols;
};

static struct error *write_all(const struct script_config *config, struct session *session,
			       const char *path, const struct script_fields *fields,
			       const struct filter *filter, int fd,
			       struct script_counts *ret_counts)
{
	struct error *error = NULL;

	if (config->header || config->header_only)
		error = recording_header_write(fd, session, path, config->info);
	if (!error && !config->header_only)
		error = script_text_write(fd, session, fields, filter, ret_counts);
	return error ? error : recording_symbols_error(session);
}

static struct error *script(const struct script_config *config, const struct script_fields *fields)
{
	_cleanup_session_ struct session *session = NULL;
	_cleanup_pager_ struct pager pager = { 0 };
	_cleanup_(filter_deinit) struct filter filter = { 0 };
	struct script_counts counts = { 0 };
	const char *path;
	struct error *error;

	pager_start(&pager);
	error = recording_raise_walls(&config->input, 1, &config->symbols, NULL);
	if (!error)
		error = recording_open(config->input, &config->symbols, &path, &session);
	if (!error)
		error = filter_options_build(&config->filters, session, &filter);
	if (!error)
		error = write_all(config, session, path, fields, &filter, pager.fd, &counts);
	pager_finish(&pager);
	if (error || config->header_only)
		return error;
	recording_warn(session, path);
	recording_note_filtered(counts.left_out, counts.samples);
	return NULL;
}

static uint32_t types_of(const struct record_flags *flags)
{
	uint32_t types = 0;

	for (size_t i = 0; i < sizeof(record_types) / sizeof(*record_types); i++)
		if (*(const bool *)((const char *)flags + record_types[i].flag))
			types |= record_types[i].types;
	return types;
}

static struct error *run_script(const struct command *command, int argc, char **argv,
				int *ret_status)
{
	struct script_config config = { 0 };
	struct script_fields fields = { 0 };
	bool help;
	struct error *error = command_parse(command, &config, argc, argv, NULL, &help);

	(void)ret_status;
	for (size_t i = 0; !error && i < config.fields.count; i++)
		error = script_fields_parse(config.fields.items[i], &fields);
	if (!error && config.relative && config.delta)
		error = error_create(ERROR_USAGE, "--reltime and --deltatime exclude each other");
	fields.time = config.relative ? SCRIPT_TIME_RELATIVE
		      : config.delta  ? SCRIPT_TIME_DELTA
				      : SCRIPT_TIME_RECORDED;
	fields.nanoseconds = config.nanoseconds;
	fields.no_chains = config.no_chains;
	fields.max_stack = config.max_stack;
	fields.records = types_of(&config.records);
	fields.inlined = config.inlined && !config.no_inlined;
	if (!error && !help)
		error = script(&config, &fields);
	filter_options_deinit(&config.filters);
	vector_deinit(&config.fields);
	return error;
}

#define RECORDS_OPTION(name, flag, what)                                                           \
	{ OPTION_FLAG, 0, name, offsetof(struct script_config, records.flag), NULL,                \
	  "also print " what }

static const struct option_spec script_options[] = {
	RECORDING_INPUT_OPTION(struct script_config, input),
	{ OPTION_STRINGS, 'F', "fields", offsetof(struct script_config, fields), "FIELDS",
	  "what to print of a sample, separated by commas; +FIELD and -FIELD change the default; "
	  "sw:FIELD,... (hw:, trace:, raw:, break:) is of such events alone",
	  .completion = COMPLETE_WORDS,
	  .words = "comm tid pid time cpu event ip sym symoff dso period machine_pid vcpu trace "
		   "addr data_src weight ins_lat iregs uregs brstack brstacksym phys_addr "
		   "data_page_size code_page_size cgroup srcline misc tod" },
	{ OPTION_FLAG, 'G', "hide-call-graph", offsetof(struct script_config, no_chains), NULL,
	  "print samples as if they had no call chain" },
	{ OPTION_FLAG, 0, "ns", offsetof(struct script_config, nanoseconds), NULL,
	  "print times with nanoseconds" },
	{ OPTION_FLAG, 0, "reltime", offsetof(struct script_config, relative), NULL,
	  "print times since the first that is printed" },
	{ OPTION_FLAG, 0, "deltatime", offsetof(struct script_config, delta), NULL,
	  "print times since the line before" },
	{ OPTION_UNSIGNED, 0, "max-stack", offsetof(struct script_config, max_stack), "FRAMES",
	  "how many frames of a call chain to print, innermost first (default: 127)", .min = 1,
	  .max = UINT16_MAX },
	RECORDING_INLINE_OPTIONS(struct script_config, inlined, no_inlined),
	{ OPTION_FLAG, 0, "header", offsetof(struct script_config, header), NULL,
	  "also print the recording's header" },
	{ OPTION_FLAG, 0, "header-only", offsetof(struct script_config, header_only), NULL,
	  "show nothing else" },
	{ OPTION_FLAG, 'I', "show-info", offsetof(struct script_config, info), NULL,
	  "in the header, also show the topology of CPUs and memory, and the caches" },
	FILTER_OPTIONS(struct script_config, filters),
	RECORDS_OPTION("show-task-events", tasks, "when threads began, ended or were named"),
	RECORDS_OPTION("show-mmap-events", mmaps, "what was mapped where"),
	RECORDS_OPTION("show-switch-events", switches, "when threads were switched"),
	RECORDS_OPTION("show-namespace-events", namespaces, "the threads' namespaces"),
	RECORDS_OPTION("show-cgroup-events", cgroups, "the paths of cgroups"),
	RECORDS_OPTION("show-lost-events", lost, "how many samples were lost, and when"),
	RECORDS_OPTION("show-bpf-events", bpf, "BPF programs and generated functions"),
	RECORDS_OPTION("show-text-poke-events", text_pokes,
		       "changes of the kernel's code, and generated functions"),
	RECORDING_SYMBOL_OPTIONS(struct script_config, symbols),
	RECORDING_FORCE_OPTION(struct script_config, force),
	PERF_ABSENT_SCRIPT,
	{ 0 },
};

const struct command command_script = {
	.name = "script",
	.summary = "Show a recording sample by sample, like perf script",
	.arguments = "",
	.options = script_options,
	.examples =
		"  perfvisor script | stackcollapse-perf.pl | flamegraph.pl >flame.svg\n"
		"  perfvisor script -F time,machine_pid,vcpu,ip,sym  # where a guest was, and "
		"when\n"
		"  perfvisor script --vm web1 --mode kernel -S do_idle  # one function\n",
	.run = run_script,
};
