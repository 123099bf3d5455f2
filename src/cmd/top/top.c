/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfvisor top: what guests are doing now. A recorder of its own samples them, in a process that
 * has the rights for it; this process reads its records behind walls. Instead of a recorder there
 * may be a recording, or a pipe that one comes through.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/progress.h"
#include "cmd/command.h"
#include "cmd/perf_habits.h"
#include "cmd/record/record_options.h"
#include "cmd/recording.h"
#include "cmd/top/top_run.h"
#include "cmd/values.h"
#include "terminal/screen.h"

/* -i FILE in a browser: its end is shown. */
static struct error *skip_screen(struct top_run *run)
{
	(void)run;
	return NULL;
}

static struct error *read_file(struct top_run *run, bool *ret_ended)
{
	enum perfdata_status status;
	struct error *error;

	run->show = run->config->browses ? skip_screen : top_text_show;
	error = top_engine_run(&run->engine, &status);
	*ret_ended = !interrupt_requested() && !run->gone;
	if (error || !*ret_ended)
		return error;
	error = top_engine_check_end(&run->engine);
	if (!error && run->config->browses && run->engine.live)
		return top_view_run(run, ret_ended);
	run->show = top_text_show;
	return error ? error : top_run_show(run);
}

static struct error *read_stream(struct top_run *run, bool *ret_ended)
{
	struct error *error;

	if (run->config->browses)
		return top_view_run(run, ret_ended);
	run->show = top_text_show;
	error = top_run_follow(run, ret_ended);
	if (!error && *ret_ended)
		error = top_engine_check_end(&run->engine);
	return !error && *ret_ended ? top_run_show(run) : error;
}

static struct error *show(struct top_config *config, struct top_source *source,
			  struct perfdata_reader *reader)
{
	struct top_run run = { .source = source, .config = config };
	struct error *error = NULL;
	bool ended = false;

	if (config->percent_limit)
		error = values_percent("--percent-limit", config->percent_limit,
				       &run.min_percent);
	top_run_begin(&run, reader);
	if (!error)
		error = source->fd < 0 ? read_file(&run, &ended) : read_stream(&run, &ended);
	if (!error && ended)
		recording_warn(run.engine.session, source->name);
	top_engine_deinit(&run.engine);
	return error;
}

/* Options that say what to sample: nothing of it can be had from a recording. */
static struct error *check_replay(const struct record_options *record)
{
	const struct {
		const char *option;
		bool given;
	} options[] = {
		{ "-e", record->events.count },
		{ "--filter", record->filters.count },
		{ "-F", record->frequency_text },
		{ "-c", record->count },
		{ "-t", record->tids.count },
		{ "--call-graph", record->call_graph },
		{ "--unwind", record->unwind },
		{ "--engine", record->engine },
		{ "--max-overhead", record->max_overhead },
		{ "--duration", record->duration_s },
		{ "-m", record->mmap_pages },
		{ "--no-memory", record->no_memory },
		{ "--kernel-only", record->kernel_only },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (options[i].given)
			return error_create(ERROR_USAGE, "%s says how to sample: it excludes -i",
					    options[i].option);
	return NULL;
}

/* Of a recording, the same options choose among the samples that are there. */
static void filter_replay(struct top_config *config)
{
	struct record_options *record = &config->record;

	for (size_t i = 0; i < record->vms.count; i++)
		vector_append(&config->filters.vms, record->vms.items[i]);
	for (size_t i = 0; i < record->pids.count; i++)
		vector_append(&config->filters.vms, record->pids.items[i]);
	if (record->vcpu_text)
		vector_append(&config->filters.vcpus, record->vcpu_text);
	if (record->cpu_text)
		vector_append(&config->filters.cpus, record->cpu_text);
	if (record->guest != record->host)
		vector_append(&config->filters.modes, record->guest ? "guest" : "host");
	config->symbols = (struct kernel_source_options){
		.guestkallsyms = record->guestkallsyms,
		.guestmodules = record->guestmodules,
		.guestvmlinux = record->guestvmlinux,
		.guestmount = record->guestmount,
	};
}

/* A pipe is opened, but not read yet. */
static struct error *open_input(const struct top_config *config, struct top_source *ret)
{
	bool is_stdin = !strcmp(config->input, "-");
	struct stat status;

	ret->name = is_stdin ? "standard input" : config->input;
	if (is_stdin ? fstat(STDIN_FILENO, &status) : stat(config->input, &status))
		return error_system(errno, "could not open '%s'", ret->name);
	if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
		return NULL;
	if (!is_stdin)
		return file_open(NULL, config->input, &ret->fd);
	ret->fd = STDIN_FILENO;
	return NULL;
}

static struct error *open_reader(const struct top_config *config, const struct top_source *source,
				 struct perfdata_reader **ret)
{
	if (source->fd < 0)
		return perfdata_reader_open(config->input, ret);
	*ret = perfdata_reader_open_fed(source->name);
	return NULL;
}

/* The viewer. The recorder, if there is one, has been started. */
static struct error *view(struct top_config *config, struct top_source *source)
{
	const char *input = config->input ? config->input : "-";
	struct perfdata_reader *reader;
	struct error *error;

	signal(SIGPIPE, SIG_IGN);
	interrupt_install();
	error = config->browses ? recording_raise_walls_to_browse(input, &config->symbols)
				: recording_raise_walls(&input, 1, &config->symbols, NULL);
	if (!error)
		error = kernel_source_check(&config->symbols);
	if (!error)
		error = open_reader(config, source, &reader);
	memory_keep_freed();
	return error ? error : show(config, source, reader);
}

static struct error *sample_and_view(struct top_config *config, int argc, char **argv,
				     int *ret_status)
{
	struct top_source source = { .fd = -1, .name = "the recorder" };
	struct error *error = top_recorder_start(config, argc, argv, &source.recorder, ret_status);
	struct error *end;

	if (error || source.recorder.is_child)
		return error;
	source.fd = source.recorder.records;
	error = view(config, &source);
	end = top_recorder_finish(&source.recorder, ret_status);
	top_messages_print(&source.recorder.messages);
	/* It has reported why; that there are no records then is no news. */
	if (!end && !*ret_status)
		return error;
	error_destroy(error);
	return end;
}

static struct error *replay(struct top_config *config)
{
	struct top_source source = { .fd = -1 };
	struct error *error = check_replay(&config->record);

	if (error)
		return error;
	filter_replay(config);
	error = open_input(config, &source);
	return error ? error : view(config, &source);
}

static struct error *run_top(const struct command *command, int argc, char **argv,
			     int *ret_status)
{
	struct top_config config = { .record = RECORD_OPTIONS_DEFAULT };
	bool help;
	struct error *error = command_parse(command, &config, argc, argv, NULL, &help);

	config.browses = !config.stdio && screen_can_open();
	if (!error && !help)
		error = config.input ? replay(&config)
				     : sample_and_view(&config, argc, argv, ret_status);
	record_options_deinit(&config.record);
	filter_options_deinit(&config.filters);
	if (config.ended_by) {
		error_destroy(error);
		signal(config.ended_by, SIG_DFL);
		raise(config.ended_by);
	}
	return error;
}

static const struct option_spec top_options[] = {
	RECORD_CHOICE_OPTIONS,
	RECORD_HOW_OPTIONS,
	{ OPTION_STRING, 'i', "input", offsetof(struct top_config, input), "FILE",
	  "show this recording, or what comes through a pipe (-: standard input), and sample "
	  "nothing",
	  .completion = COMPLETE_FILE },
	{ OPTION_FLAG, 0, "stdio", offsetof(struct top_config, stdio), NULL,
	  "print text, one screen after another, also on a terminal, where a browser is the "
	  "default" },
	{ OPTION_SECONDS, 'd', "delay", offsetof(struct top_config, delay_s), "SECONDS",
	  "how often there is a screen (default: 2; in the browser 0.5)" },
	{ OPTION_UNSIGNED, 'E', "entries", offsetof(struct top_config, entries), "N",
	  "how many functions are printed as text (default: as many as fit, or 20)", .min = 1 },
	{ OPTION_FLAG, 'z', "zero", offsetof(struct top_config, zero), NULL,
	  "count anew for each screen; otherwise older samples count for less and less" },
	{ OPTION_STRING, 's', "sort", offsetof(struct top_config, sort), "KEYS",
	  "what to count by, separated by commas: vm, vcpu, comm, pid, tid, gcomm, gpid, dso, "
	  "mode, sym, srcline, cpu",
	  .completion = COMPLETE_WORDS,
	  .words = "vm vcpu comm pid tid gcomm gpid dso mode sym srcline cpu" },
	{ OPTION_FLAG, 'n', "show-nr-samples", offsetof(struct top_config, sample_counts), NULL,
	  "a column with the number of samples" },
	{ OPTION_FLAG, 0, "children", offsetof(struct top_config, children), NULL,
	  "with -g, count a sample for all functions in its call chain (the default)" },
	{ OPTION_FLAG, 0, "no-children", offsetof(struct top_config, no_children), NULL,
	  "with -g, count a sample only for the function in which it was taken" },
	{ OPTION_STRING, 0, "percent-limit", offsetof(struct top_config, percent_limit),
	  "PERCENT", "leave out rows, and branches of chains, with a smaller share" },
	FILTER_COMMS_OPTION(struct top_config, filters, 0),
	FILTER_PLACE_OPTIONS(struct top_config, filters, 0),
	FILTER_MODE_OPTION(struct top_config, filters),
	RECORD_GUEST_OPTIONS,
	RECORD_OPTION(OPTION_FLAG, 'v', "verbose", verbose, NULL, "print what the recorder prints"),
	PERF_ABSENT_TOP,
	{ 0 },
};

const struct command command_top = {
	.name = "top",
	.summary = "Show what guests are doing now",
	.arguments = "",
	.options = top_options,
	.examples = "  perfvisor top                       # all VMs, until Ctrl-C\n"
		    "  perfvisor top --vm web -g           # one VM, with call chains\n"
		    "  perfvisor top --guest --host        # and what the host does for them\n"
		    "  perfvisor top -s vm,gcomm -E 10     # the busiest processes of guests\n"
		    "  perfvisor top --duration 10 | cat   # ten seconds as text\n"
		    "  perfvisor top -i perf.data.guest    # a recording, as it came\n",
	.run = run_top,
};
