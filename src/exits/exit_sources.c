/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86's kvm_exit says which of the two it is in its field isa (KVM_ISA_VMX, KVM_ISA_SVM), which
 * kernels before 2.6.36 do not have; then the recording's CPU decides, as in perf.
 */
#include "exits/exit_sources.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/memory.h"
#include "tracepoint/formats.h"

static const struct known {
	const char *name;
	enum exit_role role;
	enum exit_isa isa;
	/* Names of fields; NULL: none. It must have key, or else ip. */
	const char *key, *info, *ip, *vcpu;
} known[] = {
	{ "kvm_exit", EXIT_OF_GUEST, EXIT_ISA_X86, "exit_reason", "isa", "guest_rip", "vcpu_id" },
	{ "kvm_exit", EXIT_OF_GUEST, EXIT_ISA_ARM64, "ret", "esr_ec", "vcpu_pc", NULL },
	{ "kvm_guest_exit", EXIT_OF_GUEST, EXIT_ISA_PPC64, "trap", NULL, "pc", "vcpu_id" },
	{ "kvm_entry", EXIT_ENTRY, EXIT_ISA_X86, "vcpu_id", NULL, NULL, "vcpu_id" },
	{ "kvm_entry", EXIT_ENTRY, EXIT_ISA_ARM64, "vcpu_pc", NULL, NULL, NULL },
	{ "kvm_guest_enter", EXIT_ENTRY, EXIT_ISA_PPC64, "pc", NULL, NULL, "vcpu_id" },
	{ "kvm_mmio", EXIT_MMIO, EXIT_ISA_NONE, "gpa", "type", NULL, NULL },
	{ "kvm_pio", EXIT_PORT, EXIT_ISA_X86, "port", "rw", NULL, NULL },
	{ "kvm_msr", EXIT_MSR, EXIT_ISA_X86, "ecx", "write", NULL, NULL },
	{ "kvm_hypercall", EXIT_HYPERCALL, EXIT_ISA_X86, "nr", NULL, NULL, NULL },
	{ "kvm_hvc_arm64", EXIT_HYPERCALL, EXIT_ISA_ARM64, "r0", NULL, "vcpu_pc", NULL },
	{ "kvm_hcall_enter", EXIT_HYPERCALL, EXIT_ISA_PPC64, "req", NULL, NULL, "vcpu_id" },
	{ "kvm_hcall_exit", EXIT_HYPERCALL_END, EXIT_ISA_PPC64, "ret", NULL, NULL, "vcpu_id" },
};

struct source {
	const struct known *known; /* NULL: the event is none of them */
	const struct trace_field *key, *info, *ip, *vcpu;
};

struct exit_sources {
	struct trace_formats *formats;
	struct source *items; /* by index of the event */
	size_t count;
	enum exit_isa x86; /* of this recording's CPU */
};

static const struct trace_field *find_field(const struct trace_format *format, const char *name)
{
	return name ? trace_format_find(format, name, strlen(name)) : NULL;
}

static struct source find_source(const struct trace_format *format)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		const struct known *row = &known[i];
		struct source source = { row, find_field(format, row->key),
					 find_field(format, row->info),
					 find_field(format, row->ip),
					 find_field(format, row->vcpu) };

		if (!strcmp(format->name, row->name) && source.key)
			return source;
	}
	return (struct source){ 0 };
}

static enum exit_isa x86_of(const char *cpuid)
{
	if (strstr(cpuid, "Intel") || strstr(cpuid, "Zhaoxin") || strstr(cpuid, "CentaurHauls"))
		return EXIT_ISA_VMX;
	return strstr(cpuid, "AMD") || strstr(cpuid, "Hygon") ? EXIT_ISA_SVM : EXIT_ISA_X86;
}

static struct error *no_exits(const char *missing)
{
	return error_hint(error_create(ERROR_BAD_DATA, "the recording has no %s of guests",
				       missing),
			  "'perfvisor stat record' and 'perf kvm stat record' record them");
}

static struct error *find_sources(struct exit_sources *sources, const struct session *session)
{
	for (size_t i = 0; i < sources->count; i++) {
		const struct perf_event_attr *attr = session->attrs[i];
		const struct trace_format *format =
			attr->type == PERF_TYPE_TRACEPOINT
				? trace_formats_find(sources->formats, attr->config)
				: NULL;

		if (format)
			sources->items[i] = find_source(format);
	}
	if (!exit_sources_have(sources, EXIT_OF_GUEST))
		return no_exits("exits");
	return exit_sources_have(sources, EXIT_ENTRY) ? NULL : no_exits("entries");
}

static bool has_tracepoints(const struct session *session)
{
	for (size_t i = 0; i < perfdata_reader_event_count(session->reader); i++)
		if (session->attrs[i]->type == PERF_TYPE_TRACEPOINT)
			return true;
	return false;
}

struct error *exit_sources_create(const struct session *session, struct exit_sources **ret)
{
	const struct perfdata_features *features = perfdata_reader_features(session->reader);
	_cleanup_exit_sources_ struct exit_sources *sources = NULL;
	struct trace_formats *formats;
	struct error *error;

	if (!has_tracepoints(session))
		return no_exits("exits");
	if (!features->tracing_data_bytes)
		return error_create(ERROR_BAD_DATA,
				    "the recording has tracepoints but not their formats");
	formats = trace_formats_create(features->tracing_data, features->tracing_data_bytes);
	if (!formats)
		return error_create(ERROR_BAD_DATA,
				    "the recording's tracepoint formats are malformed");
	sources = memory_calloc(1, sizeof(*sources));
	sources->formats = formats;
	sources->count = perfdata_reader_event_count(session->reader);
	sources->items = memory_calloc(sources->count, sizeof(*sources->items));
	sources->x86 = x86_of(features->cpuid);
	error = find_sources(sources, session);
	if (!error)
		*ret = take_pointer(sources);
	return error;
}

void exit_sources_destroy(struct exit_sources *sources)
{
	if (!sources)
		return;
	trace_formats_destroy(sources->formats);
	free(sources->items);
	free(sources);
}

bool exit_sources_have(const struct exit_sources *sources, enum exit_role role)
{
	for (size_t i = 0; i < sources->count; i++)
		if (sources->items[i].known && sources->items[i].known->role == role)
			return true;
	return false;
}

/* The value of FIELD, 0 if it is NULL. False: it is outside of the data. */
static bool read_field(const struct trace_field *field, const struct trace_payload *payload,
		       uint64_t *ret)
{
	*ret = 0;
	return !field || trace_field_number(field, payload, ret);
}

static enum exit_isa isa_of(const struct exit_sources *sources, const struct source *source,
			    uint64_t info)
{
	if (source->known->isa != EXIT_ISA_X86)
		return source->known->isa;
	if (source->known->role != EXIT_OF_GUEST || !source->info)
		return sources->x86;
	return info == 1 ? EXIT_ISA_VMX : info == 2 ? EXIT_ISA_SVM : EXIT_ISA_X86;
}

bool exit_sources_read(const struct exit_sources *sources, const struct session_sample *sample,
		       struct exit_hit *ret)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	const struct source *source;
	struct trace_payload payload;
	uint64_t vcpu;

	if (!sample->valid || !fields->raw || sample->decoded.event_index >= sources->count)
		return false;
	source = &sources->items[sample->decoded.event_index];
	if (!source->known)
		return false;
	payload = trace_formats_payload(sources->formats, fields->raw, fields->raw_bytes);
	if (!read_field(source->key, &payload, &ret->key) ||
	    !read_field(source->info, &payload, &ret->info) ||
	    !read_field(source->ip, &payload, &ret->ip) ||
	    !read_field(source->vcpu, &payload, &vcpu))
		return false;
	ret->role = source->known->role;
	ret->isa = isa_of(sources, source, ret->info);
	ret->vcpu = source->vcpu ? (uint32_t)vcpu : EXIT_NO_VCPU;
	if (ret->role == EXIT_OF_GUEST && ret->isa != EXIT_ISA_ARM64)
		ret->info = 0; /* isa was read from it */
	return true;
}
