/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfvisor record: samples the vCPU threads of VMs into a perf.data file. It prepares the events
 * first, so that a wrong one is reported before anything is touched, then the VMs, the guest
 * symbols and the file. It then samples until Ctrl-C, --duration, COMMAND's end, or the end of
 * every VM that was named.
 */
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/progress.h"
#include "cmd/command.h"
#include "cmd/perf_habits.h"
#include "cmd/record/record.h"
#include "cmd/record/record_control.h"
#include "cmd/record/record_options.h"
#include "cmd/record/record_switch.h"
#include "host/record/recorder.h"

#define FIRST_LOOK_NS 10000000000ull
#define MAX_OVERHEAD_PERCENT 2
#define MAX_PAUSED_PERCENT 10

static const struct option_spec record_option_table[] = {
	RECORD_CHOICE_OPTIONS,
	RECORD_OPTION(OPTION_STRING, 'o', "output", output, "FILE",
	       "- for standard output; default: perf.data.guest, perf.data.host, or perf.data.kvm "
	       "for both",
	       .completion = COMPLETE_FILE),
	RECORD_OPTION(OPTION_FLAG, 0, "force", force, NULL,
	       "record even if FILE or FILE.old is not a recording"),
	RECORD_OPTION(OPTION_FLAG, 'z', NULL, compress, NULL, "compress the records, as perf does"),
	RECORD_OPTION(OPTION_FLAG, 0, "dir", directory, NULL,
	       "write a folder, where stock perf also finds the symbols of guest kernels"),
	RECORD_HOW_OPTIONS,
	RECORD_OPTION(OPTION_STRING, 'D', "delay", delay_text, "MS",
	       "begin to sample MS milliseconds after COMMAND has started; -1: when --control "
	       "enables events; 10-20,30-40: sample in these times"),
	RECORD_OPTION(OPTION_STRING, 0, "control", control, "TYPE:CTL[,ACK]",
	       "take commands such as enable and stop from a descriptor (fd:) or a FIFO (fifo:)"),
	RECORD_OPTION(OPTION_STRING, 0, "switch-output", switch_output, "MODE",
	       "begin another file at SIGUSR2, or with a MODE such as 100M or 30s; complete ones "
	       "get a time as suffix",
	       .completion = COMPLETE_WORDS, .words = "signal", .fallback = "signal",
	       .attached = true),
	RECORD_OPTION(OPTION_UNSIGNED, 0, "switch-max-files", switch_max_files, "N",
	       "keep only the last N files", .min = 1),
	RECORD_OPTION(OPTION_FLAG, 0, "overwrite", overwrite, NULL,
	       "keep only the newest samples until a file is completed: a flight recorder"),
	RECORD_OPTION(OPTION_STRING, 0, "max-size", max_size, "SIZE",
	       "end when the recording has this size, such as 100M"),
	RECORD_OPTION(OPTION_STRING, 'k', "clockid", clock, "CLOCK",
	       "the clock of samples' times (default: monotonic)", .completion = COMPLETE_WORDS,
	       .words = "monotonic monotonic_raw realtime boottime tai"),
	RECORD_GUEST_OPTIONS,
	RECORD_OPTION(OPTION_FLAG, 'v', "verbose", verbose, NULL, "print more"),
	RECORD_OPTION(OPTION_FLAG, 'q', "quiet", quiet, NULL, "print only what went wrong"),
	PERF_ABSENT_RECORD,
	{ 0 }
};

/* Must come before defaults that depend on the engine. */
static struct error *check_engine(struct record_options *options)
{
	const char *engine = options->engine ? options->engine : "auto";

	options->qmp = !strcmp(engine, "qmp");
	if (!options->qmp && strcmp(engine, "auto") != 0)
		return error_create(ERROR_USAGE, "--engine takes auto or qmp, not '%s'", engine);
	if (!options->max_overhead)
		options->max_overhead = options->qmp ? MAX_PAUSED_PERCENT : MAX_OVERHEAD_PERCENT;
	return options->qmp ? record_qmp_check(options) : NULL;
}

/* -o - */
static struct error *check_pipe(struct record_options *options)
{
	if (options->directory)
		return error_create(ERROR_USAGE, "--dir writes a folder: it excludes -o -");
	if (isatty(STDOUT_FILENO))
		return error_hint(error_create(ERROR_USAGE,
					       "a recording is not written to a terminal"),
				  "perfvisor record -o - | perfvisor report -i -; -o ./- is a file "
				  "of that name");
	options->pipe = true;
	options->output = "standard output";
	return NULL;
}

static struct error *check_options(struct record_options *options)
{
	struct error *error;

	error = record_take_values(options);
	if (error)
		return error;
	if (options->frequency && options->count)
		return error_create(ERROR_USAGE, "-F and -c exclude each other");
	if (options->all && (options->vms.count || options->pids.count))
		return error_create(ERROR_USAGE,
				    "-a records every VM and excludes --vm, -p and -t");
	if (options->tids.count && options->vms.count + options->pids.count > options->tids.count)
		return error_create(ERROR_USAGE,
				    "-t also chooses the VMs: it excludes --vm and -p");
	for (size_t i = 0; i < options->pids.count; i++) {
		const char *pid = options->pids.items[i];

		if (!*pid || pid[strspn(pid, "0123456789")] || strlen(pid) > 10)
			return error_hint(
				error_create(ERROR_USAGE, "-p takes a process id, not '%s'", pid),
				"--vm also takes a VM's name");
		vector_append(&options->vms, pid);
	}
	error = options->output && !strcmp(options->output, "-") ? check_pipe(options) : NULL;
	if (error)
		return error;
	log_set_level(options->quiet ? LOG_WARNING : options->verbose ? LOG_DETAIL : LOG_NOTE);
	error = record_take_chains(options);
	if (!error)
		error = check_engine(options);
	if (error)
		return error;
	if (!options->guest && !options->host)
		options->guest = true;
	if (!options->output && options->guest)
		options->output = options->host ? "perf.data.kvm" : "perf.data.guest";
	if (!options->output)
		options->output = "perf.data.host";
	return NULL;
}

/*
 * Reading a guest's kernel takes a tenth of a second, unless the host is very slow. With many
 * guests this does not wait for all of them.
 */
static void look_at_guests(struct recorder *recorder)
{
	struct progress progress = { 0 };
	uint64_t begin_ns = clock_monotonic_ns();
	size_t guests = recorder_totals(recorder).vms;

	while (!recorder_look_at_guests(recorder) && !interrupt_requested() &&
	       clock_monotonic_ns() - begin_ns < FIRST_LOOK_NS)
		if (progress_due(&progress))
			progress_show(&progress, "reading the kernel%s of %zu guest%s",
				      guests == 1 ? "" : "s", guests, guests == 1 ? "" : "s");
	progress_end(&progress);
}

/* From the first look at the guests to the end of the file. */
static struct error *record_guests(const struct record_run *run)
{
	struct error *error;

	look_at_guests(run->recorder);
	error = record_symbols_write(run->symbols, run->recorder);
	if (!error)
		error = recorder_flush(run->recorder);
	if (error)
		return error;
	record_note_beginning(run->recorder, run->events);
	run->symbols->sampling = true;
	error = record_sample(run);
	return error ? error : record_switch_finish(run);
}

static void configure(const struct record_run *run, struct recorder_config *ret)
{
	const struct record_options *options = run->options;
	const struct record_events *events = run->events;

	*ret = (struct recorder_config){
		.events = events->list.items.items,
		.modes = events->modes.items,
		.event_count = events->list.items.count,
		.guest = options->guest,
		.host = options->host,
		.event_choice = events->choice,
		.vms = options->vms.items,
		.vm_count = options->vms.count,
		.may_begin_empty = run->command->pid != 0,
		.no_memory = options->no_memory,
		.code = !options->stream_ns,
		.kernel_only = options->kernel_only,
		.call_chains = options->callchains,
		.scan = options->scan,
		.max_overhead = options->max_overhead / 100,
		.vcpus = options->vcpus,
		.cpus = options->cpus,
		.clock_id = options->clock_id,
		.threads = options->threads,
		.ring_bytes = options->ring_bytes,
		.user_stack_bytes = options->stack_bytes,
		.guest_image = options->guestvmlinux,
		.path = options->output,
		.pipe = options->pipe,
		.compress = options->compress,
		.directory = options->directory,
		.qmp = options->qmp,
		.switches = run->switches->given,
		.overwrite = options->overwrite,
	};
}

static struct error *record(struct record_run *run, int argc, char **argv)
{
	_cleanup_recorder_ struct recorder *recorder = NULL;
	_cleanup_(record_facts_deinit) struct record_facts facts = { 0 };
	/* before touching any file */
	struct error *error = record_symbols_load(run->symbols, NULL);
	struct recorder_config config;

	configure(run, &config);
	if (!error)
		error = recorder_create(&config, &recorder);
	if (!error)
		error = record_symbols_load(run->symbols, recorder_inventory(recorder));
	if (error)
		return error;
	record_facts_collect(run->options, run->events, argc, argv, &facts);
	run->recorder = recorder;
	run->facts = &facts;
	error = recorder_begin(recorder, &facts.features);
	if (error)
		return error;
	error = record_guests(run);
	if (error && !run->options->pipe) /* a full disk, say */
		error = error_hint(error, "what was recorded until then is in '%s' and can be read",
				   run->options->output);
	return error;
}

struct error *record_run(struct record_options *options, int argc, char **argv, int rest,
			 int *ret_status)
{
	struct record_command recorded = { .go_fd = -1, .failure_fd = -1 };
	struct record_control control = { .fd = -1, .ack_fd = -1 };
	struct record_switch switches = { .signal_fd = -1 };
	struct record_events events = { 0 };
	struct record_symbols symbols;
	struct record_run run = { .options = options, .events = &events, .symbols = &symbols,
				  .command = &recorded, .control = &control,
				  .switches = &switches };
	struct error *error = check_options(options);

	record_symbols_init(options, &symbols);
	if (!error && rest < argc)
		error = record_command_check(argv[rest]);
	if (!error && !options->force)
		error = perfdata_check_replaceable(options->output,
						   "name another with -o, or --force");
	if (!error)
		error = kernel_source_check(&symbols.options);
	if (!error)
		error = record_events_prepare(options, &events);
	if (!error)
		error = record_control_open(options->control, &control);
	control.stop_only = options->stop_only;
	if (!error)
		error = record_switch_prepare(options, &events, &switches);
	if (!error) {
		interrupt_install();
		signal(SIGXFSZ, SIG_IGN); /* a limit of its size is to end a file well */
		signal(SIGPIPE, SIG_IGN); /* likewise who reads a pipe, and has gone */
		if (rest < argc)
			error = record_command_prepare(argv + rest, options->pipe, &recorded);
		if (!error)
			error = record(&run, argc, argv);
		*ret_status = record_command_finish(&recorded);
	}
	record_switch_deinit(&switches);
	record_control_close(&control);
	record_symbols_deinit(&symbols);
	record_events_deinit(&events);
	return error;
}

void record_options_deinit(struct record_options *options)
{
	vector_deinit(&options->vms);
	vector_deinit(&options->pids);
	vector_deinit(&options->events);
	record_free_values(options);
}

static struct error *run_record(const struct command *command, int argc, char **argv,
				int *ret_status)
{
	struct record_options options = RECORD_OPTIONS_DEFAULT;
	bool help;
	int rest;
	struct error *error = command_parse(command, &options, argc, argv, &rest, &help);

	if (!error && !help)
		error = record_run(&options, argc, argv, rest, ret_status);
	record_options_deinit(&options);
	return error;
}

const struct command command_record = {
	.name = "record",
	.summary = "Sample what guests do into a perf.data file",
	.arguments = "[-- COMMAND...]",
	.options = record_option_table,
	.examples = "  perfvisor record                          # all VMs, until Ctrl-C\n"
		    "  perfvisor record --vm web --duration 10   # one VM, for ten seconds\n"
		    "  perfvisor record --guest --host -- ping -c 5 guest   # both sides, as long "
		    "as ping runs\n"
		    "  perfvisor record -g                       # with call chains\n"
		    "  perfvisor record -e kvm:kvm_exit          # each exit, with its reason\n"
		    "  perfvisor record --engine qmp -p 4711     # any QEMU, even without KVM; "
		    "pauses the guest\n",
	.run = run_record,
};
