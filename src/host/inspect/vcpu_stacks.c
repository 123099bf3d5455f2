/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A halted vCPU is read from memory; its chain is valid if its registers are the same before and
 * after. Others are sampled as in a recording, once each. If a vCPU gives no sample and its
 * registers are the same at two looks, it is not running, and is read as if it were halted.
 */
#include "host/inspect/vcpu_stacks.h"

#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/progress.h"
#include "host/capture/capture.h"
#include "host/event/event.h"
#include "host/system/kvm_registers.h"

#define PERIOD_NS 1000000
#define WAIT_MS 5
#define LOOK_NS 100000000ull
#define LIMIT_NS 1000000000ull
#define ATTEMPTS 16
#define VCPU_NUMBERS_BYTES 400 /* of vCPUs that are named where another was asked for */
#define USER_STACK_BYTES (32 << 10)
#define VERSION 1 /* the version of the guest that the sampler gets */

struct met {
	const struct host_vcpu *vcpu;
	bool done; /* its chain was read */
	bool sampled, nested;
	struct guest_vcpu_state state;
	struct capture_stacks stacks;
	uint8_t *data; /* the stacks' bytes */
	uint64_t registers[UNWIND_GENERAL_REGISTERS];
};

struct look {
	struct host_vm_memory memory;
	bool there;
};

struct survey {
	struct vm_memory_finder *finder;
	const struct host_vm *vm;
	struct guest_view *view;
	struct host_events events;
	struct capture *capture;
	/* In the order of capture's threads, followed by those without a thread. */
	VECTOR(struct met) met;
	struct look last;
};

static void copy_stack(struct capture_stack *stack, uint8_t **data)
{
	if (stack->bytes)
		memcpy(*data, stack->data, stack->bytes);
	stack->data = *data;
	*data += stack->bytes;
}

static void keep_stacks(struct met *met, const struct capture_stacks *stacks)
{
	size_t bytes = stacks->user.bytes;
	uint8_t *to;

	for (size_t i = 0; i < CAPTURE_KERNEL_STACKS; i++)
		bytes += stacks->kernel[i].bytes;
	met->data = to = memory_calloc(bytes + 1, 1);
	met->stacks = *stacks;
	/* all of the stack that is wanted is copied here */
	met->stacks.links = (struct capture_links){ 0 };
	for (size_t i = 0; i < CAPTURE_KERNEL_STACKS; i++)
		copy_stack(&met->stacks.kernel[i], &to);
	copy_stack(&met->stacks.user, &to);
	met->state.stacks = &met->stacks;
}

/* Keeps each vCPU's first sample in which something is known of the guest. */
static void on_sample(void *context, size_t event, size_t thread,
		      const struct perfdata_sample *sample, const struct capture_guest *guest,
		      const uint64_t *counts)
{
	struct survey *survey = context;
	struct met *met = &survey->met.items[thread];

	(void)event, (void)counts;
	if (!guest || met->sampled || (!guest->nested && (!guest->version || !guest->stacks)))
		return;
	met->sampled = true;
	met->nested = guest->nested;
	if (met->nested)
		return;
	met->state.user =
		(sample->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_GUEST_USER;
	memcpy(met->registers, guest->stacks->registers, sizeof(met->registers));
	met->state.registers = kvm_registers_for_unwind(met->registers, sample->ip);
	met->state.task = guest->has_task ? guest->task : GVA(0);
	keep_stacks(met, guest->stacks);
}

static void on_lost(void *context, size_t event, size_t thread, uint64_t count, uint64_t time_ns)
{
	(void)context, (void)event, (void)thread, (void)count, (void)time_ns;
}

static struct error *open_capture(struct survey *survey)
{
	struct capture_config config = { .stacks = true,
					 .user_stack_bytes = USER_STACK_BYTES,
					 .expected_threads = survey->met.count,
					 .engine = &capture_threads_engine,
					 .sink = { survey, on_sample, on_lost } };
	struct error *error = host_events_parse("cpu-clock", &survey->events);
	struct host_event *event;
	host_modes modes;

	if (error)
		return error;
	event = &survey->events.items.items[0];
	host_event_set_modes(event, true, false, &modes);
	event->attr.sample_period = PERIOD_NS;
	host_event_set_sampling(event);
	error = host_event_probe(event);
	if (error)
		return error;
	config.events = survey->events.items.items;
	config.event_count = survey->events.items.count;
	error = capture_create(&config, &survey->capture);
	if (!error && !capture_sees_registers(survey->capture))
		error = error_create(
			ERROR_UNSUPPORTED,
			"the registers of running vCPUs cannot be read on this host");
	return error;
}

static struct error *add_threads(struct survey *survey)
{
	struct sampler_vm description;
	struct guest_cpus cpus;
	struct error *error = guest_view_describe(survey->view, VERSION, &description, &cpus);

	if (error)
		return error;
	capture_set_guest(survey->capture, 0, &description, &cpus);
	guest_cpus_deinit(&cpus);
	for (size_t i = 0; i < survey->met.count && !error; i++) {
		const struct host_vcpu *vcpu = survey->met.items[i].vcpu;
		size_t number;
		struct capture_thread thread = { .pid = survey->vm->pid,
						 .tid = vcpu->tid,
						 .vcpu = vcpu->number,
						 .vcpu_object = vcpu->object };

		if (vcpu->tid)
			error = capture_add_thread(survey->capture, &thread, &number);
	}
	return error;
}

static const struct host_vm_registers *find_registers(const struct look *look, uint32_t vcpu)
{
	for (size_t i = 0; look->there && i < look->memory.registers.count; i++) {
		const struct host_vm_registers *registers = &look->memory.registers.items[i];

		if (registers->vcpu == vcpu && registers->has_state)
			return registers;
	}
	return NULL;
}

static bool is_same(const struct host_vm_registers *left, const struct host_vm_registers *right)
{
	return left && right && left->halted == right->halted && left->user == right->user &&
	       left->mmu.x86.cr3 == right->mmu.x86.cr3 && left->gs_base == right->gs_base &&
	       !memcmp(left->registers, right->registers, sizeof(left->registers));
}

static void look_again(const struct survey *survey, struct look *ret)
{
	struct error *error = vm_memory_find(survey->finder, survey->vm, &ret->memory);

	ret->there = !error;
	error_destroy(error);
}

static void forget(struct look *look)
{
	if (look->there)
		host_vm_memory_deinit(&look->memory);
	look->there = false;
}

/* Nothing more is expected from this vCPU. */
static bool is_settled(const struct met *met)
{
	return met->done || met->sampled || !met->vcpu->tid;
}

/* Each vCPU has given a sample, or has the same registers as at the previous look. */
static bool all_stand_still(struct survey *survey)
{
	struct look before = survey->last;
	bool all = true;

	survey->last = (struct look){ 0 };
	look_again(survey, &survey->last);
	for (size_t i = 0; i < survey->met.count; i++) {
		const struct met *met = &survey->met.items[i];

		all &= is_settled(met) || is_same(find_registers(&before, met->vcpu->number),
						  find_registers(&survey->last, met->vcpu->number));
	}
	forget(&before);
	return all;
}

static bool all_settled(const struct survey *survey)
{
	for (size_t i = 0; i < survey->met.count; i++)
		if (!is_settled(&survey->met.items[i]))
			return false;
	return true;
}

static struct error *sample(struct survey *survey)
{
	uint64_t begin = clock_monotonic_ns(), looked = begin;
	struct error *error = all_settled(survey) ? NULL : capture_enable(survey->capture);

	while (!error && !all_settled(survey)) {
		uint64_t now;

		capture_wait(survey->capture, WAIT_MS);
		capture_drain(survey->capture);
		now = clock_monotonic_ns();
		if (now - begin >= LIMIT_NS)
			break;
		if (now - looked < LOOK_NS)
			continue;
		looked = now;
		if (all_stand_still(survey))
			break;
	}
	if (!error)
		capture_finish(survey->capture);
	return error;
}

/* Discards the chain that was read last. */
static void take_back(struct vcpu_stacks *stacks)
{
	stacks->stacks.items.count--;
	stacks->stacks.frames.count =
		stacks->stacks.items.items[stacks->stacks.items.count].first_frame;
}

static struct error *read_chain(struct survey *survey, const struct guest_vcpu_state *state,
				struct intern *strings, struct vcpu_stack *item,
				struct vcpu_stacks *stacks)
{
	struct error *error =
		guest_stacks_read_vcpu(survey->view, state, strings, &stacks->stacks, &item->task);

	if (error)
		return error;
	item->user = state->user;
	item->has_task = item->task.at.value;
	item->stack = stacks->stacks.items.count - 1;
	return NULL;
}

static struct guest_vcpu_state still_state(const struct host_vm_registers *registers)
{
	return (struct guest_vcpu_state){
		.user = registers->user,
		.registers = kvm_registers_for_unwind(registers->registers,
						      registers->registers[KVM_REGISTER_IP]),
		.gs_base = registers->gs_base,
		.mmu = registers->mmu,
	};
}

/* *RET: the vCPU did not run in the meantime. ONLY_HALTED: read it only if it is halted. */
static struct error *try_still(struct survey *survey, bool only_halted, struct intern *strings,
			       struct vcpu_stack *item, struct vcpu_stacks *stacks, bool *ret)
{
	const struct host_vm_registers *registers;
	struct look before = { 0 }, after = { 0 };
	struct error *error = NULL;

	*ret = false;
	look_again(survey, &before);
	registers = find_registers(&before, item->vcpu);
	if (registers && only_halted && (!registers->halted || registers->nested))
		registers = NULL;
	if (registers && registers->nested) {
		item->state = VCPU_NESTED;
		*ret = true;
	} else if (registers) {
		struct guest_vcpu_state state = still_state(registers);

		item->state = registers->halted ? VCPU_HALTED : VCPU_STOPPED;
		error = read_chain(survey, &state, strings, item, stacks);
		look_again(survey, &after);
		*ret = !error && is_same(registers, find_registers(&after, item->vcpu));
		if (!error && !*ret)
			take_back(stacks);
	}
	forget(&before);
	forget(&after);
	return error;
}

static struct error *read_still(struct survey *survey, struct intern *strings,
				struct vcpu_stack *item, struct vcpu_stacks *stacks)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		bool good;
		struct error *error = try_still(survey, false, strings, item, stacks, &good);

		if (error || good)
			return error;
	}
	*item = (struct vcpu_stack){ .vcpu = item->vcpu,
				     .state = VCPU_RESTLESS,
				     .stack = SIZE_MAX };
	return NULL;
}

/* Reads the vCPUs that are halted now, before anything is sampled. */
static struct error *read_halted(struct survey *survey, struct intern *strings,
				 struct vcpu_stacks *stacks)
{
	struct error *error = NULL;

	for (size_t i = 0; i < survey->met.count && !error; i++) {
		struct met *met = &survey->met.items[i];

		for (int j = 0; j < ATTEMPTS && met->vcpu->tid && !met->done && !error; j++)
			error = try_still(survey, true, strings, &stacks->items.items[i], stacks,
					  &met->done);
	}
	return error;
}

static struct error *read_rest(struct survey *survey, const struct met *met, struct intern *strings,
			       struct vcpu_stack *item, struct vcpu_stacks *stacks)
{
	if (met->done)
		return NULL;
	*item = (struct vcpu_stack){ .vcpu = met->vcpu->number, .stack = SIZE_MAX };
	if (met->nested)
		item->state = VCPU_NESTED;
	else if (met->sampled)
		return read_chain(survey, &met->state, strings, item, stacks);
	else if (!met->vcpu->tid)
		item->state = VCPU_UNSTARTED;
	else
		return read_still(survey, strings, item, stacks);
	return NULL;
}

static struct error *no_such_vcpu(const struct host_vm *vm, uint32_t wanted)
{
	_cleanup_buffer_ struct buffer numbers;
	struct error *error;

	buffer_init(&numbers, VCPU_NUMBERS_BYTES);
	for (size_t i = 0; i < vm->vcpus.count; i++)
		buffer_printf(&numbers, "%s%u", i ? ", " : "", vm->vcpus.items[i].number);
	error = error_create(ERROR_NOT_FOUND, "VM '%s' has no vCPU %u", vm->name, wanted);
	if (!vm->vcpus.count)
		return error;
	return error_hint(error, "its vCPUs are %.*s%s", (int)numbers.size,
			  (const char *)numbers.data, numbers.overflow ? " ..." : "");
}

static struct error *choose_vcpus(struct survey *survey, uint32_t wanted)
{
	for (int started = 1; started >= 0; started--)
		for (size_t i = 0; i < survey->vm->vcpus.count; i++) {
			const struct host_vcpu *vcpu = &survey->vm->vcpus.items[i];

			if ((vcpu->tid != 0) == started &&
			    (wanted == VCPU_STACKS_ALL || vcpu->number == wanted))
				vector_append(&survey->met, (struct met){ .vcpu = vcpu });
		}
	if (!survey->met.count && wanted != VCPU_STACKS_ALL)
		return no_such_vcpu(survey->vm, wanted);
	if (!survey->met.count)
		return error_create(ERROR_UNSUPPORTED, "the vCPUs of VM '%s' are not known",
				    survey->vm->name);
	return NULL;
}

static void end_survey(struct survey *survey)
{
	capture_destroy(survey->capture);
	host_events_deinit(&survey->events);
	for (size_t i = 0; i < survey->met.count; i++)
		free(survey->met.items[i].data);
	vector_deinit(&survey->met);
	forget(&survey->last);
}

struct error *vcpu_stacks_read(struct vm_memory_finder *finder, const struct host_vm *vm,
			       struct guest_view *view, uint32_t vcpu, struct intern *strings,
			       struct vcpu_stacks *ret)
{
	struct survey survey = { .finder = finder, .vm = vm, .view = view };
	struct vcpu_stacks stacks = { 0 };
	struct error *error = choose_vcpus(&survey, vcpu);

	if (!error)
		error = open_capture(&survey);
	if (!error)
		error = add_threads(&survey);
	for (size_t i = 0; i < survey.met.count; i++)
		vector_append(&stacks.items,
			      (struct vcpu_stack){ .vcpu = survey.met.items[i].vcpu->number,
						   .stack = SIZE_MAX });
	if (!error)
		error = read_halted(&survey, strings, &stacks);
	if (!error)
		error = sample(&survey);
	for (size_t i = 0; i < survey.met.count && !error; i++)
		error = read_rest(&survey, &survey.met.items[i], strings, &stacks.items.items[i],
				  &stacks);
	end_survey(&survey);
	if (error)
		vcpu_stacks_deinit(&stacks);
	else
		*ret = stacks;
	return error;
}

void vcpu_stacks_deinit(struct vcpu_stacks *stacks)
{
	vector_deinit(&stacks->items);
	guest_stacks_deinit(&stacks->stacks);
}
