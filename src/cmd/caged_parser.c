/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfvisor guest-parser, perfvisor line-parser: the caged processes of src/walls/cage.h. perfvisor
 * starts itself with these commands; they are not for users and are not listed.
 */
#include "cmd/caged_parser.h"

#include <string.h>

#include "lines/line_service.h"
#include "service/service.h"

bool caged_parser_find(const char *command, enum cage_kind *ret)
{
	bool guest = !strcmp(command, CAGE_GUEST_COMMAND);

	*ret = guest ? CAGE_GUEST : CAGE_LINES;
	return guest || !strcmp(command, CAGE_LINES_COMMAND);
}

struct error *caged_parser_run(enum cage_kind kind)
{
	struct error *error = cage_enter(kind);

	if (error)
		return error;
	if (kind == CAGE_GUEST)
		guest_service_run(CAGE_FD);
	else
		line_service_run(CAGE_FD);
	_exit(0); /* exit handlers (a leak checker) are not allowed in the cage */
}
