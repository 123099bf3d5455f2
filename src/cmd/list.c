/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfvisor list: the VMs of this host and the kernels in them, as a table or as JSON. The table's
 * last columns are the ones without a maximum width: names and threads. What could not be
 * determined is reported on stderr, so that stdout holds only VMs.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/utf8.h"
#include "cmd/command.h"
#include "host/vm/qemu_monitor.h"
#include "host/inspect/guest_view.h"
#include "host/vm/vm.h"
#include "host/vm/vm_memory.h"
#include "output/json.h"

#define EMULATED_NAMED 3 /* VMs without KVM; more are counted */
#define NAME_MAX_WIDTH 48 /* of longer names the end is cut off */
#define CUT_MARK "..."
#define THREADS_MAX_BYTES ((size_t)1024 * 1024)
#define GUESTS_MAX_NS 20000000000u /* after this, no more guests are looked into */

struct list_config {
	bool json, no_memory;
};

struct list {
	struct host_vms vms;
	struct guest_uts *guests; /* one per VM, "" where not known */
};

static void deinit(struct list *list)
{
	host_vms_deinit(&list->vms);
	free(list->guests);
}

static uint64_t uptime_seconds(const struct host_vm *vm)
{
	uint64_t now = time(NULL), start = vm->start_time_ns / 1000000000u;

	return now > start ? now - start : 0;
}

/* Like ps(1): [[DAYS-]HH:]MM:SS. */
static void format_uptime(uint64_t seconds, char *ret, size_t size)
{
	unsigned int days = seconds / 86400, hours = seconds / 3600 % 24;
	unsigned int minutes = seconds / 60 % 60, rest = seconds % 60;

	if (days)
		snprintf(ret, size, "%u-%02u:%02u:%02u", days, hours, minutes, rest);
	else if (hours)
		snprintf(ret, size, "%02u:%02u:%02u", hours, minutes, rest);
	else
		snprintf(ret, size, "%02u:%02u", minutes, rest);
}

static void format_memory(uint64_t bytes, char *ret, size_t size)
{
	double mib = bytes / 1048576.0;

	if (!bytes)
		snprintf(ret, size, "?");
	else if (mib >= 1024)
		snprintf(ret, size, "%.*f GiB", bytes % (1u << 30) ? 1 : 0, mib / 1024);
	else
		snprintf(ret, size, "%.*f MiB", bytes % (1u << 20) ? 1 : 0, mib);
}

/* How many vCPUs, starting at FIRST, have consecutive thread ids. */
static size_t consecutive_threads(const struct host_vm *vm, size_t first)
{
	const struct host_vcpu *vcpus = vm->vcpus.items;
	size_t count = 1;

	while (vcpus[first].tid && first + count < vm->vcpus.count &&
	       vcpus[first + count].tid == vcpus[first].tid + count)
		count++;
	return count;
}

/* Thread ids in vCPU order: "131,134-140,-", where "-" has not run yet. */
static void append_threads(const struct host_vm *vm, const char *missing, struct buffer *out)
{
	for (size_t i = 0; i < vm->vcpus.count;) {
		uint32_t tid = vm->vcpus.items[i].tid;
		size_t count = consecutive_threads(vm, i);

		if (i)
			buffer_append_string(out, ",");
		if (!tid)
			buffer_append_string(out, missing);
		else if (count < 3)
			buffer_printf(out, "%" PRIu32, tid);
		else
			buffer_printf(out, "%" PRIu32 "-%" PRIu32, tid,
				      tid + (uint32_t)count - 1);
		i += count < 3 ? 1 : count;
	}
}

struct widths {
	size_t vmm, name, host_name, release;
};

static void widen(size_t *width, const char *text)
{
	size_t columns = utf8_count(text);

	if (columns > NAME_MAX_WIDTH)
		columns = NAME_MAX_WIDTH;
	if (columns > *width)
		*width = columns;
}

static struct widths find_widths(const struct list *list)
{
	struct widths widths = { strlen("VMM"), strlen("NAME"), strlen("HOST NAME"),
				 strlen("KERNEL") };

	for (size_t i = 0; i < list->vms.items.count; i++) {
		widen(&widths.vmm, list->vms.items.items[i].vmm);
		widen(&widths.name, list->vms.items.items[i].name);
		widen(&widths.host_name, list->guests[i].host_name);
		widen(&widths.release, list->guests[i].release);
	}
	return widths;
}

/* printf() counts bytes, not columns. */
static void print_padded(const char *text, size_t width)
{
	size_t columns = utf8_count(text);

	printf("  %s%*s", text, (int)(columns < width ? width - columns : 0), "");
}

/* TEXT, whose end is cut off if it is longer than the widest column. */
static void print_cut(const char *text, size_t width)
{
	_cleanup_free_ char *cut = NULL;
	size_t columns = 0, bytes = 0;

	if (utf8_count(text) > NAME_MAX_WIDTH) {
		while (columns <= NAME_MAX_WIDTH - strlen(CUT_MARK)) /* the byte after so many */
			columns += ((uint8_t)text[bytes++] & 0xc0) != 0x80;
		cut = memory_printf("%.*s" CUT_MARK, (int)bytes - 1, text);
	}
	print_padded(cut ? cut : text, width);
}

static void print_row(const struct host_vm *vm, const struct guest_uts *guest,
		      const struct widths *widths, const char *missing)
{
	_cleanup_buffer_ struct buffer threads;
	char memory[32], uptime[32], vcpus[32];

	format_memory(vm->memory_bytes, memory, sizeof(memory));
	format_uptime(uptime_seconds(vm), uptime, sizeof(uptime));
	buffer_init(&threads, THREADS_MAX_BYTES);
	append_threads(vm, missing, &threads);
	printf("%7" PRIu32, vm->pid);
	print_cut(vm->vmm, widths->vmm);
	snprintf(vcpus, sizeof(vcpus), "%zu", vm->vcpus.count);
	printf("  %5s  %10s  %11s", vm->emulated ? "?" : vcpus, memory, uptime);
	print_cut(vm->name, widths->name);
	print_cut(*guest->host_name ? guest->host_name : "-", widths->host_name);
	print_cut(*guest->release ? guest->release : "-", threads.size ? widths->release : 0);
	if (threads.size)
		printf("  %.*s", (int)threads.size, (const char *)threads.data);
	putchar('\n');
}

static void print_table(const struct list *list)
{
	bool unknown = list->vms.vcpu_source == HOST_VCPU_UNKNOWN;
	struct widths widths = find_widths(list);

	printf("%7s  %-*s  %5s  %10s  %11s  %-*s  %-*s  %-*s  %s\n", "PID", (int)widths.vmm, "VMM",
	       "VCPUS", "MEMORY", "UPTIME", (int)widths.name, "NAME", (int)widths.host_name,
	       "HOST NAME", (int)widths.release, "KERNEL", "VCPU THREADS");
	for (size_t i = 0; i < list->vms.items.count; i++)
		print_row(&list->vms.items.items[i], &list->guests[i], &widths,
			  unknown ? "?" : "-");
}

static void say_what_is_emulated(const struct host_vms *vms)
{
	size_t count = 0;

	for (size_t i = 0; i < vms->items.count; i++) {
		const struct host_vm *vm = &vms->items.items[i];

		if (!vm->emulated || count++ >= EMULATED_NAMED)
			continue;
		if (qemu_monitors_exist(vm->pid))
			log_note("VM '%s' runs without KVM: 'perfvisor record --engine qmp -p %"
				 PRIu32 "' samples it", vm->name, vm->pid);
		else
			log_note("VM '%s' runs without KVM, and has no QMP socket, by which "
				 "--engine qmp would sample it", vm->name);
	}
	if (count > EMULATED_NAMED)
		log_note("and %zu more without KVM", count - EMULATED_NAMED);
}

static void say_what_is_missing(const struct host_vms *vms)
{
	if (!vms->items.count && access("/dev/kvm", F_OK))
		log_note("no VMs: this host has no /dev/kvm (see perfvisor doctor)");
	else if (!vms->items.count)
		log_note("no VMs: no process %shas /dev/kvm open",
			 vms->processes_hidden ? "that may be inspected " : "");
	else if (vms->vcpu_source == HOST_VCPU_UNKNOWN)
		log_note("vCPU threads are unknown: %s", vms->vcpu_source_reason);
	else if (vms->vcpu_source == HOST_VCPU_DEBUGFS)
		log_note("vCPU threads are taken from debugfs, memory sizes are unknown: %s",
			 vms->vcpu_source_reason);
	if (vms->processes_hidden)
		log_note("%zu processes of other users could not be inspected: run as root",
			 vms->processes_hidden);
}

/* NULL: not known */
static const char *known(const char *text)
{
	return *text ? text : NULL;
}

static void write_vm(struct json *json, const struct host_vm *vm, const struct guest_uts *guest)
{
	time_t start = vm->start_time_ns / 1000000000u;
	struct tm utc;
	char text[32];

	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&start, &utc));
	json_open_object(json, NULL);
	json_unsigned(json, "pid", vm->pid);
	json_string(json, "name", vm->name);
	json_string(json, "vmm", vm->vmm);
	json_bool(json, "kvm", !vm->emulated);
	json_string(json, "host_name", known(guest->host_name));
	json_string(json, "kernel_release", known(guest->release));
	if (vm->memory_bytes)
		json_unsigned(json, "memory_bytes", vm->memory_bytes);
	else
		json_null(json, "memory_bytes");
	json_string(json, "started", text);
	json_unsigned(json, "uptime_seconds", uptime_seconds(vm));
	json_open_array(json, "vcpus");
	for (size_t i = 0; i < vm->vcpus.count; i++) {
		json_open_object(json, NULL);
		json_unsigned(json, "number", vm->vcpus.items[i].number);
		if (vm->vcpus.items[i].tid)
			json_unsigned(json, "tid", vm->vcpus.items[i].tid);
		else
			json_null(json, "tid");
		json_close(json);
	}
	json_close(json);
	json_close(json);
}

static void print_json(const struct list *list)
{
	static const char *const sources[] = {
		[HOST_VCPU_BPF] = "bpf",
		[HOST_VCPU_DEBUGFS] = "debugfs",
		[HOST_VCPU_UNKNOWN] = NULL,
	};
	const struct host_vms *vms = &list->vms;
	struct json json;

	json_init(&json, stdout);
	json_open_object(&json, NULL);
	json_string(&json, "threads_from", sources[vms->vcpu_source]);
	json_string(&json, "reason", vms->vcpu_source_reason);
	json_unsigned(&json, "hidden_processes", vms->processes_hidden);
	json_open_array(&json, "vms");
	for (size_t i = 0; i < vms->items.count; i++)
		write_vm(&json, &vms->items.items[i], &list->guests[i]);
	json_close(&json);
	json_close(&json);
}

/* The guest chose it: it must not control the terminal or make a row look like another. */
static void make_printable(char *text)
{
	char printable[GUEST_UTS_FIELD_BYTES];

	utf8_printable(text, strlen(text), printable, sizeof(printable));
	memcpy(text, printable, sizeof(printable));
}

/*
 * An error explains why nothing is known; NULL if there is nothing to know: not Linux, not booted.
 */
static struct error *look_into(struct vm_memory_finder *finder, const struct host_vm *vm,
			       struct guest_uts *ret)
{
	struct error *error = guest_view_ask_names(finder, vm, ret);

	if (!error) {
		make_printable(ret->release);
		make_printable(ret->host_name);
		return NULL;
	}
	if (error_code(error) != ERROR_NOT_FOUND)
		return error_prefix(error, "could not look into VM '%s'", vm->name);
	error_destroy(error);
	return NULL;
}

static void say_failures(const struct error *first, size_t count)
{
	if (count > 1)
		log_note("%s; and %zu more failures", error_message(first), count - 1);
	else if (count)
		log_note("%s", error_message(first));
}

/* A guest must not make the command fail or wait for long. */
static void look_into_guests(struct list *list)
{
	_cleanup_vm_memory_finder_ struct vm_memory_finder *finder = NULL;
	_cleanup_error_ struct error *first = NULL;
	uint64_t start_ns = clock_monotonic_ns();
	size_t count = list->vms.items.count, failures = 0, i;

	if (!count)
		return;
	finder = vm_memory_finder_create();
	for (i = 0; i < count && clock_monotonic_ns() - start_ns < GUESTS_MAX_NS; i++) {
		struct error *error =
			look_into(finder, &list->vms.items.items[i], &list->guests[i]);

		if (error && failures++)
			error_destroy(error);
		else if (error)
			first = error;
	}
	say_failures(first, failures);
	if (i < count)
		log_note("skipped %zu guests: the others took too long", count - i);
}

static struct error *find(const struct list_config *config, struct list *ret)
{
	struct error *error = host_vms_find(&ret->vms);

	if (error)
		return error;
	host_vms_add_all_emulated(&ret->vms);
	ret->guests = memory_calloc(ret->vms.items.count, sizeof(*ret->guests));
	if (!config->no_memory)
		look_into_guests(ret);
	return NULL;
}

static struct error *run_list(const struct command *command, int argc, char **argv,
			      int *ret_status)
{
	_cleanup_(deinit) struct list list = { 0 };
	struct list_config config = { 0 };
	bool help;
	struct error *error = command_parse(command, &config, argc, argv, NULL, &help);

	(void)ret_status;
	if (error || help)
		return error;
	error = find(&config, &list);
	if (error)
		return error;
	if (config.json)
		print_json(&list);
	else if (list.vms.items.count)
		print_table(&list);
	if (!config.json) {
		say_what_is_missing(&list.vms);
		say_what_is_emulated(&list.vms);
	}
	return NULL;
}

static const struct option_spec list_options[] = {
	{ OPTION_FLAG, 0, "json", offsetof(struct list_config, json), NULL,
	  "print JSON, as described in perfvisor-list(1)" },
	{ OPTION_FLAG, 0, "no-memory", offsetof(struct list_config, no_memory), NULL,
	  "do not read guest memory: kernels and host names stay unknown" },
	{ 0 },
};

const struct command command_list = {
	.name = "list",
	.summary = "List the VMs of this host",
	.arguments = "",
	.options = list_options,
	.examples = "  perfvisor list           # pid, VMM, vCPUs, memory, uptime, name, kernel, "
		    "threads\n"
		    "  perfvisor list --json    # the same for programs\n",
	.run = run_list,
};
