/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by dso.c (programs, libraries), dso_kernel.c (the host's kernel) and dso_paths.c. */
#ifndef SYMBOL_DSO_PRIVATE_H
#define SYMBOL_DSO_PRIVATE_H

#include "symbol/dso.h"
#include "symbol/elf_file.h"

/* "xx/yyyy…" for the request's build-id, malloc()ed; NULL if it has none. */
char *dso_build_id_name(const struct dso_request *request);
/*
 * LEAF ("debuginfo", "executable") of the request's build-id in the cache of debuginfod's client,
 * malloc()ed, or NULL.
 */
char *dso_debuginfod_path(const struct dso_request *request, const char *leaf);
/*
 * LEAF ("elf", "kallsyms", "vdso") of the request's build-id in perf's cache, malloc()ed; NULL if
 * there is no build-id or no cache. LEAF NULL: the entry itself, which is a file in old caches.
 */
char *dso_cache_path(const struct dso_request *request, const char *leaf);
/* The debug file for the request's build-id under /usr/lib/debug/.build-id, or NULL. */
char *dso_debug_path(const struct dso_request *request);

/* Whether FILE matches the request: the build-ids are equal, or the request has none. */
bool dso_build_id_fits(const struct dso_request *request, const struct elf_file *file);

struct error *dso_no_symbols(const char *path, const char *reason) MUST_CHECK;
/* Returns the builder's table, unless it is empty. Takes BUILDER. */
struct error *dso_finish(struct symbol_builder *builder, const char *path, const char *found,
			 struct dso_symbols *ret) MUST_CHECK;

struct error *dso_load_kernel(const struct dso_request *request,
			      struct dso_symbols *ret) MUST_CHECK;
/* NAME has no brackets, folder or suffix. */
struct error *dso_load_module(const struct dso_request *request, const char *name,
			      struct dso_symbols *ret) MUST_CHECK;

#endif
