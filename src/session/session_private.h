/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by session.c, session_kernels.c, and what reads a session live. */
#ifndef SESSION_SESSION_PRIVATE_H
#define SESSION_SESSION_PRIVATE_H

#include "session/session.h"

/* A session of READER, which it takes, without records. */
struct session *session_create(struct perfdata_reader *reader,
			       const struct kernel_source_options *options);
/* The events that the reader knows. */
void session_list_events(struct session *session);
/* All records have been read, or are read live: names the machines, and lists their kernels. */
void session_complete_machines(struct session *session);
/* The name of MACHINE, and whether samples are of its threads, as far as known. */
void session_describe_machine(struct session *session, struct machine *machine);
/*
 * Whether modes of guest samples may be wrong, as far as features are known. Ours have the modes
 * that the recorder found out (host/record/guest_mode.h).
 */
void session_doubt_modes(struct session *session);
/* The same as session_list_kernels(), once more for all machines: there are more tables. */
void session_list_kernels_again(struct session *session);

#endif
