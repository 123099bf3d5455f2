/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments of record's options that are more than a number, as perf record takes them. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/record/record.h"
#include "host/system/process.h"

#define RING_MAX_BYTES (1ull << 30)

bool record_parse_size(const char *text, uint64_t unit_bytes, uint64_t *ret)
{
	static const char letters[] = "BKMG";
	const char *letter;
	uint64_t number;
	char *end;

	errno = 0;
	*ret = 0;
	number = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || errno)
		return false;
	if (*end) {
		letter = strchr(letters, *end);
		if (!letter || end[1])
			return false;
		unit_bytes = 1ull << (10 * (letter - letters));
	}
	if (!number || !unit_bytes || __builtin_mul_overflow(number, unit_bytes, &number))
		return false;
	*ret = number;
	return true;
}

static struct error *take_frequency(struct record_options *options)
{
	char *end;

	if (!strcmp(options->frequency_text, "max")) {
		options->frequency = RECORD_FREQUENCY_MAX;
		return NULL;
	}
	errno = 0;
	options->frequency = strtoull(options->frequency_text, &end, 10);
	if (!isdigit((unsigned char)*options->frequency_text) || *end || errno ||
	    options->frequency == RECORD_FREQUENCY_MAX)
		return error_create(ERROR_USAGE, "--freq takes a whole number or max, not '%s'",
				    options->frequency_text);
	if (!options->frequency)
		return error_create(ERROR_USAGE, "--freq must be at least 1");
	return NULL;
}

static struct error *take_ring_size(struct record_options *options)
{
	uint64_t page = sysconf(_SC_PAGESIZE), bytes = page;

	if (strchr(options->mmap_pages, ','))
		return error_create(ERROR_USAGE,
				    "--mmap-pages takes one size: perfvisor records no AUX area, "
				    "as the second one of '%s' is for",
				    options->mmap_pages);
	if (!record_parse_size(options->mmap_pages, page, &options->ring_bytes) ||
	    options->ring_bytes > RING_MAX_BYTES)
		return error_create(ERROR_USAGE,
				    "--mmap-pages takes a number of pages, or a size such as 512K, "
				    "of at most 1G, not '%s'",
				    options->mmap_pages);
	while (bytes < options->ring_bytes) /* a ring is a power of two */
		bytes *= 2;
	options->ring_bytes = bytes;
	return NULL;
}

static struct error *take_max_size(struct record_options *options)
{
	if (record_parse_size(options->max_size, 1, &options->max_bytes))
		return NULL;
	return error_create(ERROR_USAGE, "--max-size takes a size such as 100M, not '%s'",
			    options->max_size);
}

/* The VMs of the threads are recorded, and of these only the threads. */
static struct error *take_threads(struct record_options *options)
{
	for (size_t i = 0; i < options->tids.count; i++) {
		uint64_t tid = options->tids.items[i];
		uint32_t pid = host_process_of_thread(tid);

		if (!pid)
			return error_hint(error_create(ERROR_NOT_FOUND, "there is no thread %llu",
						       (unsigned long long)tid),
					  "'perfvisor list' shows the threads of vCPUs");
		vector_append(&options->thread_pids, memory_printf("%u", pid));
		vector_append(&options->vms, options->thread_pids.items[i]);
		vector_append(&options->threads, (struct range){ tid, tid });
	}
	return NULL;
}

static struct error *take_cpus(struct record_options *options)
{
	if (!ranges_parse(options->cpu_text, &options->cpus))
		return error_create(ERROR_USAGE,
				    "--cpu takes numbers and ranges such as 0-3,7, not '%s'",
				    options->cpu_text);
	return capture_check_cpus(&options->cpus);
}

struct error *record_take_values(struct record_options *options)
{
	struct error *error = options->frequency_text ? take_frequency(options) : NULL;

	if (!error && options->mmap_pages)
		error = take_ring_size(options);
	if (!error && options->max_size)
		error = take_max_size(options);
	if (!error)
		error = record_delay_parse(options->delay_text, &options->delay);
	if (!error && options->vcpu_text && !ranges_parse(options->vcpu_text, &options->vcpus))
		error = error_create(ERROR_USAGE,
				     "--vcpu takes numbers and ranges such as 0-3,7, not '%s'",
				     options->vcpu_text);
	if (!error && options->cpu_text)
		error = take_cpus(options);
	if (!error && options->clock)
		error = record_take_clock(options);
	return error ? error : take_threads(options);
}

/*
 * The modes of perf record --call-graph. The user cannot choose how a guest is unwound: that
 * depends on its kernel and programs.
 */
static struct error *check_call_graph(struct record_options *options)
{
	const char *mode = options->call_graph, *comma = strchr(mode, ',');
	int length = comma ? comma - mode : (int)strlen(mode);
	unsigned long size;
	char *end;

	options->callchains = true;
	if (!strcmp(mode, "fp")) {
		log_note("--call-graph fp: only the host's chains use frame pointers; guests' "
			 "use unwind data");
		return NULL;
	}
	if (length != 5 || strncmp(mode, "dwarf", 5))
		return error_hint(
			error_create(ERROR_USAGE,
				     "--call-graph takes dwarf, dwarf,SIZE or fp, not '%s'",
				     mode),
			"before a command, name the mode, or use -g, which takes none");
	if (!comma)
		return NULL;
	size = strtoul(comma + 1, &end, 10);
	if (comma[1] < '0' || comma[1] > '9' || *end || !size || size > RECORD_MAX_STACK_BYTES)
		return error_create(ERROR_USAGE,
				    "--call-graph dwarf,SIZE takes 1 to %d bytes, not '%s'",
				    RECORD_MAX_STACK_BYTES, comma + 1);
	options->stack_bytes = size;
	return NULL;
}

static struct error *check_unwind(struct record_options *options)
{
	options->scan = !strcmp(options->unwind, "scan");
	if (!options->scan && strcmp(options->unwind, "exact") != 0)
		return error_create(ERROR_USAGE, "--unwind takes exact or scan, not '%s'",
				    options->unwind);
	options->callchains = true;
	return NULL;
}

struct error *record_take_chains(struct record_options *options)
{
	struct error *error = options->call_graph ? check_call_graph(options) : NULL;

	return error || !options->unwind ? error : check_unwind(options);
}

void record_free_values(struct record_options *options)
{
	for (size_t i = 0; i < options->thread_pids.count; i++)
		free(options->thread_pids.items[i]);
	vector_deinit(&options->thread_pids);
	vector_deinit(&options->threads);
	vector_deinit(&options->vcpus);
	vector_deinit(&options->cpus);
	vector_deinit(&options->filters);
	vector_deinit(&options->tids);
	record_delay_deinit(&options->delay);
}
