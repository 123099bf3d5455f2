/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must be known of an ELF file before libelf opens it: elf_begin() allocates and fills 200
 * bytes and more for each section that the file claims to have, and a sparse file can claim as many
 * as fit into its size.
 */
#ifndef BASE_ELF_HEAD_H
#define BASE_ELF_HEAD_H

#include <stdbool.h>
#include <stdint.h>

/* False: the file FD claims more than MAX sections. True also if it is no ELF file. */
bool elf_head_fits(int fd, uint64_t max);

#endif
