/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guests without a Linux kernel: determines the image that they run, and how to copy their stacks.
 */
#include "base/log.h"
#include "base/memory.h"
#include "host/record/guest_reader_state.h"

static uint64_t bytes_of(const struct guest_image_code *code)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < code->count; i++)
		bytes += code->items[i].end.value - code->items[i].start.value;
	return bytes;
}

/* FIRST: this is the first look; later ones would only repeat the message. */
static void note_code(const struct guest_reader *reader, const struct host_vm *vm,
		      const struct guest_image_code *code, bool first)
{
	if (!code->count && first)
		log_note("VM '%s' has no call chains: no code of '%s' was found where its vCPUs "
			 "map the file's addresses", vm->name,
			 guest_image_path(reader->options.image));
	else if (code->count)
		log_detail("VM '%s' runs %llu KiB of the code in '%s'", vm->name,
			   (unsigned long long)bytes_of(code) >> 10,
			   guest_image_path(reader->options.image));
}

void guest_reader_look_at_image(struct guest_reader *reader, struct guest *guest,
				const struct host_vm *vm)
{
	static const struct guest_cpus no_cpus = { 0 };
	struct image_news news = { .vm = guest->vm };
	_cleanup_error_ struct error *error = NULL;
	struct sampler_vm description;

	if (!reader->options.unwind_data)
		return;
	error = guest_image_look(guest_reader_finder(reader), vm, reader->options.image,
				 ++guest->version, &description, &news.code);
	if (error) {
		log_detail("the stacks of VM '%s' are not copied: %s", vm->name,
			   error_message(error));
		return;
	}
	if (reader->options.image)
		note_code(reader, vm, &news.code, guest->version == 1);
	pthread_mutex_lock(&reader->lock);
	queue_append(&reader->images, news);
	pthread_mutex_unlock(&reader->lock);
	capture_set_guest(reader->capture, guest->vm, &description, &no_cpus);
}
