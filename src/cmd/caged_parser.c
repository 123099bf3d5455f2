/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfvisor guest-parser, line-parser, elf-parser: the caged processes of src/walls/cage.h.
 * perfvisor starts itself with these commands; they are not for users and are not listed.
 */
#include "cmd/caged_parser.h"

#include <string.h>

#include "elf/elf_service.h"
#include "lines/line_service.h"
#include "service/service.h"

static const struct {
	const char *command;
	void (*run)(int fd);
} parsers[] = {
	[CAGE_GUEST] = { CAGE_GUEST_COMMAND, guest_service_run },
	[CAGE_LINES] = { CAGE_LINES_COMMAND, line_service_run },
	[CAGE_ELF] = { CAGE_ELF_COMMAND, elf_service_run },
};

bool caged_parser_find(const char *command, enum cage_kind *ret)
{
	for (size_t i = 0; i < sizeof(parsers) / sizeof(*parsers); i++)
		if (!strcmp(command, parsers[i].command)) {
			*ret = (enum cage_kind)i;
			return true;
		}
	return false;
}

struct error *caged_parser_run(enum cage_kind kind)
{
	return cage_serve(kind, parsers[kind].run);
}
