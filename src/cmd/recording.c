/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens a recording for a command, and reports what is wrong with it. */
#include "cmd/recording.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "symbol/table_cache.h"
#include "session/user_chain.h"
#include "symbol/downloads.h"
#include "walls/cage_keeper.h"
#include "walls/walls.h"

#define WALLS_READ_SYMBOLS 4 /* how many files options name */
#define NOTES_SHOWN 3 /* how many VMs, or files, that lack the same are named */
#define NAMES_MAX_BYTES 65536

static bool is_newer(const struct stat *left, const struct stat *right)
{
	if (left->st_mtim.tv_sec != right->st_mtim.tv_sec)
		return left->st_mtim.tv_sec > right->st_mtim.tv_sec;
	return left->st_mtim.tv_nsec > right->st_mtim.tv_nsec;
}

const char *recording_find(void)
{
	static const char *const names[] = { "perf.data.guest", "perf.data.kvm", "perf.data.host",
					     "perf.data" };
	const char *newest = NULL;
	struct stat status, newest_status;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (stat(names[i], &status) || (newest && !is_newer(&status, &newest_status)))
			continue;
		newest = names[i];
		newest_status = status;
	}
	return newest;
}

const char *recording_input(const char *input)
{
	struct stat status;

	if (input)
		return input;
	return !fstat(STDIN_FILENO, &status) && S_ISFIFO(status.st_mode) ? "-" : recording_find();
}

static struct error *raise_walls(const char *const *inputs, size_t count,
				 const struct kernel_source_options *symbols, const char *folder,
				 bool terminal)
{
	_cleanup_free_ char *cache = table_cache_folder(true);
	struct walls needs = {
		.read = { symbols->guestkallsyms, symbols->guestmodules, symbols->guestvmlinux,
			  symbols->guestmount },
		.cache = cache, /* NULL if it cannot be made: then there is none */
		.folder = folder,
		.terminal = terminal,
	};
	struct error *error = cage_keeper_start();

	if (!error)
		error = downloads_start();
	for (size_t i = 0; i < count && i + WALLS_READ_SYMBOLS < WALLS_READ_MAX; i++)
		needs.read[WALLS_READ_SYMBOLS + i] = recording_input(inputs[i]);
	return error ? error : walls_raise(&needs);
}

struct error *recording_raise_walls(const char *const *inputs, size_t count,
				    const struct kernel_source_options *symbols, const char *folder)
{
	return raise_walls(inputs, count, symbols, folder, false);
}

struct error *recording_raise_walls_to_browse(const char *input,
					      const struct kernel_source_options *symbols)
{
	return raise_walls(&input, 1, symbols, NULL, true);
}

struct error *recording_open(const char *input, const struct kernel_source_options *symbols,
			     const char **ret_path, struct session **ret)
{
	const char *path = recording_input(input);
	struct error *error;

	if (!path)
		return error_hint(error_create(ERROR_NOT_FOUND,
					       "there is no recording in this folder"),
				  "'perfvisor record' makes one; -i says which file to read");
	error = kernel_source_check(symbols);
	if (error)
		return error;
	memory_keep_freed();
	error = session_open(path, symbols, ret);
	if (error)
		return error;
	*ret_path = path;
	return NULL;
}

/* " at 2026-11-23 03:40:12, 15.8 s after it began", "" if unknown; the caller frees it. */
static char *describe_cut(uint64_t begin_ns, uint64_t end_ns)
{
	time_t seconds = end_ns / 1000000000;
	struct tm local;
	char when[32];

	if (!end_ns || !localtime_r(&seconds, &local) ||
	    !strftime(when, sizeof(when), "%F %T", &local))
		return memory_strdup("");
	return memory_printf(" at %s, %.1f s after it began", when,
			     end_ns > begin_ns ? (end_ns - begin_ns) / 1e9 : 0);
}

static void warn_of_cut(const struct session *session, const char *path)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	uint64_t rest_bytes = perfdata_reader_rest_bytes(session->reader);
	_cleanup_free_ char *when = NULL;
	uint64_t begin_ns, end_ns;

	if (perfdata_reader_cut_off(session->reader, &begin_ns, &end_ns)) {
		when = describe_cut(begin_ns, end_ns);
		log_warning("the recording '%s' was cut off%s; showing what was written until "
			    "then", name, when);
	} else if (rest_bytes) {
		log_warning("'%s' ends within a record, so it may have been cut off: its last "
			    "%" PRIu64 " bytes are left out", name, rest_bytes);
	} else if (perfdata_reader_truncated(session->reader)) {
		log_warning("'%s' is incomplete, as if its recorder was killed or the disk full: "
			    "showing what was written", name);
	}
}

void recording_warn_of_damage(const struct session *session, const char *path)
{
	const struct error *damage = perfdata_reader_error(session->reader);

	if (damage)
		log_warning("%s: the rest of the recording is not shown", error_message(damage));
	else
		warn_of_cut(session, path);
	if (session->malformed)
		log_warning("%llu records of '%s' are malformed and left out",
			    (unsigned long long)session->malformed, path);
}

/* A file whose data was wanted; not code made at run time, nor a file that was in memory only. */
static bool is_missed(const struct session *session, const struct dso_entry *entry)
{
	return entry->cut_chains && entry->kind == DSO_FILE && !entry->file_found &&
	       strncmp(intern_string(session->strings, entry->path), "/memfd:", 7);
}

/* Of those dsos that fewer chains end in than in BEFORE (NULL: of all) the one with the most. */
static const struct dso_entry *next_missed(const struct session *session,
					   const struct dso_entry *before)
{
	const struct dsos *dsos = &session->dsos;
	const struct dso_entry *next = NULL;
	bool behind = !before;

	for (size_t i = 0; i < dsos->items.count; i++) {
		const struct dso_entry *entry = dsos->items.items[i];
		bool later = !before || entry->cut_chains < before->cut_chains ||
			     (entry->cut_chains == before->cut_chains && behind);

		behind |= entry == before;
		if (is_missed(session, entry) && entry != before && later &&
		    (!next || entry->cut_chains > next->cut_chains))
			next = entry;
	}
	return next;
}

/* Files without which callers could not be found. */
static void note_missed_files(const struct session *session)
{
	const struct dso_entry *entry = NULL;
	size_t files = 0, shown = 0;
	struct buffer names;
	uint64_t samples = 0;

	for (size_t i = 0; i < session->dsos.items.count; i++) {
		entry = session->dsos.items.items[i];
		files += is_missed(session, entry);
		samples += is_missed(session, entry) ? entry->cut_chains : 0;
	}
	if (!files)
		return;
	buffer_init(&names, NAMES_MAX_BYTES);
	entry = NULL;
	while (shown < NOTES_SHOWN && (entry = next_missed(session, entry)))
		buffer_printf(&names, "%s%s", shown++ ? ", " : "",
			      intern_string(session->strings, entry->path));
	if (files > shown)
		buffer_printf(&names, " and %zu more", files - shown);
	log_note("callers are missing in %" PRIu64 " samples, because these files were not found "
		 "here in the build that was recorded: %.*s; 'perf archive', where it was "
		 "recorded, packs them for ~/.debug",
		 samples, (int)names.size, (const char *)names.data);
	buffer_deinit(&names);
}

/* Whose trace perf's number stands for: enum auxtrace_type of tools/perf/util/auxtrace.h. */
static const char *aux_name(uint32_t kind)
{
	static const char *const names[] = { "", "Intel PT ", "Intel BTS ", "Arm CoreSight ",
					     "Arm SPE ", "s390 sampling ", "HiSilicon PTT " };

	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "";
}

void recording_warn(const struct session *session, const char *path)
{
	const char *unknown_arch = user_chains_unknown_arch(session);
	size_t nameless = 0;

	if (unknown_arch)
		log_note("the callers of programs are missing: copies of stacks of '%s' machines "
			 "cannot be read", unknown_arch);
	if (session->aux_bytes)
		log_note("%" PRIu64 " bytes of %strace data are not decoded, and not shown",
			 session->aux_bytes, aux_name(session->aux_kind));
	recording_warn_of_damage(session, path);
	note_missed_files(session);
	if (session->modes_corrected)
		log_note("%" PRIu64 " of %" PRIu64 " guest samples are recorded as of the wrong "
			 "mode, as KVM of Linux 5.17 to 6.8 does; the address decides what is "
			 "kernel and what is user",
			 session->modes_corrected, session->modes_noted);
	if (session->machines.items[0]->kernel_note)
		log_note("the host's kernel is shown as addresses: %s",
			 session->machines.items[0]->kernel_note);
	if (session->machines.items[0]->module_note)
		log_note("modules of the host's kernel are shown as addresses: %s",
			 session->machines.items[0]->module_note);
	for (size_t i = 1; i < session->machines.count; i++)
		if (session->machines.items[i]->kernel_note && nameless++ < NOTES_SHOWN)
			log_note("%s: name them with --guestkallsyms FILE (a copy of the guest's "
				 "/proc/kallsyms) or --guestvmlinux FILE",
				 session->machines.items[i]->kernel_note);
	if (nameless > NOTES_SHOWN)
		log_note("the same is true of %zu other VMs", nameless - NOTES_SHOWN);
}

struct error *recording_symbols_error(struct session *session)
{
	return take_pointer(session->symbols_error);
}

static bool is_vm(const struct machine *machine, const char *text)
{
	char *end;
	unsigned long pid = strtoul(text, &end, 10);

	return (*text && !*end && machine->pid == pid) || !strcmp(machine->name, text);
}

struct error *recording_name_vms(const struct session *session, struct error *error)
{
	struct buffer names;

	if (session->machines.count < 2)
		return error_hint(error, "it has no VM at all");
	buffer_init(&names, 4096);
	for (size_t i = 1; i < session->machines.count; i++)
		buffer_printf(&names, "%s%s (%" PRIu32 ")", i > 1 ? ", " : "",
			      session->machines.items[i]->name, session->machines.items[i]->pid);
	error = error_hint(error, "it has %.*s", (int)names.size, (const char *)names.data);
	buffer_deinit(&names);
	return error;
}

struct error *recording_select_vms(const struct session *session, const struct string_list *names,
				   struct machine_list *ret)
{
	for (size_t i = 0; i < names->count; i++) {
		size_t before = ret->count;

		for (size_t m = 1; m < session->machines.count; m++)
			if (is_vm(session->machines.items[m], names->items[i]))
				vector_append(ret, session->machines.items[m]);
		if (ret->count == before)
			return recording_name_vms(session,
						  error_create(ERROR_NOT_FOUND,
							       "the recording has no VM '%s'",
							       names->items[i]));
	}
	return NULL;
}

/* Samples that were taken, but are not in the file. */
static void warn_of_unwritten(const struct profile_totals *totals)
{
	log_warning("the profile is empty: %llu samples fell on the host and %llu on guests and "
		    "were not asked for, %llu were lost", (unsigned long long)totals->host_counted,
		    (unsigned long long)totals->guest_counted, (unsigned long long)totals->lost);
	if (totals->lost)
		log_note("a lower rate (-F) loses fewer samples");
	if (totals->host_counted && !totals->guest_counted)
		log_note("idle guests give no samples, and some modules of KVM let guests' samples "
			 "look like the host's: 'perfvisor record --host' keeps those");
}

/* What is known of an empty profile: a reason only where the recording gives it. */
static void warn_of_emptiness(const struct profile *profile)
{
	const struct perfdata_reader *reader = profile->session->reader;
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(reader);
	const struct profile_totals *totals = &profile->totals;

	if (perfdata_reader_error(reader))
		log_warning("the profile is empty: no sample can be read before the damage");
	else if (totals->lost || totals->host_counted || totals->guest_counted)
		warn_of_unwritten(totals);
	else if (inventory && !inventory->vms.count && !inventory->host)
		log_warning("the profile is empty: no VM was found while it was recorded");
	else if (perfdata_reader_truncated(reader))
		log_warning("the profile is empty: it ends before the first sample");
	else if (profile->session->counts)
		log_warning("the profile is empty: it was made by 'perf stat record', which counts "
			    "and takes no samples");
	else if (inventory && !inventory->guest_sampled && !inventory->host)
		log_warning("the profile is empty: its event does not count while a guest runs");
	else
		log_warning("the profile is empty: the recording has no samples");
}

void recording_note_filtered(uint64_t left_out, uint64_t all)
{
	if (left_out && left_out == all)
		log_warning("none of the recording's %llu samples match the filters",
			    (unsigned long long)all);
	else if (left_out)
		log_note("%llu of %llu samples are filtered out", (unsigned long long)left_out,
			 (unsigned long long)all);
}

void recording_warn_if_empty(const struct profile *profile)
{
	for (size_t i = 0; i < profile->event_count; i++)
		if (profile->events[i].samples)
			return;
	if (profile->totals.filtered) {
		recording_note_filtered(profile->totals.filtered, profile->totals.filtered);
		return;
	}
	warn_of_emptiness(profile);
	if (perfdata_reader_inventory(profile->session->reader))
		log_warning("'perfvisor doctor' shows what works on this host, and how to fix the "
			    "rest");
}

void recording_warn_if_cut(const struct profile *profile)
{
	if (profile->totals.chains_cut)
		log_warning("%llu or more samples are shown without their callers: the call tree "
			    "would be too large; a filter selects fewer samples",
			    (unsigned long long)profile->totals.chains_cut);
}
