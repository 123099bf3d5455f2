/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/code/kernel_file.h"

#include "session/session.h"

/* False: TABLE and VMLINUX have nothing in common by which the shift is known. */
static bool find_delta(const struct symbol_table *table, struct elf_file *vmlinux, uint64_t *ret)
{
	static const char *const names[] = { "_stext", "_text", "start_kernel", "schedule" };

	for (size_t i = 0; table && i < sizeof(names) / sizeof(*names); i++) {
		const struct symbol *symbol = symbol_table_find_name(table, names[i]);
		uint64_t linked;
		struct error *error;

		if (!symbol)
			continue;
		error = elf_file_find_symbol(vmlinux, names[i], &linked);
		error_destroy(error);
		if (!error) {
			*ret = linked - symbol->start;
			return true;
		}
	}
	return false;
}

/* The vmlinux of MACHINE's KERNEL, the caller's to close. */
static struct error *find_vmlinux(struct session *session, const struct machine *machine,
				  uint32_t kernel, struct elf_file **ret)
{
	struct dso_request request = { .path = machine->name };

	if (machine_is_guest(machine) && session->guest_symbols.guestvmlinux)
		return elf_file_open(session->guest_symbols.guestvmlinux, ret);
	if (!machine_is_guest(machine)) {
		session_identify_kernel(session, &request);
	} else if (kernel != MACHINE_NO_KERNEL) {
		struct perfdata_symbols symbols = perfdata_reader_symbols(
			session->reader, machine->kernels->list.items[kernel].symbols);

		request.build_id = symbols.build_id_bytes ? symbols.build_id : NULL;
		request.build_id_bytes = symbols.build_id_bytes;
	}
	request.downloads = session->dsos.downloads;
	return dso_find_vmlinux(&request, ret);
}

struct error *kernel_file_find(struct session *session, struct machine *machine, uint32_t kernel,
			       struct elf_file **ret, uint64_t *ret_delta)
{
	_cleanup_elf_file_ struct elf_file *vmlinux = NULL;
	struct error *error = find_vmlinux(session, machine, kernel, &vmlinux);

	if (error)
		return error;
	if (!find_delta(session_kernel_table(session, machine, kernel), vmlinux, ret_delta))
		return error_create(ERROR_NOT_FOUND,
				    "the symbols of '%s' and those of the recording have nothing "
				    "in common", elf_file_name(vmlinux));
	*ret = take_pointer(vmlinux);
	return NULL;
}
