/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads src/bpf/guest_sampler.bpf.c, fills its maps, and reads its rings. */
#include "host/capture/guest_sampler.h"

#include "config.h"

#if HAVE_BPF
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "guest_sampler.skel.h"
#include "host/system/bpf_log.h"
#include "host/system/capability.h"
#include "host/system/kvm.h"
#include "host/vm/vm_layout.h"

struct guest_sampler {
	struct guest_sampler_skeleton *skeleton;
	bool sees_guests, sees_registers;
	int program_fd, threads_fd, vms_fd, cpus_fd;
	struct ring_buffer *rings; /* of all CPUs; NULL: none */
	guest_sampler_take *take;
	void *take_context;
};

static uint64_t key_of(const struct capture_thread *thread)
{
	return (uint64_t)thread->pid << 32 | thread->tid;
}

static size_t stack_bytes(const struct sampler_stacks *stacks)
{
	size_t bytes = 0;

	for (size_t i = 0; i < SAMPLER_STACKS; i++)
		bytes += stacks->stacks[i].bytes;
	return bytes + (size_t)stacks->links * SAMPLER_LINK_BYTES + stacks->above_links_bytes;
}

/* NULL: it is not that large. */
static const struct sampler_areas *find_areas(const struct sampler_record *record, size_t size)
{
	const struct sampler_areas *areas = (const void *)(record + 1);
	size_t fixed = sizeof(*record) + offsetof(struct sampler_areas, items);

	return size >= fixed && areas->count <= SAMPLER_AREAS &&
			       size - fixed >= areas->count * sizeof(*areas->items)
		       ? areas
		       : NULL;
}

/* Records come from our own program; anything of another size is not a record. */
static int take_record(void *context, void *data, size_t size)
{
	struct guest_sampler *sampler = context;
	const struct sampler_record *record = data;
	const struct sampler_stacks *stacks = (const void *)(record + 1);

	if (size < sizeof(*record))
		return 0;
	if (record->flags & SAMPLER_MAPPINGS) {
		const struct sampler_areas *areas = find_areas(record, size);

		if (areas)
			sampler->take(sampler->take_context, record, NULL, areas);
		return 0;
	}
	if (!(record->flags & SAMPLER_STACKS_TAKEN) || size < sizeof(*record) + sizeof(*stacks) ||
	    size < sizeof(*record) + sizeof(*stacks) + stack_bytes(stacks))
		stacks = NULL;
	sampler->take(sampler->take_context, record, stacks, NULL);
	return 0;
}

static size_t power_of_two(size_t least)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);

	while (bytes < least)
		bytes *= 2;
	return bytes;
}

static struct error *add_ring(struct guest_sampler *sampler, uint32_t cpu, size_t bytes)
{
	int outer = bpf_map__fd(sampler->skeleton->maps.rings);
	_cleanup_close_ int ring = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, bytes, NULL);

	if (ring < 0 || bpf_map_update_elem(outer, &cpu, &ring, BPF_ANY))
		return error_system(errno, "could not create a BPF ring of %zu KiB", bytes >> 10);
	if (sampler->rings)
		return ring_buffer__add(sampler->rings, ring, take_record, sampler)
			       ? error_system(errno, "could not map a BPF ring")
			       : NULL;
	sampler->rings = ring_buffer__new(ring, take_record, sampler, NULL);
	return sampler->rings ? NULL : error_system(errno, "could not map a BPF ring");
}

static struct error *add_rings(struct guest_sampler *sampler, size_t bytes)
{
	uint32_t cpus = bpf_map__max_entries(sampler->skeleton->maps.rings);
	struct error *error = NULL;

	for (uint32_t cpu = 0; cpu < cpus && !error; cpu++)
		error = add_ring(sampler, cpu, power_of_two(bytes));
	return error;
}

static int size_maps(struct guest_sampler_skeleton *skeleton, uint32_t vms)
{
	int result = bpf_map__set_max_entries(skeleton->maps.rings, libbpf_num_possible_cpus());

	if (!result)
		result = bpf_map__set_max_entries(skeleton->maps.vms, vms);

	if (!result && skeleton->rodata->takes_stacks)
		result = bpf_map__set_max_entries(skeleton->maps.scratches,
						  libbpf_num_possible_cpus());
	/* If registers provide the GS base, the map of CPUs is not used. */
	if (!result && skeleton->rodata->layout.has_vmcb)
		result = bpf_map__set_max_entries(skeleton->maps.cpus, 1);
	return result;
}

static struct error *load(struct guest_sampler *sampler,
			  const struct guest_sampler_options *options)
{
	_cleanup_error_ struct error *no_guests = NULL;
	struct sampler_layout layout = { 0 };
	struct guest_sampler_skeleton *skeleton;
	struct bpf_log log;
	int result = 0;

	no_guests = vm_sampler_layout_find(&layout);
	if (no_guests)
		log_detail("guest processes are not recorded: %s", error_message(no_guests));
	sampler->sees_guests = !no_guests;
	sampler->sees_registers = layout.has_vmcb;
	bpf_log_begin(&log);
	skeleton = sampler->skeleton = guest_sampler_skeleton__open();
	if (!skeleton) {
		result = -errno;
	} else {
		skeleton->rodata->layout = layout;
		skeleton->rodata->sees_guests = sampler->sees_guests;
		skeleton->rodata->takes_stacks = options->stacks;
		skeleton->rodata->takes_mappings = options->mappings;
		skeleton->rodata->user_stack_bytes = options->user_stack_bytes;
		skeleton->rodata->whole_stacks = !layout.has_vmcb || host_kvm_compares();
		result = size_maps(skeleton, options->vms);
	}
	if (!result)
		result = guest_sampler_skeleton__load(skeleton);
	bpf_log_end();
	return result ? bpf_log_error(&log, -result, "could not load the BPF sampler") : NULL;
}

struct error *guest_sampler_create(const struct guest_sampler_options *options,
				   struct guest_sampler **ret)
{
	struct guest_sampler *sampler;
	struct error *error;

	/* The program sees the host's pids, but perf reports those of our namespace. */
	if (!host_capability_initial_pids())
		return error_create(ERROR_UNSUPPORTED, "this is a container with its own pids");
	sampler = memory_calloc(1, sizeof(*sampler));
	error = load(sampler, options);
	if (!error && sampler->sees_guests)
		error = add_rings(sampler, options->ring_bytes);
	if (error) {
		guest_sampler_destroy(sampler);
		return error;
	}
	sampler->program_fd = bpf_program__fd(sampler->skeleton->progs.sample_guest);
	sampler->threads_fd = bpf_map__fd(sampler->skeleton->maps.threads);
	sampler->vms_fd = bpf_map__fd(sampler->skeleton->maps.vms);
	sampler->cpus_fd = bpf_map__fd(sampler->skeleton->maps.cpus);
	*ret = sampler;
	return NULL;
}

void guest_sampler_destroy(struct guest_sampler *sampler)
{
	if (!sampler)
		return;
	ring_buffer__free(sampler->rings);
	guest_sampler_skeleton__destroy(sampler->skeleton);
	free(sampler);
}

bool guest_sampler_sees_guests(const struct guest_sampler *sampler)
{
	return sampler->sees_guests;
}

bool guest_sampler_sees_registers(const struct guest_sampler *sampler)
{
	return sampler->sees_registers;
}

bool guest_sampler_attach(struct guest_sampler *sampler, int event_fd)
{
	return !ioctl(event_fd, PERF_EVENT_IOC_SET_BPF, sampler->program_fd);
}

bool guest_sampler_add(struct guest_sampler *sampler, const struct capture_thread *thread,
		       uint32_t number)
{
	uint64_t key = key_of(thread);
	struct sampler_thread value = {
		.vcpu = thread->vcpu_object,
		.number = number,
		.vm = thread->vm,
		.vcpu_number = thread->vcpu,
	};

	return !bpf_map_update_elem(sampler->threads_fd, &key, &value, BPF_ANY);
}

void guest_sampler_remove(struct guest_sampler *sampler, const struct capture_thread *thread)
{
	uint64_t key = key_of(thread);

	bpf_map_delete_elem(sampler->threads_fd, &key);
}

static struct sampler_thread find_thread(const struct guest_sampler *sampler,
					 const struct capture_thread *thread)
{
	uint64_t key = key_of(thread);
	struct sampler_thread value = { 0 };

	bpf_map_lookup_elem(sampler->threads_fd, &key, &value);
	return value;
}

uint64_t guest_sampler_passed(const struct guest_sampler *sampler,
			      const struct capture_thread *thread)
{
	return find_thread(sampler, thread).passed;
}

uint64_t guest_sampler_cost_ns(const struct guest_sampler *sampler,
			       const struct capture_thread *thread)
{
	return find_thread(sampler, thread).cost_ns;
}

void guest_sampler_add_cost(const struct guest_sampler *sampler, struct sampler_cost *sum)
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ struct sampler_cost *costs = memory_calloc(cpus, sizeof(*costs));
	uint32_t key = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(sampler->skeleton->maps.costs), &key, costs))
		return;
	for (int i = 0; i < cpus; i++)
		sampler_cost_add(sum, &costs[i]);
}

/* Must precede the VM's own entry, whose version says which kernel these belong to. */
static void set_cpus(struct guest_sampler *sampler, uint32_t vm, uint64_t version,
		     const struct guest_cpus *cpus)
{
	for (size_t i = 0; i < cpus->items.count; i++) {
		const struct guest_cpu *cpu = &cpus->items.items[i];
		uint64_t key = SAMPLER_CPU_KEY(vm, cpu->apic_id);
		struct sampler_cpu value = { version, cpu->base.value };

		bpf_map_update_elem(sampler->cpus_fd, &key, &value, BPF_ANY);
	}
}

bool guest_sampler_set_vm(struct guest_sampler *sampler, uint32_t vm,
			  const struct sampler_vm *description, const struct guest_cpus *cpus)
{
	if (!sampler->sees_registers)
		set_cpus(sampler, vm, description->version, cpus);
	return !bpf_map_update_elem(sampler->vms_fd, &vm, description, BPF_ANY);
}

int guest_sampler_epoll_fd(const struct guest_sampler *sampler)
{
	return sampler->rings ? ring_buffer__epoll_fd(sampler->rings) : -1;
}

void guest_sampler_drain(struct guest_sampler *sampler, guest_sampler_take *take, void *context)
{
	if (!sampler->rings)
		return;
	sampler->take = take;
	sampler->take_context = context;
	ring_buffer__consume(sampler->rings);
}

#else

struct error *guest_sampler_create(const struct guest_sampler_options *options,
				   struct guest_sampler **ret)
{
	(void)options, (void)ret;
	return error_create(ERROR_UNSUPPORTED, "BPF is not built in");
}

void guest_sampler_destroy(struct guest_sampler *sampler)
{
	(void)sampler;
}

bool guest_sampler_sees_guests(const struct guest_sampler *sampler)
{
	(void)sampler;
	return false;
}

bool guest_sampler_sees_registers(const struct guest_sampler *sampler)
{
	(void)sampler;
	return false;
}

bool guest_sampler_attach(struct guest_sampler *sampler, int event_fd)
{
	(void)sampler, (void)event_fd;
	return false;
}

bool guest_sampler_add(struct guest_sampler *sampler, const struct capture_thread *thread,
		       uint32_t number)
{
	(void)sampler, (void)thread, (void)number;
	return false;
}

void guest_sampler_remove(struct guest_sampler *sampler, const struct capture_thread *thread)
{
	(void)sampler, (void)thread;
}

uint64_t guest_sampler_passed(const struct guest_sampler *sampler,
			      const struct capture_thread *thread)
{
	(void)sampler, (void)thread;
	return 0;
}

uint64_t guest_sampler_cost_ns(const struct guest_sampler *sampler,
			       const struct capture_thread *thread)
{
	(void)sampler, (void)thread;
	return 0;
}

void guest_sampler_add_cost(const struct guest_sampler *sampler, struct sampler_cost *sum)
{
	(void)sampler, (void)sum;
}

bool guest_sampler_set_vm(struct guest_sampler *sampler, uint32_t vm,
			  const struct sampler_vm *description, const struct guest_cpus *cpus)
{
	(void)sampler, (void)vm, (void)description, (void)cpus;
	return false;
}

int guest_sampler_epoll_fd(const struct guest_sampler *sampler)
{
	(void)sampler;
	return -1;
}

void guest_sampler_drain(struct guest_sampler *sampler, guest_sampler_take *take, void *context)
{
	(void)sampler, (void)take, (void)context;
}
#endif
