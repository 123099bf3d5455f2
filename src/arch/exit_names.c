/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks up a name in a table of exit reasons. */
#include "arch/exit_names.h"

const char *arch_exit_name(const struct arch_exit_name *names, uint64_t code)
{
	while (names->name && names->code != code)
		names++;
	return names->name;
}
