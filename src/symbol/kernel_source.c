/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sources of a guest kernel's symbols. A source for one VM comes before those for all guests; a
 * vmlinux comes before a kallsyms, because it has the sizes of symbols.
 *
 * A vmlinux has link addresses. If the guest's kallsyms is given, too, it is used to shift the
 * vmlinux's symbols to the kernel's actual address (KASLR), by the difference for a symbol that
 * both have. The modules' symbols then come from the kallsyms.
 */
#include "symbol/kernel_source.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/memory.h"
#include "symbol/elf_file.h"
#include "symbol/kallsyms.h"

#define MOUNTED_KALLSYMS "/proc/kallsyms"
#define MOUNTED_MODULES "/proc/modules"

/* DIR/PID. The guest controls what is there, so no symlink may lead out of it. */
static char *mounted_root(const struct kernel_source_options *options, uint32_t vm_pid)
{
	return memory_printf("%s/%u", options->guestmount, vm_pid);
}

static bool guestmount_offers(const struct kernel_source_options *options, uint32_t vm_pid)
{
	_cleanup_error_ struct error *error = NULL;
	_cleanup_free_ char *root = NULL;
	_cleanup_close_ int fd = -1;

	if (!options->guestmount || !vm_pid)
		return false;
	root = mounted_root(options, vm_pid);
	error = file_open(root, MOUNTED_KALLSYMS, &fd);
	return !error || error_code(error) != ERROR_NOT_FOUND;
}

static struct error *guestmount_load(const struct kernel_source_options *options, uint32_t vm_pid,
				     struct symbol_table **ret)
{
	_cleanup_free_ char *root = mounted_root(options, vm_pid);
	_cleanup_close_ int fd = -1;
	struct error *error = file_open(root, MOUNTED_MODULES, &fd);
	/* A kernel without modules has no such file. */
	bool has_modules = !error || error_code(error) != ERROR_NOT_FOUND;

	error_destroy(error);
	error = kallsyms_load(root, MOUNTED_KALLSYMS, has_modules ? MOUNTED_MODULES : NULL, ret);
	return error ? error_prefix(error, "%s", root) : NULL;
}

static bool guestvmlinux_offers(const struct kernel_source_options *options, uint32_t vm_pid)
{
	(void)vm_pid;
	return options->guestvmlinux;
}

static const char *const reference_names[] = { "_text", "_stext", "_etext" };

/* The offset of the kernel in the file KALLSYMS from where VMLINUX was linked. */
static struct error *find_delta(struct elf_file *vmlinux, const char *kallsyms, uint64_t *ret)
{
	struct error *error = NULL;
	uint64_t linked, now;

	for (size_t i = 0; i < sizeof(reference_names) / sizeof(reference_names[0]); i++) {
		error_destroy(error);
		error = elf_file_find_symbol(vmlinux, reference_names[i], &linked);
		if (!error)
			error = kallsyms_find_symbol(NULL, kallsyms, reference_names[i], &now);
		if (!error) {
			*ret = now - linked;
			return NULL;
		}
		/* If it cannot be read, trying another symbol does not help. */
		if (error_code(error) != ERROR_NOT_FOUND)
			break;
	}
	return error;
}

static struct error *add_modules(const struct kernel_source_options *options,
				 struct symbol_builder *builder)
{
	struct kallsyms_filter filter = { .modules = true };

	return kallsyms_add(NULL, options->guestkallsyms, options->guestmodules, &filter, builder);
}

static struct error *guestvmlinux_load(const struct kernel_source_options *options,
				       uint32_t vm_pid, struct symbol_table **ret)
{
	_cleanup_symbol_builder_ struct symbol_builder *builder = symbol_builder_create();
	_cleanup_elf_file_ struct elf_file *vmlinux = NULL;
	struct error *error = elf_file_open(options->guestvmlinux, &vmlinux);
	uint64_t delta = 0;

	(void)vm_pid;
	/* The modules first: this checks that the kallsyms is one, and readable. */
	if (!error && options->guestkallsyms)
		error = add_modules(options, builder);
	if (!error && options->guestkallsyms)
		error = find_delta(vmlinux, options->guestkallsyms, &delta);
	if (!error)
		error = elf_file_add_kernel(vmlinux, delta, builder);
	if (error)
		return error;
	*ret = symbol_builder_finish(take_pointer(builder));
	return NULL;
}

static bool guestkallsyms_offers(const struct kernel_source_options *options, uint32_t vm_pid)
{
	(void)vm_pid;
	return options->guestkallsyms;
}

static struct error *guestkallsyms_load(const struct kernel_source_options *options,
					uint32_t vm_pid, struct symbol_table **ret)
{
	(void)vm_pid;
	return kallsyms_load(NULL, options->guestkallsyms, options->guestmodules, ret);
}

/*
 * In the order in which they are tried. To add one: write its two functions above, and add a row
 * here.
 */
static const struct kernel_source kernel_sources[] = {
	{ KERNEL_SOURCE_GUESTMOUNT, guestmount_offers, guestmount_load },
	{ "--guestvmlinux", guestvmlinux_offers, guestvmlinux_load },
	{ "--guestkallsyms", guestkallsyms_offers, guestkallsyms_load },
};

struct error *kernel_source_load(const struct kernel_source_options *options, uint32_t vm_pid,
				 struct symbol_table **ret, const char **ret_source)
{
	for (size_t i = 0; i < sizeof(kernel_sources) / sizeof(kernel_sources[0]); i++) {
		const struct kernel_source *source = &kernel_sources[i];
		struct symbol_table *table = NULL;
		struct error *error;

		if (!source->offers(options, vm_pid))
			continue;
		if (ret_source)
			*ret_source = source->name;
		error = source->load(options, vm_pid, &table);
		if (error)
			return error_prefix(error, "%s", source->name);
		*ret = table;
		return NULL;
	}
	*ret = NULL;
	if (ret_source)
		*ret_source = NULL;
	return NULL;
}

static struct error *check_file(const char *option, const char *path)
{
	if (path && access(path, R_OK))
		return error_system(errno, "%s '%s'", option, path);
	return NULL;
}

struct error *kernel_source_check(const struct kernel_source_options *options)
{
	struct error *error = check_file("--guestkallsyms", options->guestkallsyms);
	struct stat status;

	if (!error)
		error = check_file("--guestmodules", options->guestmodules);
	if (!error)
		error = check_file("--guestvmlinux", options->guestvmlinux);
	if (error || !options->guestmount)
		return error;
	if (stat(options->guestmount, &status))
		return error_system(errno, "--guestmount '%s'", options->guestmount);
	if (!S_ISDIR(status.st_mode))
		return error_create(ERROR_USAGE, "--guestmount '%s' is not a folder",
				    options->guestmount);
	return NULL;
}
