/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether libiberty demangles a name in little time. Mangled names refer back to their own parts,
 * so in some a few hundred bytes describe 2^60 steps, not all of which print anything. Both
 * functions bound the steps before libiberty takes them. They return false above some milliseconds
 * of work.
 *
 * False, too, if NAME has no such mangling, or is too long: names of real programs are nearly
 * always shorter. *COST is increased by what the check costs and, if the result is true, by what
 * libiberty does at most, both in units of about a nanosecond.
 */
#ifndef SYMBOL_DEMANGLE_COST_H
#define SYMBOL_DEMANGLE_COST_H

#include <stdbool.h>
#include <stdint.h>

/* The Itanium C++ ABI ("_Z…", up to 1 KB), demangled without parameters (DMGL_NO_OPTS). */
bool demangle_is_cheap_cplus(const char *name, uint64_t *cost);
/* Rust, both manglings ("_R…" and "_ZN…17h<hash>E", up to 2 KB). */
bool demangle_is_cheap_rust(const char *name, uint64_t *cost);

#endif
