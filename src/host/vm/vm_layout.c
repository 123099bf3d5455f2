/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Offsets of the fields of struct kvm, kvm_vcpu, kvm_memslots and kvm_memory_slot
 * (include/linux/kvm_host.h), from BTF: the kernel's own if KVM is built in, otherwise that of the
 * module kvm, which is split BTF on top of the kernel's.
 *
 * There are two forms of memory slots: an array in kvm_memslots, and since 5.17 a hash table of
 * lists. The fields that exist show which one it is.
 */
#include "host/vm/vm_layout.h"

#include <bpf/btf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "host/system/bpf_log.h"
#include "host/system/kvm.h"

#define MAX_NESTING 8

/* Strips typedefs and qualifiers from TYPE; NULL: it is not a structure. */
static const struct btf_type *structure_of(const struct btf *btf, __u32 type_id)
{
	const struct btf_type *type = btf__type_by_id(btf, type_id);

	for (int i = 0; type && i < MAX_NESTING && (btf_is_mod(type) || btf_is_typedef(type)); i++)
		type = btf__type_by_id(btf, type->type);
	return type && btf_is_composite(type) ? type : NULL;
}

/* Finds NAME in TYPE and in its unnamed members. *RET_BITS is the offset in TYPE. */
static const struct btf_member *find_member(const struct btf *btf, const struct btf_type *type,
					    const char *name, int depth, __u32 *ret_bits)
{
	const struct btf_member *members = btf_members(type);

	for (int i = 0; i < btf_vlen(type); i++) {
		const char *its_name = btf__name_by_offset(btf, members[i].name_off);
		const struct btf_type *nested;
		const struct btf_member *found;
		__u32 offset = btf_member_bit_offset(type, i), inner;

		if (its_name && !strcmp(its_name, name)) {
			*ret_bits = offset;
			return &members[i];
		}
		if ((its_name && *its_name) || depth >= MAX_NESTING)
			continue;
		nested = structure_of(btf, members[i].type);
		found = nested ? find_member(btf, nested, name, depth + 1, &inner) : NULL;
		if (found) {
			*ret_bits = offset + inner;
			return found;
		}
	}
	return NULL;
}

static const struct btf_type *find_structure(const struct btf *btf, const char *name)
{
	__s32 id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

	return id > 0 ? btf__type_by_id(btf, id) : NULL;
}

struct wanted {
	const char *structure, *field;
	__u32 *offset;
};

static struct error *find_fields(const struct btf *btf, const struct wanted *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct btf_type *type = find_structure(btf, wanted[i].structure);
		__u32 bits;

		if (!type)
			return error_create(ERROR_UNSUPPORTED,
					    "the kernel's BTF has no struct %s",
					    wanted[i].structure);
		if (!find_member(btf, type, wanted[i].field, 0, &bits))
			return error_create(ERROR_UNSUPPORTED,
					    "this kernel's struct %s has no field '%s'",
					    wanted[i].structure, wanted[i].field);
		*wanted[i].offset = bits / 8;
	}
	return NULL;
}

static __u32 array_length(const struct btf *btf, const char *structure, const char *field)
{
	const struct btf_type *type = find_structure(btf, structure);
	__u32 bits;
	const struct btf_member *member = type ? find_member(btf, type, field, 0, &bits) : NULL;
	const struct btf_type *array = member ? btf__type_by_id(btf, member->type) : NULL;

	return array && btf_is_array(array) ? btf_array(array)->nelems : 0;
}

static struct error *find_slots(const struct btf *btf, struct vm_files_layout *layout)
{
	const struct wanted hashed[] = {
		{ "kvm_memslots", "id_hash", &layout->slots_id_hash },
		{ "kvm_memslots", "node_idx", &layout->slots_node_idx },
		{ "kvm_memory_slot", "id_node", &layout->slot_id_node },
	};
	const struct wanted array[] = {
		{ "kvm_memslots", "memslots", &layout->slots_array },
		{ "kvm_memslots", "used_slots", &layout->slots_used },
	};
	const struct btf_type *slots = find_structure(btf, "kvm_memslots");
	const struct btf_type *slot = find_structure(btf, "kvm_memory_slot");
	__u32 bits;

	if (!slots || !slot)
		return error_create(ERROR_UNSUPPORTED,
				    "the kernel's BTF has no struct kvm_memslots");
	layout->slot_size = slot->size;
	layout->slots_hashed = find_member(btf, slots, "node_idx", 0, &bits) != NULL;
	if (!layout->slots_hashed)
		return find_fields(btf, array, 2);
	layout->id_hash_buckets = array_length(btf, "kvm_memslots", "id_hash");
	return find_fields(btf, hashed, 3);
}

struct error *vm_layout_from_btf(const struct btf *btf, struct vm_files_layout *ret)
{
	struct vm_files_layout layout = { 0 };
	const struct wanted fields[] = {
		{ "kvm_vcpu", "kvm", &layout.vcpu_kvm },
		{ "kvm_vcpu", "pid", &layout.vcpu_pid },
		{ "kvm_vcpu", "vcpu_id", &layout.vcpu_id },
		{ "kvm", "mm", &layout.kvm_mm },
		{ "kvm", "memslots", &layout.kvm_memslots },
		{ "kvm_memslots", "generation", &layout.slots_generation },
		{ "kvm_memory_slot", "npages", &layout.slot_npages },
		{ "kvm_memory_slot", "flags", &layout.slot_flags },
	};
	struct error *error = find_fields(btf, fields, sizeof(fields) / sizeof(*fields));

	if (!error)
		error = find_slots(btf, &layout);
	if (!error)
		*ret = layout;
	return error;
}

/* BTF of the kernel and of one of its modules; a built-in module is part of the kernel's own. */
struct kernel_btf {
	struct btf *kernel, *module;
};

static struct error *load_btf(const char *module, struct kernel_btf *ret)
{
	_cleanup_free_ char *path = memory_printf("/sys/kernel/btf/%s", module);
	struct kernel_btf loaded = { 0 };
	struct bpf_log log;
	int reason;

	bpf_log_begin(&log);
	loaded.kernel = btf__load_vmlinux_btf();
	reason = errno;
	if (loaded.kernel && !access(path, F_OK))
		loaded.module = btf__load_module_btf(module, loaded.kernel);
	bpf_log_end();
	if (!loaded.kernel)
		return error_create(ERROR_UNSUPPORTED, "could not read the kernel's BTF (%s)",
				    strerror(reason));
	*ret = loaded;
	return NULL;
}

static void unload_btf(struct kernel_btf *loaded)
{
	btf__free(loaded->module);
	btf__free(loaded->kernel);
}

static const struct btf *newest(const struct kernel_btf *loaded)
{
	return loaded->module ? loaded->module : loaded->kernel;
}

struct error *vm_layout_find(struct vm_files_layout *ret)
{
	struct kernel_btf loaded;
	struct error *error = load_btf("kvm", &loaded);

	if (error)
		return error;
	error = vm_layout_from_btf(newest(&loaded), ret);
	unload_btf(&loaded);
	return error;
}

static struct error *find_registers(const struct btf *btf, struct vm_memory_layout *ret)
{
	const struct wanted fields[] = {
		{ "kvm_memory_slot", "base_gfn", &ret->slot_base_gfn },
		{ "kvm_memory_slot", "userspace_addr", &ret->slot_userspace_addr },
		{ "kvm_vcpu", "arch", &ret->vcpu_arch },
		{ "kvm_vcpu_arch", "cr0", &ret->arch_cr0 },
		{ "kvm_vcpu_arch", "cr4", &ret->arch_cr4 },
		{ "kvm_vcpu_arch", "efer", &ret->arch_efer },
		{ "kvm_vcpu_arch", "hflags", &ret->arch_hflags },
	};

	return find_fields(btf, fields, sizeof(fields) / sizeof(*fields));
}

static struct error *find_vmcb(const struct btf *btf, struct vm_memory_layout *ret)
{
	__u32 save, cr3, cpl, gs, segment_base;
	const struct wanted fields[] = {
		{ "vcpu_svm", "vmcb", &ret->svm_vmcb },
		{ "vmcb", "save", &save },
		{ "vmcb_save_area", "cr3", &cr3 },
		{ "vmcb_save_area", "cpl", &cpl },
		{ "vmcb_save_area", "gs", &gs },
		{ "vmcb_seg", "base", &segment_base },
		{ "kvm_vcpu_arch", "regs", &ret->arch_regs },
		{ "kvm_vcpu_arch", "mp_state", &ret->arch_mp_state },
	};
	struct error *error = find_fields(btf, fields, sizeof(fields) / sizeof(*fields));

	if (error)
		return error;
	ret->vmcb_cr3 = save + cr3;
	ret->vmcb_cpl = save + cpl;
	ret->vmcb_gs_base = save + gs + segment_base;
	return NULL;
}

static struct error *find_vmcb_fields(const struct btf *btf, struct sampler_layout *ret)
{
	__u32 info, ptr, save, control, exit_code, gs, segment_base;
	__u32 rip, rsp, rax, cr3, cpl, kernel_gs_base;
	const struct wanted fields[] = {
		{ "vcpu_svm", "vmcb", &ret->svm_vmcb },
		{ "vcpu_svm", "vmcb01", &info },
		{ "kvm_vmcb_info", "ptr", &ptr },
		{ "vmcb", "save", &save },
		{ "vmcb", "control", &control },
		{ "vmcb_control_area", "exit_code", &exit_code },
		{ "vmcb_save_area", "rip", &rip },
		{ "vmcb_save_area", "rsp", &rsp },
		{ "vmcb_save_area", "rax", &rax },
		{ "vmcb_save_area", "cr3", &cr3 },
		{ "vmcb_save_area", "cpl", &cpl },
		{ "vmcb_save_area", "gs", &gs },
		{ "vmcb_seg", "base", &segment_base },
		{ "vmcb_save_area", "kernel_gs_base", &kernel_gs_base },
	};
	struct error *error = find_fields(btf, fields, sizeof(fields) / sizeof(*fields));

	if (error)
		return error;
	ret->svm_vmcb01 = info + ptr;
	ret->vmcb_exit_code = control + exit_code;
	ret->vmcb_rip = save + rip;
	ret->vmcb_rsp = save + rsp;
	ret->vmcb_rax = save + rax;
	ret->vmcb_cr3 = save + cr3;
	ret->vmcb_cpl = save + cpl;
	ret->vmcb_gs_base = save + gs + segment_base;
	ret->vmcb_kernel_gs_base = save + kernel_gs_base;
	return NULL;
}

/*
 * Since the series that added perf_sample_data.dyn_size (Linux 6.3), perf asks KVM for the guest's
 * IP, which KVM then caches, before it runs a BPF program; older kernels ask afterwards.
 */
static struct error *find_cached_fields(const struct kernel_btf *loaded, struct sampler_layout *ret)
{
	const struct wanted regs_avail = { "kvm_vcpu_arch", "regs_avail", &ret->arch_regs_avail };
	__u32 dyn_size;
	const struct wanted sample = { "perf_sample_data", "dyn_size", &dyn_size };
	struct error *error = find_fields(newest(loaded), &regs_avail, 1);

	if (!error)
		error = find_fields(loaded->kernel, &sample, 1);
	return error;
}

struct error *vm_sampler_layout_find(struct sampler_layout *ret)
{
	struct sampler_layout layout = { 0 };
	const struct wanted fields[] = {
		{ "kvm_vcpu", "arch", &layout.vcpu_arch },
		{ "kvm_vcpu", "kvm", &layout.vcpu_kvm },
		{ "kvm", "mm", &layout.kvm_mm },
		{ "task_struct", "mm", &layout.task_mm },
		{ "kvm_vcpu_arch", "handling_intr_from_guest", &layout.arch_handling_intr },
		{ "kvm_vcpu_arch", "hflags", &layout.arch_hflags },
		{ "kvm_vcpu_arch", "regs", &layout.arch_regs },
	};
	struct kernel_btf loaded;
	struct error *error;

	enum host_kvm_vendor vendor = host_kvm_vendor();

	if (vendor != HOST_KVM_AMD && vendor != HOST_KVM_INTEL)
		return error_create(
			ERROR_UNSUPPORTED,
			"the guest state of KVM modules other than AMD's and Intel's is not known");
	/*
	 * The BTF of a vendor's module contains all of KVM's structures, since struct vcpu_svm
	 * embeds them.
	 */
	layout.has_vmcb = vendor == HOST_KVM_AMD;
	error = load_btf(layout.has_vmcb ? "kvm_amd" : "kvm", &loaded);
	if (error)
		return error;
	error = find_fields(newest(&loaded), fields, sizeof(fields) / sizeof(*fields));
	if (!error)
		error = layout.has_vmcb ? find_vmcb_fields(newest(&loaded), &layout)
					: find_cached_fields(&loaded, &layout);
	unload_btf(&loaded);
	if (!error)
		*ret = layout;
	return error;
}

struct error *vm_memory_layout_find(struct vm_memory_layout *ret)
{
	struct vm_memory_layout layout = { .is_svm = host_kvm_vendor() == HOST_KVM_AMD };
	struct kernel_btf loaded;
	struct error *error = load_btf("kvm", &loaded);

	if (error)
		return error;
	error = find_registers(newest(&loaded), &layout);
	unload_btf(&loaded);
	if (error || !layout.is_svm) {
		if (!error)
			*ret = layout;
		return error;
	}
	error = load_btf("kvm_amd", &loaded);
	if (error)
		return error;
	error = find_vmcb(newest(&loaded), &layout);
	unload_btf(&loaded);
	if (!error)
		*ret = layout;
	return error;
}
