/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the guest that the user names. */
#include "cmd/guest_command.h"

#include <string.h>

#include "base/utf8.h"
#include "host/vm/vm.h"

static struct error *no_vm(const struct host_vms *vms)
{
	if (vms->processes_hidden)
		return error_hint(error_create(ERROR_PERMISSION,
					       "no VM can be seen: %zu processes of other users "
					       "may not be looked at", vms->processes_hidden),
				  "run it as root; 'perfvisor doctor' shows what else gives the "
				  "rights");
	return error_hint(error_create(ERROR_NOT_FOUND, "no KVM VM was found on this host"),
			  "'perfvisor doctor' says what works here");
}

/* The VM that TEXT names, where KVM runs none of that name also a QEMU without KVM. */
static struct error *select_vm(struct host_vms *vms, const char *text, const struct host_vm **ret)
{
	struct error *error = host_vms_select(vms, text, ret);

	if (!error || error_code(error) != ERROR_NOT_FOUND)
		return error;
	error_destroy(error);
	host_vms_add_all_emulated(vms);
	return host_vms_select(vms, text, ret);
}

struct error *guest_command_choose(struct host_vms *vms, const char *text,
				   const struct host_vm **ret)
{
	if (text)
		return select_vm(vms, text, ret);
	if (!vms->items.count)
		host_vms_add_all_emulated(vms);
	if (vms->items.count == 1) {
		*ret = &vms->items.items[0];
		return NULL;
	}
	if (!vms->items.count)
		return no_vm(vms);
	return error_hint(error_create(ERROR_USAGE, "this host runs %zu VMs: choose one with --vm",
				       vms->items.count),
			  "'perfvisor list' lists them");
}

static const char *hint_for(const struct error *error)
{
	switch (error_code(error)) {
	case ERROR_NOT_FOUND:
		return "either the guest has not booted yet, or it does not run Linux";
	case ERROR_PERMISSION:
		return "run as root, or with CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE";
	default:
		return "'perfvisor doctor' shows what works on this host";
	}
}

struct error *guest_command_open_vm(struct vm_memory_finder *finder, const struct host_vm *vm,
				    struct guest_view **ret)
{
	struct error *error = guest_view_open(finder, vm, ret);

	if (!error)
		return NULL;
	error = error_prefix(error, "could not look into VM '%s'", vm->name);
	return error_hint(error, "%s", hint_for(error));
}

struct error *guest_command_open(const char *text, struct guest_view **ret)
{
	_cleanup_vm_memory_finder_ struct vm_memory_finder *finder = NULL;
	_cleanup_host_vms_ struct host_vms vms = { 0 };
	const struct host_vm *vm;
	struct error *error = host_vms_find(&vms);

	if (!error)
		error = guest_command_choose(&vms, text, &vm);
	if (error)
		return error;
	finder = vm_memory_finder_create();
	return guest_command_open_vm(finder, vm, ret);
}

const char *guest_command_printable(const char *name, char *text, size_t size)
{
	return utf8_printable(name, strlen(name), text, size);
}
