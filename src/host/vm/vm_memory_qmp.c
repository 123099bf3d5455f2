/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks three questions: which memory the guest has, where each range begins and ends in QEMU, and
 * what is in the control registers. Each range is a piece of one of QEMU's RAM blocks, and
 * therefore one mapping; its first and last page show that.
 */
#include "host/vm/vm_memory_qmp.h"

#include <inttypes.h>

#include "base/memory.h"
#include "host/system/process.h"
#include "host/vm/qemu_monitor.h"
#include "host/vm/qemu_text.h"

#define MAX_ANSWER_BYTES ((size_t)16 << 20)
#define COMMAND_BYTES 32

static struct error *ask_one(struct qemu_monitor *monitor, const char *command,
			     struct buffer *answer)
{
	buffer_clear(answer);
	return qemu_monitor_ask(monitor, &command, 1, answer);
}

/* In the order required by qemu_text_addresses(). */
static struct error *ask_addresses(struct qemu_monitor *monitor,
				   const struct host_vm_memory *memory, struct buffer *answer)
{
	size_t count = 2 * memory->slots.count;
	_cleanup_free_ char (*texts)[COMMAND_BYTES] = memory_calloc(count, COMMAND_BYTES);
	_cleanup_free_ const char **commands = memory_calloc(count, sizeof(*commands));

	for (size_t i = 0; i < count; i++) {
		const struct host_vm_slot *slot = &memory->slots.items[i / 2];
		uint64_t last = i % 2 ? slot->bytes - GUEST_PAGE_BYTES : 0;

		snprintf(texts[i], COMMAND_BYTES, "gpa2hva 0x%" PRIx64, slot->start.value + last);
		commands[i] = texts[i];
	}
	buffer_clear(answer);
	return qemu_monitor_ask(monitor, commands, count, answer);
}

static struct error *ask(struct qemu_monitor *monitor, struct buffer *answer,
			 struct host_vm_memory *memory)
{
	struct error *error = ask_one(monitor, "info mtree -f", answer);

	if (!error)
		error = qemu_text_ranges((const char *)answer->data, answer->size, memory);
	if (!error)
		error = ask_addresses(monitor, memory, answer);
	if (!error)
		error = qemu_text_addresses((const char *)answer->data, answer->size, memory);
	if (!error)
		error = ask_one(monitor, "info registers -a", answer);
	if (!error)
		error = qemu_text_registers((const char *)answer->data, answer->size, memory);
	return error;
}

struct error *vm_memory_qmp_find(uint32_t pid, struct host_vm_memory *ret)
{
	_cleanup_qemu_monitor_ struct qemu_monitor *monitor = NULL;
	struct host_vm_memory memory = { .pid = pid, .layout = host_process_layout(pid, NULL) };
	_cleanup_buffer_ struct buffer answer;
	struct error *error;

	buffer_init(&answer, MAX_ANSWER_BYTES);
	error = qemu_monitor_open(pid, &monitor);
	if (!error)
		error = ask(monitor, &answer, &memory);
	if (error) {
		host_vm_memory_deinit(&memory);
		return error;
	}
	*ret = memory;
	return NULL;
}
