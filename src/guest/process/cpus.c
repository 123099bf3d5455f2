/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * __per_cpu_offset[] has each CPU's offset for per-CPU symbols (arch/x86/kernel/setup_percpu.c).
 * cpu_info, a per-CPU struct cpuinfo_x86, has its APIC id (arch/x86/kernel/smpboot.c,
 * smp_store_cpu_info()): in a field of its own until 6.6, in topo since then. For a CPU that never
 * ran that field is 0, which is the first CPU's id: the CPU that comes first gets it.
 */
#include "guest/process/cpus.h"

#include "base/map.h"

struct layout {
	struct guest_btf_field apicid, topo_apicid;
};

static const struct guest_layout_row rows[] = {
	{ "cpuinfo_x86", "apicid", offsetof(struct layout, apicid), true },
	{ "cpuinfo_x86", "topo.apicid", offsetof(struct layout, topo_apicid), true },
	{ 0 },
};

/* A kernel built for one CPU has neither. */
static uint32_t count_cpus(const struct guest_kernel *kernel)
{
	struct gva address;
	uint32_t count = 1;

	if (guest_kernel_find_symbol(kernel, "nr_cpu_ids", &address))
		guest_space_read_u32(guest_kernel_space(kernel), address, &count);
	return count < GUEST_CPUS_MAX ? count : GUEST_CPUS_MAX;
}

static bool read_apic_id(const struct guest_kernel *kernel, const struct layout *layout,
			 struct gva cpu_info, uint64_t *ret)
{
	return guest_kernel_read_field(kernel, cpu_info,
				       layout->topo_apicid.size ? &layout->topo_apicid
								: &layout->apicid,
				       ret);
}

void guest_cpus_read(const struct guest_kernel *kernel, struct guest_cpus *ret)
{
	struct guest_space *space = guest_kernel_space(kernel);
	_cleanup_error_ struct error *error = NULL;
	uint32_t count = count_cpus(kernel);
	struct guest_cpus cpus = { 0 };
	struct gva offsets, cpu_info;
	struct layout layout;
	struct map known;

	*ret = cpus;
	error = guest_kernel_layout(kernel, rows, &layout);
	if (error || !guest_kernel_find_symbol(kernel, "__per_cpu_offset", &offsets) ||
	    !guest_kernel_find_symbol(kernel, "cpu_info", &cpu_info))
		return;
	map_init(&known);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t offset, apic_id;
		bool added;

		if (!guest_space_read_u64(space, GVA(offsets.value + i * sizeof(offset)),
					  &offset) ||
		    !read_apic_id(kernel, &layout, GVA(cpu_info.value + offset), &apic_id))
			continue;
		map_insert(&known, apic_id, &added);
		if (added)
			vector_append(&cpus.items, (struct guest_cpu){ apic_id, GVA(offset) });
	}
	map_deinit(&known);
	*ret = cpus;
}

void guest_cpus_deinit(struct guest_cpus *cpus)
{
	vector_deinit(&cpus->items);
}
