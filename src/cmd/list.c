/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfvisor list: the VMs of this host, as a table or as JSON. The table's last columns are
 * those without a limit: the name and the threads. What could not be found out is said on
 * stderr, so that stdout holds VMs and nothing else.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "cmd/command.h"
#include "host/vm.h"
#include "output/json.h"

#define NAME_MAX_WIDTH 32 /* longer names push the threads to the right */
#define THREADS_MAX_BYTES ((size_t)1024 * 1024)

struct list_config {
	bool json;
};

static uint64_t uptime_seconds(const struct host_vm *vm)
{
	uint64_t now = time(NULL), start = vm->start_time_ns / 1000000000u;

	return now > start ? now - start : 0;
}

/* As ps(1) does: [[DAYS-]HH:]MM:SS. */
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

/* How many vCPUs from FIRST on have threads with numbers one above the other. */
static size_t consecutive_threads(const struct host_vm *vm, size_t first)
{
	const struct host_vcpu *vcpus = vm->vcpus.items;
	size_t count = 1;

	while (vcpus[first].tid && first + count < vm->vcpus.count &&
	       vcpus[first + count].tid == vcpus[first].tid + count)
		count++;
	return count;
}

/* Thread ids in the order of the vCPUs: "131,134-140,-", where "-" has not run yet. */
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

static void print_row(const struct host_vm *vm, int vmm_width, size_t name_width,
		      const char *missing)
{
	_cleanup_buffer_ struct buffer threads;
	char memory[32], uptime[32];
	size_t name_columns = utf8_count(vm->name);
	int padding = name_columns < name_width ? name_width - name_columns : 0;

	format_memory(vm->memory_bytes, memory, sizeof(memory));
	format_uptime(uptime_seconds(vm), uptime, sizeof(uptime));
	buffer_init(&threads, THREADS_MAX_BYTES);
	append_threads(vm, missing, &threads);
	printf("%7" PRIu32 "  %-*s  %5zu  %10s  %11s  %s", vm->pid, vmm_width, vm->vmm,
	       vm->vcpus.count, memory, uptime, vm->name);
	if (threads.size)
		printf("%*s  %.*s", padding, "", (int)threads.size, (const char *)threads.data);
	printf("\n");
}

static void print_table(const struct host_vms *vms)
{
	const char *missing = vms->vcpu_source == HOST_VCPU_UNKNOWN ? "?" : "-";
	size_t name_width = strlen("NAME"), vmm_width = strlen("VMM");

	for (size_t i = 0; i < vms->items.count; i++) {
		size_t name = utf8_count(vms->items.items[i].name);
		size_t vmm = utf8_count(vms->items.items[i].vmm);

		name_width = name > name_width && name <= NAME_MAX_WIDTH ? name : name_width;
		vmm_width = vmm > vmm_width && vmm <= NAME_MAX_WIDTH ? vmm : vmm_width;
	}
	printf("%7s  %-*s  %5s  %10s  %11s  %-*s  %s\n", "PID", (int)vmm_width, "VMM", "VCPUS",
	       "MEMORY", "UPTIME", (int)name_width, "NAME", "VCPU THREADS");
	for (size_t i = 0; i < vms->items.count; i++)
		print_row(&vms->items.items[i], vmm_width, name_width, missing);
}

static void say_what_is_missing(const struct host_vms *vms)
{
	if (!vms->items.count && access("/dev/kvm", F_OK))
		log_note("no VMs: this host has no /dev/kvm (perfvisor doctor says more)");
	else if (!vms->items.count)
		log_note("no VMs: no process %shas one open",
			 vms->processes_hidden ? "that may be looked at " : "");
	else if (vms->vcpu_source == HOST_VCPU_UNKNOWN)
		log_note("vCPU threads are not known: %s", vms->vcpu_source_reason);
	else if (vms->vcpu_source == HOST_VCPU_DEBUGFS)
		log_note("vCPU threads are from debugfs, memory sizes are not known: %s",
			 vms->vcpu_source_reason);
	if (vms->processes_hidden)
		log_note("%zu processes of other users could not be looked at: run as root",
			 vms->processes_hidden);
}

static void write_vm(struct json *json, const struct host_vm *vm)
{
	time_t start = vm->start_time_ns / 1000000000u;
	struct tm utc;
	char text[32];

	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&start, &utc));
	json_open_object(json, NULL);
	json_unsigned(json, "pid", vm->pid);
	json_string(json, "name", vm->name);
	json_string(json, "vmm", vm->vmm);
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

static void print_json(const struct host_vms *vms)
{
	static const char *const sources[] = {
		[HOST_VCPU_BPF] = "bpf",
		[HOST_VCPU_DEBUGFS] = "debugfs",
		[HOST_VCPU_UNKNOWN] = NULL,
	};
	struct json json;

	json_init(&json, stdout);
	json_open_object(&json, NULL);
	json_string(&json, "threads_from", sources[vms->vcpu_source]);
	json_string(&json, "reason", vms->vcpu_source_reason);
	json_unsigned(&json, "hidden_processes", vms->processes_hidden);
	json_open_array(&json, "vms");
	for (size_t i = 0; i < vms->items.count; i++)
		write_vm(&json, &vms->items.items[i]);
	json_close(&json);
	json_close(&json);
}

static struct error *run_list(const struct command *command, int argc, char **argv,
			      int *ret_status)
{
	_cleanup_host_vms_ struct host_vms vms = { 0 };
	struct list_config config = { 0 };
	bool help;
	struct error *error = command_parse(command, &config, argc, argv, NULL, &help);

	(void)ret_status;
	if (error || help)
		return error;
	error = host_vms_find(&vms);
	if (error)
		return error;
	if (config.json)
		print_json(&vms);
	else if (vms.items.count)
		print_table(&vms);
	if (!config.json)
		say_what_is_missing(&vms);
	return NULL;
}

static const struct option_spec list_options[] = {
	{ OPTION_FLAG, 0, "json", offsetof(struct list_config, json), NULL,
	  "Write JSON, as perfvisor-list(1) describes it" },
	{ 0 },
};

const struct command command_list = {
	.name = "list",
	.summary = "List the VMs of this host",
	.arguments = "",
	.options = list_options,
	.examples = "  perfvisor list           # pid, VMM, vCPUs, memory, uptime, name, threads\n"
		    "  perfvisor list --json    # the same for programs\n",
	.run = run_list,
};
