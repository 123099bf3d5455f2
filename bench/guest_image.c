/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saves a guest as files, and measures the first and a later look at it.
 *
 *	guest_image save VM FOLDER      on its host, as root, with its VMM stopped
 *	guest_image contact FOLDER CACHE OUT
 *		prints CPU seconds and bytes read for the first look, then for a later one. CACHE
 *		is a folder to create, in which the first look leaves its results for the later
 *		one; OUT gets the kallsyms of the later one
 *
 * saved_guest.h describes FOLDER. A look is what perfvisor does before it can name anything: a
 * caged parser finds the kernel, all its symbols and its modules. The time is that of parser and
 * owner together, from the parser's start to its end, and includes caching the results.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "walls/cage.h"
#include "base/memory.h"
#include "host/inspect/guest_recall.h"
#include "host/vm/vm_memory.h"
#include "saved_guest.h"
#include "service/service.h"

#define MAX_BYTES ((uint64_t)64 << 20)

/* Pages of zeros become holes. Memory that the VMM cannot read (a device's ROM) is left out. */
static struct error *save_slot(struct host_vm_memory *memory, const struct host_vm_slot *slot,
			       int fd)
{
	static const uint8_t zeros[GUEST_PAGE_BYTES];
	struct guest_memory_source source = host_vm_memory_source(memory);
	uint8_t page[GUEST_PAGE_BYTES];

	for (uint64_t at = 0; at + GUEST_PAGE_BYTES <= slot->bytes; at += GUEST_PAGE_BYTES) {
		struct gpa gpa = GPA(slot->start.value + at);

		if (!source.read_pages(source.context, &gpa, 1, page) ||
		    !memcmp(page, zeros, sizeof(page)))
			continue;
		if (pwrite(fd, page, sizeof(page), gpa.value) != sizeof(page))
			return error_system(errno, "could not write the guest's memory");
	}
	return NULL;
}

static struct error *save_memory(struct host_vm_memory *memory, const char *folder)
{
	_cleanup_close_ int fd = -1;
	struct error *error =
		saved_guest_open_file(folder, "memory", O_WRONLY | O_CREAT | O_TRUNC, &fd);

	/* Slots from 2 GB on are the firmware's; nothing of a small guest's kernel is there. */
	for (size_t i = 0; !error && i < memory->slots.count; i++)
		if (memory->slots.items[i].start.value < 1u << 31)
			error = save_slot(memory, &memory->slots.items[i], fd);
	return error;
}

static struct error *save_text(const struct host_vm_memory *memory, const char *folder)
{
	FILE *slots, *registers;
	struct error *error = saved_guest_open_text(folder, "slots", "w", &slots);

	if (error)
		return error;
	for (size_t i = 0; i < memory->slots.count; i++)
		fprintf(slots, "%#" PRIx64 " %#" PRIx64 "\n", memory->slots.items[i].start.value,
			memory->slots.items[i].bytes);
	fclose(slots);
	error = saved_guest_open_text(folder, "registers", "w", &registers);
	if (error)
		return error;
	for (size_t i = 0; i < memory->registers.count; i++) {
		const struct arch_mmu *mmu = &memory->registers.items[i].mmu;

		fprintf(registers, "%#" PRIx64 " %#" PRIx64 " %#" PRIx64 " %#" PRIx64 "\n",
			(uint64_t)mmu->x86.cr0, (uint64_t)mmu->x86.cr3, (uint64_t)mmu->x86.cr4,
			(uint64_t)mmu->x86.efer);
	}
	fclose(registers);
	return NULL;
}

static struct error *save(const char *name, const char *folder)
{
	_cleanup_vm_memory_finder_ struct vm_memory_finder *finder = vm_memory_finder_create();
	_cleanup_host_vms_ struct host_vms vms = { 0 };
	struct host_vm_memory memory = { 0 };
	const struct host_vm *vm;
	struct error *error = host_vms_find(&vms);

	if (!error)
		error = host_vms_select(&vms, name, &vm);
	if (!error)
		error = vm_memory_find(finder, vm, &memory);
	if (!error)
		error = save_memory(&memory, folder);
	if (!error)
		error = save_text(&memory, folder);
	host_vm_memory_deinit(&memory);
	return error;
}

static double cpu_seconds(void)
{
	struct rusage own, children;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	return own.ru_utime.tv_sec + own.ru_stime.tv_sec + children.ru_utime.tv_sec +
	       children.ru_stime.tv_sec +
	       (own.ru_utime.tv_usec + own.ru_stime.tv_usec + children.ru_utime.tv_usec +
		children.ru_stime.tv_usec) *
		       1e-6;
}

static struct error *start(struct saved_guest *saved, struct guest_client **ret)
{
	static const struct guest_client_limits limits = { MAX_BYTES, 60 };
	struct guest_memory_source source = saved_guest_source(saved);

	return guest_client_start(&source, saved->slots.items, saved->slots.count, &limits, ret);
}

/* Tries the vCPUs one after another, as guest_view_open() does. */
static struct error *open_kernel(struct guest_client *client, const struct saved_guest *saved,
				 struct buffer *answer)
{
	struct error *error = error_create(ERROR_NOT_FOUND, "no vCPU was saved");

	for (size_t i = 0; error && i < saved->vcpus.count; i++) {
		error_destroy(error);
		error = guest_client_open(client, &saved->vcpus.items[i], answer);
	}
	return error;
}

static struct error *ask(struct guest_client *client, const struct guest_cache_vm *cache,
			 const struct saved_guest *saved, struct buffer *answer)
{
	struct error *error = guest_recall_kernel(client, cache);
	uint32_t recalled = 0;

	if (!error)
		error = open_kernel(client, saved, answer);
	if (error)
		return error;
	if (answer->size >= sizeof(recalled))
		memcpy(&recalled, answer->data, sizeof(recalled));
	if (!recalled)
		guest_recall_keep_kernel(client, cache);
	return guest_recall_table(client, cache, GUEST_ASK_SYMBOLS, GUEST_CACHE_SYMBOLS, answer);
}

static struct error *make_contact(struct saved_guest *saved, const struct guest_cache_vm *cache,
				  struct buffer *symbols, struct buffer *kallsyms)
{
	struct guest_client *client;
	double begin = cpu_seconds();
	struct error *error = start(saved, &client);
	uint64_t bytes;

	if (error)
		return error;
	error = ask(client, cache, saved, symbols);
	bytes = guest_client_bytes_read(client);
	if (!error && kallsyms)
		error = guest_client_ask(client, GUEST_ASK_KALLSYMS, NULL, 0, kallsyms);
	guest_client_stop(client);
	if (!error && !kallsyms)
		printf("%.6f %" PRIu64 "\n", cpu_seconds() - begin, bytes);
	return error;
}

static struct error *compare(const struct buffer *first, const struct buffer *later)
{
	if (first->size == later->size && !memcmp(first->data, later->data, first->size))
		return NULL;
	return error_create(ERROR_BAD_DATA, "a later look has other symbols");
}

static struct error *contact(const char *folder, const char *cache_folder, const char *out)
{
	_cleanup_saved_guest_ struct saved_guest saved = { .fd = -1 };
	_cleanup_buffer_ struct buffer first, later, kallsyms;
	struct error *error = saved_guest_load(folder, &saved);
	struct guest_cache_vm cache;
	FILE *file;

	buffer_init(&first, GUEST_MESSAGE_MAX);
	buffer_init(&later, GUEST_MESSAGE_MAX);
	buffer_init(&kallsyms, GUEST_MESSAGE_MAX);
	/* Each process has its own entries, so there are none yet. */
	guest_cache_vm_init(&cache, cache_folder, getpid(), 0);
	if (!error)
		error = make_contact(&saved, &cache, &first, NULL);
	if (!error)
		error = make_contact(&saved, &cache, &later, NULL);
	if (!error)
		error = compare(&first, &later);
	if (!error)
		error = make_contact(&saved, &cache, &later, &kallsyms);
	if (!error) {
		file = fopen(out, "w");
		if (!file || fwrite(kallsyms.data, 1, kallsyms.size, file) != kallsyms.size ||
		    fclose(file))
			error = error_system(errno, "could not write '%s'", out);
	}
	return error;
}

static int be_the_parser(void)
{
	struct error *error = cage_enter(CAGE_GUEST);

	if (error)
		return 1;
	guest_service_run(CAGE_FD);
	return 0;
}

int main(int argc, char **argv)
{
	_cleanup_error_ struct error *error = NULL;

	if (argc == 2 && !strcmp(argv[1], CAGE_GUEST_COMMAND))
		return be_the_parser();
	if (argc == 4 && !strcmp(argv[1], "save"))
		error = save(argv[2], argv[3]);
	else if (argc == 5 && !strcmp(argv[1], "contact"))
		error = contact(argv[2], argv[3], argv[4]);
	else
		error = error_create(ERROR_USAGE,
				     "guest_image save VM FOLDER | contact FOLDER CACHE OUT");
	if (error)
		fprintf(stderr, "guest_image: %s\n", error_message(error));
	return error != NULL;
}
