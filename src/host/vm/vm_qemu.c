/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Uses "info cpus" of QEMU's monitor. */
#include "host/vm/vm_qemu.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "host/system/process.h"
#include "host/vm/qemu_monitor.h"
#include "host/vm/qemu_text.h"

#define MAX_ANSWER_BYTES ((size_t)1 << 20)

/* The pid in TEXT; 0: it is not a pid. */
static uint32_t pid_of(const char *text)
{
	char *end;
	unsigned long pid = strtoul(text, &end, 10);

	return *end || pid > INT32_MAX ? 0 : pid;
}

static struct error *ask(uint32_t pid, struct buffer *answer)
{
	static const char *const commands[] = { "info cpus" };
	_cleanup_qemu_monitor_ struct qemu_monitor *monitor = NULL;
	struct error *error = qemu_monitor_open(pid, &monitor);

	return error ? error : qemu_monitor_ask(monitor, commands, 1, answer);
}

/* Replaces the vCPUs found through KVM: registers come with QEMU's numbers. */
static struct error *find_vcpus(struct host_vm *vm)
{
	_cleanup_buffer_ struct buffer answer;
	struct error *error;

	buffer_init(&answer, MAX_ANSWER_BYTES);
	vm->vcpus.count = 0;
	error = ask(vm->pid, &answer);
	if (!error)
		error = qemu_text_cpus((const char *)answer.data, answer.size, vm);
	for (size_t i = 0; !error && i < vm->vcpus.count; i++)
		if (!host_process_has_thread(vm->pid, vm->vcpus.items[i].tid))
			error = error_create(ERROR_BAD_DATA,
					     "it reports threads that it does not have");
	return error;
}

/* The VM that TEXT names, which may be a QEMU's without KVM: then it is added. */
static struct error *select_vm(struct host_vms *vms, const char *text, const struct host_vm **ret)
{
	uint32_t pid = pid_of(text);
	struct error *error = host_vms_select(vms, text, ret); /* a name may look like a pid */

	if (!error || error_code(error) == ERROR_USAGE) /* or more than one has the name */
		return error;
	error_destroy(error);
	if (!pid) {
		host_vms_add_all_emulated(vms);
	} else if (!host_vms_of_process(vms, pid)) {
		error = host_vms_add_emulated(vms, pid);
		if (error)
			return error;
	}
	return host_vms_select(vms, text, ret);
}

struct error *vm_qemu_find(const char *text, struct host_vms *vms)
{
	const struct host_vm *vm;
	struct error *error = select_vm(vms, text, &vm);

	if (error)
		return error;
	vms->vcpu_source = HOST_VCPU_QEMU;
	error = find_vcpus(&vms->items.items[vm - vms->items.items]);
	if (!error)
		return NULL;
	return error_hint(
		error_prefix(error, "the QEMU of VM '%s' cannot be asked", vm->name),
		"give it a QMP socket that nobody else uses: -qmp unix:PATH,server=on,wait=off");
}
