/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * As evlist__parse_control(), evlist__ctlfd_process() and evlist__ctlfd_ack() in
 * tools/perf/util/evlist.c: FIFOs are opened for reading and writing, so that this neither waits
 * for the other side nor ends when it closes its end; descriptors are not to block. Commands that
 * are known are acknowledged with "ack\n" and, as from perf, the null byte that ends this string in
 * C: who reads a fixed number of bytes gets it.
 *
 * A snapshot is of an AUX area, of which there is none here: it is acknowledged, as by perf.
 */
#include "cmd/record/record_control.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/utf8.h"
#include "output/header/header_attr.h"

/* Between two looks at the rings, however much comes. */
#define MAX_COMMANDS 64
#define MAX_BYTES 4096
#define MAX_COMPLAINTS 8
#define MAX_LIST_BYTES ((size_t)1 << 20)

static const char ack[] = "ack\n";

static struct error *wrong_argument(const char *text)
{
	return error_create(ERROR_USAGE,
			    "--control takes fd:CTL[,ACK] or fifo:CTL[,ACK], not '%s'", text);
}

static bool parse_fd(const char *text, const char *end, int *ret)
{
	char *after;
	long number;

	errno = 0;
	number = strtol(text, &after, 10);
	if (!isdigit((unsigned char)*text) || after != end || errno || number > INT32_MAX)
		return false;
	*ret = (int)number;
	return true;
}

static struct error *check_fd(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 ? error_system(errno, "--control: could not use descriptor %d", fd) : NULL;
}

static struct error *take_fds(const char *text, struct record_control *control)
{
	const char *first = text + strlen("fd:"), *comma = strchr(first, ',');
	const char *end = first + strlen(first);
	struct error *error;

	if (!parse_fd(first, comma ? comma : end, &control->fd) ||
	    (comma && !parse_fd(comma + 1, end, &control->ack_fd)))
		return wrong_argument(text);
	error = check_fd(control->fd);
	if (!error && comma)
		error = check_fd(control->ack_fd);
	if (!error && fcntl(control->fd, F_SETFL, fcntl(control->fd, F_GETFL) | O_NONBLOCK))
		error = error_system(errno, "--control: could not use descriptor %d", control->fd);
	return error;
}

/* Looks before it opens: where others can put a device in its place, opening it has effects. */
static struct error *open_fifo(const char *path, int *ret_fd)
{
	_cleanup_close_ int place = open(path, O_PATH | O_CLOEXEC);
	char again[32];
	struct stat status;

	if (place < 0 || fstat(place, &status))
		return error_system(errno, "could not open '%s'", path);
	if (!S_ISFIFO(status.st_mode))
		return error_create(ERROR_USAGE, "'%s' is not a FIFO", path);
	snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	*ret_fd = open(again, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return *ret_fd < 0 ? error_system(errno, "could not open '%s'", path) : NULL;
}

static struct error *take_fifos(const char *text, struct record_control *control)
{
	_cleanup_free_ char *path = memory_strdup(text + strlen("fifo:"));
	char *comma = strchr(path, ',');
	struct error *error;

	if (comma)
		*comma = 0;
	if (!*path || (comma && !comma[1]))
		return wrong_argument(text);
	control->owned = true;
	error = open_fifo(path, &control->fd);
	return error || !comma ? error : open_fifo(comma + 1, &control->ack_fd);
}

struct error *record_control_open(const char *text, struct record_control *ret)
{
	struct record_control control = { .fd = -1, .ack_fd = -1 };
	struct error *error = NULL;

	if (text && !strncmp(text, "fd:", 3))
		error = take_fds(text, &control);
	else if (text && !strncmp(text, "fifo:", 5))
		error = take_fifos(text, &control);
	else if (text)
		error = wrong_argument(text);
	if (error)
		record_control_close(&control);
	*ret = control;
	return error;
}

void record_control_close(struct record_control *control)
{
	if (control->owned) {
		cleanup_close(&control->fd);
		cleanup_close(&control->ack_fd);
	}
	control->fd = control->ack_fd = -1;
}

void record_control_watch(const struct record_control *control, struct recorder *recorder)
{
	/* What cannot be waited for is looked at after each step. */
	if (control->fd >= 0 && !recorder_watch(recorder, control->fd))
		log_detail("--control: what is no pipe, socket or terminal may be noticed late");
}

/* Does not wait: POLLOUT says that a pipe has room for more than this. */
static void acknowledge(struct record_control *control)
{
	struct pollfd room = { .fd = control->ack_fd, .events = POLLOUT };

	if (control->ack_fd < 0)
		return;
	if (poll(&room, 1, 0) == 1 && room.revents == POLLOUT &&
	    write(control->ack_fd, ack, sizeof(ack)) == sizeof(ack))
		return;
	if (!control->ack_failed)
		log_warning("--control: a command could not be acknowledged: nobody reads");
	control->ack_failed = true;
}

static void complain(struct record_control *control, const char *what, const char *text)
{
	if (control->complaints++ < MAX_COMPLAINTS)
		log_warning("--control: %s '%s'", what, text);
}

static size_t find_event(const struct record_events *events, const char *name)
{
	for (size_t i = 0; i < events->list.items.count; i++)
		if (!strcmp(events->list.items.items[i].name, name))
			return i;
	return RECORDER_ALL_EVENTS;
}

static void set_enabled(struct record_control *control, struct recorder *recorder,
			const struct record_events *events, const char *name, bool enabled)
{
	size_t event = name ? find_event(events, name) : RECORDER_ALL_EVENTS;

	if (name && event == RECORDER_ALL_EVENTS) {
		complain(control, "there is no event", name);
		return;
	}
	recorder_set_enabled(recorder, event, enabled);
	if (name)
		log_note("event %s %s", name, enabled ? "enabled" : "disabled");
	else
		log_note("events %s", enabled ? "enabled" : "disabled");
}

/* evsel__fprintf() in tools/perf/util/evsel_fprintf.c; -v has the form of report --header. */
static void append_event(struct buffer *out, const struct host_event *event, const char *details)
{
	utf8_append_escaped(out, event->name);
	if (details && !strcmp(details, "-F"))
		buffer_printf(out, ": %s=%llu", event->attr.freq ? "sample_freq" : "sample_period",
			      (unsigned long long)event->attr.sample_freq);
	if (details && !strcmp(details, "-v"))
		header_attr_append(out, &event->attr);
	buffer_append_u8(out, '\n');
}

/* The group that EVENT leads, or EVENT alone. */
static void append_group(struct buffer *out, const struct host_event *event)
{
	if (event->group_size) {
		utf8_append_escaped(out, event->group_name ? event->group_name : "");
		buffer_append_u8(out, '{');
	}
	utf8_append_escaped(out, event->name);
	for (size_t i = 1; i < event->group_size; i++) {
		buffer_append_u8(out, ',');
		utf8_append_escaped(out, event[i].name);
	}
	buffer_append_string(out, event->group_size ? "}\n" : "\n");
}

static void list_events(struct record_control *control, const struct record_events *events,
			const struct control_command *command)
{
	const char *details = command->argument;
	_cleanup_buffer_ struct buffer out;

	buffer_init(&out, MAX_LIST_BYTES);
	if (details && strcmp(details, "-v") && strcmp(details, "-g") && strcmp(details, "-F")) {
		complain(control, "wrong command", command->text);
		return;
	}
	for (size_t i = 0; i < events->list.items.count; i++) {
		const struct host_event *event = &events->list.items.items[i];

		if (!details || strcmp(details, "-g"))
			append_event(&out, event, details);
		else if (!event->group_rank)
			append_group(&out, event);
	}
	fwrite(out.data, 1, out.size, stderr);
}

static void obey(struct record_control *control, struct recorder *recorder,
		 const struct record_events *events, const struct control_command *command)
{
	if (control->stop_only && command->verb != CONTROL_STOP)
		return;
	if (command->malformed)
		complain(control, "wrong command", command->text);
	switch (command->verb) {
	case CONTROL_ENABLE:
	case CONTROL_DISABLE:
		if (!command->malformed)
			set_enabled(control, recorder, events, command->argument,
				    command->verb == CONTROL_ENABLE);
		break;
	case CONTROL_EVLIST:
		if (!command->malformed)
			list_events(control, events, command);
		break;
	case CONTROL_STOP:
		control->stop = true;
		break;
	case CONTROL_SNAPSHOT:
	case CONTROL_PING:
		break;
	case CONTROL_UNKNOWN:
		complain(control, "unknown command", command->text);
		return;
	}
	acknowledge(control);
}

void record_control_obey(struct record_control *control, struct recorder *recorder,
			 const struct record_events *events)
{
	struct control_command command;
	size_t commands = 0;
	char byte;

	for (size_t i = 0; control->fd >= 0 && commands < MAX_COMMANDS && i < MAX_BYTES; i++) {
		ssize_t got = read(control->fd, &byte, 1);
		bool ended = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);

		if (got < 0 && errno == EINTR)
			continue;
		if (got > 0 ? control_text_take(&control->text, byte, &command)
			    : control_text_end(&control->text, &command)) {
			obey(control, recorder, events, &command);
			commands++;
		}
		if (ended) {
			log_detail("--control: the other side has closed it");
			recorder_unwatch(recorder, control->fd);
			if (control->owned)
				close(control->fd);
			control->fd = -1;
		}
		if (got <= 0)
			return;
	}
}
