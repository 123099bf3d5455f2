/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols of the host's kernel and its modules. In this order:
 *
 *	files that came with the recording; if there are any, nothing else
 *	/proc/kallsyms		if it is the recording's kernel that runs here (kernel_build.h)
 *	kallsyms in perf's build-id cache
 *	a vmlinux with that build-id: perf's cache, /usr/lib/debug/.build-id,
 *	/usr/lib/debug/boot/vmlinux-*, /usr/lib/debug/lib/modules/.../vmlinux, /boot/vmlinux-*
 *
 * The kernel may be at another address than when the recording was made (KASLR), and is not where
 * it was linked: the request's reference address gives the offset for its symbols. Modules moved by
 * offsets of their own, so they are left out if the kernel moved; and those of perf's cache, which
 * may be of an earlier boot, are, too. A module's own table (dso_load_module) is moved as a whole.
 */
#include <glob.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/files/untrusted.h"
#include "symbol/dso_private.h"
#include "symbol/kallsyms.h"
#include "symbol/kernel_build.h"
#include "symbol/table_cache.h"

#define PROC_KALLSYMS "/proc/kallsyms"
#define PROC_MODULES "/proc/modules"
#define KERNEL_NAME "[kernel.kallsyms]"
#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define CACHE_NAME "running-kernel"

/* NULL if the kernel was built without modules. */
static const char *proc_modules(void)
{
	return access(PROC_MODULES, F_OK) ? NULL : PROC_MODULES;
}

/*
 * perf records a kernel's address as that of one of these symbols: the recorded path ends with it.
 */
static const char *const reference_names[] = { "_text", "_stext" };

/* The offset to add to symbols; 0 if the recording does not show it. */
static uint64_t kernel_delta(const struct dso_request *request,
			     struct error *(*find)(void *source, const char *name, uint64_t *ret),
			     void *source)
{
	const char *named = request->path + strlen(KERNEL_NAME);
	uint64_t address;

	if (!request->reference)
		return 0;
	for (size_t i = 0; i < sizeof(reference_names) / sizeof(reference_names[0]); i++) {
		struct error *error;

		if (*named && strcmp(named, reference_names[i]))
			continue;
		error = find(source, reference_names[i], &address);
		if (!error)
			return request->reference - address;
		error_destroy(error);
	}
	return 0;
}

/* A file in the format of kallsyms; its root as for file_open(). */
struct kallsyms_file {
	const char *root, *kallsyms, *modules;
};

static struct error *find_in_kallsyms(void *source, const char *name, uint64_t *ret)
{
	const struct kallsyms_file *file = source;

	return kallsyms_find_symbol(file->root, file->kallsyms, name, ret);
}

static struct error *find_in_vmlinux(void *file, const char *name, uint64_t *ret)
{
	return elf_file_find_symbol(file, name, ret);
}

/*
 * Loads a file in the format of kallsyms, with DELTA added to its addresses. Modules only if they
 * are where that file has them.
 */
static struct error *load_kallsyms(const struct dso_request *request,
				   const struct kallsyms_file *file, uint64_t delta,
				   struct dso_symbols *ret)
{
	_cleanup_symbol_builder_ struct symbol_builder *builder = symbol_builder_create();
	struct kallsyms_filter filter = { .core = true, .delta = delta,
					  .no_generated = !request->kallsyms };
	struct error *error;

	filter.modules = !delta && (file->modules || request->kallsyms);
	error = kallsyms_add(file->root, file->kallsyms, filter.modules ? file->modules : NULL,
			     &filter, builder);
	if (error)
		return error;
	return dso_finish(take_pointer(builder), request->path, file->kallsyms, ret);
}

static uint64_t hash_file(const char *path)
{
	_cleanup_buffer_ struct buffer text;

	buffer_init(&text, KALLSYMS_MAX_BYTES);
	error_destroy(file_read(path, &text));
	return hash_bytes(text.size ? text.data : (const void *)"", text.size);
}

/*
 * For the running kernel. Its symbols stay in place until the next boot, those of its modules until
 * one is loaded or unloaded: boot and modules are the cached table's key.
 */
static struct error *load_running(const struct dso_request *request, struct dso_symbols *ret)
{
	struct kallsyms_file file = { .kallsyms = PROC_KALLSYMS, .modules = proc_modules() };
	uint64_t delta = kernel_delta(request, find_in_kallsyms, &file);
	uint64_t key = hash_u64(hash_file(BOOT_ID)) ^ hash_file(PROC_MODULES);
	struct error *error;

	ret->table = delta ? NULL : table_cache_load(CACHE_NAME, key);
	if (ret->table) {
		ret->found = memory_strdup(file.kallsyms);
		return NULL;
	}
	error = load_kallsyms(request, &file, delta, ret);
	if (!error && !delta)
		table_cache_store(CACHE_NAME, key, ret->table);
	return error;
}

static struct error *load_vmlinux(const struct dso_request *request, const char *path,
				  struct dso_symbols *ret)
{
	_cleanup_symbol_builder_ struct symbol_builder *builder = symbol_builder_create();
	_cleanup_elf_file_ struct elf_file *file = NULL;
	struct error *error = elf_file_open(path, &file);

	if (error)
		return error;
	if (!dso_build_id_fits(request, file))
		return error_create(ERROR_NOT_FOUND, "the build-id of '%s' differs", path);
	error = elf_file_add_kernel(file, kernel_delta(request, find_in_vmlinux, file), builder);
	if (error)
		return error;
	return dso_finish(take_pointer(builder), request->path, path, ret);
}

/* What is done with a vmlinux; true: that is all. */
typedef bool try_vmlinux(const struct dso_request *request, const char *path, void *ret);

static bool try_symbols(const struct dso_request *request, const char *path, void *ret)
{
	struct error *error = load_vmlinux(request, path, ret);

	error_destroy(error);
	return !error;
}

static bool try_lines(const struct dso_request *request, const char *path, void *ret)
{
	_cleanup_elf_file_ struct elf_file *file = NULL;
	struct error *error = elf_file_open(path, &file);

	error_destroy(error);
	if (error || !dso_build_id_fits(request, file) || !elf_file_has_lines(file))
		return false;
	*(struct elf_file **)ret = take_pointer(file);
	return true;
}

static bool try_each_vmlinux(const struct dso_request *request, try_vmlinux *try, void *ret)
{
	static const char *const patterns[] = { "/usr/lib/debug/boot/vmlinux-*",
						"/usr/lib/debug/lib/modules/*/vmlinux",
						"/boot/vmlinux-*" };
	_cleanup_free_ char *cached = dso_cache_path(request, "elf");
	_cleanup_free_ char *debug = dso_debug_path(request);
	bool done = (cached && try(request, cached, ret)) || (debug && try(request, debug, ret));

	for (size_t i = 0; !done && i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		glob_t found = { 0 };

		if (!glob(patterns[i], 0, NULL, &found))
			for (size_t j = 0; !done && j < found.gl_pathc; j++)
				done = try(request, found.gl_pathv[j], ret);
		globfree(&found);
	}
	return done;
}

struct error *dso_find_vmlinux(const struct dso_request *request, struct elf_file **ret)
{
	_cleanup_free_ char *path = NULL;

	if (request->build_id && try_each_vmlinux(request, try_lines, ret))
		return NULL;
	path = downloads_get(request->downloads, request->build_id, request->build_id_bytes,
			     DOWNLOAD_DEBUGINFO);
	if (path && try_lines(request, path, ret))
		return NULL;
	return error_create(ERROR_NOT_FOUND, "no vmlinux of '%.*s' is here",
			    (int)strcspn(request->path, "]") + 1, request->path);
}

struct error *dso_load_kernel(const struct dso_request *request, struct dso_symbols *ret)
{
	struct kallsyms_file file = { request->recording, request->kallsyms, request->modules };
	_cleanup_free_ char *cached = dso_cache_path(request, "kallsyms");
	_cleanup_error_ struct error *reason = NULL;
	_cleanup_free_ char *differs = NULL;

	if (request->kallsyms)
		return load_kallsyms(request, &file, kernel_delta(request, find_in_kallsyms, &file),
				     ret);
	differs = kernel_build_differs(request);
	if (!differs) {
		reason = load_running(request, ret);
		if (!reason)
			return NULL;
	}
	if (cached) {
		struct error *error;

		file = (struct kallsyms_file){ UNTRUSTED_ANYWHERE, cached, NULL };
		error = load_kallsyms(request, &file,
				      kernel_delta(request, find_in_kallsyms, &file), ret);
		if (!error)
			return NULL;
		error_destroy(error);
	}
	if (request->build_id && try_each_vmlinux(request, try_symbols, ret))
		return NULL;
	if (reason)
		return error_prefix(take_pointer(reason), "no symbols for '%s'", request->path);
	return error_create(ERROR_NOT_FOUND, "%s", differs);
}

struct error *dso_load_module(const struct dso_request *request, const char *name,
			      struct dso_symbols *ret)
{
	_cleanup_free_ char *notes = memory_printf("/sys/module/%s/notes/.note.gnu.build-id", name);
	_cleanup_symbol_builder_ struct symbol_builder *builder = symbol_builder_create();
	struct kallsyms_filter filter = { .modules = true, .only_module = name };
	struct build_id running = kernel_build_read_notes(notes);
	struct error *error;
	uint64_t start;

	if (request->build_id &&
	    !build_id_equal(&running, request->build_id, request->build_id_bytes))
		return dso_no_symbols(request->path,
				      "the running kernel has no module with that build-id");
	if (request->reference) {
		error = kallsyms_find_module(PROC_MODULES, name, &start);
		if (error)
			return error_prefix(error, "no symbols for '%s'", request->path);
		filter.delta = request->reference - start;
	}
	error = kallsyms_add(NULL, PROC_KALLSYMS, filter.delta ? NULL : proc_modules(), &filter,
			     builder);
	if (error)
		return error_prefix(error, "no symbols for '%s'", request->path);
	return dso_finish(take_pointer(builder), request->path, PROC_KALLSYMS, ret);
}
