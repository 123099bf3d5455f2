/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs one dso_load_symbols() in a thread, or directly if no thread can be created. */
#include "session/kernel_loader.h"

#include <string.h>

#include "base/memory.h"

static void *load(void *data)
{
	struct kernel_loader *loader = data;

	loader->error = dso_load_symbols(&loader->request, &loader->symbols);
	return NULL;
}

void kernel_loader_start(struct kernel_loader *loader, const struct dso_request *request)
{
	if (loader->started)
		return;
	loader->started = true;
	loader->request = *request;
	loader->request.path = loader->path = memory_strdup(request->path);
	if (request->build_id && request->build_id_bytes <= sizeof(loader->build_id)) {
		memcpy(loader->build_id, request->build_id, request->build_id_bytes);
		loader->request.build_id = loader->build_id;
	}
	loader->threaded = !pthread_create(&loader->thread, NULL, load, loader);
	if (!loader->threaded)
		load(loader);
}

static bool same_text(const char *left, const char *right)
{
	return !strcmp(left ? left : "", right ? right : "");
}

bool kernel_loader_fits(const struct kernel_loader *loader, const struct dso_request *request)
{
	const struct dso_request *mine = &loader->request;

	return mine->build_id_bytes == request->build_id_bytes &&
	       (!mine->build_id_bytes ||
		!memcmp(mine->build_id, request->build_id, mine->build_id_bytes)) &&
	       mine->reference == request->reference && mine->text_bytes == request->text_bytes &&
	       same_text(mine->path, request->path) && same_text(mine->release, request->release) &&
	       same_text(mine->machine, request->machine);
}

static void wait_for(struct kernel_loader *loader)
{
	if (loader->threaded)
		pthread_join(loader->thread, NULL);
	loader->threaded = false;
}

struct error *kernel_loader_finish(struct kernel_loader *loader, struct dso_symbols *ret)
{
	wait_for(loader);
	if (loader->error)
		return take_pointer(loader->error);
	*ret = loader->symbols;
	loader->symbols = (struct dso_symbols){ 0 };
	return NULL;
}

void kernel_loader_deinit(struct kernel_loader *loader)
{
	wait_for(loader);
	error_destroy(loader->error);
	dso_symbols_deinit(&loader->symbols);
	free(loader->path);
	*loader = (struct kernel_loader){ 0 };
}
