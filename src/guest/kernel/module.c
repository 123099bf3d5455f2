/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks the kernel's list `modules`.
 *
 * Source: include/linux/module.h, kernel/module/{main,procfs,kallsyms}.c (module.c until 5.18). A
 * module's memory is in core_layout until 6.3, and in mem[] by type since 6.4; BTF shows which. A
 * symbol's letter is in typetab; it is upper case if the module exports the symbol (is_exported(),
 * which looks at `syms` alone). /proc/modules counts core and init memory.
 *
 * The walk ends where a circular list closes. The total for all modules is bounded, so that a
 * thousand modules that share one huge table cost no more than one.
 */
#include "guest/kernel/module.h"

#include <elf.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"

#define MAX_MODULES 4096
#define MAX_SYMBOLS (1u << 20)
#define MAX_EXPORTS (1u << 18)
#define MAX_USERS 65536
#define MAX_TEXT_BYTES ((size_t)64 << 20)
#define MAX_MEMORY_TYPES 16
#define SYMBOL_NAME_BYTES 512
#define TAINTS_BYTES 32
#define MODULE_REF_BASE 1 /* kernel/module/main.c */

/* enum module_state; UNFORMED modules are not listed anywhere. */
enum { STATE_LIVE, STATE_COMING, STATE_GOING, STATE_UNFORMED };

struct layout {
	struct guest_btf_field state, list, name, kallsyms, syms, num_syms, refcnt, init, exit,
		taints, source_list;
	struct guest_btf_field core_base, core_size, init_size; /* until 6.3 */
	struct guest_btf_field mem, mem_base, mem_size;	  /* since 6.4 */
	struct guest_btf_field symtab, num_symtab, strtab, typetab;
	struct guest_btf_field export_value, export_name; /* PREL32, else pointers */
	struct guest_btf_field export_pointer_value, export_pointer_name;
	struct guest_btf_field use_list, use_source;
	struct guest_btf_field orc_count, orc_ips, orc_entries;
	struct guest_btf_field static_call_count, static_calls;
	/* Filled in by find_strides(). */
	uint64_t mem_stride, export_stride;
	uint32_t mem_count;  /* number of types; 0: no mem[] */
	int64_t first_init; /* the first type of init memory */
};

#define ROW(structure, path, field) { structure, path, offsetof(struct layout, field), false }
#define MAYBE(structure, path, field) { structure, path, offsetof(struct layout, field), true }

static const struct guest_layout_row layout_rows[] = {
	ROW("module", "state", state),
	ROW("module", "list", list),
	ROW("module", "name", name),
	ROW("module", "kallsyms", kallsyms),
	ROW("module", "syms", syms),
	ROW("module", "num_syms", num_syms),
	MAYBE("module", "refcnt", refcnt),
	MAYBE("module", "init", init),
	MAYBE("module", "exit", exit),
	MAYBE("module", "taints", taints),
	MAYBE("module", "source_list", source_list),
	MAYBE("module", "core_layout.base", core_base),
	MAYBE("module", "core_layout.size", core_size),
	MAYBE("module", "init_layout.size", init_size),
	MAYBE("module", "mem", mem),
	MAYBE("module_memory", "base", mem_base),
	MAYBE("module_memory", "size", mem_size),
	ROW("mod_kallsyms", "symtab", symtab),
	ROW("mod_kallsyms", "num_symtab", num_symtab),
	ROW("mod_kallsyms", "strtab", strtab),
	MAYBE("mod_kallsyms", "typetab", typetab),
	MAYBE("kernel_symbol", "value_offset", export_value),
	MAYBE("kernel_symbol", "name_offset", export_name),
	MAYBE("kernel_symbol", "value", export_pointer_value),
	MAYBE("kernel_symbol", "name", export_pointer_name),
	MAYBE("module_use", "source_list", use_list),
	MAYBE("module_use", "source", use_source),
	MAYBE("module", "num_static_call_sites", static_call_count),
	MAYBE("module", "static_call_sites", static_calls),
	MAYBE("module", "arch.num_orcs", orc_count),
	MAYBE("module", "arch.orc_unwind_ip", orc_ips),
	MAYBE("module", "arch.orc_unwind", orc_entries),
	{ 0 },
};

struct walk {
	const struct guest_kernel *kernel;
	struct guest_space *space;
	struct layout layout;
	struct guest_modules *modules;
	struct map seen; /* modules: stops at circular lists */
	uint32_t symbols_left, exports_left, users_left;
};

static bool field(struct walk *walk, struct gva base, const struct guest_btf_field *field_at,
		  uint64_t *ret)
{
	return guest_kernel_read_field(walk->kernel, base, field_at, ret);
}

static const char *read_text(struct walk *walk, struct gva from, size_t max_bytes)
{
	char text[SYMBOL_NAME_BYTES];

	if (max_bytes > sizeof(text))
		max_bytes = sizeof(text);
	if (arena_bytes(walk->modules->text) > MAX_TEXT_BYTES ||
	    !guest_space_read_string(walk->space, from, text, max_bytes))
		return NULL;
	return arena_strndup(walk->modules->text, text, strlen(text));
}

static bool add_range(struct guest_module *module, uint64_t start, uint64_t bytes)
{
	if (!bytes)
		return true;
	if (bytes > UINT32_MAX || module->range_count == GUEST_MODULE_RANGES)
		return false;
	module->ranges[module->range_count++] = (struct guest_module_range){ GVA(start), bytes };
	return true;
}

/*
 * enum mod_mem_type: text, data, rodata, ro_after_init; then the init types, which are freed later.
 */
static bool read_memory_types(struct walk *walk, struct gva at, struct guest_module *module)
{
	const struct layout *layout = &walk->layout;

	for (uint32_t type = 0; type < layout->mem_count; type++) {
		struct gva memory =
			GVA(at.value + layout->mem.offset + type * layout->mem_stride);
		uint64_t base, bytes;

		if (!field(walk, memory, &layout->mem_base, &base) ||
		    !field(walk, memory, &layout->mem_size, &bytes))
			return false;
		module->bytes += bytes;
		if (!type)
			module->text = GVA(base);
		if ((int64_t)type < layout->first_init && !add_range(module, base, bytes))
			return false;
	}
	return layout->mem_count;
}

static bool read_memory(struct walk *walk, struct gva at, struct guest_module *module)
{
	uint64_t base, bytes, init_bytes;

	if (walk->layout.mem.size)
		return read_memory_types(walk, at, module);
	if (!field(walk, at, &walk->layout.core_base, &base) ||
	    !field(walk, at, &walk->layout.core_size, &bytes) ||
	    !field(walk, at, &walk->layout.init_size, &init_bytes))
		return false;
	module->text = GVA(base);
	module->bytes = bytes + init_bytes;
	return add_range(module, base, bytes);
}

/* The target of an exported symbol's entry: an offset relative to itself, or a pointer. */
static bool read_export(struct walk *walk, struct gva entry, uint64_t *ret_value,
			uint64_t *ret_name)
{
	const struct layout *layout = &walk->layout;
	uint64_t value, name;

	if (!layout->export_value.size)
		return field(walk, entry, &layout->export_pointer_value, ret_value) &&
		       field(walk, entry, &layout->export_pointer_name, ret_name);
	if (!field(walk, entry, &layout->export_value, &value) ||
	    !field(walk, entry, &layout->export_name, &name))
		return false;
	*ret_value = entry.value + layout->export_value.offset + (int64_t)(int32_t)value;
	*ret_name = entry.value + layout->export_name.offset + (int64_t)(int32_t)name;
	return true;
}

/* The module's exports, as pairs of hashed name and value. */
static void read_exports(struct walk *walk, struct gva at, struct map *ret)
{
	uint64_t stride = walk->layout.export_stride;
	uint64_t syms, count;

	if (!field(walk, at, &walk->layout.syms, &syms) ||
	    !field(walk, at, &walk->layout.num_syms, &count) || !stride ||
	    count > walk->exports_left)
		return;
	walk->exports_left -= count;
	for (uint64_t i = 0; i < count; i++) {
		char name[SYMBOL_NAME_BYTES];
		uint64_t value, name_at;

		if (!read_export(walk, GVA(syms + i * stride), &value, &name_at) ||
		    !guest_space_read_string(walk->space, GVA(name_at), name, sizeof(name)))
			return;
		*map_insert(ret, hash_bytes(name, strlen(name)), NULL) = value;
	}
}

static char letter_of(char letter, const char *name, uint64_t value, const struct map *exports)
{
	uint64_t *exported = map_find(exports, hash_bytes(name, strlen(name)));

	if (exported && *exported == value)
		return letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter;
	return letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter;
}

struct symbol_tables {
	_Alignas(8) uint8_t *symtab;
	uint8_t *typetab; /* NULL: the letters are in st_info */
	uint64_t count;
	struct gva strtab;
};

static bool read_symbol_tables(struct walk *walk, struct gva at, struct symbol_tables *ret)
{
	const struct layout *layout = &walk->layout;
	uint64_t kallsyms, symtab, strtab, typetab = 0, count;

	if (!field(walk, at, &layout->kallsyms, &kallsyms) ||
	    !field(walk, GVA(kallsyms), &layout->symtab, &symtab) ||
	    !field(walk, GVA(kallsyms), &layout->strtab, &strtab) ||
	    !field(walk, GVA(kallsyms), &layout->num_symtab, &count) || !count ||
	    count > walk->symbols_left)
		return false;
	walk->symbols_left -= count;
	if (layout->typetab.size && !field(walk, GVA(kallsyms), &layout->typetab, &typetab))
		return false;
	ret->symtab = guest_space_copy(walk->space, GVA(symtab), count * sizeof(Elf64_Sym),
				       MAX_SYMBOLS * sizeof(Elf64_Sym));
	ret->typetab =
		typetab ? guest_space_copy(walk->space, GVA(typetab), count, MAX_SYMBOLS) : NULL;
	ret->count = count;
	ret->strtab = GVA(strtab);
	return ret->symtab && (ret->typetab || !typetab);
}

static bool read_symbols(struct walk *walk, struct gva at, struct guest_module *module)
{
	_cleanup_map_ struct map exports;
	struct symbol_tables tables = { 0 };
	bool whole = read_symbol_tables(walk, at, &tables);

	map_init(&exports);
	if (whole)
		read_exports(walk, at, &exports);
	module->first_symbol = walk->modules->symbols.count;
	for (uint64_t i = 0; whole && i < tables.count; i++) {
		Elf64_Sym symbol;
		const char *name;
		char letter;

		memcpy(&symbol, tables.symtab + i * sizeof(symbol), sizeof(symbol));
		name = read_text(walk, GVA(tables.strtab.value + symbol.st_name),
				 SYMBOL_NAME_BYTES);
		if (!name)
			whole = false;
		if (!name || !*name)
			continue;
		letter = tables.typetab ? (char)tables.typetab[i] : (char)symbol.st_info;
		vector_append(&walk->modules->symbols,
			      (struct guest_symbol){ GVA(symbol.st_value), name,
						     letter_of(letter, name, symbol.st_value,
							       &exports) });
	}
	module->symbol_count = walk->modules->symbols.count - module->first_symbol;
	free(tables.symtab);
	free(tables.typetab);
	return whole;
}

/* The modules that use this one: a list of struct module_use, by their source_list. */
static void read_users(struct walk *walk, struct gva at, struct guest_module *module)
{
	struct gva head = GVA(at.value + walk->layout.source_list.offset);
	uint64_t next;

	if (!walk->layout.source_list.size || !walk->layout.use_list.size ||
	    !guest_space_read_u64(walk->space, head, &next))
		return;
	for (; next != head.value && walk->users_left; walk->users_left--) {
		struct gva use = GVA(next - walk->layout.use_list.offset);
		const char *name;
		uint64_t source;

		if (!field(walk, use, &walk->layout.use_source, &source))
			return;
		name = read_text(walk, GVA(source + walk->layout.name.offset),
				 walk->layout.name.size);
		if (!name || !guest_space_read_u64(walk->space, GVA(next), &next))
			return;
		vector_append(&module->users, name);
	}
}

/* The taint letters of /proc/modules, as far as distributions' kernels use them for modules. */
static const char *taints_of(struct walk *walk, struct gva at)
{
	static const struct {
		int bit;
		char letter;
	} letters[] = { { 0, 'P' },  { 12, 'O' }, { 10, 'C' }, { 13, 'E' },
			{ 15, 'K' }, { 16, 'X' }, { 18, 'N' } };
	char text[TAINTS_BYTES] = "(";
	size_t used = 1;
	uint64_t taints;

	if (!field(walk, at, &walk->layout.taints, &taints) || !taints)
		return "";
	for (int bit = 0; bit < 32; bit++)
		for (size_t i = 0; i < sizeof(letters) / sizeof(*letters); i++)
			if (letters[i].bit == bit && taints >> bit & 1)
				text[used++] = letters[i].letter;
	text[used++] = ')';
	return arena_strndup(walk->modules->text, text, used);
}

/* A kernel built without ORC has no such fields. */
static void read_orc(struct walk *walk, struct gva at, struct guest_module *module)
{
	const struct layout *layout = &walk->layout;
	uint64_t count, ips, entries;

	if (!field(walk, at, &layout->orc_count, &count) ||
	    !field(walk, at, &layout->orc_ips, &ips) ||
	    !field(walk, at, &layout->orc_entries, &entries) || !ips || !entries)
		return;
	module->orc_count = count;
	module->orc_ips = GVA(ips);
	module->orc_entries = GVA(entries);
}

static void read_static_calls(struct walk *walk, struct gva at, struct guest_module *module)
{
	uint64_t count, calls;

	if (!field(walk, at, &walk->layout.static_call_count, &count) ||
	    !field(walk, at, &walk->layout.static_calls, &calls))
		return;
	module->static_call_count = count;
	module->static_calls = GVA(calls);
}

static bool read_module(struct walk *walk, struct gva at, uint64_t state,
			struct guest_module *module)
{
	const struct layout *layout = &walk->layout;
	uint64_t references, init, exit_function;

	module->name = read_text(walk, GVA(at.value + layout->name.offset), layout->name.size);
	if (!module->name || !read_memory(walk, at, module))
		return false;
	module->state = state == STATE_LIVE   ? GUEST_MODULE_LIVE
			: state == STATE_GOING ? GUEST_MODULE_GOING
					       : GUEST_MODULE_COMING;
	if (layout->refcnt.size && field(walk, at, &layout->refcnt, &references))
		module->references = (int64_t)(int32_t)references - MODULE_REF_BASE;
	module->permanent = field(walk, at, &layout->init, &init) && init &&
			    field(walk, at, &layout->exit, &exit_function) && !exit_function;
	module->taints = taints_of(walk, at);
	read_users(walk, at, module);
	read_orc(walk, at, module);
	read_static_calls(walk, at, module);
	return read_symbols(walk, at, module);
}

static void walk_list(struct walk *walk, struct gva head, size_t *ret_skipped)
{
	uint64_t next;
	size_t skipped = 0;

	if (!guest_space_read_u64(walk->space, head, &next))
		next = head.value;
	for (size_t i = 0; next != head.value && i < MAX_MODULES; i++) {
		struct gva at = GVA(next - walk->layout.list.offset);
		struct guest_module module = { 0 };
		uint64_t state;
		bool added;

		map_insert(&walk->seen, next, &added);
		if (!added)
			break;
		if (!field(walk, at, &walk->layout.state, &state) || state >= STATE_UNFORMED ||
		    !read_module(walk, at, state, &module)) {
			skipped += state != STATE_UNFORMED;
			vector_deinit(&module.users);
		} else {
			vector_append(&walk->modules->items, module);
		}
		if (!guest_space_read_u64(walk->space, GVA(next), &next))
			break;
	}
	*ret_skipped = skipped;
}

/* Layouts that take more than one lookup of types. */
static void find_strides(struct walk *walk)
{
	const struct guest_btf *btf = guest_kernel_btf(walk->kernel);
	struct layout *layout = &walk->layout;
	uint32_t element, count;

	layout->export_stride = guest_btf_size(btf, guest_btf_find_struct(btf, "kernel_symbol"));
	if (!layout->mem.size || !guest_btf_array(btf, layout->mem.type, &element, &count) ||
	    count > MAX_MEMORY_TYPES ||
	    !guest_btf_find_enumerator(btf, "MOD_INIT_TEXT", &layout->first_init))
		return;
	layout->mem_stride = guest_btf_size(btf, element);
	layout->mem_count = count;
}

struct error *guest_modules_read(const struct guest_kernel *kernel, struct guest_modules *ret,
				 size_t *ret_skipped)
{
	struct guest_modules modules = { .text = arena_create() };
	struct walk walk = { .kernel = kernel,
			     .space = guest_kernel_space(kernel),
			     .modules = &modules,
			     .symbols_left = MAX_SYMBOLS,
			     .exports_left = MAX_EXPORTS,
			     .users_left = MAX_USERS };
	struct error *error;
	struct gva head;

	error = guest_kernel_layout(kernel, layout_rows, &walk.layout);
	if (!error && !guest_kernel_find_symbol(kernel, "modules", &head))
		error = error_create(
			ERROR_UNSUPPORTED,
			"the guest's kernel has no data symbols (CONFIG_KALLSYMS_ALL)");
	if (error) {
		guest_modules_deinit(&modules);
		return error_prefix(error, "could not read the guest's modules");
	}
	find_strides(&walk);
	map_init(&walk.seen);
	walk_list(&walk, head, ret_skipped);
	map_deinit(&walk.seen);
	*ret = modules;
	return NULL;
}

void guest_modules_deinit(struct guest_modules *modules)
{
	for (size_t i = 0; i < modules->items.count; i++)
		vector_deinit(&modules->items.items[i].users);
	vector_deinit(&modules->items);
	vector_deinit(&modules->symbols);
	arena_destroy(modules->text);
	modules->text = NULL;
}
