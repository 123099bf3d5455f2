/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines as of perf_header__fprintf_info() and perf_event_attr__fprintf() (tools/perf/util/header.c,
 * tools/perf/util/perf_event_attr_fprintf.c), as far as the recording has what they are made of.
 * Of an event's attributes only those that say what was sampled, how often and with what.
 */
#include "output/recording_header.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/utf8.h"
#include "output/stream.h"

#define MAX_IDS 64 /* of an event, that are listed */
#define NS_PER_MS 1000000.0

static void append_text(struct buffer *out, const char *title, const char *text)
{
	if (!*text)
		return;
	buffer_printf(out, "# %s : ", title);
	utf8_append_escaped(out, text);
	buffer_append_u8(out, '\n');
}

static void append_number(struct buffer *out, const char *title, uint64_t value, const char *unit)
{
	if (value)
		buffer_printf(out, "# %s : %" PRIu64 "%s\n", title, value, unit);
}

static void append_capture_time(struct buffer *out, const char *path)
{
	struct stat status;
	char text[32]; /* ctime_r() needs 26 */

	if (!stat(path, &status) && ctime_r(&status.st_ctime, text))
		buffer_printf(out, "# captured on    : %s", text);
}

static void append_sample_type(struct buffer *out, uint64_t type)
{
	static const char *const names[] = {
		"IP", "TID", "TIME", "ADDR", "READ", "CALLCHAIN", "ID", "CPU", "PERIOD",
		"STREAM_ID", "RAW", "BRANCH_STACK", "REGS_USER", "STACK_USER", "WEIGHT", "DATA_SRC",
		"IDENTIFIER", "TRANSACTION", "REGS_INTR", "PHYS_ADDR", "AUX", "CGROUP",
		"DATA_PAGE_SIZE", "CODE_PAGE_SIZE", "WEIGHT_STRUCT",
	};
	const char *separator = "";

	buffer_append_string(out, ", sample_type = ");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!(type >> i & 1))
			continue;
		buffer_printf(out, "%s%s", separator, names[i]);
		separator = "|";
	}
}

void recording_header_append_attr(struct buffer *out, const struct perf_event_attr *attr)
{
	buffer_printf(out, ", type = %" PRIu32, attr->type);
	if (attr->config)
		buffer_printf(out, ", config = %#" PRIx64, (uint64_t)attr->config);
	if (attr->sample_period)
		buffer_printf(out, ", { sample_period, sample_freq } = %" PRIu64,
			      (uint64_t)attr->sample_period);
	append_sample_type(out, attr->sample_type);
}

static void append_event(struct buffer *out, const struct perfdata_event *event)
{
	buffer_append_string(out, "# event : name = ");
	utf8_append_escaped(out, event->name);
	buffer_append_string(out, ", ");
	for (size_t i = 0; i < event->id_count && i < MAX_IDS; i++)
		buffer_printf(out, "%s%" PRIu64, i ? ", " : ", id = { ", event->ids[i].id);
	if (event->id_count > MAX_IDS)
		buffer_printf(out, ", and %zu more", event->id_count - MAX_IDS);
	buffer_append_string(out, event->id_count ? " }" : "");
	recording_header_append_attr(out, &event->attr);
	buffer_append_u8(out, '\n');
}

static void append_time(struct buffer *out, const char *which, uint64_t time_ns)
{
	buffer_printf(out, "# time of %s sample : %" PRIu64 ".%06" PRIu64 "\n", which,
		      time_ns / 1000000000, time_ns % 1000000000 / 1000);
}

void recording_header_append(struct buffer *out, const struct session *session, const char *path)
{
	const struct perfdata_features *features = perfdata_reader_features(session->reader);

	buffer_append_string(out, "# ========\n");
	if (strcmp(path, "-"))
		append_capture_time(out, path);
	append_text(out, "hostname", features->hostname);
	append_text(out, "os release", features->osrelease);
	append_text(out, "perf version", features->version);
	append_text(out, "arch", features->arch);
	append_number(out, "nrcpus online", features->cpus_online, "");
	append_number(out, "nrcpus avail", features->cpus_available, "");
	append_text(out, "cpudesc", features->cpudesc);
	append_text(out, "cpuid", features->cpuid);
	append_number(out, "total memory", features->total_memory_kb, " kB");
	append_text(out, "cmdline", features->cmdline);
	for (size_t i = 0; i < perfdata_reader_event_count(session->reader); i++)
		append_event(out, perfdata_reader_event(session->reader, i));
	if (features->last_sample_ns) {
		append_time(out, "first", features->first_sample_ns);
		append_time(out, "last", features->last_sample_ns);
		buffer_printf(out, "# sample duration : %10.3f ms\n",
			      (features->last_sample_ns - features->first_sample_ns) / NS_PER_MS);
	}
	buffer_append_string(out, "# ========\n#\n");
}

struct error *recording_header_write(int fd, const struct session *session, const char *path)
{
	struct output_stream stream;

	output_stream_init(&stream, fd);
	recording_header_append(&stream.buffer, session, path);
	return output_stream_finish(&stream);
}
