/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of VMs, from the options of their VMMs. A VMM is recognized by the file name of its first
 * argument, or of its program if it was started under another name. If it is not in the table or
 * was given no name, the VM is called COMMAND-PID.
 *
 * To add a VMM, add a row to `vmms`.
 */
#include "host/vm/vm_name.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"

struct vmm {
	const char *program; /* how the file name starts */
	bool prefix;	     /* more may follow */
	const char *name;
	/* The option that carries the name, with one dash or two; NULL: there is none. */
	const char *option;
	bool properties; /* its value is a list "NAME,key=value" or "guest=NAME,…" */
};

static const struct vmm vmms[] = {
	{ "qemu-system-", true, "qemu", "name", true },
	{ "qemu-kvm", true, "qemu", "name", true },
	{ "kvm", false, "qemu", "name", true },
	{ "firecracker", true, "firecracker", "id", false },
	{ "cloud-hypervisor", true, "cloud-hypervisor", NULL, false },
	{ "crosvm", true, "crosvm", "name", false },
	{ "lkvm", true, "kvmtool", "name", false },
	{ "vm", false, "kvmtool", "name", false },
	{ "stratovirt", true, "stratovirt", "name", false },
	{ "VBoxHeadless", false, "virtualbox", "comment", false },
	{ "VirtualBoxVM", false, "virtualbox", "comment", false },
};

static const struct vmm *find_vmm(struct vm_span program)
{
	for (size_t i = 0; i < sizeof(vmms) / sizeof(*vmms); i++) {
		size_t length = strlen(vmms[i].program);

		if (program.length >= length && !memcmp(program.text, vmms[i].program, length) &&
		    (vmms[i].prefix || program.length == length))
			return &vmms[i];
	}
	return NULL;
}

/* The file name of the first argument, without what setproctitle() may have appended. */
static struct vm_span command_name(const struct vm_process *process)
{
	size_t offset = 0;
	struct vm_span name;

	if (!vm_command_next(&process->command, &offset, &name))
		return (struct vm_span){ process->comm, strlen(process->comm) };
	for (size_t i = 0; i < name.length; i++)
		if (name.text[i] == ' ')
			name.length = i;
	for (size_t i = 0; i < name.length; i++) {
		if (name.text[i] != '/')
			continue;
		name = (struct vm_span){ name.text + i + 1, name.length - i - 1 };
		i = -1;
	}
	if (name.length && name.text[name.length - 1] == ':')
		name.length--;
	return name.length ? name : (struct vm_span){ process->comm, strlen(process->comm) };
}

/* The last value of OPTION, which is the one that VMMs use; false: not given. */
static bool find_option(const struct vm_process *process, const char *option, struct vm_span *ret)
{
	size_t offset = 0;
	bool found = false;

	while (vm_command_next_option(&process->command, option, &offset, ret))
		found = true;
	return found;
}

/* QEMU's -name: "NAME,…" or "…,guest=NAME,…"; NULL: no name given. */
static char *property_name(struct vm_span list)
{
	struct vm_property property;
	char *name = NULL;
	bool first = true;

	while (vm_property_next(&list, &property)) {
		bool guest = property.value.length && vm_span_is(property.key, "guest");

		if (guest || (first && !property.value.text)) {
			free(name);
			name = vm_property_text(guest ? property.value : property.key);
		}
		first = false;
	}
	return name;
}

static char *option_name(const struct vm_process *process, const struct vmm *vmm)
{
	struct vm_span value;

	if (!vmm || !vmm->option || !find_option(process, vmm->option, &value))
		return NULL;
	return vmm->properties ? property_name(value) : memory_strndup(value.text, value.length);
}

static char *printable(struct vm_span text, size_t max_bytes)
{
	char clean[VM_NAME_MAX_BYTES + 1];

	utf8_printable(text.text, text.length, clean, max_bytes + 1);
	return memory_strdup(*clean ? clean : "?");
}

void vm_name_find(const struct vm_process *process, char **ret_name, char **ret_vmm)
{
	struct vm_span command = command_name(process);
	const struct vmm *vmm = find_vmm(command);
	_cleanup_free_ char *shown = printable(command, VM_NAME_MAX_BYTES - sizeof("-4294967295"));
	_cleanup_free_ char *name = NULL;

	if (!vmm)
		vmm = find_vmm((struct vm_span){ process->program, strlen(process->program) });
	name = option_name(process, vmm);
	if (name && *name)
		*ret_name = printable((struct vm_span){ name, strlen(name) }, VM_NAME_MAX_BYTES);
	else
		*ret_name = memory_printf("%s-%u", shown, process->pid);
	*ret_vmm = vmm ? memory_strdup(vmm->name) : take_pointer(shown);
}
