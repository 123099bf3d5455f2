/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passes data between the cache and the caged parser. */
#include "host/inspect/guest_recall.h"

#include <string.h>

struct error *guest_recall_kernel(struct guest_client *client, const struct guest_cache_vm *vm)
{
	_cleanup_guest_cache_entry_ struct guest_cache_entry kept;
	_cleanup_buffer_ struct buffer answer;

	buffer_init(&answer, GUEST_MESSAGE_MAX);
	if (!guest_cache_load(vm, GUEST_CACHE_KERNEL, &kept))
		return NULL;
	return guest_client_ask(client, GUEST_ASK_RECALL, kept.data, kept.size, &answer);
}

void guest_recall_keep_kernel(struct guest_client *client, const struct guest_cache_vm *vm)
{
	_cleanup_error_ struct error *error = NULL;
	_cleanup_buffer_ struct buffer kept;

	buffer_init(&kept, GUEST_MESSAGE_MAX);
	if (!vm->folder)
		return;
	error = guest_client_ask(client, GUEST_ASK_KEEP, NULL, 0, &kept);
	if (!error)
		guest_cache_store(vm, GUEST_CACHE_KERNEL, 0, kept.data, kept.size);
}

struct error *guest_recall_table(struct guest_client *client, const struct guest_cache_vm *vm,
				 enum guest_message question, enum guest_cache_part part,
				 struct buffer *ret)
{
	_cleanup_guest_cache_entry_ struct guest_cache_entry kept;
	struct error *error;
	uint64_t key;

	guest_cache_load(vm, part, &kept);
	error = guest_client_ask(client, question, &kept.key, sizeof(kept.key), ret);
	if (error)
		return error;
	if (ret->size < sizeof(key))
		return guest_client_malformed();
	memcpy(&key, ret->data, sizeof(key));
	ret->size -= sizeof(key);
	memmove(ret->data, ret->data + sizeof(key), ret->size);
	if (!ret->size && key == kept.key)
		buffer_append(ret, kept.data, kept.size);
	else if (key)
		guest_cache_store(vm, part, key, ret->data, ret->size);
	return NULL;
}
