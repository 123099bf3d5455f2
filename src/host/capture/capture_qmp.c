/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine that asks a QEMU: at each tick of a timer it stops the guest, copies what its vCPUs
 * run, and lets it continue. It needs no rights except to read QEMU's memory, and neither BPF nor
 * KVM. It supports one event and one VM.
 *
 * It samples all vCPUs at once, at equal intervals; halted vCPUs give no sample. If a tick comes
 * while QEMU is still working on the previous one, it is missed, and the next sample stands for
 * both.
 *
 * Since it pauses guests, it is never chosen by cost, only by name.
 *
 * The description of the guest comes from the thread that reads guest memory.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "base/log.h"
#include "base/progress.h"
#include "host/capture/capture_engine.h"
#include "host/capture/guest_copy.h"
#include "host/system/process.h"
#include "host/vm/qemu_pause.h"

struct vcpu {
	struct guest_copy *copy; /* NULL: its thread is gone */
	const struct sampler_record *record; /* NULL: no sample this time */
	const struct sampler_stacks *stacks;
};

struct qmp_state {
	struct qemu_pause *pause;
	int timer_fd;
	uint64_t enabled_ns;
	bool said;
	VECTOR(struct vcpu) vcpus; /* by thread */
	pthread_mutex_t lock; /* protects what follows */
	struct guest_copy_guest guest;
};

static void qmp_destroy(struct capture *capture)
{
	struct qmp_state *state = capture->state;

	qemu_pause_destroy(state->pause);
	cleanup_close(&state->timer_fd);
	for (size_t i = 0; i < state->vcpus.count; i++)
		guest_copy_destroy(state->vcpus.items[i].copy);
	vector_deinit(&state->vcpus);
	vector_deinit(&state->guest.cpus);
	pthread_mutex_destroy(&state->lock);
	free(state);
}

static struct error *qmp_create(struct capture *capture)
{
	struct qmp_state *state = memory_calloc(1, sizeof(*state));
	struct epoll_event interest = { .events = EPOLLIN };
	struct error *error;

	capture->state = state;
	pthread_mutex_init(&state->lock, NULL);
	state->guest.pid = capture->config.vmm;
	state->guest.layout = host_process_layout(capture->config.vmm, NULL);
	state->guest.user_bytes = capture->config.user_stack_bytes;
	state->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (state->timer_fd < 0 ||
	    epoll_ctl(capture->epoll_fd, EPOLL_CTL_ADD, state->timer_fd, &interest))
		error = error_system(errno, "could not create a timer");
	else
		error = qemu_pause_create(capture->config.vmm, &state->pause);
	if (error)
		qmp_destroy(capture);
	return error;
}

static struct error *qmp_add(struct capture *capture, size_t thread, bool *ret_gone)
{
	struct qmp_state *state = capture->state;
	struct vcpu vcpu = { .copy = guest_copy_create(capture->threads.items[thread].vcpu) };

	vector_append(&state->vcpus, vcpu);
	*ret_gone = false;
	return NULL;
}

static void qmp_remove(struct capture *capture, size_t thread)
{
	struct qmp_state *state = capture->state;

	guest_copy_destroy(state->vcpus.items[thread].copy);
	state->vcpus.items[thread].copy = NULL;
}

static void set_timer(const struct qmp_state *state, uint64_t period_ns)
{
	struct timespec period = { period_ns / 1000000000, period_ns % 1000000000 };
	struct itimerspec timer = { .it_interval = period, .it_value = period };

	timerfd_settime(state->timer_fd, 0, &timer, NULL);
}

static void qmp_enable(struct capture *capture)
{
	struct qmp_state *state = capture->state;

	state->enabled_ns = clock_monotonic_ns();
	set_timer(state, capture_clock_period_ns(capture, 0));
}

static void qmp_disable(struct capture *capture)
{
	struct qmp_state *state = capture->state;

	set_timer(state, 0);
	capture->stats.looks.elapsed_ns += clock_monotonic_ns() - state->enabled_ns;
}

static void qmp_set_rate(struct capture *capture)
{
	(void)capture; /* the rate takes effect when it is enabled */
}

static bool qmp_set_guest(struct capture *capture, const struct sampler_vm *guest,
			  const struct guest_cpus *cpus)
{
	struct qmp_state *state = capture->state;

	pthread_mutex_lock(&state->lock);
	state->guest.vm = *guest;
	state->guest.cpus.count = 0;
	for (size_t i = 0; i < cpus->items.count; i++)
		vector_append(&state->guest.cpus, cpus->items.items[i]);
	pthread_mutex_unlock(&state->lock);
	return true;
}

static struct vcpu *find_vcpu(struct capture *capture, uint32_t number)
{
	struct qmp_state *state = capture->state;

	for (size_t i = 0; i < state->vcpus.count; i++)
		if (state->vcpus.items[i].copy && capture->threads.items[i].vcpu == number)
			return &state->vcpus.items[i];
	return NULL;
}

/* Called while the guest is stopped. */
static void copy_vcpus(struct capture *capture, const struct host_vm_memory *memory)
{
	struct qmp_state *state = capture->state;

	pthread_mutex_lock(&state->lock);
	for (size_t i = 0; i < memory->registers.count; i++) {
		const struct host_vm_registers *registers = &memory->registers.items[i];
		struct vcpu *vcpu = find_vcpu(capture, registers->vcpu);

		if (!vcpu)
			continue;
		if (!registers->has_state)
			capture->stats.undecodable++;
		else if (registers->halted)
			capture->stats.looks.halted++;
		else
			vcpu->record = guest_copy_take(vcpu->copy, &state->guest, registers,
						       capture->config.stacks, &vcpu->stacks);
	}
	pthread_mutex_unlock(&state->lock);
}

static void deliver(struct capture *capture, uint64_t time_ns, uint64_t ticks)
{
	struct qmp_state *state = capture->state;

	for (size_t i = 0; i < state->vcpus.count; i++) {
		struct vcpu *vcpu = &state->vcpus.items[i];
		struct sampler_record record;

		if (!vcpu->record)
			continue;
		record = *vcpu->record;
		record.number = i;
		record.time_ns = time_ns;
		record.period = ticks * capture_clock_period_ns(capture, 0);
		capture_deliver_record(capture, 0, &record, vcpu->stacks);
		vcpu->record = NULL;
	}
}

/* Of a process that has executed another program, nothing is delivered. */
static struct error *check_process(struct qmp_state *state)
{
	if (guest_copy_is_of_guest(&state->guest))
		return NULL;
	for (size_t i = 0; i < state->vcpus.count; i++)
		state->vcpus.items[i].record = NULL;
	return error_create(ERROR_UNSUPPORTED,
			    "process %u has ended, or has executed another program",
			    state->guest.pid);
}

static struct error *look(struct capture *capture, uint64_t ticks)
{
	struct qmp_state *state = capture->state;
	uint64_t time_ns, pause_ns;
	struct error *error, *replaced;
	struct host_vm_memory memory;
	bool runs;

	error = qemu_pause_begin(state->pause, &memory, &runs);
	if (error)
		return error;
	if (!runs) {
		capture->stats.looks.paused++;
		return NULL;
	}
	time_ns = clock_monotonic_ns();
	copy_vcpus(capture, &memory);
	error = qemu_pause_end(state->pause, &pause_ns);
	host_vm_memory_deinit(&memory);
	if (!error) {
		capture->pauses.counts[sampler_cost_bucket(pause_ns)]++;
		capture->pauses.total_ns += pause_ns;
	}
	replaced = check_process(state);
	deliver(capture, time_ns, ticks);
	if (!error)
		return replaced;
	error_destroy(replaced);
	return error;
}

static void qmp_drain(struct capture *capture)
{
	struct qmp_state *state = capture->state;
	struct error *error;
	uint64_t ticks;

	if (read(state->timer_fd, &ticks, sizeof(ticks)) != sizeof(ticks))
		return;
	capture->stats.looks.due += ticks;
	error = look(capture, ticks);
	if (!error)
		return;
	capture->stats.looks.failed++;
	if (!state->said)
		log_warning("QEMU could not be asked: %s", error_message(error));
	state->said = true;
	error_destroy(error);
}

static void qmp_finish(struct capture *capture)
{
	(void)capture; /* missed ticks are counted at once */
}

static const char *qmp_description(const struct capture *capture)
{
	(void)capture;
	return "QEMU is asked, which pauses the guest";
}

const struct capture_engine capture_qmp_engine = {
	.create = qmp_create,
	.destroy = qmp_destroy,
	.add_thread = qmp_add,
	.remove_thread = qmp_remove,
	.enable = qmp_enable,
	.disable = qmp_disable,
	.set_rate = qmp_set_rate,
	.set_guest = qmp_set_guest,
	.drain = qmp_drain,
	.finish = qmp_finish,
	.description = qmp_description,
};
