/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cage's side: parses one guest's memory for its owner, and requests pages from it over a
 * socket. It needs no files, privileges or network: src/host runs it in a process that has none.
 */
#ifndef SERVICE_SERVICE_H
#define SERVICE_SERVICE_H

/* Answers requests that arrive on FD (wire.h) until the other side closes it. */
void guest_service_run(int fd);

#endif
