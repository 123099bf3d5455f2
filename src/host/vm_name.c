/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of VMs by the options of their VMMs. A VMM is known by the file name of its first
 * argument, or of its program where it goes by another name. One that is not in the table,
 * or that was given no name, gives COMMAND-PID.
 *
 * How to add a VMM: a row in `vmms`.
 */
#include "host/vm_name.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"

struct vmm {
	const char *program; /* how the file name starts */
	bool prefix;	     /* more may follow */
	const char *name;
	/* The option that carries the name, after one dash or two; NULL: there is none. */
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

/* Bytes of one argument or of a part of it. */
struct span {
	const char *text;
	size_t length;
};

/* The argument at *OFFSET, which moves behind it; false: there is none. The last one may lack
 * its 0 byte. */
static bool next_argument(const struct vm_process *process, size_t *offset, struct span *ret)
{
	if (*offset >= process->command_size)
		return false;
	ret->text = process->command + *offset;
	ret->length = strnlen(ret->text, process->command_size - *offset);
	*offset += ret->length + 1;
	return true;
}

static const struct vmm *find_vmm(struct span program)
{
	for (size_t i = 0; i < sizeof(vmms) / sizeof(*vmms); i++) {
		size_t length = strlen(vmms[i].program);

		if (program.length >= length && !memcmp(program.text, vmms[i].program, length) &&
		    (vmms[i].prefix || program.length == length))
			return &vmms[i];
	}
	return NULL;
}

/* The file name of the first argument, without what setproctitle() may have put behind it. */
static struct span command_name(const struct vm_process *process)
{
	size_t offset = 0;
	struct span name;

	if (!next_argument(process, &offset, &name))
		return (struct span){ process->comm, strlen(process->comm) };
	for (size_t i = 0; i < name.length; i++)
		if (name.text[i] == ' ')
			name.length = i;
	for (size_t i = 0; i < name.length; i++) {
		if (name.text[i] != '/')
			continue;
		name = (struct span){ name.text + i + 1, name.length - i - 1 };
		i = -1;
	}
	if (name.length && name.text[name.length - 1] == ':')
		name.length--;
	return name.length ? name : (struct span){ process->comm, strlen(process->comm) };
}

/* What follows OPTION in ARGUMENT: -option VALUE and --option VALUE give an empty span with
 * text NULL (the value is the next argument), --option=VALUE gives VALUE. False: another. */
static bool match_option(struct span argument, const char *option, struct span *ret)
{
	size_t length = strlen(option);
	size_t dashes = 0;

	while (dashes < 2 && dashes < argument.length && argument.text[dashes] == '-')
		dashes++;
	if (!dashes || argument.length - dashes < length ||
	    memcmp(argument.text + dashes, option, length))
		return false;
	*ret = (struct span){ argument.text + dashes + length, argument.length - dashes - length };
	if (!ret->length) {
		ret->text = NULL;
		return true;
	}
	if (*ret->text != '=')
		return false;
	ret->text++;
	ret->length--;
	return true;
}

/* The last value of OPTION, as VMMs take it; false: it is not there. */
static bool find_option(const struct vm_process *process, const char *option, struct span *ret)
{
	struct span argument, value;
	size_t offset = 0;
	bool found = false;

	next_argument(process, &offset, &argument);
	while (next_argument(process, &offset, &argument)) {
		if (!match_option(argument, option, &value))
			continue;
		if (!value.text && !next_argument(process, &offset, &value))
			break;
		*ret = value;
		found = true;
	}
	return found;
}

/* The end of the property at the start of LIST: a comma, where two stand for one in it. */
static size_t property_length(struct span list)
{
	size_t i = 0;

	while (i < list.length && list.text[i] != ',')
		i++;
	while (i + 1 < list.length && list.text[i + 1] == ',') {
		i += 2;
		while (i < list.length && list.text[i] != ',')
			i++;
	}
	return i < list.length ? i : list.length;
}

/* A property's text with ",," as ",". */
static char *unescape(struct span value)
{
	char *text = memory_strndup(value.text, value.length);
	size_t length = 0;

	for (size_t i = 0; i < value.length; i++) {
		text[length++] = value.text[i];
		if (value.text[i] == ',')
			i++;
	}
	text[length] = 0;
	return text;
}

/* QEMU's -name: "NAME,…" or "…,guest=NAME,…"; NULL: it names none. */
static char *property_name(struct span list)
{
	char *name = NULL;
	bool first = true;

	for (;;) {
		struct span property = { list.text, property_length(list) };
		bool keyed = memchr(property.text, '=', property.length);
		bool guest = property.length > 6 && !memcmp(property.text, "guest=", 6);

		if (guest || (first && !keyed)) {
			free(name);
			name = unescape((struct span){ property.text + (guest ? 6 : 0),
						       property.length - (guest ? 6 : 0) });
		}
		first = false;
		if (property.length >= list.length)
			return name;
		list.text += property.length + 1;
		list.length -= property.length + 1;
	}
}

static char *option_name(const struct vm_process *process, const struct vmm *vmm)
{
	struct span value;

	if (!vmm || !vmm->option || !find_option(process, vmm->option, &value))
		return NULL;
	return vmm->properties ? property_name(value) : memory_strndup(value.text, value.length);
}

static char *printable(struct span text, size_t max_bytes)
{
	char clean[VM_NAME_MAX_BYTES + 1];

	utf8_printable(text.text, text.length, clean, max_bytes + 1);
	return memory_strdup(*clean ? clean : "?");
}

void vm_name_find(const struct vm_process *process, char **ret_name, char **ret_vmm)
{
	struct span command = command_name(process);
	const struct vmm *vmm = find_vmm(command);
	_cleanup_free_ char *shown = printable(command, VM_NAME_MAX_BYTES - sizeof("-4294967295"));
	_cleanup_free_ char *name = NULL;

	if (!vmm)
		vmm = find_vmm((struct span){ process->program, strlen(process->program) });
	name = option_name(process, vmm);
	if (name && *name)
		*ret_name = printable((struct span){ name, strlen(name) }, VM_NAME_MAX_BYTES);
	else
		*ret_name = memory_printf("%s-%u", shown, process->pid);
	*ret_vmm = vmm ? memory_strdup(vmm->name) : take_pointer(shown);
}
