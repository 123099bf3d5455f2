/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The same content as the text (report_text.c), for programs: unescaped names, exact numbers, null
 * for what is not known. A row has a member for each key, named as in --sort.
 */
#include "output/report_json.h"

#include <inttypes.h>

#include "output/json.h"
#include "output/view.h"

static void write_vms(struct json *json, const struct perfdata_inventory *inventory)
{
	json_open_array(json, "vms");
	for (size_t i = 0; inventory && i < inventory->vms.count; i++) {
		const struct perfdata_vm *vm = &inventory->vms.items[i];

		json_open_object(json, NULL);
		json_unsigned(json, "pid", vm->pid);
		json_string(json, "name", vm->name);
		json_string(json, "vmm", vm->vmm);
		json_string(json, "kernel_release",
			    *vm->kernel_release ? vm->kernel_release : NULL);
		json_string(json, "host_name", *vm->host_name ? vm->host_name : NULL);
		json_close(json);
	}
	json_close(json);
}

/* A member for each kind of end, if guests have chains. */
static void write_chain_ends(struct json *json, const struct profile_totals *totals)
{
	static const char *const names[PERFDATA_CHAIN_ENDS] = {
		"complete", "cut",      "no_data", "unreadable", "no_registers",
		"replaced", "senseless"
	};

	json_open_object(json, "guest_chains");
	for (size_t i = 0; i < PERFDATA_CHAIN_ENDS; i++)
		json_unsigned(json, names[i], totals->chain_ends[i]);
	json_close(json);
}

static void write_totals(struct json *json, const struct profile_totals *totals)
{
	json_open_object(json, "totals");
	json_unsigned(json, "samples", profile_totals_sum(totals));
	json_bool(json, "host_sampled", totals->host_sampled);
	json_bool(json, "guest_sampled", totals->guest_sampled);
	json_unsigned(json, "host", totals->host);
	json_unsigned(json, "host_not_written", totals->host_counted);
	json_unsigned(json, "guest_kernel", totals->guest_kernel);
	json_unsigned(json, "guest_user", totals->guest_user);
	json_unsigned(json, "guest_not_written", totals->guest_counted);
	json_unsigned(json, "lost", totals->lost);
	json_unsigned(json, "unattributed", totals->unattributed);
	json_unsigned(json, "filtered_out", totals->filtered);
	json_unsigned(json, "nested", totals->nested);
	json_unsigned(json, "at_exit", totals->at_exit);
	write_chain_ends(json, totals);
	json_close(json);
}

static void write_number(struct json *json, const char *key, uint32_t value, uint32_t unknown)
{
	if (value == unknown)
		json_null(json, key);
	else
		json_unsigned(json, key, value);
}

/* NULL if NUMBER is not a string. */
static const char *text_of(const struct profile *profile, uint32_t number)
{
	return number >= PROFILE_HOST_COMM ? NULL
					   : intern_string(profile->session->strings, number);
}

static void write_symbol(struct json *json, const char *key, const struct profile *profile,
			 const struct profile_row *row)
{
	char address[24];

	snprintf(address, sizeof(address), "0x%" PRIx64,
		 resolver_location(profile->resolver, row->location)->address);
	json_string(json, key, resolver_symbol_name(profile->resolver, row->location));
	json_string(json, "address",
		    resolver_symbol_name(profile->resolver, row->location) ? NULL : address);
	json_string(json, "level", view_mode_words(row->cpumode));
	if (resolver_location(profile->resolver, row->location)->inlined)
		json_bool(json, "inlined", true);
}

static void write_dso(struct json *json, const char *key, const struct profile *profile,
		      const struct profile_row *row)
{
	bool known = resolver_location(profile->resolver, row->location)->dso != LOCATION_NO_DSO;

	json_string(json, key,
		    known ? intern_string(profile->session->strings, row->dso) : NULL);
}

static void write_cell(struct json *json, const struct profile *profile,
		       const struct profile_row *row, enum profile_key key)
{
	const char *word = view_sort_word(profile, key);

	switch (key) {
	case PROFILE_VM:
		json_string(json, word, row->vm ? row->vm->name : NULL);
		break;
	case PROFILE_VCPU:
		write_number(json, word, row->vcpu, PERFDATA_NO_VCPU);
		break;
	case PROFILE_COMM:
		json_string(json, word, text_of(profile, row->comm));
		break;
	case PROFILE_PID:
		write_number(json, word, row->pid, UINT32_MAX);
		break;
	case PROFILE_TID:
		write_number(json, word, row->tid, UINT32_MAX);
		break;
	case PROFILE_CPU:
		write_number(json, word, row->cpu, PROFILE_NO_CPU);
		break;
	case PROFILE_TIME:
		json_unsigned(json, word, row->time_ns);
		break;
	case PROFILE_GUEST_COMM:
		json_string(json, word, text_of(profile, row->guest_comm));
		break;
	case PROFILE_GUEST_PID:
		write_number(json, word, row->guest_pid, PROFILE_NO_PID);
		break;
	case PROFILE_DSO:
		write_dso(json, word, profile, row);
		break;
	case PROFILE_MODE:
		json_string(json, word, view_mode_words(row->cpumode));
		break;
	case PROFILE_SYMBOL:
		write_symbol(json, word, profile, row);
		break;
	case PROFILE_SOURCE:
		json_string(json, word,
			    text_of(profile,
				    resolver_location(profile->resolver, row->location)->source));
		break;
	default:
		json_string(json, word, row->texts[key - PROFILE_TEXT]
						? text_of(profile, row->texts[key - PROFILE_TEXT])
						: NULL);
	}
}

static void write_event(struct json *json, const struct profile *profile,
			const struct profile_event *event, const struct profile_keys *keys,
			const struct report_json_options *options)
{
	json_open_object(json, NULL);
	json_string(json, "event", event->name);
	json_unsigned(json, "samples", event->samples);
	json_unsigned(json, "period", event->period);
	json_unsigned(json, "total_period", event->total_period);
	json_open_array(json, "rows");
	for (size_t i = 0; i < event->rows.count; i++) {
		const struct profile_row *row = &event->rows.items[i];

		if (!row->count && !options->children)
			continue;
		json_open_object(json, NULL);
		json_unsigned(json, "samples", row->count);
		json_unsigned(json, "period", row->period);
		if (options->children)
			json_unsigned(json, "children", row->children);
		if (options->ipc) {
			json_unsigned(json, "cycles", row->cycles);
			json_unsigned(json, "instructions", row->instructions);
		}
		for (size_t k = 0; k < keys->count; k++)
			write_cell(json, profile, row, keys->items[k]);
		json_close(json);
	}
	json_close(json);
	json_close(json);
}

void report_json_write(FILE *out, const struct profile *profile, const struct profile_keys *keys,
		       const struct report_json_options *options)
{
	struct perfdata_reader *reader = profile->session->reader;
	const struct perfdata_features *features = perfdata_reader_features(reader);
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(reader);
	struct json json;

	json_init(&json, out);
	json_open_object(&json, NULL);
	json_string(&json, "recording", options->path);
	json_string(&json, "host", *features->hostname ? features->hostname : NULL);
	json_string(&json, "host_kernel", *features->osrelease ? features->osrelease : NULL);
	json_string(&json, "command_line", *features->cmdline ? features->cmdline : NULL);
	json_bool(&json, "no_memory", inventory && inventory->no_memory);
	json_bool(&json, "kernel_only", inventory && inventory->kernel_only);
	write_vms(&json, inventory);
	write_totals(&json, &profile->totals);
	json_open_array(&json, "events");
	for (size_t i = 0; i < profile->event_count; i++)
		write_event(&json, profile, &profile->events[i], keys, options);
	json_close(&json);
	json_close(&json);
}
