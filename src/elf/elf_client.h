/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks for the build-ids of ELF files that other processes have mapped. They are opened by a
 * process that does nothing else (mapped_file.h), and parsed by a caged one, which is started with
 * the first file. If one of them dies, does not answer in time or answers wrongly, that file has no
 * build-id, no more files of the same process are read, and the next file of another process gets
 * new ones. After ELF_CLIENT_MAX_FAILURES processes of a user, no more files of that user's are
 * read; after ELF_CLIENT_MAX_ALL_FAILURES, nothing is.
 */
#ifndef ELF_CLIENT_H
#define ELF_CLIENT_H

#include "base/cleanup.h"
#include "elf/build_id.h"
#include "elf/mapped_file.h"

#define ELF_CLIENT_MAX_FAILURES 8
#define ELF_CLIENT_MAX_ALL_FAILURES 32 /* each may have taken its time */

struct elf_client;

/* SECONDS: how long opening a file, and its parser's answer, may take; 0: the default. */
struct elf_client *elf_client_create(double seconds);
void elf_client_destroy(struct elf_client *client); /* takes NULL */

/* RET->size is 0 if FILE has no build-id, or if it is not known. */
void elf_client_build_id(struct elf_client *client, const struct mapped_file *file,
			 struct build_id *ret);

DEFINE_CLEANUP(cleanup_elf_client, struct elf_client *, elf_client_destroy)
#define _cleanup_elf_client_ _cleanup_(cleanup_elf_client)

#endif
