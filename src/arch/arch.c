/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of instruction sets. */
#include "arch/arch.h"

#include <string.h>

const struct arch *const arch_all[] = { &arch_x86_64, &arch_i386, &arch_arm64, &arch_ppc64, NULL };

const struct arch *arch_find(const char *name)
{
	for (size_t i = 0; arch_all[i]; i++)
		if (!strcmp(arch_all[i]->name, name))
			return arch_all[i];
	return NULL;
}
