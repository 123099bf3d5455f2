/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfvisor stat record: `perfvisor record` of the tracepoints that report reads, as far as this
 * kernel has them.
 */
#include <stdlib.h>

#include "cmd/stat/stat.h"
#include "host/event/tracefs.h"

#define RING_PAGES "1024" /* as perf kvm stat record: exits come in thousands */

static const struct {
	const char *system, *name;
} tracepoints[] = {
	{ "kvm", "kvm_entry" },	      { "kvm", "kvm_exit" },
	{ "kvm", "kvm_mmio" },	      { "kvm", "kvm_pio" },
	{ "kvm", "kvm_msr" },	      { "kvm", "kvm_hypercall" },
	{ "kvm", "kvm_hvc_arm64" },   { "kvm_hv", "kvm_guest_enter" },
	{ "kvm_hv", "kvm_guest_exit" }, { "kvm_hv", "kvm_hcall_enter" },
	{ "kvm_hv", "kvm_hcall_exit" },
};

/* Adds the names of those that this kernel has to EVENTS; the names are owned by RET. */
static struct error *find_events(struct string_list *events, struct tracefs_events *ret)
{
	const char *root = tracefs_find();
	struct error *error = NULL;

	if (!root)
		return error_hint(error_create(ERROR_PERMISSION,
					       "the tracepoints of KVM cannot be found: tracefs is "
					       "not mounted, or may not be read"),
				  "root may read it");
	for (size_t i = 0; i < sizeof(tracepoints) / sizeof(*tracepoints); i++) {
		struct error *missing = tracefs_find_events(root, tracepoints[i].system,
							    tracepoints[i].name, ret);

		if (missing && !error && !ret->items.count)
			error = missing;
		else
			error_destroy(missing);
	}
	if (ret->items.count) {
		error_destroy(error);
		error = NULL;
	}
	for (size_t i = 0; i < ret->items.count; i++)
		vector_append(events, memory_printf("%s:%s", ret->items.items[i].system,
						    ret->items.items[i].name));
	return error;
}

struct error *stat_record(struct stat_config *config, int argc, char **argv, int rest,
			  int *ret_status)
{
	struct string_list *events = &config->record.events;
	struct tracefs_events found = { 0 };
	struct error *error = find_events(events, &found);

	if (!config->record.mmap_pages)
		config->record.mmap_pages = RING_PAGES;
	if (!error)
		error = record_run(&config->record, argc, argv, rest, ret_status);
	for (size_t i = 0; i < events->count; i++)
		free((char *)events->items[i]);
	events->count = 0;
	tracefs_events_deinit(&found);
	return error;
}
