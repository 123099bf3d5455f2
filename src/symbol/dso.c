/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols of programs and libraries. These files are searched, in this order (the same as stock
 * perf, tools/perf/util/symbol.c, dso__load()):
 *
 * 	the cache that came with the recording
 * 	the name in the file's .gnu_debuglink, next to the file and under /usr/lib/debug
 * 	~/.debug/.build-id/xx/yyyy…/{elf,debug}		perf's cache
 * 	/usr/lib/debug/PATH.debug, /usr/lib/debug/PATH
 * 	/usr/lib/debug/.build-id/xx/yyyy….debug
 * 	~/.cache/debuginfod_client/xxyyyy…/{debuginfo,executable}
 * 	PATH
 * 	the servers that the request names (downloads.h)
 *
 * A guest's file is searched for by build-id only, and then under the guest's root folder if that
 * is mounted: at PATH, and as one of the guest's own debug files. There it needs no build-id.
 *
 * The first file with a .symtab provides the symbols. The first with code in it provides the
 * segments, because a file with only debugging information does not know where the code was. If no
 * build-id was given, that of PATH itself is used; if it has none, only PATH is searched.
 */
#include "symbol/dso.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/map.h"
#include "base/memory.h"
#include "symbol/dso_private.h"
#include "symbol/table_cache.h"

#define DEBUG_ROOT "/usr/lib/debug"
#define VDSO_MAX_BYTES ((size_t)1 << 20)

struct error *dso_no_symbols(const char *path, const char *reason)
{
	return error_create(ERROR_NOT_FOUND, "no symbols for '%s': %s", path, reason);
}

struct error *dso_finish(struct symbol_builder *builder, const char *path, const char *found,
			 struct dso_symbols *ret)
{
	_cleanup_symbol_table_ struct symbol_table *table = symbol_builder_finish(builder);

	if (!symbol_table_count(table))
		return dso_no_symbols(path, "the file has none");
	ret->found = memory_strdup(found);
	ret->table = take_pointer(table);
	return NULL;
}

void dso_symbols_deinit(struct dso_symbols *symbols)
{
	symbol_table_destroy(symbols->table);
	free(symbols->found);
	*symbols = (struct dso_symbols){ 0 };
}

bool dso_build_id_fits(const struct dso_request *request, const struct elf_file *file)
{
	return !request->build_id ||
	       build_id_equal(elf_file_build_id(file), request->build_id, request->build_id_bytes);
}

/* The state of a search. */
struct search {
	struct dso_request request; /* with PATH's own build-id if none was given */
	struct elf_file *symbols;   /* has .symtab */
	struct elf_file *runtime;   /* has code; may be the same as symbols */
	bool wants_lines;
	struct elf_file *lines; /* has source lines, if wanted; may be the same as the others */
	struct error *reason;	    /* why the last file was rejected */
};

static void search_deinit(struct search *search)
{
	if (search->lines != search->symbols && search->lines != search->runtime)
		elf_file_close(search->lines);
	if (search->runtime != search->symbols)
		elf_file_close(search->runtime);
	elf_file_close(search->symbols);
	error_destroy(search->reason);
}

static void note_reason(struct search *search, struct error *reason)
{
	error_destroy(search->reason);
	search->reason = reason;
}

static bool has_all(const struct search *search)
{
	return search->symbols && search->runtime && (search->lines || !search->wants_lines);
}

/* Takes FILE, found at PATH, if it is useful; ERROR: why it could not be opened. */
static void take_file(struct search *search, const char *path, struct elf_file *opened,
		      struct error *error)
{
	_cleanup_elf_file_ struct elf_file *file = opened;

	if (!error && !dso_build_id_fits(&search->request, file))
		error = error_create(ERROR_NOT_FOUND, "the build-id of '%s' differs", path);
	if (error) {
		note_reason(search, error);
		return;
	}
	if (!search->symbols && elf_file_has_symtab(opened))
		search->symbols = opened;
	if (!search->runtime && elf_file_has_code(opened))
		search->runtime = opened;
	if (search->wants_lines && !search->lines && elf_file_has_lines(opened))
		search->lines = opened;
	if (search->symbols == opened || search->runtime == opened || search->lines == opened)
		file = NULL;
}

/* Takes PATH, which may be NULL. */
static void try_file(struct search *search, char *taken)
{
	_cleanup_free_ char *path = taken;
	struct elf_file *file = NULL;
	struct error *error;

	if (!path || has_all(search))
		return;
	error = elf_file_open(path, &file);
	take_file(search, path, file, error);
}

/* The same below ROOT, which a guest or the author of a recording has filled. */
static void try_below(struct search *search, const char *root, const char *path)
{
	struct elf_file *file = NULL;
	struct error *error;

	if (!path || has_all(search))
		return;
	error = elf_file_open_below(root, path, &file);
	take_file(search, path, file, error);
}

/* LEAF of the request's build-id in the cache that came with the recording. */
static void try_recording(struct search *search, const char *leaf)
{
	_cleanup_free_ char *name = dso_build_id_name(&search->request);
	_cleanup_free_ char *path = name ? memory_printf("debug/.build-id/%s/%s", name, leaf)
					 : NULL;

	if (search->request.recording)
		try_below(search, search->request.recording, path);
}

static void try_debug_link(struct search *search, const char *path, const char *link)
{
	_cleanup_free_ char *folder = memory_strndup(path, strrchr(path, '/') - path);

	try_file(search, memory_printf("%s/%s", folder, link));
	try_file(search, memory_printf("%s/.debug/%s", folder, link));
	try_file(search, memory_printf("%s%s/%s", DEBUG_ROOT, folder, link));
}

static void try_debuginfod(struct search *search)
{
	try_file(search, dso_debuginfod_path(&search->request, "debuginfo"));
	try_file(search, dso_debuginfod_path(&search->request, "executable"));
}

/* Asks the servers for what is still missing; the request's build-id may be the file's own. */
static void try_download(struct search *search)
{
	const struct dso_request *request = &search->request;

	if (!request->build_id)
		return;
	if (search->wants_lines ? !search->lines : !search->symbols)
		try_file(search, downloads_get(request->downloads, request->build_id,
					       request->build_id_bytes, DOWNLOAD_DEBUGINFO));
	if (!search->runtime)
		try_file(search, downloads_get(request->downloads, request->build_id,
					       request->build_id_bytes, DOWNLOAD_EXECUTABLE));
}

/* OWN: the file of the recorded path, NULL if it cannot be opened. */
static void try_all(struct search *search, const struct elf_file *own)
{
	const char *path = search->request.path;

	if (search->request.build_id) {
		try_recording(search, "elf");
		if (own && elf_file_debug_link(own))
			try_debug_link(search, path, elf_file_debug_link(own));
		try_file(search, dso_cache_path(&search->request, "elf"));
		try_file(search, dso_cache_path(&search->request, NULL));
		try_file(search, dso_cache_path(&search->request, "debug"));
		try_file(search, memory_printf("%s%s.debug", DEBUG_ROOT, path));
		try_file(search, memory_printf("%s%s", DEBUG_ROOT, path));
		try_file(search, dso_debug_path(&search->request));
		try_debuginfod(search);
	}
	try_file(search, memory_strdup(path));
}

static struct error *read_symbols(const char *path, struct elf_file *symbols,
				  struct elf_file *runtime, struct dso_symbols *ret)
{
	_cleanup_symbol_builder_ struct symbol_builder *builder = symbol_builder_create();
	struct error *error = elf_file_add_offsets(symbols, runtime, builder);

	if (!error)
		error = elf_file_add_plt(runtime, builder);
	if (error)
		return error;
	return dso_finish(take_pointer(builder), path, elf_file_name(symbols), ret);
}

static uint64_t hash_name(const struct elf_file *file)
{
	return hash_bytes(elf_file_name(file), strlen(elf_file_name(file)));
}

/* The same files always give the same table, so it is cached. */
static struct error *load_found(const struct search *search, struct dso_symbols *ret)
{
	struct elf_file *symbols = search->symbols ? search->symbols : search->runtime;
	struct elf_file *runtime = search->runtime ? search->runtime : search->symbols;
	_cleanup_free_ char *name = NULL;
	uint64_t key, place;
	struct error *error;

	if (!symbols)
		return dso_no_symbols(search->request.path, search->reason
								    ? error_message(search->reason)
								    : "it has no code");
	key = hash_u64(elf_file_stamp(symbols)) + elf_file_stamp(runtime);
	place = hash_name(symbols) + hash_u64(hash_name(runtime));
	if (!elf_file_stamp(runtime))
		return read_symbols(search->request.path, symbols, runtime, ret);
	name = memory_printf("program-%016" PRIx64, place);
	ret->table = table_cache_load(name, key);
	if (ret->table) {
		ret->found = memory_strdup(elf_file_name(symbols));
		return NULL;
	}
	error = read_symbols(search->request.path, symbols, runtime, ret);
	if (!error)
		table_cache_store(name, key, ret->table);
	return error;
}

/* Uses the build-id of OWN, the file itself, if none was given. */
static void adopt_build_id(struct search *search, const struct elf_file *own)
{
	const struct build_id *build_id = own ? elf_file_build_id(own) : NULL;

	if (search->request.build_id || !build_id || !build_id->bytes)
		return;
	search->request.build_id = build_id->data;
	search->request.build_id_bytes = build_id->bytes;
}

static void find_program(struct search *search)
{
	_cleanup_elf_file_ struct elf_file *own = NULL;

	error_destroy(elf_file_open(search->request.path, &own));
	adopt_build_id(search, own);
	try_all(search, own);
	try_download(search);
	search->request.build_id = NULL; /* it may be OWN's */
}

/* A guest's file: a file at the same path on this machine must have the same build-id. */
static struct error *find_foreign(struct search *search)
{
	const struct dso_request given = search->request, *request = &given;
	_cleanup_elf_file_ struct elf_file *own = NULL;
	_cleanup_free_ char *debug = NULL;

	if (request->path[0] != '/' || request->path[1] == '/')
		return dso_no_symbols(request->path, "it is not a file");
	if (!request->build_id && !request->root)
		return dso_no_symbols(request->path, "the guest's file is not on this machine");
	if (request->root)
		error_destroy(elf_file_open_below(request->root, request->path, &own));
	adopt_build_id(search, own);
	if (search->request.build_id) {
		try_file(search, dso_cache_path(&search->request, "elf"));
		try_file(search, dso_cache_path(&search->request, NULL));
		try_file(search, dso_cache_path(&search->request, "debug"));
		try_file(search, dso_debug_path(&search->request));
		try_debuginfod(search);
		debug = dso_debug_path(&search->request);
		if (request->root)
			try_below(search, request->root, debug);
		try_below(search, "/", request->path);
	}
	if (request->root)
		try_below(search, request->root, request->path);
	try_download(search);
	search->request.build_id = NULL; /* it may be OWN's */
	return NULL;
}

/* The vDSO of this process: its section headers are at its end. */
static struct error *open_own_vdso(struct elf_file **ret)
{
	const Elf64_Ehdr *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	size_t size;

	if (!image || sizeof(void *) != 8)
		return error_create(ERROR_NOT_FOUND, "this process has no readable vDSO");
	size = image->e_shoff + (size_t)image->e_shnum * image->e_shentsize;
	if (size < sizeof(*image) || size > VDSO_MAX_BYTES)
		return error_create(ERROR_NOT_FOUND, "this process has no readable vDSO");
	return elf_file_open_memory(image, size, "[vdso]", ret);
}

static void find_vdso(struct search *search)
{
	const struct dso_request *request = &search->request;
	_cleanup_elf_file_ struct elf_file *own = NULL;

	try_recording(search, "vdso");
	if (!search->symbols)
		try_file(search, dso_cache_path(request, "vdso"));
	if (search->symbols || search->runtime)
		return;
	error_destroy(open_own_vdso(&own));
	if (own && dso_build_id_fits(request, own))
		search->runtime = take_pointer(own);
	else
		note_reason(search, error_create(ERROR_NOT_FOUND,
						 "it is neither the running kernel's nor in "
						 "perf's build-id cache"));
}

/*
 * The module name in "[name]" or "…/name.ko.xz", malloc()ed; otherwise NULL. It becomes part of a
 * path, so it contains no folder.
 */
static char *module_name(const char *path)
{
	const char *base = strrchr(path, '/');
	const char *end;
	char *name;

	if (path[0] == '[' && path[1] != '.' && !base && strlen(path) > 2 &&
	    path[strlen(path) - 1] == ']')
		return memory_strndup(path + 1, strlen(path) - 2);
	base = base ? base + 1 : path;
	end = strstr(base, ".ko");
	if (!end || end == base || *base == '.' || (end[3] && end[3] != '.'))
		return NULL;
	name = memory_strndup(base, end - base);
	for (char *at = name; *at; at++)
		if (*at == '-')
			*at = '_';
	return name;
}

struct error *dso_load_symbols(const struct dso_request *request, struct dso_symbols *ret)
{
	_cleanup_(search_deinit) struct search search = { .request = *request };
	_cleanup_free_ char *module = NULL;
	const char *path = request->path;

	if (request->foreign) {
		struct error *error = find_foreign(&search);

		return error ? error : load_found(&search, ret);
	}
	if (!strncmp(path, "[kernel.kallsyms]", 17))
		return dso_load_kernel(request, ret);
	if (!strcmp(path, "[vdso]")) {
		find_vdso(&search);
		return load_found(&search, ret);
	}
	if (!strcmp(path, "[heap]") || !strncmp(path, "[stack", 6) || !strcmp(path, "[vsyscall]") ||
	    !strncmp(path, "[guest.kernel", 13))
		return dso_no_symbols(path, "it is not a file");
	module = module_name(path);
	if (module)
		return dso_load_module(request, module, ret);
	if (path[0] != '/' || path[1] == '/')
		return dso_no_symbols(path, "it is not a file");
	find_program(&search);
	return load_found(&search, ret);
}

/* Finds what is mapped when a program, a library or the vDSO runs. */
static void find_mapped(struct search *search)
{
	const char *path = search->request.path;

	if (!strcmp(path, "[vdso]"))
		find_vdso(search);
	else if (path[0] == '/' && path[1] != '/')
		find_program(search);
}

struct error *dso_load_frames(const struct dso_request *request, struct elf_frames *ret,
			      bool *ret_file)
{
	_cleanup_(search_deinit) struct search search = { .request = *request };

	find_mapped(&search);
	*ret_file = search.runtime;
	if (!search.runtime)
		return error_create(ERROR_NOT_FOUND, "the file of '%s' is not here",
				    request->path);
	return elf_frames_read(search.runtime, search.symbols ? search.symbols : search.runtime,
			       ret);
}

struct error *dso_find_code(const struct dso_request *request, struct elf_file **ret)
{
	_cleanup_(search_deinit) struct search search = { .request = *request };
	struct error *error = NULL;

	if (request->foreign)
		error = find_foreign(&search);
	else
		find_mapped(&search);
	if (error)
		return error;
	if (!search.runtime)
		return error_create(ERROR_NOT_FOUND, "%s", search.reason
								  ? error_message(search.reason)
								  : "the file is not here");
	*ret = search.runtime;
	/* The caller's, from here on. */
	if (search.symbols == search.runtime)
		search.symbols = NULL;
	search.runtime = NULL;
	return NULL;
}

struct error *dso_find_lines(const struct dso_request *request, struct elf_file **ret_runtime,
			     int *ret_fd)
{
	_cleanup_(search_deinit) struct search search = { .request = *request,
							  .wants_lines = true };
	const char *path = request->path;
	struct error *error = NULL;

	if (request->foreign)
		error = find_foreign(&search);
	else if (path[0] == '/' && path[1] != '/')
		find_program(&search);
	if (error)
		return error;
	if (!search.lines || !search.runtime)
		return error_create(ERROR_NOT_FOUND, "no source lines of '%s' are here", path);
	*ret_fd = elf_file_dup(search.lines);
	if (*ret_fd < 0)
		return error_system(errno, "could not open '%s'", elf_file_name(search.lines));
	*ret_runtime = search.runtime;
	/* The caller's, from here on. */
	if (search.symbols == search.runtime)
		search.symbols = NULL;
	if (search.lines == search.runtime)
		search.lines = NULL;
	search.runtime = NULL;
	return NULL;
}
