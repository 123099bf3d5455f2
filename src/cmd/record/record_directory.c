/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording as a folder (--dir): `data` is the file, and kcore_dir__PID/kallsyms has the symbols
 * of the guest kernel of VM PID, where stock perf looks for them (perf_data__guest_kallsyms_name(),
 * tools/perf/util/data.c, since 6.0).
 *
 * The folder was made when recording began. If it is in another user's folder, that user may have
 * put something else in its place since then.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/files/file.h"
#include "base/files/untrusted.h"
#include "cmd/record/record.h"
#include "symbol/kallsyms.h"

/* The last table of VM PID, or else the one for all VMs; NULL: none. */
static const struct perfdata_writer_symbols *find_table(const struct record_symbols *symbols,
							uint32_t pid)
{
	const struct perfdata_writer_symbols *found = NULL;

	for (size_t i = 0; i < symbols->tables.count; i++) {
		const struct perfdata_writer_symbols *table = &symbols->tables.items[i];

		if (table->machine_pid == pid || (!table->machine_pid && !found))
			found = table;
	}
	for (size_t i = 0; i < symbols->kept.count; i++)
		if (symbols->kept.items[i].machine_pid == pid)
			found = &symbols->kept.items[i];
	return found;
}

/* Nobody else can write to RECORDING, so no link can be in the way. */
static struct error *create_kallsyms(int recording, uint32_t pid, int *ret_fd)
{
	_cleanup_free_ char *name = memory_printf("kcore_dir__%u", pid);
	_cleanup_close_ int folder = -1;

	if (mkdirat(recording, name, 0700) && errno != EEXIST)
		return error_system(errno, "could not create the folder '%s'", name);
	folder = openat(recording, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0)
		return error_system(errno, "could not open the folder '%s'", name);
	*ret_fd = openat(folder, "kallsyms",
			 O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	return *ret_fd < 0 ? error_system(errno, "could not create '%s/kallsyms'", name) : NULL;
}

/*
 * Writes an empty file if nothing is known: without a file, perf would use this machine's symbols.
 */
static struct error *write_kallsyms(int recording, uint32_t pid,
				    const struct perfdata_writer_symbols *symbols)
{
	_cleanup_symbol_table_ struct symbol_table *table = NULL;
	_cleanup_close_ int fd = -1;
	_cleanup_buffer_ struct buffer text;
	struct error *error = NULL;

	buffer_init(&text, KALLSYMS_MAX_BYTES);
	if (symbols)
		error = symbol_table_decode(symbols->data, symbols->size, &table);
	if (error)
		return error;
	/* Without module names: perf uses a module's symbols only if it knows the module's file. */
	if (table)
		kallsyms_write(table, false, &text);
	error = create_kallsyms(recording, pid, &fd);
	return error ? error : file_write_all(fd, text.data, text.size, "kallsyms");
}

struct error *record_directory_finish(const char *path, const struct record_symbols *symbols,
				      const struct perfdata_inventory *inventory)
{
	_cleanup_close_ int recording = -1;
	struct error *error = open_own_folder(path, &recording);

	for (size_t i = 0; i < inventory->vms.count && !error; i++) {
		uint32_t pid = inventory->vms.items[i].pid;

		error = write_kallsyms(recording, pid, find_table(symbols, pid));
	}
	return error ? error_prefix(error, "could not write the symbols of guests to '%s'", path)
		     : NULL;
}
