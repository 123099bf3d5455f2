/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbols of a converted recording, in the places where stock perf looks for them:
 *
 *	kcore_dir/kallsyms, modules, kcore	without any option: as `perf record --kcore`
 *						leaves them (perf_data__kallsyms_name(),
 *						tools/perf/util/data.c, since 5.5)
 *	debug/.build-id/xx/yyyy…/elf		perf --buildid-dir FOLDER/debug …
 *	debug/PATH/xxyyyy…/elf			the same file, for hotspot: --debugPaths
 *						FOLDER/debug (PerfSymbolTable::findFile(),
 *						KDAB/perfparser)
 *
 * kcore contains the kernel's address ranges but no bytes. It makes perf assign symbols by address.
 * Without it, perf uses a module's symbols only if it has the module's file, and none if it saw
 * that file before the kernel (maps__split_kallsyms()). If all symbols were listed as the kernel's
 * own, code between two modules (BPF programs, trampolines) would get the name of the symbol before
 * it.
 *
 * The user's build-id cache (~/.debug) is left alone: a guest names its own files, and could plant
 * names for the host's samples there.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "cmd/convert/convert.h"
#include "symbol/elf_write.h"
#include "symbol/kallsyms.h"

#define ELF_MAX_BYTES ((size_t)1 << 30)
#define PAGE_BYTES 4096
#define PATH_MAX_BYTES 1024 /* for programs that are found by path as well */
#define PATH_MAX_PARTS 32

static struct error *make_folder(const char *path)
{
	if (mkdir(path, 0700) && errno != EEXIST)
		return error_system(errno, "could not create the folder '%s'", path);
	return NULL;
}

static struct error *write_file(const char *folder, const char *name, const struct buffer *bytes)
{
	_cleanup_free_ char *path = memory_printf("%s/%s", folder, name);
	_cleanup_close_ int fd = -1;

	if (bytes->overflow)
		return error_create(ERROR_UNSUPPORTED, "'%s' would be larger than %zu bytes", path,
				    bytes->max_bytes);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_system(errno, "could not create '%s'", path);
	return file_write_all(fd, bytes->data, bytes->size, path);
}

static uint16_t elf_machine(const struct native *native)
{
	return elf_write_machine(perfdata_reader_features(native->session->reader)->arch);
}

/* perf only uses these types (symbol_type__filter()). */
static bool is_placed(const struct native *native, const struct symbol *symbol)
{
	return strchr("TtWwDdBb", symbol->type) &&
	       (symbol->start >= native->kernel_text || symbol_module(native->kernel, symbol));
}

/*
 * Writes a range for each run of symbols without a gap of pages: the kernel, and each part of a
 * module. perf takes the last range first. At that time the kernel's map still spans the modules
 * (native_kernel_range()); it then shrinks to the kernel's range and leaves room for theirs
 * (dso__load_kcore() in tools/perf/util/symbol.c of Linux 6.1 and 6.12).
 */
static void put_core(const struct native *native, struct buffer *out)
{
	VECTOR(struct elf_range) ranges = { 0 };

	for (size_t i = 0; i < symbol_table_count(native->kernel); i++) {
		const struct symbol *symbol = symbol_table_at(native->kernel, i);
		struct elf_range *last =
			ranges.count ? &ranges.items[ranges.count - 1] : NULL;

		if (!is_placed(native, symbol))
			continue;
		if (last && symbol->start - last->start <= last->end - last->start + PAGE_BYTES)
			last->end = symbol->end > last->end ? symbol->end : last->end;
		else
			vector_append(&ranges, ((struct elf_range){ symbol->start, symbol->end }));
	}
	elf_write_core(ranges.items, ranges.count, native->kernel_text, elf_machine(native), out);
	vector_deinit(&ranges);
}

/*
 * perf looks up the name that the kernel's MMAP record ends with, but our table has only one name
 * per address.
 */
static void put_kallsyms(const struct native *native, struct buffer *out)
{
	static const char *const names[] = { "_text", "_stext" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!symbol_table_find_name(native->kernel, names[i]))
			buffer_printf(out, "%016llx T %s\n",
				      (unsigned long long)native->kernel_text, names[i]);
	kallsyms_write(native->kernel, true, out);
}

/*
 * Without symbols kallsyms is empty. Without the file, perf would use the symbols of its own
 * machine.
 */
static struct error *write_kernel(const struct native *native, const char *path)
{
	_cleanup_free_ char *folder = memory_printf("%s/kcore_dir", path);
	_cleanup_buffer_ struct buffer kallsyms, modules, core;
	struct error *error = make_folder(folder);

	buffer_init(&kallsyms, KALLSYMS_MAX_BYTES);
	buffer_init(&modules, KALLSYMS_MAX_BYTES);
	buffer_init(&core, ELF_MAX_BYTES);
	if (native->kernel && native->kernel_text) {
		put_kallsyms(native, &kallsyms);
		kallsyms_write_modules(native->kernel, &modules);
		put_core(native, &core);
	}
	if (!error)
		error = write_file(folder, "kallsyms", &kallsyms);
	if (!error)
		error = write_file(folder, "modules", &modules);
	if (!error && core.size)
		error = write_file(folder, "kcore", &core);
	return error;
}

/* Makes FOLDER/xx/yyyy… from the build-id TEXT. *RET_NEW: it did not exist. */
static struct error *make_entry(const char *folder, const char *text, char **ret, bool *ret_new)
{
	_cleanup_free_ char *first = memory_printf("%s/%.2s", folder, text);
	_cleanup_free_ char *entry = memory_printf("%s/%s", first, text + 2);
	struct error *error = NULL;

	*ret_new = access(entry, F_OK);
	if (*ret_new)
		error = make_folder(first);
	if (!error && *ret_new)
		error = make_folder(entry);
	if (!error)
		*ret = take_pointer(entry);
	return error;
}

/* Guests choose their paths: none may lead out of the folder to which it is appended. */
static bool is_safe(const char *path)
{
	size_t parts = 0;

	if (*path != '/' || strlen(path) > PATH_MAX_BYTES)
		return false;
	for (const char *part = path; part; part = strchr(part + 1, '/'), parts++)
		if (part[1] == '/' || !part[1] || !strncmp(part, "/./", 3) ||
		    !strncmp(part, "/../", 4) || !strcmp(part, "/.") || !strcmp(part, "/.."))
			return false;
	return parts <= PATH_MAX_PARTS;
}

/*
 * Links the file ELF as DEBUG/PATH/TEXT/elf as well. This can fail if one path needs a file where
 * another needs a folder; then one tool does not find the file.
 */
static void link_by_path(const char *debug, const char *path, const char *text, const char *elf)
{
	_cleanup_free_ char *link_path = memory_printf("%s%s/%s/elf", debug, path, text);

	if (!is_safe(path))
		return;
	for (char *end = link_path + strlen(debug) + 1; (end = strchr(end, '/')); end++) {
		*end = '\0';
		if (mkdir(link_path, 0700) && errno != EEXIST)
			return;
		*end = '/';
	}
	if (link(elf, link_path) && errno != EEXIST)
		log_detail("could not link '%s': %s", link_path, strerror(errno));
}

static struct error *write_program(struct native *native, const char *debug,
				   const struct native_file *file)
{
	struct dso_entry *entry = native->session->dsos.items.items[file->dso];
	_cleanup_symbol_table_ struct symbol_table *table =
		guest_files_table(native->session, entry);
	const char *path = intern_string(native->session->strings, entry->path);
	const char *name = strcmp(path, "[vdso]") ? "elf" : "vdso";
	char text[2 * PERFDATA_BUILD_ID_BYTES + 1] = "";
	_cleanup_free_ char *folder = memory_printf("%s/.build-id", debug);
	_cleanup_free_ char *place = NULL, *elf = NULL;
	_cleanup_buffer_ struct buffer bytes;
	struct error *error;
	bool is_new;

	buffer_init(&bytes, ELF_MAX_BYTES);
	if (!table || !symbol_table_count(table))
		return NULL;
	for (size_t i = 0; i < file->build_id_bytes; i++)
		snprintf(text + 2 * i, 3, "%02x", file->build_id[i]);
	error = make_entry(folder, text, &place, &is_new);
	if (!error && is_new) { /* else: same file at another path, already written */
		elf_write_symbols(table, elf_machine(native), file->build_id, file->build_id_bytes,
				  &bytes);
		error = write_file(place, name, &bytes);
	}
	if (error)
		return error;
	elf = memory_printf("%s/%s", place, name);
	link_by_path(debug, path, text, elf);
	return NULL;
}

struct error *native_write_symbols(struct native *native, const char *path)
{
	_cleanup_free_ char *debug = memory_printf("%s/debug", path);
	_cleanup_free_ char *folder = memory_printf("%s/.build-id", debug);
	struct error *error = write_kernel(native, path);

	if (!error)
		error = make_folder(debug);
	if (!error)
		error = make_folder(folder);
	for (size_t i = 0; i < native->files.count && !error; i++)
		error = write_program(native, debug, &native->files.items[i]);
	return error;
}
