/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens a recording: reads everything in it except the samples (session_events.c), and gives each
 * guest its name and the symbols of its kernels (session_kernels.c).
 */
#include "session/session.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/memory.h"
#include "perfdata/guest_mode.h"
#include "perfdata/record.h"
#include "session/live/live_session.h"
#include "session/session_events.h"
#include "session/session_private.h"

/* tools/lib/perf/include/perf/event.h: a filter has dropped them, so they are not lost */
#define MISC_LOST_SAMPLES_BPF (1 << 15)
/* A recording may be larger than memory: release data after so many records. */
#define RELEASE_RECORDS 4096
/* Some seconds; names after that stay mangled. No real program comes near. */
#define DEMANGLE_BUDGET ((uint64_t)1 << 33)

struct machine *session_find_machine(const struct session *session, uint32_t pid)
{
	const uint64_t *place = map_find(&session->machine_by_pid, pid);

	return place ? session->machines.items[*place] : NULL;
}

/* The VM's name in the inventory, or else the name and pid of the VMM's process. */
static const char *machine_name(struct session *session, uint32_t pid)
{
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(session->reader);
	const struct perfdata_vm *vm = inventory ? perfdata_inventory_find(inventory, pid) : NULL;
	_cleanup_free_ char *made = NULL;
	struct timeline_span vmm;

	if (!pid)
		return MACHINE_HOST_NAME;
	if (vm)
		return intern_string(session->strings, intern_text(session->strings, vm->name));
	vmm = timeline_find(&session->machines.items[0]->timeline, pid, pid, SPACE_FOREVER);
	if (vmm.final_comm == TIMELINE_NO_COMM)
		made = memory_printf("vm-%u", pid);
	else
		made = memory_printf("%s-%u", intern_string(session->strings, vmm.final_comm), pid);
	return intern_string(session->strings, intern_text(session->strings, made));
}

void session_describe_machine(struct session *session, struct machine *machine)
{
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(session->reader);

	machine->name = machine_name(session, machine->pid);
	/*
	 * Without an inventory: if something added threads to the guest, they are meant to be used.
	 */
	if (machine_is_guest(machine))
		machine->processes = inventory ? inventory->guest_processes
					       : machine->timeline.threads.count > 0;
	session->guest_processes |= machine->processes;
}

/* Fills in what is only known after reading the whole recording. */
static void complete_machine(struct session *session, struct machine *machine)
{
	session_describe_machine(session, machine);
	session_list_kernels(session, machine);
}

struct machine *session_machine(struct session *session, uint32_t pid)
{
	bool added;
	uint64_t *place = map_insert(&session->machine_by_pid, pid, &added);
	struct machine *machine;

	if (!added)
		return session->machines.items[*place];
	*place = session->machines.count;
	machine = memory_calloc(1, sizeof(*machine));
	machine->pid = pid;
	timeline_init(&machine->timeline, session->arena, &session->space_numbers);
	space_init(&machine->kernel, session->space_numbers++);
	space_init(&machine->nowhere, session->space_numbers++);
	space_init(&machine->own_kernels.times, session->space_numbers++);
	machine->kernels = &machine->own_kernels;
	vector_append(&session->machines, machine);
	if (session->all_read)
		complete_machine(session, machine);
	return machine;
}

struct machine *session_record_machine(struct session *session,
				       const struct perfdata_record *record,
				       const struct perfdata_decoded *trailer, uint32_t pid)
{
	if (!cpumode_is_guest(record->misc & PERF_RECORD_MISC_CPUMODE_MASK))
		return session->machines.items[0];
	if (trailer->id && trailer->id->machine_pid)
		return session_machine(session, trailer->id->machine_pid);
	return session_machine(session, pid != UINT32_MAX ? pid : 0);
}

static void machine_destroy(struct machine *machine)
{
	timeline_deinit(&machine->timeline);
	space_deinit(&machine->kernel);
	space_deinit(&machine->nowhere);
	machine_kernels_deinit(&machine->own_kernels);
	symbol_table_destroy(machine->kernel_owned);
	free(machine->kernel_note);
	free(machine->module_note);
	free(machine);
}

void session_close(struct session *session)
{
	if (!session)
		return;
	for (size_t i = 0; i < session->machines.count; i++)
		machine_destroy(session->machines.items[i]);
	vector_deinit(&session->machines);
	map_deinit(&session->machine_by_pid);
	map_deinit(&session->lost_by_vm);
	map_deinit(&session->build_ids);
	free(session->attrs);
	space_deinit(&session->nested);
	guest_files_deinit(&session->guest_files);
	group_reads_deinit(&session->group_reads);
	kernel_loader_deinit(&session->kernel_loader);
	source_lines_destroy(session->source_lines);
	dsos_deinit(&session->dsos);
	machine_kernels_deinit(&session->shared_kernels);
	vector_deinit(&session->kernels_by_pid);
	for (size_t i = 0; i < session->same_kernels.count; i++)
		symbol_table_destroy(session->same_kernels.items[i]);
	vector_deinit(&session->same_kernels);
	map_deinit(&session->same_kernel_at);
	symbol_table_destroy(session->shared_guest_table);
	for (size_t i = 0; i < session->retired.count; i++)
		symbol_table_destroy(session->retired.items[i]);
	vector_deinit(&session->retired);
	error_destroy(session->symbols_error);
	pthread_mutex_destroy(&session->lock);
	intern_destroy(session->strings);
	arena_destroy(session->arena);
	perfdata_reader_close(session->reader);
	free(session);
}

static bool counts_events(const struct perfdata_reader *reader)
{
	for (size_t i = 0; i < perfdata_reader_event_count(reader); i++)
		if (perfdata_reader_event(reader, i)->attr.read_format & PERF_FORMAT_LOST)
			return true;
	return false;
}

/*
 * With PERF_FORMAT_LOST, perf (6.1) writes LOST_SAMPLES at the end: how many records of each event
 * were lost, which are the same that the rings' LOST records have reported before
 * (record__read_lost_samples() in tools/perf/builtin-record.c; __perf_output_begin() in the kernel
 * counts for both). A recorder that was killed has not written them: the larger sum counts.
 */
bool session_count_lost(const struct session *session, const struct perfdata_record *record,
			struct session_losses *losses, uint64_t *ret)
{
	bool by_event = record->type == PERF_RECORD_LOST_SAMPLES;
	uint64_t lost;

	*ret = 0;
	if (!perfdata_record_lost(record, perfdata_reader_swap(session->reader), &lost))
		return false;
	if (by_event && (record->misc & MISC_LOST_SAMPLES_BPF))
		return true;
	if (counts_events(session->reader)) {
		uint64_t *sum = &losses->sums[by_event];

		*sum += lost;
		lost = *sum > losses->counted ? *sum - losses->counted : 0;
	}
	losses->counted += lost;
	*ret = lost;
	return true;
}

bool session_take_lost(struct session *session, const struct perfdata_record *record,
		       uint32_t vm_pid)
{
	uint64_t lost;

	if (!session_count_lost(session, record, &session->losses, &lost))
		return false;
	session->lost += lost;
	*map_insert(&session->lost_by_vm, vm_pid, NULL) += lost;
	return true;
}

uint32_t session_guest_pid(const struct perfdata_decoded *decoded)
{
	uint32_t pid = decoded->id && decoded->id->machine_pid ? decoded->id->machine_pid
							       : decoded->sample.pid;

	return pid == UINT32_MAX ? 0 : pid;
}

void session_doubt_modes(struct session *session)
{
	const struct perfdata_features *features = perfdata_reader_features(session->reader);

	session->modes_doubtful =
		!perfdata_reader_inventory(session->reader) &&
		perfdata_guest_mode_doubtful(features->osrelease, features->arch);
	session->modes_corrected = 0;
	for (size_t i = 0; session->modes_doubtful && i < session->machines.count; i++) {
		const struct machine *machine = session->machines.items[i];

		session->modes_corrected += machine->user_high +
					    (machine->high_kernel ? machine->kernel_low : 0);
	}
}

void session_complete_machines(struct session *session)
{
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(session->reader);

	for (size_t i = 0; inventory && i < inventory->vms.count; i++)
		session_machine(session, inventory->vms.items[i].pid);
	for (size_t i = 0; i < session->machines.count; i++)
		complete_machine(session, session->machines.items[i]);
	session_doubt_modes(session);
	session->all_read = true;
}

void session_list_events(struct session *session)
{
	size_t count = perfdata_reader_event_count(session->reader);

	session->attrs = memory_resize(session->attrs, count + 1, sizeof(*session->attrs));
	for (; session->event_count < count; session->event_count++)
		session->attrs[session->event_count] =
			&perfdata_reader_event(session->reader, session->event_count)->attr;
}

struct session *session_create(struct perfdata_reader *reader,
			       const struct kernel_source_options *options)
{
	struct session *session = memory_calloc(1, sizeof(*session));

	session->reader = reader;
	/* The lock is held for less time than a thread takes to sleep and wake up. */
	session->lock = (pthread_mutex_t)PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
	session->arena = arena_create();
	session->strings = intern_create();
	session->guest_symbols = *options;
	session->demangle_budget = DEMANGLE_BUDGET;
	dsos_init(&session->dsos, session->strings);
	map_init(&session->machine_by_pid);
	map_init(&session->lost_by_vm);
	map_init(&session->build_ids);
	map_init(&session->same_kernel_at);
	guest_files_init(&session->guest_files);
	group_reads_init(&session->group_reads);
	space_init(&session->nested, session->space_numbers++);
	space_init(&session->shared_kernels.times, session->space_numbers++);
	session->nested_dso = dsos_add_symbol(&session->dsos, SESSION_NESTED_NAME);
	session_machine(session, 0);
	session->dsos.recording = perfdata_reader_directory(session->reader);
	return session;
}

struct error *session_open_reader(struct perfdata_reader *reader,
				  const struct kernel_source_options *options,
				  struct session **ret)
{
	_cleanup_session_ struct session *session = session_create(reader, options);
	struct error *error = session_events_read(session);

	if (error)
		return error;
	session_complete_machines(session);
	session_list_events(session);
	session_rewind(session);
	*ret = take_pointer(session);
	return NULL;
}

struct error *session_open(const char *path, const struct kernel_source_options *options,
			   struct session **ret)
{
	struct perfdata_reader *reader;
	struct error *error = perfdata_reader_open(path, &reader);

	return error ? error : session_open_reader(reader, options, ret);
}

void session_rewind(struct session *session)
{
	perfdata_reader_rewind(session->reader);
	session->sequence = 0;
	group_reads_deinit(&session->group_reads);
	group_reads_init(&session->group_reads);
}

static void correct_mode(const struct session *session, struct perfdata_decoded *decoded)
{
	struct perfdata_sample *sample = &decoded->sample;
	const struct machine *machine =
		session_find_machine(session, session_guest_pid(decoded));

	if (machine && sample->ip)
		sample->misc = perfdata_guest_mode_at(sample->misc, sample->ip,
						      machine->high_kernel);
}

/* perf's defaults for samples without these fields (evsel__parse_sample()). */
static void fill_defaults(const struct session *session, struct perfdata_decoded *decoded)
{
	const struct perf_event_attr *attr = session->attrs[decoded->event_index];

	if (!(attr->sample_type & PERF_SAMPLE_PERIOD))
		decoded->sample.period = attr->sample_period;
	if (!(attr->sample_type & PERF_SAMPLE_TID))
		decoded->sample.pid = decoded->sample.tid = UINT32_MAX;
	if (session->modes_doubtful)
		correct_mode(session, decoded);
}

static void decode(const struct session *session, struct perfdata_reader *reader,
		   const struct perfdata_record *record, struct session_sample *ret)
{
	ret->valid = perfdata_reader_decode(reader, record, &ret->decoded);
	if (ret->valid)
		fill_defaults(session, &ret->decoded);
	ret->time = session->timed ? ret->decoded.sample.time_ns : session->sequence;
}

void session_decode(struct session *session, const struct perfdata_record *record,
		    struct session_sample *ret)
{
	decode(session, session->reader, record, ret);
}

enum perfdata_status session_next_record(struct session *session, struct perfdata_record *ret)
{
	enum perfdata_status status;

	if (++session->sequence % RELEASE_RECORDS == 0)
		perfdata_reader_release(session->reader);
	status = perfdata_reader_next(session->reader, ret);
	if (session->live && status == PERFDATA_RECORD)
		live_session_note(session, ret);
	return status;
}

enum perfdata_status session_next_sample(struct session *session, struct session_sample *ret)
{
	struct perfdata_record record;

	while (!group_reads_next(&session->group_reads, session->reader, ret)) {
		enum perfdata_status status;

		do {
			status = session_next_record(session, &record);
			if (status != PERFDATA_RECORD)
				return status;
		} while (record.type != PERF_RECORD_SAMPLE);
		session_decode(session, &record, ret);
		if (!group_reads_begin(&session->group_reads, ret))
			break;
	}
	return PERFDATA_RECORD;
}

enum perfdata_status session_next_plain(struct session *session, struct session_sample *ret)
{
	/* Without times, the record's number is its time, so none may be skipped. */
	if (!session->timed || session->group_reads.open ||
	    !perfdata_reader_next_plain(session->reader, &ret->decoded))
		return session_next_sample(session, ret);
	if (++session->sequence % RELEASE_RECORDS == 0)
		perfdata_reader_release(session->reader);
	fill_defaults(session, &ret->decoded);
	ret->time = ret->decoded.sample.time_ns;
	ret->valid = true;
	return PERFDATA_RECORD;
}

/* Values in samples are told from those before them. */
static bool has_reads(const struct session *session)
{
	for (size_t i = 0; i < perfdata_reader_event_count(session->reader); i++)
		if (session->attrs[i]->sample_type & PERF_SAMPLE_READ)
			return true;
	return false;
}

size_t session_part_count(const struct session *session)
{
	if (!session->timed || session->damaged || has_reads(session))
		return 0;
	return perfdata_reader_part_count(session->reader);
}

enum perfdata_status session_next_in_part(const struct session *session,
					  struct perfdata_reader *part,
					  struct session_sample *ret)
{
	struct perfdata_record record;
	enum perfdata_status status;

	if (perfdata_reader_next_plain(part, &ret->decoded)) {
		fill_defaults(session, &ret->decoded);
		ret->time = ret->decoded.sample.time_ns;
		ret->valid = true;
		return PERFDATA_RECORD;
	}
	do {
		status = perfdata_reader_next(part, &record);
		if (status != PERFDATA_RECORD)
			return status;
	} while (record.type != PERF_RECORD_SAMPLE);
	decode(session, part, &record, ret);
	return PERFDATA_RECORD;
}

/* The key of PATH in the machine MACHINE_PID, 0: the host. */
static uint64_t build_id_key(uint32_t path, uint32_t machine_pid)
{
	return (uint64_t)machine_pid << 32 | path;
}

static void list_build_ids(struct session *session)
{
	const struct perfdata_features *features = perfdata_reader_features(session->reader);

	session->build_ids_listed = true;
	for (size_t i = 0; i < features->build_id_count; i++) {
		const struct perfdata_build_id *build_id = &features->build_ids[i];
		uint32_t path = intern_text(session->strings, build_id->path);
		uint32_t pid = cpumode_is_guest(build_id->misc) ? build_id->pid : 0;

		*map_insert(&session->build_ids, build_id_key(path, pid), NULL) = i;
	}
}

void session_set_build_id(struct session *session, struct dso_entry *entry)
{
	const struct perfdata_build_id *found;
	const uint64_t *place;

	if (!session->build_ids_listed)
		list_build_ids(session);
	place = map_find(&session->build_ids, build_id_key(entry->path, entry->guest));
	if (!place)
		return;
	found = &perfdata_reader_features(session->reader)->build_ids[*place];
	if (found->size > sizeof(entry->build_id))
		return;
	memcpy(entry->build_id, found->bytes, found->size);
	entry->build_id_bytes = found->size;
}
