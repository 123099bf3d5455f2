/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What other sessions learn in a first pass over the recording, one after another. What was found
 * before a record that changes threads or mappings is void after it (session->stamp), and likewise
 * for symbols (session->names_stamp).
 */
#include "session/live/live_session.h"

#include "perfdata/format.h"
#include "perfdata/guest_mode.h"
#include "session/session_events.h"
#include "session/session_private.h"

struct session *live_session_open(struct perfdata_reader *reader,
				  const struct kernel_source_options *options)
{
	struct session *session = session_create(reader, options);

	session->live = true;
	session->stamp = 1;
	session->machines.items[0]->timeline.marks = true;
	session->timed = session_events_are_timed(reader);
	session_list_events(session);
	session_events_begin(session);
	session_complete_machines(session);
	return session;
}

/* A table that was missing may have come. */
static void look_for_files_again(struct session *session)
{
	for (size_t i = 0; i < session->dsos.items.count; i++) {
		struct dso_entry *entry = session->dsos.items.items[i];

		if (entry->guest && !entry->table)
			entry->loaded = false;
	}
}

static void take_news(struct session *session)
{
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(session->reader);
	struct perfdata_news news = perfdata_reader_news(session->reader);

	if (news.symbols != session->news.symbols) {
		session_list_kernels_again(session);
		look_for_files_again(session);
		session->names_stamp++;
	}
	session->news = news;
	session->stamp++;
	for (size_t i = 0; inventory && i < inventory->vms.count; i++)
		session_machine(session, inventory->vms.items[i].pid);
	for (size_t i = 0; i < session->machines.count; i++) {
		session_describe_machine(session, session->machines.items[i]);
		session->machines.items[i]->timeline.marks = true;
	}
}

void live_session_note(struct session *session, const struct perfdata_record *record)
{
	struct perfdata_news news;

	if (record->type < RECORD_USER_FIRST)
		return;
	session_events_take(session, record);
	if (record->type == RECORD_HEADER_ATTR) {
		session_list_events(session);
		session->timed = session_events_are_timed(session->reader);
	} else if (record->type == RECORD_HEADER_FEATURE) {
		session_doubt_modes(session);
	} else if (record->type == RECORD_HEADER_BUILD_ID) {
		session->build_ids_listed = false;
	} else if (record->type == RECORD_ID_INDEX) {
		session->stamp++;
	}
	news = perfdata_reader_news(session->reader);
	if (news.vms != session->news.vms || news.symbols != session->news.symbols)
		take_news(session);
}

void live_session_take(struct session *session, const struct perfdata_record *record)
{
	session_events_take(session, record);
}

void live_session_see(struct session *session, const struct session_sample *sample)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	uint32_t pid = session_guest_pid(&sample->decoded);
	struct machine *machine;

	if (!sample->valid || !cpumode_is_guest(fields->misc & PERF_RECORD_MISC_CPUMODE_MASK))
		return;
	session->guest_samples = true;
	machine = session_find_machine(session, pid);
	if (!machine && pid) {
		machine = session_machine(session, pid);
		machine->timeline.marks = true;
		session->stamp++;
	}
	if (machine)
		machine->high_kernel |= perfdata_guest_mode_is_high(fields->misc, fields->ip);
}
