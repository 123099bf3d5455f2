/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel formats /proc/kallsyms while it is read: some 200,000 lines
 * "ADDRESS TYPE NAME[\t[MODULE]]" (kernel/kallsyms.c, s_show()). That takes a tenth of a second, so
 * one pass answers all questions.
 */
#include "host/system/kernel_symbols.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memory.h"

#define CHUNK_BYTES (256 * 1024)

enum symbol { TEXT, STEXT, ETEXT, IS_USER_MODE, IN_KERNEL, PREEMPTED_IN_KERNEL, SYMBOLS };

static const char *const names[SYMBOLS] = {
	[TEXT] = "_text",
	[STEXT] = "_stext",
	[ETEXT] = "_etext",
	[IS_USER_MODE] = "kvm_is_user_mode",
	[IN_KERNEL] = "kvm_arch_vcpu_in_kernel",
	[PREEMPTED_IN_KERNEL] = "kvm_arch_vcpu_preempted_in_kernel",
};

struct found {
	bool is_there[SYMBOLS];
	uint64_t addresses[SYMBOLS];
};

/* LINE ends with a newline. */
static void take_line(struct found *found, const char *line)
{
	const char *name = strchr(line, ' ');

	if (!name || !name[1] || name[2] != ' ')
		return;
	name += 3;
	/* Cheaper than six comparisons for most. */
	if (*name != '_' && strncmp(name, "kvm_", 4))
		return;
	for (size_t i = 0; i < SYMBOLS; i++) {
		size_t length = strlen(names[i]);

		/* The kernel's own symbols come before those of modules. */
		if (found->is_there[i] || strncmp(name, names[i], length))
			continue;
		/* Copies that the compiler makes have suffixes such as ".constprop.0". */
		if (!strchr("\t\n .", name[length]))
			continue;
		found->is_there[i] = true;
		found->addresses[i] = strtoull(line, NULL, 16);
	}
}

/* All whole lines in TEXT; returns where the last, unfinished one begins. */
static char *take_lines(struct found *found, char *text)
{
	for (char *end; (end = strchr(text, '\n')); text = end + 1)
		take_line(found, text);
	return text;
}

void host_kernel_symbols_read(const char *kallsyms, struct host_kernel_symbols *ret)
{
	_cleanup_close_ int fd = open(kallsyms, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *chunk = memory_alloc(CHUNK_BYTES + 1);
	struct found found = { .is_there = { false } };
	size_t kept = 0;
	ssize_t got;

	while (fd >= 0 && kept < CHUNK_BYTES &&
	       (got = read(fd, chunk + kept, CHUNK_BYTES - kept)) > 0) {
		char *rest;

		chunk[kept + (size_t)got] = '\0';
		rest = take_lines(&found, chunk);
		kept = strlen(rest);
		memmove(chunk, rest, kept);
	}
	*ret = (struct host_kernel_symbols){
		.has_kvm_is_user_mode = found.is_there[IS_USER_MODE],
		.has_kvm_arch_vcpu_in_kernel = found.is_there[IN_KERNEL],
		.has_kvm_arch_vcpu_preempted_in_kernel = found.is_there[PREEMPTED_IN_KERNEL],
	};
	if (!found.addresses[TEXT])
		found.addresses[TEXT] = found.addresses[STEXT];
	if (!found.addresses[TEXT] || found.addresses[ETEXT] <= found.addresses[TEXT])
		return;
	ret->text_start = found.addresses[TEXT];
	ret->text_end = found.addresses[ETEXT];
}
