/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names by which functions and modules of different builds and kernels are the same. */
#ifndef COMPARE_FUNCTION_NAME_H
#define COMPARE_FUNCTION_NAME_H

#include <stddef.h>

/*
 * The length of NAME without what compilers add to a part or a copy of a function: ".cold",
 * ".isra.0", ".constprop.0", ".part.0" (GCC), ".llvm.123" (Clang) and the like, several in a row,
 * too.
 */
size_t function_name_length(const char *name);

/* "[kernel]" for any kernel, of hosts and guests; otherwise NAME. */
const char *module_name(const char *name);

#endif
