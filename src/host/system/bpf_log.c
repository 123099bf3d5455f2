/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps libbpf's warnings out of stderr. libbpf's print callback gets no context argument, so the
 * destination of warnings is a thread-local variable.
 */
#include "host/system/bpf_log.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "host/system/capability.h"

static _Thread_local struct bpf_log *current_log;

static int keep_first_warning(enum libbpf_print_level level, const char *format,
			      va_list arguments)
{
	char line[sizeof(current_log->reason)];
	const char *text = line;

	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(line, sizeof(line), format, arguments);
	line[strcspn(line, "\n")] = 0;
	if (!strncmp(text, "libbpf: ", 8))
		text += 8;
	log_detail("libbpf: %s", text);
	if (current_log && !*current_log->reason)
		snprintf(current_log->reason, sizeof(current_log->reason), "%s", text);
	return 0;
}

void bpf_log_begin(struct bpf_log *log)
{
	*log = (struct bpf_log){ 0 };
	current_log = log;
	libbpf_set_print(keep_first_warning);
}

void bpf_log_end(void)
{
	current_log = NULL;
}

struct error *bpf_log_error(const struct bpf_log *log, int errno_value, const char *what)
{
	if (errno_value < 0)
		errno_value = -errno_value;
	if ((errno_value == EPERM || errno_value == EACCES) && !host_capability_bpf())
		return error_hint(error_create(ERROR_PERMISSION,
					       "%s: no CAP_BPF and CAP_PERFMON", what),
				  "run as root");
	if (*log->reason)
		return error_create(errno_value == EPERM ? ERROR_PERMISSION : ERROR_SYSTEM,
				    "%s: %s", what, log->reason);
	return error_system(errno_value, "%s", what);
}
