/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From arbitrary bytes to the screens of top: a recording in the pipe form comes in small pieces,
 * one in the form of a file as a whole. Everything is forgotten again and again.
 */
#include <assert.h>
#include <fcntl.h>
#include <unistd.h>

#include "fuzz.h"
#include "output/report_text.h"
#include "output/sample_texts.h"
#include "profile/live_profile.h"
#include "session/live/live_session.h"
#include "session/ordered.h"

#define PIPE_HEADER_BYTES 16
#define LOOK_SAMPLES 64

struct viewer {
	struct session *session;
	struct ordered *ordered;
	struct live_profile *live;
	struct profile_options options;
	unsigned samples;
	int fd;
};

static void look(struct viewer *viewer)
{
	struct report_text_options text = { .children = true, .chains = true, .max_rows = 7,
					    .heading = "" };
	const struct profile *profile = live_profile_look(viewer->live);
	_cleanup_sample_texts_ struct sample_texts *texts = sample_texts_create(viewer->session);
	uint64_t samples = 0, rows = 0;

	error_destroy(report_columns_parse("overhead_children,overhead,vm,gcomm,comm,dso,sym",
					   texts, &text.columns));
	for (size_t i = 0; i < profile->event_count; i++) {
		samples += profile->events[i].samples;
		for (size_t r = 0; r < profile->events[i].rows.count; r++)
			rows += profile->events[i].rows.items[r].count;
	}
	assert(samples == rows);
	error_destroy(report_text_write(viewer->fd, profile, &text));
	live_profile_decay(viewer->live, LIVE_PROFILE_EIGHTHS);
}

static void forget(struct viewer *viewer, uint64_t oldest)
{
	live_profile_destroy(viewer->live);
	viewer->live = NULL;
	live_session_forget(viewer->session, oldest);
}

static void take_sample(struct viewer *viewer, const struct session_sample *sample)
{
	live_session_see(viewer->session, sample);
	if (!viewer->live || !live_profile_fits(viewer->live)) {
		live_profile_destroy(viewer->live);
		viewer->live = live_profile_create(viewer->session, &viewer->options);
	}
	live_profile_count(viewer->live, sample);
	if (++viewer->samples % LOOK_SAMPLES)
		return;
	look(viewer);
	if (viewer->samples % (3 * LOOK_SAMPLES) == 0)
		forget(viewer, viewer->samples % 2 ? 0 : sample->time);
}

static enum perfdata_status take_all(struct viewer *viewer)
{
	struct perfdata_record record;
	struct session_sample sample;
	enum perfdata_status status;

	while ((status = ordered_next_record(viewer->ordered, &record, &sample)) ==
	       PERFDATA_RECORD) {
		if (record.type == PERF_RECORD_SAMPLE) {
			take_sample(viewer, &sample);
			continue;
		}
		if (viewer->live)
			live_profile_settle(viewer->live);
		live_session_take(viewer->session, &record);
	}
	return status;
}

static void feed(struct viewer *viewer, const uint8_t *data, size_t size)
{
	struct perfdata_reader *reader = viewer->session->reader;
	size_t step = 1 + data[size - 1];
	struct error *error = NULL;

	for (size_t at = 0; at < size && !error; at += step) {
		error = perfdata_reader_feed(reader, data + at,
					     size - at < step ? size - at : step);
		if (!error && take_all(viewer) != PERFDATA_WAIT)
			break;
	}
	if (!error)
		error = perfdata_reader_feed_end(reader);
	if (!error)
		assert(take_all(viewer) != PERFDATA_WAIT);
	error_destroy(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kernel_source_options none = { 0 };
	_cleanup_close_ int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct viewer viewer = { .fd = fd };
	struct perfdata_reader *reader;
	struct error *error = NULL;
	/* struct format_pipe_header: magic, its own size */
	bool piped = size > PIPE_HEADER_BYTES && (data[8] == PIPE_HEADER_BYTES ||
						  data[15] == PIPE_HEADER_BYTES);

	viewer.options = (struct profile_options){
		.keys = { .items = { PROFILE_VM, PROFILE_GUEST_COMM, PROFILE_COMM, PROFILE_DSO,
				     PROFILE_SYMBOL },
			  .count = 5 },
		.chains = true,
		.children = true,
	};
	if (piped)
		reader = perfdata_reader_open_fed("input");
	else
		error = perfdata_reader_open_memory(data, size, "input", &reader);
	if (error) {
		error_destroy(error);
		return 0;
	}
	viewer.session = live_session_open(reader, &none);
	viewer.ordered = ordered_create(viewer.session, LIVE_SESSION_TYPES);
	ordered_limit(viewer.ordered, 4096);
	if (piped)
		feed(&viewer, data, size);
	else
		take_all(&viewer);
	if (viewer.live)
		look(&viewer);
	live_profile_destroy(viewer.live);
	ordered_destroy(viewer.ordered);
	session_close(viewer.session);
	return 0;
}
