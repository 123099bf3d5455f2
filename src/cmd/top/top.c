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
#include "cmd/record/record_options.h"
#include "cmd/recording.h"
#include "cmd/top/top.h"
#include "cmd/values.h"

#define READ_BYTES ((size_t)256 << 10)
#define LAST_RECORDS_NS 5000000000ull /* how long a recorder may take to end */

/* Where records come from. */
struct source {
	int fd; /* -1: a file, which is mapped */
	const char *name;
	struct top_recorder recorder;
};

/* One run: the screens that it prints. */
struct run {
	const struct top_config *config;
	struct top_engine engine;
	struct source *source;
	double min_percent;
	bool gone; /* nobody reads them any more */
	uint64_t due_ns, stop_ns;
};

static struct error *print(struct run *run)
{
	struct error *error = top_text_print(&run->engine, &run->gone);

	run->engine.stop |= run->gone;
	top_engine_next(&run->engine);
	return error;
}

static struct error *refresh(struct top_engine *engine, void *context)
{
	(void)engine;
	return print(context);
}

/* With READER, which is taken. */
static void begin(struct run *run, struct perfdata_reader *reader)
{
	run->engine = (struct top_engine){ .refresh = refresh, .context = run,
					   .min_percent = run->min_percent,
					   .own_time = run->source->fd < 0 };
	top_engine_init(&run->engine, run->config, reader);
}

static int wait_ms(uint64_t due_ns)
{
	uint64_t now = clock_monotonic_ns();

	return now < due_ns ? (due_ns - now) / 1000000 + 1 : 0;
}

/* Ctrl-C: the recorder is to end, and what it still has is read, but not for long. */
static bool is_given_up(struct run *run)
{
	if (!interrupt_requested() && !run->gone)
		return false;
	if (!run->source->recorder.pid)
		return true;
	if (!run->stop_ns) {
		top_recorder_stop(&run->source->recorder);
		run->stop_ns = clock_monotonic_ns() + LAST_RECORDS_NS;
	}
	return clock_monotonic_ns() >= run->stop_ns;
}

/* Waits for bytes until the next screen is due. *RET_END: there are no more. */
static struct error *feed(struct run *run, uint8_t *bytes, bool *ret_end)
{
	struct pollfd input = { .fd = run->source->fd, .events = POLLIN };
	struct perfdata_reader *reader = run->engine.session->reader;
	int ready = poll(&input, 1, wait_ms(run->stop_ns ? run->stop_ns : run->due_ns));
	ssize_t got;

	if (ready <= 0)
		return ready == 0 || errno == EINTR
			       ? NULL
			       : error_system(errno, "could not wait for '%s'", run->source->name);
	got = read(run->source->fd, bytes, READ_BYTES);
	if (got < 0)
		return errno == EINTR ? NULL
				      : error_system(errno, "could not read '%s'",
						     run->source->name);
	if (got > 0)
		return run->stop_ns ? NULL : perfdata_reader_feed(reader, bytes, got);
	*ret_end = true;
	return run->stop_ns ? NULL : perfdata_reader_feed_end(reader);
}

/*
 * What the recorder wrote ends here, and it has begun anew, in the same pipe: after a screen, all
 * that is known is forgotten.
 */
static struct error *next_stream(struct run *run, const void *bytes, size_t size)
{
	struct perfdata_reader *reader = perfdata_reader_open_fed(run->source->name);
	struct error *error = perfdata_reader_feed(reader, bytes, size);

	if (!error)
		error = print(run);
	top_engine_deinit(&run->engine);
	begin(run, reader);
	return error;
}

/* Counts what has come. *RET_END: there is no more to come. */
static struct error *take(struct run *run, bool *ret_end)
{
	enum perfdata_status status;
	struct error *error;
	const void *bytes;
	size_t size;

	for (;;) {
		error = top_engine_run(&run->engine, &status);
		*ret_end |= status == PERFDATA_BAD || status == PERFDATA_RECORD;
		if (error || status != PERFDATA_END)
			return error;
		bytes = perfdata_reader_unread(run->engine.session->reader, &size);
		if (!size || perfdata_reader_truncated(run->engine.session->reader))
			return NULL;
		error = next_stream(run, bytes, size);
		if (error)
			return error;
	}
}

/* Until the end of the recording, or of the user's patience. */
static struct error *follow(struct run *run, bool *ret_ended)
{
	_cleanup_free_ uint8_t *bytes = memory_alloc(READ_BYTES);
	struct error *error = NULL;
	bool end = false;

	run->due_ns = clock_monotonic_ns() + run->engine.interval_ns;
	while (!error && !end && !is_given_up(run)) {
		error = feed(run, bytes, &end);
		if (!error && !run->stop_ns)
			error = take(run, &end);
		if (error || run->stop_ns || end || clock_monotonic_ns() < run->due_ns)
			continue;
		error = print(run);
		run->due_ns += run->engine.interval_ns;
	}
	*ret_ended = !run->stop_ns && !interrupt_requested() && !run->gone;
	return error;
}

static struct error *read_file(struct run *run, bool *ret_ended)
{
	enum perfdata_status status;
	struct error *error = top_engine_run(&run->engine, &status);

	*ret_ended = !interrupt_requested() && !run->gone;
	return error;
}

/* What came since the last screen, and what was wrong. */
static struct error *finish(struct run *run)
{
	struct error *error = top_engine_check_end(&run->engine);

	if (!error)
		error = print(run);
	if (!error)
		recording_warn(run->engine.session, run->source->name);
	return error;
}

static struct error *show(const struct top_config *config, struct source *source,
			  struct perfdata_reader *reader)
{
	struct run run = { .source = source, .config = config };
	struct error *error = NULL;
	bool ended = false;

	if (config->percent_limit)
		error = values_percent("--percent-limit", config->percent_limit,
				       &run.min_percent);
	begin(&run, reader);
	if (!error)
		error = source->fd < 0 ? read_file(&run, &ended) : follow(&run, &ended);
	if (!error && ended)
		error = finish(&run);
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
static struct error *open_input(const struct top_config *config, struct source *ret)
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

static struct error *open_reader(const struct top_config *config, const struct source *source,
				 struct perfdata_reader **ret)
{
	if (source->fd < 0)
		return perfdata_reader_open(config->input, ret);
	*ret = perfdata_reader_open_fed(source->name);
	return NULL;
}

/* The viewer. The recorder, if there is one, has been started. */
static struct error *view(const struct top_config *config, struct source *source)
{
	const char *input = config->input ? config->input : "-";
	struct perfdata_reader *reader;
	struct error *error;

	signal(SIGPIPE, SIG_IGN);
	interrupt_install();
	error = recording_raise_walls(&input, 1, &config->symbols, NULL);
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
	struct source source = { .fd = -1, .name = "the recorder" };
	struct error *error = top_recorder_start(config, argc, argv, &source.recorder, ret_status);
	struct error *end;

	if (error || source.recorder.is_child)
		return error;
	source.fd = source.recorder.records;
	error = view(config, &source);
	end = top_recorder_finish(&source.recorder, ret_status);
	/* It has reported why; that there are no records then is no news. */
	if (!end && !*ret_status)
		return error;
	error_destroy(error);
	return end;
}

static struct error *replay(struct top_config *config)
{
	struct source source = { .fd = -1 };
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

	if (!error && !help)
		error = config.input ? replay(&config)
				     : sample_and_view(&config, argc, argv, ret_status);
	record_options_deinit(&config.record);
	filter_options_deinit(&config.filters);
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
	  "print text, one screen after another (the default)" },
	{ OPTION_SECONDS, 'd', "delay", offsetof(struct top_config, delay_s), "SECONDS",
	  "how often there is a screen (default: 2)" },
	{ OPTION_UNSIGNED, 'E', "entries", offsetof(struct top_config, entries), "N",
	  "how many functions are shown (default: as many as fit, or 20)", .min = 1 },
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
