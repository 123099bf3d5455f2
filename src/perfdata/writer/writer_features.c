/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Features. A finished file has, after its records, a table with the location of each feature
 * section, in the order of their bits, and the sections. What is known before the first sample is
 * also in the stream.
 *
 * Formats: tools/perf/util/header.c, the write_*() functions; perfvisor's own sections:
 * docs/perfvisor-sections.md. Anything that this host does not provide (a CPU description, say) is
 * left out, as in perf. The table has room for every section that this file knows: perf only reads
 * as many entries as there are bits set.
 */
#include <ctype.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/memory.h"
#include "perfdata/section.h"
#include "perfdata/writer/writer_state.h"

#define MAX_SECTION_BYTES (1UL << 30)
#define MAX_CPUINFO_BYTES (64 << 20)
#define BUILD_ID_PATH_BYTES 4096

/* The section being made; PUT functions append to OUT. False: there is nothing to write. */
struct section {
	struct perfdata_writer *writer;
	const struct perfdata_writer_features *features;
	struct buffer out;
};

static void put_string(struct buffer *out, const char *text)
{
	size_t length = strlen(text) + 1;
	size_t padded = (length + FORMAT_STRING_ALIGNMENT - 1) & -FORMAT_STRING_ALIGNMENT;
	void *field;

	buffer_append_u32(out, padded);
	field = buffer_extend(out, padded);
	if (field) {
		memset(field, 0, padded);
		memcpy(field, text, length);
	}
}

static bool put_tracing_data(struct section *section)
{
	buffer_append(&section->out, section->features->tracing_data,
		      section->features->tracing_data_bytes);
	return section->features->tracing_data != NULL;
}

static void put_build_id(struct buffer *out, const struct perfdata_writer_build_id *build_id)
{
	size_t length = strnlen(build_id->path, BUILD_ID_PATH_BYTES - 1);
	size_t padded = (length + FORMAT_STRING_ALIGNMENT) & -FORMAT_STRING_ALIGNMENT;
	struct format_build_id entry = {
		.header = { .misc = build_id->misc | FORMAT_MISC_BUILD_ID_SIZE,
			    .size = sizeof(entry) + padded },
		.pid = build_id->pid,
		.size = build_id->size,
	};
	char *path;

	if (build_id->size > sizeof(entry.bytes))
		return;
	memcpy(entry.bytes, build_id->bytes, build_id->size);
	buffer_append(out, &entry, sizeof(entry));
	path = buffer_extend(out, padded);
	if (path) {
		memset(path, 0, padded);
		memcpy(path, build_id->path, length);
	}
}

void writer_put_build_ids(struct buffer *out, const struct perfdata_writer_build_id *build_ids,
			  size_t first, size_t count)
{
	for (size_t i = first; i < count; i++)
		put_build_id(out, &build_ids[i]);
}

static bool put_build_ids(struct section *section)
{
	writer_put_build_ids(&section->out, section->features->build_ids, 0,
			     section->features->build_id_count);
	return section->features->build_id_count > 0;
}

/* TEXT, unless it is unknown. */
static bool put_known(struct section *section, const char *text)
{
	if (!text || !*text)
		return false;
	put_string(&section->out, text);
	return true;
}

static bool put_hostname(struct section *section)
{
	const struct perfdata_writer_machine *machine = section->features->machine;
	struct utsname name;

	if (machine)
		return put_known(section, machine->hostname);
	if (uname(&name) < 0)
		return false;
	put_string(&section->out, name.nodename);
	return true;
}

static bool put_osrelease(struct section *section)
{
	const struct perfdata_writer_machine *machine = section->features->machine;
	struct utsname name;

	if (machine)
		return put_known(section, machine->osrelease);
	if (uname(&name) < 0)
		return false;
	put_string(&section->out, name.release);
	return true;
}

static bool put_arch(struct section *section)
{
	const struct perfdata_writer_machine *machine = section->features->machine;
	struct utsname name;

	if (machine)
		return put_known(section, machine->arch);
	if (uname(&name) < 0)
		return false;
	put_string(&section->out, name.machine);
	return true;
}

static bool put_version(struct section *section)
{
	put_string(&section->out, "perfvisor " PERFVISOR_VERSION);
	return true;
}

static bool put_cpu_counts(struct section *section)
{
	const struct perfdata_writer_machine *machine = section->features->machine;

	if (machine) {
		buffer_append_u32(&section->out, machine->cpus);
		buffer_append_u32(&section->out, machine->cpus);
		return machine->cpus > 0;
	}
	buffer_append_u32(&section->out, sysconf(_SC_NPROCESSORS_CONF));
	buffer_append_u32(&section->out, sysconf(_SC_NPROCESSORS_ONLN));
	return true;
}

/* The value of the first line "NAME : value" of /proc/cpuinfo, or NULL; owned by the caller. */
static char *find_cpuinfo(const char *cpuinfo, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = cpuinfo; line; line = strchr(line, '\n')) {
		const char *rest;

		line += *line == '\n';
		if (strncmp(line, name, length) != 0)
			continue;
		rest = line + length + strspn(line + length, " \t");
		if (*rest != ':')
			continue;
		rest += 1 + strspn(rest + 1, " \t");
		return memory_strndup(rest, strcspn(rest, "\n"));
	}
	return NULL;
}

/* Collapses runs of spaces: brand strings are padded on both sides. */
static void squeeze_spaces(char *text)
{
	char *out = text;

	for (const char *in = text; *in; in++) {
		if (!isspace((unsigned char)*in) ||
		    (out > text && out[-1] != ' ' && in[1] && !isspace((unsigned char)in[1])))
			*out++ = isspace((unsigned char)*in) ? ' ' : *in;
	}
	*out = 0;
}

/* /proc/cpuinfo as a string, "" if it cannot be read; initialises RET. */
static const char *read_cpuinfo(struct buffer *ret)
{
	buffer_init(ret, MAX_CPUINFO_BYTES);
	error_destroy(file_read("/proc/cpuinfo", ret));
	return ret->size ? (const char *)ret->data : "";
}

static bool put_cpu_description(struct section *section)
{
	/* x86 and others, MIPS, 32-bit arm, ppc. */
	static const char *const names[] = { "model name", "cpu model", "Processor", "cpu" };
	_cleanup_free_ char *description = NULL;
	_cleanup_buffer_ struct buffer buffer;
	const char *cpuinfo = read_cpuinfo(&buffer);

	if (section->features->machine)
		return put_known(section, section->features->machine->cpudesc);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !description; i++)
		description = find_cpuinfo(cpuinfo, names[i]);
	if (!description)
		return false;
	squeeze_spaces(description);
	put_string(&section->out, description);
	return true;
}

/*
 * perf's form for x86: vendor,family,model,stepping. /proc/cpuinfo does not show those of other
 * ISAs.
 */
static bool put_cpu_id(struct section *section)
{
	_cleanup_buffer_ struct buffer buffer;
	const char *cpuinfo = read_cpuinfo(&buffer);
	_cleanup_free_ char *vendor = find_cpuinfo(cpuinfo, "vendor_id");
	_cleanup_free_ char *family = find_cpuinfo(cpuinfo, "cpu family");
	_cleanup_free_ char *model = find_cpuinfo(cpuinfo, "model");
	_cleanup_free_ char *stepping = find_cpuinfo(cpuinfo, "stepping");
	_cleanup_free_ char *id = NULL;

	if (section->features->machine)
		return put_known(section, section->features->machine->cpuid);
	if (!vendor || !family || !model || !stepping)
		return false;
	id = memory_printf("%s,%s,%s,%s", vendor, family, model, stepping);
	put_string(&section->out, id);
	return true;
}

static bool put_total_memory(struct section *section)
{
	const struct perfdata_writer_machine *machine = section->features->machine;
	struct sysinfo info;

	if (machine) {
		buffer_append_u64(&section->out, machine->memory_kb);
		return machine->memory_kb > 0;
	}
	if (sysinfo(&info) < 0)
		return false;
	buffer_append_u64(&section->out, (uint64_t)info.totalram * info.mem_unit / 1024);
	return true;
}

static bool put_command_line(struct section *section)
{
	buffer_append_u32(&section->out, section->features->argc);
	for (int i = 0; i < section->features->argc; i++)
		put_string(&section->out, section->features->argv[i]);
	return section->features->argc > 0;
}

static bool put_events(struct section *section)
{
	const struct perfdata_writer *writer = section->writer;

	buffer_append_u32(&section->out, writer->event_count);
	buffer_append_u32(&section->out, writer->attr_bytes);
	for (size_t i = 0; i < writer->event_count; i++) {
		const struct perfdata_event *event = &writer->events[i];

		writer_put_attr(writer, &event->attr, &section->out);
		buffer_append_u32(&section->out, event->id_count);
		put_string(&section->out, event->name);
		for (size_t j = 0; j < event->id_count; j++)
			buffer_append_u64(&section->out, event->ids[j].id);
	}
	return true;
}

static bool put_groups(struct section *section)
{
	const struct perfdata_writer *writer = section->writer;
	uint32_t count = 0;

	for (size_t i = 0; i < writer->event_count; i++)
		count += writer->events[i].group_size > 1;
	buffer_append_u32(&section->out, count);
	for (size_t i = 0; i < writer->event_count; i++) {
		const struct perfdata_event *event = &writer->events[i];

		if (event->group_size < 2)
			continue;
		put_string(&section->out,
			   event->group_name ? event->group_name : FORMAT_GROUP_WITHOUT_NAME);
		buffer_append_u32(&section->out, i);
		buffer_append_u32(&section->out, event->group_size);
	}
	return count > 0;
}

static bool put_sample_time(struct section *section)
{
	buffer_append_u64(&section->out, section->writer->first_sample_ns);
	buffer_append_u64(&section->out, section->writer->last_sample_ns);
	return section->writer->first_sample_ns <= section->writer->last_sample_ns;
}

static bool put_clock(struct section *section)
{
	const struct perfdata_writer_clock *clock = section->features->clock;

	if (clock)
		buffer_append_u64(&section->out, clock->resolution_ns);
	return clock;
}

static bool put_clock_data(struct section *section)
{
	const struct perfdata_writer_clock *clock = section->features->clock;

	if (!clock)
		return false;
	buffer_append_u32(&section->out, FORMAT_CLOCK_DATA_VERSION);
	buffer_append_u32(&section->out, clock->id);
	buffer_append_u64(&section->out, clock->wall_ns);
	buffer_append_u64(&section->out, clock->clock_ns);
	return true;
}

static bool put_compression(struct section *section)
{
	if (section->writer->compress)
		writer_put_compression(section->writer->compress, &section->out);
	return section->writer->compress;
}

static bool put_inventory(struct section *section)
{
	if (!section->features->inventory)
		return false;
	perfdata_inventory_encode(section->features->inventory, &section->out);
	return true;
}

/* In the order of the bits, as required for the table in the file. */
static const struct {
	enum format_feature bit;
	bool (*put)(struct section *section);
	bool early; /* known before the first sample */
} section_kinds[] = {
	{ FEATURE_TRACING_DATA, put_tracing_data, true },
	{ FEATURE_BUILD_ID, put_build_ids },
	{ FEATURE_HOSTNAME, put_hostname, true },
	{ FEATURE_OSRELEASE, put_osrelease, true },
	{ FEATURE_VERSION, put_version, true },
	{ FEATURE_ARCH, put_arch, true },
	{ FEATURE_NRCPUS, put_cpu_counts, true },
	{ FEATURE_CPUDESC, put_cpu_description, true },
	{ FEATURE_CPUID, put_cpu_id, true },
	{ FEATURE_TOTAL_MEM, put_total_memory, true },
	{ FEATURE_CMDLINE, put_command_line, true },
	{ FEATURE_EVENT_DESC, put_events },
	{ FEATURE_GROUP_DESC, put_groups, true },
	{ FEATURE_SAMPLE_TIME, put_sample_time },
	{ FEATURE_CLOCKID, put_clock, true },
	{ FEATURE_COMPRESSED, put_compression, true },
	{ FEATURE_CLOCK_DATA, put_clock_data, true },
	{ FEATURE_INVENTORY, put_inventory },
};
#define SECTION_KINDS (sizeof(section_kinds) / sizeof(*section_kinds))

/* Writes the section in SECTION's buffer at *OFFSET, and moves *OFFSET past it. */
static struct error *write_section(struct section *section, enum format_feature bit,
				   uint64_t *offset, struct format_section *ret)
{
	struct error *error;

	if (section->out.overflow)
		return error_create(ERROR_UNSUPPORTED,
				    "section %d of '%s' is larger than %lu bytes", bit,
				    section->writer->path, MAX_SECTION_BYTES);
	error = writer_write_at(section->writer, *offset, section->out.data, section->out.size);
	if (error)
		return error;
	*ret = (struct format_section){ .offset = *offset, .size = section->out.size };
	*offset += section->out.size;
	*offset += -*offset % SECTION_ALIGNMENT;
	return NULL;
}

struct error *writer_begin_features(struct perfdata_writer *writer,
				    const struct perfdata_writer_features *features)
{
	struct error *error = NULL;

	for (size_t i = 0; i < SECTION_KINDS && !error; i++) {
		struct section section = { .writer = writer, .features = features };
		enum format_feature bit = section_kinds[i].bit;

		if (!section_kinds[i].early)
			continue;
		buffer_init(&section.out, MAX_SECTION_BYTES);
		if (section_kinds[i].put(&section))
			error = writer->pipe ? writer_pipe_feature(writer, bit, section.out.data,
								   section.out.size)
					     : writer_note(writer, bit, section.out.data,
							   section.out.size);
		buffer_deinit(&section.out);
	}
	return error;
}

struct error *writer_end_features(struct perfdata_writer *writer,
				  const struct perfdata_writer_features *features)
{
	struct section section = { .writer = writer, .features = features };
	struct error *error = perfdata_writer_build_ids(writer, features->build_ids,
							features->build_id_count);

	buffer_init(&section.out, MAX_SECTION_BYTES);
	if (!error && put_sample_time(&section))
		error = writer_pipe_feature(writer, FEATURE_SAMPLE_TIME, section.out.data,
					    section.out.size);
	buffer_deinit(&section.out);
	return error;
}

struct error *writer_write_features(struct perfdata_writer *writer,
				    const struct perfdata_writer_features *features,
				    uint64_t ret_bits[FORMAT_FEATURE_BITS / 64])
{
	struct format_section table[SECTION_KINDS] = { 0 };
	uint64_t bits[FORMAT_FEATURE_BITS / 64] = { 0 };
	uint64_t offset = writer_data_end(writer) + sizeof(table);
	size_t count = 0;
	struct error *error;

	offset += -offset % SECTION_ALIGNMENT;
	for (size_t i = 0; i < SECTION_KINDS; i++) {
		struct section section = { .writer = writer, .features = features };
		enum format_feature bit = section_kinds[i].bit;
		bool there;

		buffer_init(&section.out, MAX_SECTION_BYTES);
		there = section_kinds[i].put(&section);
		error = there ? write_section(&section, bit, &offset, &table[count]) : NULL;
		buffer_deinit(&section.out);
		if (error)
			return error;
		count += there;
		bits[bit / 64] |= (uint64_t)there << bit % 64;
	}
	error = writer_write_at(writer, writer_data_end(writer), table, sizeof(table));
	if (!error)
		memcpy(ret_bits, bits, sizeof(bits));
	return error;
}
