/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of a profile; the same as in perf where possible (tools/perf/util/sort.c). */
#include "output/view.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/utf8.h"
#include "profile/calltree.h"

static const struct {
	const char *word, *title;
} columns[PROFILE_KEY_COUNT] = {
	[PROFILE_VM] = { "vm", "VM" },
	[PROFILE_VCPU] = { "vcpu", "vCPU" },
	[PROFILE_COMM] = { "comm", "Command" },
	[PROFILE_PID] = { "pid", "Pid" },
	[PROFILE_TID] = { "tid", "Tid" },
	[PROFILE_GUEST_COMM] = { "gcomm", "Guest Command" },
	[PROFILE_GUEST_PID] = { "gpid", "Guest Pid" },
	[PROFILE_DSO] = { "dso", "Shared Object" },
	[PROFILE_MODE] = { "mode", "Mode" },
	[PROFILE_CPU] = { "cpu", "CPU" },
	[PROFILE_TIME] = { "time", "Time" },
	[PROFILE_SYMBOL] = { "sym", "Symbol" },
	[PROFILE_SOURCE] = { "srcline", "Source:Line" },
};

static bool is_text(enum profile_key key)
{
	return key >= PROFILE_TEXT && key <= PROFILE_TEXT_LAST;
}

const char *view_title(const struct profile *profile, enum profile_key key)
{
	if (is_text(key))
		return profile->texts->titles[key - PROFILE_TEXT];
	return columns[key].title;
}

const char *view_sort_word(const struct profile *profile, enum profile_key key)
{
	return is_text(key) ? profile->texts->words[key - PROFILE_TEXT] : columns[key].word;
}

bool view_parse_key(const char *word, enum profile_key *ret)
{
	if (!strcmp(word, "symbol"))
		word = "sym";
	for (int key = 0; key < PROFILE_KEY_COUNT; key++) {
		if (columns[key].word && !strcmp(columns[key].word, word)) {
			*ret = key;
			return true;
		}
	}
	return false;
}

char view_mode_letter(uint16_t cpumode)
{
	if (cpumode & CPUMODE_GUESSED)
		return '?';
	switch (cpumode) {
	case PERF_RECORD_MISC_KERNEL:
		return 'k';
	case PERF_RECORD_MISC_USER:
		return '.';
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return 'g';
	case PERF_RECORD_MISC_GUEST_USER:
		return 'u';
	default:
		return 'H';
	}
}

const char *view_mode_words(uint16_t cpumode)
{
	switch (cpumode) {
	case PERF_RECORD_MISC_KERNEL:
		return "host kernel";
	case PERF_RECORD_MISC_USER:
		return "host user";
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return "guest kernel";
	case PERF_RECORD_MISC_GUEST_USER:
		return "guest user";
	case PERF_RECORD_MISC_GUEST_KERNEL | CPUMODE_GUESSED:
		return "guest kernel, guessed";
	case PERF_RECORD_MISC_GUEST_USER | CPUMODE_GUESSED:
		return "guest user, guessed";
	case PERF_RECORD_MISC_HYPERVISOR:
		return "hypervisor";
	default:
		return "unattributed";
	}
}

/* The function's name, as perf shows it; escaped. */
static void append_name(struct buffer *out, const char *name, const struct location *location)
{
	utf8_append_escaped(out, name);
	if (location->inlined)
		buffer_append_string(out, VIEW_INLINED);
}

static void append_symbol(struct buffer *out, const struct profile *profile,
			  const struct profile_row *row)
{
	const struct location *location = resolver_location(profile->resolver, row->location);
	const char *name = resolver_symbol_name(profile->resolver, row->location);

	buffer_printf(out, "[%c] ", view_mode_letter(row->cpumode));
	if (name)
		append_name(out, name, location);
	else
		buffer_printf(out, "%#.16" PRIx64, location->address);
}

static void append_source(struct buffer *out, const struct profile *profile,
			  const struct location *location)
{
	utf8_append_escaped(out, intern_string(profile->session->strings, location->source));
}

void view_append_function(struct buffer *out, const struct profile *profile, uint32_t frame)
{
	uint32_t number = profile->tree->frames.items[frame].location;
	const struct location *location = resolver_location(profile->resolver, number);
	const char *name = resolver_symbol_name(profile->resolver, number);

	if (profile->tree->frames.items[frame].cpumode & CPUMODE_GUESSED)
		buffer_append_string(out, VIEW_GUESSED);
	if (name)
		append_name(out, name, location);
	else
		buffer_printf(out, "%#" PRIx64, location->address);
	if (location->source) {
		buffer_append_u8(out, ' ');
		append_source(out, profile, location);
	}
}

static void append_comm(struct buffer *out, const struct profile *profile,
			const struct profile_row *row)
{
	if (row->comm == TIMELINE_NO_COMM)
		buffer_printf(out, ":%d", (int)row->tid);
	else
		utf8_append_escaped(out, intern_string(profile->session->strings, row->comm));
}

static void append_sample_text(struct buffer *out, const struct profile *profile,
			       const struct profile_row *row, enum profile_key key)
{
	uint32_t text = row->texts[key - PROFILE_TEXT];

	utf8_append_escaped(out, text ? intern_string(profile->session->strings, text) : "-");
}

void view_append_cell(struct buffer *out, const struct profile *profile,
		      const struct profile_row *row, enum profile_key key)
{
	switch (key) {
	case PROFILE_VM:
		utf8_append_escaped(out, row->vm ? row->vm->name : MACHINE_HOST_NAME);
		break;
	case PROFILE_VCPU:
		if (row->vcpu == PERFDATA_NO_VCPU)
			buffer_append_string(out, "-");
		else
			buffer_printf(out, "%" PRIu32, row->vcpu);
		break;
	case PROFILE_COMM:
		append_comm(out, profile, row);
		break;
	case PROFILE_PID:
		buffer_printf(out, "%d", (int)row->pid);
		break;
	case PROFILE_TID:
		buffer_printf(out, "%d", (int)row->tid);
		break;
	case PROFILE_CPU:
		if (row->cpu == PROFILE_NO_CPU)
			buffer_append_string(out, "-");
		else
			buffer_printf(out, "%" PRIu32, row->cpu);
		break;
	case PROFILE_TIME:
		buffer_printf(out, "%" PRIu64 ".%06" PRIu64, row->time_ns / 1000000000,
			      row->time_ns % 1000000000 / 1000);
		break;
	case PROFILE_GUEST_COMM:
		utf8_append_escaped(out, profile_guest_comm(profile, row));
		break;
	case PROFILE_GUEST_PID:
		if (row->guest_pid == PROFILE_NO_PID)
			buffer_append_string(out, "-");
		else
			buffer_printf(out, "%" PRIu32, row->guest_pid);
		break;
	case PROFILE_DSO:
		utf8_append_escaped(out, intern_string(profile->session->strings, row->dso));
		break;
	case PROFILE_MODE:
		buffer_append_string(out, view_mode_words(row->cpumode));
		break;
	case PROFILE_SYMBOL:
		append_symbol(out, profile, row);
		break;
	case PROFILE_SOURCE:
		append_source(out, profile, resolver_location(profile->resolver, row->location));
		break;
	default:
		append_sample_text(out, profile, row, key);
	}
}

size_t view_text_width(const struct buffer *text)
{
	size_t width = 0;

	for (size_t i = 0; i < text->size; i++)
		width += (text->data[i] & 0xc0) != 0x80;
	return width;
}

static void append_host(struct buffer *out, const struct profile_totals *totals)
{
	uint64_t all = totals->host + totals->host_counted;

	if (!totals->host_sampled && !all) {
		buffer_append_string(out, "host not sampled, ");
		return;
	}
	buffer_printf(out, "%" PRIu64 " host", all);
	if (totals->host_counted && !totals->host)
		buffer_append_string(out, " (counted, not written)");
	else if (totals->host_counted)
		buffer_printf(out, " (%" PRIu64 " of them counted, not written)",
			      totals->host_counted);
	buffer_append_string(out, ", ");
}

/* "7 guest kernel, 3 guest user (2 of both nested, 1 at an exit), " */
static void append_written_guests(struct buffer *out, const struct profile_totals *totals)
{
	buffer_printf(out, "%" PRIu64 " guest kernel, %" PRIu64 " guest user",
		      totals->guest_kernel, totals->guest_user);
	if (totals->nested)
		buffer_printf(out, " (%" PRIu64 " of both nested", totals->nested);
	if (totals->at_exit)
		buffer_printf(out, "%s%" PRIu64 "%s at an exit", totals->nested ? ", " : " (",
			      totals->at_exit, totals->nested ? "" : " of both");
	buffer_append_string(out, totals->nested || totals->at_exit ? "), " : ", ");
}

static void append_guests(struct buffer *out, const struct profile_totals *totals)
{
	if (totals->guest_counted)
		buffer_printf(out, "%" PRIu64 " guest (counted, not written), ",
			      totals->guest_counted);
	if (totals->guest_kernel || totals->guest_user ||
	    (totals->guest_sampled && !totals->guest_counted))
		append_written_guests(out, totals);
	else if (!totals->guest_sampled && !totals->guest_counted)
		buffer_append_string(out, "guests not sampled, ");
}

void view_append_totals(struct buffer *out, const struct profile_totals *totals)
{
	uint64_t all = profile_totals_sum(totals);

	buffer_printf(out, "%" PRIu64 " sample%s: ", all, all == 1 ? "" : "s");
	append_host(out, totals);
	append_guests(out, totals);
	buffer_printf(out, "%" PRIu64 " lost, %" PRIu64 " unattributed", totals->lost,
		      totals->unattributed);
	if (totals->filtered)
		buffer_printf(out, ", %" PRIu64 " filtered out", totals->filtered);
}

const char *view_chain_end_words(enum perfdata_chain_end end)
{
	static const char *const words[PERFDATA_CHAIN_ENDS] = {
		[PERFDATA_CHAIN_COMPLETE] = "complete",
		[PERFDATA_CHAIN_CUT] = "longer than the copied stack",
		[PERFDATA_CHAIN_NO_DATA] = "without unwind data",
		[PERFDATA_CHAIN_UNREADABLE] = "unreadable",
		[PERFDATA_CHAIN_NO_REGISTERS] = "missing a register",
		[PERFDATA_CHAIN_REPLACED] = "at a tracer's return address",
		[PERFDATA_CHAIN_BAD] = "inconsistent",
	};

	return words[end];
}

bool view_append_chain_ends(struct buffer *out, const struct profile_totals *totals)
{
	uint64_t complete = totals->chain_ends[PERFDATA_CHAIN_COMPLETE], all = 0;
	const char *separator = "; others end ";

	for (size_t i = 0; i < PERFDATA_CHAIN_ENDS; i++)
		all += totals->chain_ends[i];
	if (!all)
		return false;
	buffer_printf(out, "%" PRIu64 " of %" PRIu64 " complete (%.1f %%)", complete, all,
		      100.0 * complete / all);
	for (size_t i = PERFDATA_CHAIN_COMPLETE + 1; i < PERFDATA_CHAIN_ENDS; i++) {
		if (!totals->chain_ends[i])
			continue;
		buffer_printf(out, "%s%s: %" PRIu64, separator, view_chain_end_words(i),
			      totals->chain_ends[i]);
		separator = ", ";
	}
	return true;
}
