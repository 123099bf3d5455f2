/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows what each vCPU is running. */
#include <inttypes.h>
#include <stdio.h>

#include "cmd/guest_command.h"
#include "cmd/stack/stack.h"
#include "host/inspect/vcpu_stacks.h"

static void print_task(const struct guest_task *task)
{
	char name[GUEST_TASK_NAME_BYTES];

	printf(", %" PRIu32 "/%" PRIu32 " %s%s%s", task->tgid, task->pid,
	       task->kernel_thread ? "[" : "",
	       guest_command_printable(task->name, name, sizeof(name)),
	       task->kernel_thread ? "]" : "");
}

static void print_vcpu(const struct vcpu_stack *vcpu, const struct stack_listing *listing)
{
	static const char *const states[VCPU_STATES] = {
		[VCPU_RUNS] = "running",
		[VCPU_HALTED] = "halted",
		[VCPU_STOPPED] = "not running",
		[VCPU_NESTED] = "runs a guest of its own",
		[VCPU_UNSTARTED] = "not started",
		[VCPU_RESTLESS] = "kept running and sleeping while being inspected",
	};

	printf("vCPU %" PRIu32 ": %s", vcpu->vcpu, states[vcpu->state]);
	if (vcpu->has_task)
		print_task(&vcpu->task);
	if (vcpu->stack != SIZE_MAX)
		printf(", in %s mode", vcpu->user ? "user" : "kernel");
	printf("\n");
	if (vcpu->stack != SIZE_MAX)
		stack_print_chain(listing, &listing->stacks->items.items[vcpu->stack]);
}

static void write_vcpu(const struct vcpu_stack *vcpu, const struct stack_listing *listing,
		       struct json *json)
{
	static const char *const states[VCPU_STATES] = {
		[VCPU_RUNS] = "running",          [VCPU_HALTED] = "halted",
		[VCPU_STOPPED] = "not running",   [VCPU_NESTED] = "nested guest",
		[VCPU_UNSTARTED] = "not started", [VCPU_RESTLESS] = "restless",
	};

	json_open_object(json, NULL);
	json_unsigned(json, "vcpu", vcpu->vcpu);
	if (vcpu->has_task) {
		json_unsigned(json, "pid", vcpu->task.tgid);
		json_unsigned(json, "tid", vcpu->task.pid);
		json_string(json, "comm", vcpu->task.name);
		json_bool(json, "kernel_thread", vcpu->task.kernel_thread);
	}
	json_string(json, "stack", states[vcpu->state]);
	if (vcpu->stack != SIZE_MAX) {
		json_string(json, "mode", vcpu->user ? "user" : "kernel");
		stack_write_chain(listing, json, &listing->stacks->items.items[vcpu->stack]);
	}
	json_close(json);
}

static void print_all(const struct vcpu_stacks *vcpus, const struct stack_listing *listing)
{
	for (size_t i = 0; i < vcpus->items.count; i++) {
		if (i)
			printf("\n");
		print_vcpu(&vcpus->items.items[i], listing);
	}
}

static void write_all(const struct vcpu_stacks *vcpus, const struct stack_listing *listing)
{
	struct json json;

	json_init(&json, stdout);
	json_open_array(&json, NULL);
	for (size_t i = 0; i < vcpus->items.count; i++)
		write_vcpu(&vcpus->items.items[i], listing, &json);
	json_close(&json);
}

static struct error *read_vcpus(const char *text, uint32_t vcpu, struct intern *strings,
				struct vcpu_stacks *ret)
{
	_cleanup_vm_memory_finder_ struct vm_memory_finder *finder = NULL;
	_cleanup_guest_view_ struct guest_view *view = NULL;
	_cleanup_host_vms_ struct host_vms vms = { 0 };
	const struct host_vm *vm;
	struct error *error = host_vms_find(&vms);

	if (!error)
		error = guest_command_choose(&vms, text, &vm);
	if (error)
		return error;
	finder = vm_memory_finder_create();
	error = guest_command_open_vm(finder, vm, &view);
	if (error)
		return error;
	error = vcpu_stacks_read(finder, vm, view, vcpu, strings, ret);
	if (!error)
		return NULL;
	error = error_prefix(error, "could not read what the vCPUs of VM '%s' run", vm->name);
	return error_hint(error, "'perfvisor doctor' shows what works on this host; stack --tasks "
				 "needs no registers");
}

struct error *stack_show_vcpus(const char *text, uint32_t vcpu, bool as_json)
{
	_cleanup_intern_ struct intern *strings = intern_create();
	struct vcpu_stacks vcpus;
	struct error *error = read_vcpus(text, vcpu, strings, &vcpus);
	struct stack_listing listing = { .stacks = &vcpus.stacks, .strings = strings };

	if (error)
		return error;
	if (as_json)
		write_all(&vcpus, &listing);
	else
		print_all(&vcpus, &listing);
	vcpu_stacks_deinit(&vcpus);
	return NULL;
}
