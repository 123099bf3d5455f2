/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The caged parser's side of elf_wire.h. */
#ifndef ELF_SERVICE_H
#define ELF_SERVICE_H

/* Answers questions from FD until its other end is closed, or says something wrong. */
void elf_service_run(int fd);

#endif
