/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record__switch_output() and switch_output_setup() in tools/perf/builtin-record.c: FILE is the
 * recording in progress, and becomes FILE.YYYYMMDDhhmmsscc, local time with hundredths. Where that
 * is taken, the next hundredth is used; perf overwrites it.
 *
 * SIGUSR2 is read from a descriptor; without --switch-output=signal it is ignored, as by perf.
 */
#include "cmd/record/record_switch.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

#define NS_PER_SECOND 1000000000u
#define MAX_NAMES 100 /* tried for a file: those of a second */

/* A number with s, m, h or d. */
static bool parse_period(const char *text, uint64_t *ret_ns)
{
	static const char letters[] = "smhd";
	static const uint64_t seconds[] = { 1, 60, 3600, 86400 };
	const char *letter;
	uint64_t number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	letter = *end ? strchr(letters, *end) : NULL;
	return isdigit((unsigned char)*text) && !errno && number && letter && !end[1] &&
	       !__builtin_mul_overflow(number, seconds[letter - letters], &number) &&
	       !__builtin_mul_overflow(number, (uint64_t)NS_PER_SECOND, ret_ns);
}

static struct error *check(const struct record_options *options, struct record_switch *ret)
{
	const char *mode = options->switch_output;

	if (options->pipe && options->stream_ns) {
		ret->given = true;
		ret->period_ns = options->stream_ns;
		return NULL;
	}
	if (!mode)
		return options->switch_max_files
			       ? error_create(ERROR_USAGE,
					      "--switch-max-files belongs to --switch-output")
			       : NULL;
	ret->given = true;
	if (strcmp(mode, "signal") && !record_parse_size(mode, 0, &ret->bytes) &&
	    !parse_period(mode, &ret->period_ns))
		return error_create(ERROR_USAGE,
				    "--switch-output takes signal, a size such as 100M, or a time "
				    "such as 30s, 10m, 1h or 1d, not '%s'",
				    mode);
	if (options->pipe)
		return error_create(ERROR_USAGE, "--switch-output writes files: it excludes -o -");
	if (options->overwrite && ret->bytes)
		return error_create(ERROR_USAGE,
				    "--overwrite writes a file only when it is complete: it "
				    "excludes --switch-output=SIZE");
	return NULL;
}

static struct error *take_signal(struct record_switch *switches)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	if (!switches->given || switches->bytes || switches->period_ns) {
		signal(SIGUSR2, SIG_IGN);
		return NULL;
	}
	if (!sigprocmask(SIG_BLOCK, &set, NULL))
		switches->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return switches->signal_fd >= 0 ? NULL
					: error_system(errno, "could not wait for SIGUSR2");
}

/* What is overwritten would be missing in the sums from which readers take these values. */
static struct error *check_values(const struct record_options *options,
				  const struct record_events *events)
{
	for (size_t i = 0; options->overwrite && i < events->list.items.count; i++)
		if (events->list.items.items[i].values_read)
			return error_create(ERROR_USAGE,
					    "--overwrite excludes groups whose values are read "
					    "(:S)");
	return NULL;
}

struct error *record_switch_prepare(const struct record_options *options,
				    const struct record_events *events, struct record_switch *ret)
{
	struct record_switch switches = { .signal_fd = -1,
					  .max_files = options->switch_max_files };
	struct error *error = check(options, &switches);

	if (!error)
		error = check_values(options, events);
	if (!error)
		error = take_signal(&switches);
	*ret = switches;
	return error;
}

void record_switch_restore_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	signal(SIGUSR2, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void record_switch_deinit(struct record_switch *switches)
{
	char *name = NULL;

	cleanup_close(&switches->signal_fd);
	while (queue_take(&switches->names, &name))
		free(name);
	queue_deinit(&switches->names);
}

static void begin_file(const struct record_run *run)
{
	struct record_switch *switches = run->switches;

	switches->begin_bytes = recorder_totals(run->recorder).file_bytes;
	if (switches->period_ns)
		switches->due_ns = clock_monotonic_ns() + switches->period_ns;
}

void record_switch_begin(const struct record_run *run)
{
	if (run->switches->signal_fd >= 0)
		recorder_watch(run->recorder, run->switches->signal_fd);
	begin_file(run);
}

struct error *record_switch_write_symbols(const struct record_run *run)
{
	uint64_t before = recorder_totals(run->recorder).file_bytes;
	struct error *error = record_write_symbols(run);

	run->switches->begin_bytes += recorder_totals(run->recorder).file_bytes - before;
	return error;
}

static bool is_due(const struct record_run *run)
{
	const struct record_switch *switches = run->switches;
	struct signalfd_siginfo info;

	if (switches->bytes)
		return recorder_totals(run->recorder).file_bytes >=
		       switches->begin_bytes + switches->bytes;
	if (switches->due_ns)
		return clock_monotonic_ns() >= switches->due_ns;
	return switches->signal_fd >= 0 &&
	       read(switches->signal_fd, &info, sizeof(info)) == sizeof(info);
}

static char *name_at(const char *path, const struct timeval *time)
{
	struct tm local;
	char digits[32], suffix[48];

	localtime_r(&time->tv_sec, &local);
	strftime(digits, sizeof(digits), "%Y%m%d%H%M%S", &local);
	snprintf(suffix, sizeof(suffix), "%s%02u", digits, (unsigned)(time->tv_usec / 10000));
	return perfdata_path_with(path, suffix);
}

/* Where the file system cannot refuse to replace what is there, this looks before. */
static int rename_new(const char *from, const char *to)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (!access(to, F_OK)) {
		errno = EEXIST;
		return -1;
	}
	return rename(from, to);
}

/* Gives the complete file its suffix. */
static struct error *put_aside(const char *path, char **ret_name)
{
	static const struct timeval hundredth = { .tv_usec = 10000 };
	struct timeval time;

	gettimeofday(&time, NULL);
	for (int i = 0; i < MAX_NAMES; i++) {
		_cleanup_free_ char *name = name_at(path, &time);

		if (!rename_new(path, name)) {
			*ret_name = take_pointer(name);
			return NULL;
		}
		if (errno != EEXIST)
			return error_system(errno, "could not rename '%s' to '%s'", path, name);
		timeradd(&time, &hundredth, &time);
	}
	return error_system(EEXIST, "could not rename '%s'", path);
}

/* Removes the oldest of ours if there are too many. */
static void keep(struct record_switch *switches, char *name, bool directory)
{
	char *oldest = NULL;

	queue_append(&switches->names, name);
	if (!switches->max_files || queue_left(&switches->names) <= switches->max_files)
		return;
	queue_take(&switches->names, &oldest);
	if (directory)
		perfdata_directory_remove(oldest);
	else if (unlink(oldest))
		log_warning("could not remove '%s': %s", oldest, strerror(errno));
	free(oldest);
}

static struct error *complete_file(const struct record_run *run)
{
	const struct record_options *options = run->options;
	bool sampling = run->symbols->sampling;
	struct error *error;

	run->symbols->sampling = false; /* all of them */
	error = record_write_symbols(run);
	run->symbols->sampling = sampling;
	if (!error)
		error = recorder_finish(run->recorder, &run->facts->features);
	if (!error && options->directory)
		error = record_directory_finish(options->output, run->symbols,
						recorder_inventory(run->recorder));
	return error;
}

static struct error *name_file(const struct record_run *run)
{
	struct record_switch *switches = run->switches;
	const struct record_options *options = run->options;
	char *name = NULL;
	struct error *error;

	if (options->pipe)
		return NULL;
	error = put_aside(options->output, &name);
	if (error)
		return error;
	switches->files++;
	record_note_file(run->recorder, options, name);
	if (switches->max_files)
		keep(switches, name, options->directory);
	else
		free(name);
	return NULL;
}

static struct error *next_file(const struct record_run *run)
{
	struct error *error = recorder_settle(run->recorder);

	if (!error)
		error = complete_file(run);
	if (!error)
		error = name_file(run);
	if (!error)
		error = recorder_switch(run->recorder, &run->facts->features);
	if (error)
		return error;
	record_symbols_restart(run->symbols, run->recorder);
	begin_file(run);
	return NULL;
}

struct error *record_switch_look(const struct record_run *run)
{
	return run->switches->given && is_due(run) ? next_file(run) : NULL;
}

struct error *record_switch_finish(const struct record_run *run)
{
	struct error *error = complete_file(run);

	if (error)
		return error;
	record_note_end(run->recorder, run->options);
	if (recorder_is_empty(run->recorder)) {
		log_note("%s was not written", run->options->output);
		return NULL;
	}
	if (!run->switches->given || run->options->pipe) {
		record_note_file(run->recorder, run->options, run->options->output);
		return NULL;
	}
	error = name_file(run);
	if (!error && run->switches->files > 1)
		record_note_files(run->recorder, run->switches->files);
	return error;
}
