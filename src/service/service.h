/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The caged side: parses one guest's memory for its owner, whom it asks for pages over a socket.
 * It needs no file, no right and no network: src/host runs it in a process that has none.
 */
#ifndef SERVICE_SERVICE_H
#define SERVICE_SERVICE_H

/* Answers what comes over FD (wire.h) until the other side closes it. */
void guest_service_run(int fd);

#endif
