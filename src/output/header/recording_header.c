/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines as of perf_header__fprintf_info() (tools/perf/util/header.c), in the order of the features'
 * numbers. The functions of BPF programs (BPF_PROG_INFO) are not listed.
 */
#include "output/header/recording_header.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/utf8.h"
#include "output/header/header_attr.h"
#include "output/header/header_machine.h"
#include "output/stream.h"
#include "perfdata/format.h"

#define MAX_IDS 64 /* of an event, that are listed */
#define NS_PER_MS 1000000.0
#define NS_PER_S 1000000000

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
	header_attr_append(out, &event->attr);
	buffer_append_u8(out, '\n');
}

static void append_time(struct buffer *out, const char *which, uint64_t time_ns)
{
	buffer_printf(out, "# time of %s sample : %" PRIu64 ".%06" PRIu64 "\n", which,
		      time_ns / 1000000000, time_ns % 1000000000 / 1000);
}

static void append_sample_times(struct buffer *out, const struct perfdata_features *features)
{
	append_time(out, "first", features->first_sample_ns);
	append_time(out, "last", features->last_sample_ns);
	buffer_printf(out, "# sample duration : %10.3f ms\n",
		      (features->last_sample_ns - features->first_sample_ns) / NS_PER_MS);
}

/* u32 groups; of each its name, and the numbers of its first event and of its members. */
static void append_groups(struct buffer *out, const struct perfdata_reader *reader,
			  struct cursor *cursor)
{
	uint32_t count = cursor_u32(cursor);

	for (uint32_t i = 0; i < count; i++) {
		const char *name = header_string(cursor);
		uint32_t first = cursor_u32(cursor), members = cursor_u32(cursor);
		size_t events = perfdata_reader_event_count(reader);

		if (cursor->failed || first >= events || members > events - first)
			return;
		buffer_append_string(out, "# group: ");
		if (strcmp(name, "{anon_group}"))
			utf8_append_escaped(out, name);
		for (uint32_t n = 0; n < members; n++) {
			buffer_append_u8(out, n ? ',' : '{');
			utf8_append_escaped(out, perfdata_reader_event(reader, first + n)->name);
		}
		buffer_append_string(out, "}\n");
	}
}

static void append_compression(struct buffer *out, struct cursor *cursor)
{
	uint32_t type, level, ratio;

	cursor_u32(cursor); /* version */
	type = cursor_u32(cursor);
	level = cursor_u32(cursor);
	ratio = cursor_u32(cursor);
	buffer_printf(out, "# compressed : %s, level = %" PRIu32 ", ratio = %" PRIu32 "\n",
		      type == 1 ? "Zstd" : "Unknown", level, ratio);
}

/* clockid_name() of tools/perf/util/clockid.c */
static const char *clock_name(uint32_t clock)
{
	switch (clock) {
	case CLOCK_MONOTONIC:
		return "monotonic";
	case CLOCK_MONOTONIC_RAW:
		return "monotonic_raw";
	case CLOCK_REALTIME:
		return "realtime";
	case CLOCK_BOOTTIME:
		return "boottime";
	case CLOCK_TAI:
		return "tai";
	}
	return "(not found)";
}

static void append_clock_data(struct buffer *out, const struct perfdata_features *features)
{
	uint64_t day_ns = features->clock_day_ns, clock_ns = features->clock_ns;
	const char *name = clock_name(features->clock);
	time_t seconds = day_ns / NS_PER_S;
	struct tm local;
	char date[64] = "";

	if (!features->has_clock)
		return;
	if (!localtime_r(&seconds, &local) ||
	    !strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &local))
		date[0] = 0;
	buffer_printf(out, "# clockid: %s (%" PRIu32 ")\n", name, features->clock);
	buffer_printf(out, "# reference time: %s.%06" PRIu64 " = %" PRIu64 ".%06" PRIu64
		      " (TOD) = %" PRIu64 ".%09" PRIu64 " (%s)\n",
		      date, day_ns % NS_PER_S / 1000, day_ns / NS_PER_S, day_ns % NS_PER_S / 1000,
		      clock_ns / NS_PER_S, clock_ns % NS_PER_S, name);
}

/* Perf's names of the features, for those that are missing. */
static const char *const feature_names[PERFDATA_RAW_FEATURES] = {
	NULL, "TRACING_DATA", "BUILD_ID", "HOSTNAME", "OSRELEASE", "VERSION", "ARCH", "NRCPUS",
	"CPUDESC", "CPUID", "TOTAL_MEM", "CMDLINE", "EVENT_DESC", "CPU_TOPOLOGY", "NUMA_TOPOLOGY",
	"BRANCH_STACK", "PMU_MAPPINGS", "GROUP_DESC", "AUXTRACE", "STAT", "CACHE", "SAMPLE_TIME",
	"MEM_TOPOLOGY", "CLOCKID", "DIR_FORMAT", "BPF_PROG_INFO", "BPF_BTF", "COMPRESSED",
	"CPU_PMU_CAPS", "CLOCK_DATA", "HYBRID_TOPOLOGY", "PMU_CAPS",
};

static void append_missing(struct buffer *out, const struct perfdata_features *features)
{
	buffer_append_string(out, "# missing features: ");
	for (size_t i = 1; i < PERFDATA_RAW_FEATURES; i++)
		if (!features->raw[i].data)
			buffer_printf(out, "%s ", feature_names[i]);
	buffer_append_u8(out, '\n');
}

/* What describes the recording itself. */
static void append_recording(struct buffer *out, const struct session *session, unsigned feature,
			     struct cursor *cursor)
{
	const struct perfdata_features *features = perfdata_reader_features(session->reader);

	switch (feature) {
	case FEATURE_EVENT_DESC:
		for (size_t i = 0; i < perfdata_reader_event_count(session->reader); i++)
			append_event(out, perfdata_reader_event(session->reader, i));
		break;
	case FEATURE_BRANCH_STACK:
		buffer_append_string(out, "# contains samples with branch stack\n");
		break;
	case FEATURE_GROUP_DESC:
		append_groups(out, session->reader, cursor);
		break;
	case FEATURE_AUXTRACE:
		buffer_append_string(out,
				     "# contains AUX area data (e.g. instruction trace)\n");
		break;
	case FEATURE_STAT:
		buffer_append_string(out, "# contains stat data\n");
		break;
	case FEATURE_SAMPLE_TIME:
		append_sample_times(out, features);
		break;
	case FEATURE_CLOCKID:
		buffer_printf(out, "# clockid frequency: %" PRIu64 " MHz\n",
			      cursor_u64(cursor) * 1000);
		break;
	case FEATURE_DIR_FORMAT:
		buffer_printf(out, "# directory data version : %" PRIu64 "\n", cursor_u64(cursor));
		break;
	case FEATURE_COMPRESSED:
		append_compression(out, cursor);
		break;
	case FEATURE_CLOCK_DATA:
		append_clock_data(out, features);
		break;
	}
}

static void append_machine(struct buffer *out, const struct perfdata_features *features,
			   unsigned feature, struct cursor *cursor)
{
	switch (feature) {
	case FEATURE_HOSTNAME:
		return append_text(out, "hostname", features->hostname);
	case FEATURE_OSRELEASE:
		return append_text(out, "os release", features->osrelease);
	case FEATURE_VERSION:
		return append_text(out, "perf version", features->version);
	case FEATURE_ARCH:
		return append_text(out, "arch", features->arch);
	case FEATURE_NRCPUS:
		append_number(out, "nrcpus online", features->cpus_online, "");
		return append_number(out, "nrcpus avail", features->cpus_available, "");
	case FEATURE_CPUDESC:
		return append_text(out, "cpudesc", features->cpudesc);
	case FEATURE_CPUID:
		return append_text(out, "cpuid", features->cpuid);
	case FEATURE_TOTAL_MEM:
		return append_number(out, "total memory", features->total_memory_kb, " kB");
	case FEATURE_CMDLINE:
		buffer_append_string(out, "# cmdline : ");
		utf8_append_escaped(out, features->cmdline);
		buffer_append_string(out, " \n"); /* perf prints a blank after each word */
		return;
	case FEATURE_CPU_TOPOLOGY:
		return header_append_cpus(out, cursor, features);
	case FEATURE_NUMA_TOPOLOGY:
		return header_append_nodes(out, cursor);
	case FEATURE_PMU_MAPPINGS:
		return header_append_pmus(out, cursor);
	case FEATURE_CACHE:
		return header_append_caches(out, cursor);
	case FEATURE_MEM_TOPOLOGY:
		return header_append_memory(out, cursor);
	case FEATURE_BPF_BTF:
		return header_append_btf(out, cursor);
	case FEATURE_CPU_PMU_CAPS:
		return header_append_cpu_abilities(out, cursor);
	case FEATURE_HYBRID_TOPOLOGY:
		return header_append_hybrid(out, cursor);
	case FEATURE_PMU_CAPS:
		return header_append_pmu_abilities(out, cursor);
	}
}

/* Those that are shown in full only if asked for. */
static bool is_long(unsigned feature)
{
	return feature == FEATURE_CPU_TOPOLOGY || feature == FEATURE_NUMA_TOPOLOGY ||
	       feature == FEATURE_CACHE || feature == FEATURE_MEM_TOPOLOGY ||
	       feature == FEATURE_HYBRID_TOPOLOGY;
}

static void append_feature(struct buffer *out, const struct session *session, unsigned feature,
			   bool full)
{
	const struct perfdata_features *features = perfdata_reader_features(session->reader);
	const struct perfdata_raw *raw = &features->raw[feature];
	struct cursor cursor =
		cursor_make(raw->data, raw->size, perfdata_reader_swap(session->reader));

	if (!raw->data)
		return;
	if (is_long(feature) && !full) {
		buffer_printf(out, "# %s info available, use -I to display\n",
			      feature_names[feature]);
		return;
	}
	append_recording(out, session, feature, &cursor);
	append_machine(out, features, feature, &cursor);
}

void recording_header_append(struct buffer *out, const struct session *session, const char *path,
			     bool full)
{
	const struct perfdata_features *features = perfdata_reader_features(session->reader);

	buffer_append_string(out, "# ========\n");
	if (strcmp(path, "-"))
		append_capture_time(out, path);
	if (features->data_offset) {
		buffer_append_string(out, "# header version : 1\n");
		buffer_printf(out, "# data offset    : %" PRIu64 "\n", features->data_offset);
		buffer_printf(out, "# data size      : %" PRIu64 "\n", features->data_bytes);
		buffer_printf(out, "# feat offset    : %" PRIu64 "\n",
			      features->data_offset + features->data_bytes);
	}
	for (unsigned feature = 0; feature < PERFDATA_RAW_FEATURES; feature++)
		append_feature(out, session, feature, full);
	if (features->data_offset)
		append_missing(out, features);
	buffer_append_string(out, "# ========\n#\n");
}

struct error *recording_header_write(int fd, const struct session *session, const char *path,
				     bool full)
{
	struct output_stream stream;

	output_stream_init(&stream, fd);
	recording_header_append(&stream.buffer, session, path, full);
	return output_stream_finish(&stream);
}
