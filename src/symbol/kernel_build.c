/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the kernel that runs here with what a recording says about its own. */
#include "symbol/kernel_build.h"

#include <string.h>
#include <sys/utsname.h>

#include "base/files/file.h"
#include "base/memory.h"
#include "symbol/kallsyms.h"

#define PROC_KALLSYMS "/proc/kallsyms"
#define NOTES_MAX_BYTES 65536
#define PAGE_BYTES 4096

struct build_id kernel_build_read_notes(const char *path)
{
	_cleanup_buffer_ struct buffer notes;

	buffer_init(&notes, NOTES_MAX_BYTES);
	error_destroy(file_read(path, &notes));
	return build_id_from_notes(notes.data, notes.size, false);
}

static bool known(const char *text)
{
	return text && *text;
}

static uint64_t address_of(const char *name)
{
	_cleanup_error_ struct error *error = NULL;
	uint64_t address = 0;

	error = kallsyms_find_symbol(NULL, PROC_KALLSYMS, name, &address);
	return error ? 0 : address;
}

enum size_answer { SIZE_UNKNOWN, SIZE_EQUAL, SIZE_DIFFERS };

/*
 * Other sizes than those to _edata and _etext were written before Linux 5.0: up to the first module
 * or to the end of all addresses. They say nothing.
 */
static enum size_answer compare_sizes(uint64_t recorded)
{
	uint64_t text = address_of("_text"), edata, etext;

	if (!text)
		text = address_of("_stext");
	if (!recorded || !text)
		return SIZE_UNKNOWN;
	etext = address_of("_etext");
	edata = address_of("_edata");
	if ((etext && recorded == etext - text) || (edata && recorded == edata - text))
		return SIZE_EQUAL;
	if ((!etext && !edata) || !(recorded % PAGE_BYTES) || !((recorded + 1) % PAGE_BYTES))
		return SIZE_UNKNOWN;
	return SIZE_DIFFERS;
}

#define ELSEWHERE "; read it on a machine that runs that kernel"

/* Where the recording has no build-id. */
static char *compare_names(const struct dso_request *request)
{
	struct utsname here;
	enum size_answer size;

	uname(&here);
	if (known(request->machine) && strcmp(request->machine, here.machine))
		return memory_printf("the recording is of an %s machine, and this is an %s one"
				     ELSEWHERE, request->machine, here.machine);
	if (known(request->release) && strcmp(request->release, here.release))
		return memory_printf("the recording is of Linux %s, and this is %s" ELSEWHERE,
				     request->release, here.release);
	size = compare_sizes(request->text_bytes);
	if (size == SIZE_DIFFERS)
		return memory_printf("the recording's kernel is another build: its code is of "
				     "another size than that of the kernel here" ELSEWHERE);
	if (size == SIZE_UNKNOWN && !(known(request->machine) && known(request->release)))
		return memory_strdup("the recording does not say which kernel it is of"
				     "; perf record --buildid-mmap would");
	return NULL;
}

static char *build_id_text(const struct dso_request *request)
{
	char *text = memory_alloc(2 * request->build_id_bytes + 1);

	for (size_t i = 0; i < request->build_id_bytes; i++)
		snprintf(text + 2 * i, 3, "%02x", request->build_id[i]);
	return text;
}

char *kernel_build_differs(const struct dso_request *request)
{
	struct build_id running;
	_cleanup_free_ char *text = NULL;

	if (!request->build_id || !request->build_id_bytes)
		return compare_names(request);
	running = kernel_build_read_notes("/sys/kernel/notes");
	if (build_id_equal(&running, request->build_id, request->build_id_bytes))
		return NULL;
	text = build_id_text(request);
	return memory_printf("its build-id is %s, and neither the kernel here nor perf's build-id "
			     "cache nor a vmlinux here has it; 'perf buildid-cache --add FILE' "
			     "with its vmlinux names it", text);
}
