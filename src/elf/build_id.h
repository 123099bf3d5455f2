/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Build-ids (the ELF note NT_GNU_BUILD_ID) of files and of the running kernel. */
#ifndef ELF_BUILD_ID_H
#define ELF_BUILD_ID_H

#include <stdbool.h>
#include <stdint.h>

#define BUILD_ID_MAX 20

struct build_id {
	uint8_t bytes[BUILD_ID_MAX];
	uint8_t size; /* 0: none */
};

/*
 * Of the open file FD, which may be anybody's (base/files/untrusted.h). False: not an ELF file, or
 * no build-id.
 */
bool build_id_of_file(int fd, struct build_id *ret);
/* From notes in sysfs: /sys/kernel/notes, /sys/module/NAME/notes/… */
bool build_id_of_notes(const char *path, struct build_id *ret);

#endif
