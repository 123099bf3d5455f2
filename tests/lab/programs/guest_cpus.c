/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For test_guest_memory.sh: where the CPUs of the only VM of this host have their per-CPU
 * variables, by what its memory says of them and by the GS base of the vCPUs themselves, which is
 * that in the kernel:
 *
 *	memory APIC-ID BASE
 *	vcpu NUMBER BASE		of vCPUs that were met in the kernel, each once
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "walls/cage.h"
#include "host/inspect/guest_view.h"
#include "service/service.h"

#define MAX_VCPUS 64
#define LOOKS 200
#define PAUSE_NS 20000000

static struct error *print_memory(struct vm_memory_finder *finder, const struct host_vm *vm)
{
	_cleanup_guest_view_ struct guest_view *view = NULL;
	struct error *error = guest_view_open(finder, vm, &view);
	struct sampler_vm description;
	struct guest_cpus cpus;

	if (!error)
		error = guest_view_describe(view, 1, &description, &cpus);
	if (error)
		return error;
	for (size_t i = 0; i < cpus.items.count; i++)
		printf("memory %" PRIu32 " %" PRIx64 "\n", cpus.items.items[i].apic_id,
		       cpus.items.items[i].base.value);
	guest_cpus_deinit(&cpus);
	return NULL;
}

/* True: each has been met. */
static bool print_vcpus(const struct host_vm_memory *memory, bool *seen)
{
	bool all = true;

	for (size_t i = 0; i < memory->registers.count; i++) {
		const struct host_vm_registers *registers = &memory->registers.items[i];

		/* Before SWAPGS the kernel has the user's. */
		if (registers->vcpu >= MAX_VCPUS || seen[registers->vcpu] ||
		    !registers->has_state || registers->user || !(registers->gs_base >> 63))
			continue;
		seen[registers->vcpu] = true;
		printf("vcpu %" PRIu32 " %" PRIx64 "\n", registers->vcpu, registers->gs_base);
	}
	for (size_t i = 0; i < memory->registers.count; i++)
		all &= memory->registers.items[i].vcpu < MAX_VCPUS &&
		       seen[memory->registers.items[i].vcpu];
	return all;
}

static struct error *look_at_vcpus(struct vm_memory_finder *finder, const struct host_vm *vm)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	bool seen[MAX_VCPUS] = { false }, all = false;

	for (size_t i = 0; i < LOOKS && !all; i++) {
		struct host_vm_memory memory;
		struct error *error = vm_memory_find(finder, vm, &memory);

		if (error)
			return error;
		all = print_vcpus(&memory, seen);
		host_vm_memory_deinit(&memory);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static struct error *run(void)
{
	_cleanup_vm_memory_finder_ struct vm_memory_finder *finder = vm_memory_finder_create();
	_cleanup_host_vms_ struct host_vms vms = { 0 };
	struct error *error = host_vms_find(&vms);

	if (!error && vms.items.count != 1)
		error = error_create(ERROR_NOT_FOUND, "there is not one VM");
	if (!error)
		error = print_memory(finder, &vms.items.items[0]);
	return error ? error : look_at_vcpus(finder, &vms.items.items[0]);
}

int main(int argc, char **argv)
{
	_cleanup_error_ struct error *error = NULL;

	/* The guest's parser is this program, too: cage_start(CAGE_GUEST, ) says so. */
	if (argc == 2 && !strcmp(argv[1], CAGE_GUEST_COMMAND)) {
		error = cage_enter(CAGE_GUEST);
		if (!error)
			guest_service_run(CAGE_FD);
	} else {
		error = run();
	}
	if (error)
		fprintf(stderr, "guest_cpus: %s\n", error_message(error));
	return !!error;
}
