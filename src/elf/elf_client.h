/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks for the build-ids of ELF files that other processes have mapped. They are parsed by a caged
 * process, which is started with the first file. If it dies, does not answer in time or answers
 * wrongly, that file has no build-id, no more files of the same process are parsed, and the next
 * file of another process gets a new parser. After ELF_CLIENT_MAX_FAILURES nothing is parsed any
 * more.
 */
#ifndef ELF_CLIENT_H
#define ELF_CLIENT_H

#include <stdint.h>

#include "base/cleanup.h"
#include "elf/build_id.h"

#define ELF_CLIENT_MAX_FAILURES 8

struct elf_client;

/* SECONDS: how long an answer may take; 0: the default. */
struct elf_client *elf_client_create(double seconds);
void elf_client_destroy(struct elf_client *client); /* takes NULL */

/*
 * The build-id of the open file FD, which process PID has mapped. RET->size is 0 if there is none,
 * or if it is not known.
 */
void elf_client_build_id(struct elf_client *client, uint32_t pid, int fd, struct build_id *ret);

DEFINE_CLEANUP(cleanup_elf_client, struct elf_client *, elf_client_destroy)
#define _cleanup_elf_client_ _cleanup_(cleanup_elf_client)

#endif
