/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbols of files mapped by guest processes. */
#ifndef SESSION_GUEST_FILES_H
#define SESSION_GUEST_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vector.h"
#include "session/dsos.h"

struct session;

struct guest_file_link {
	size_t symbols; /* index in the reader's list */
	uint64_t older; /* index in links + 1; 0: none */
};

/* The tables in the recording, by build-id and by path. */
struct guest_files {
	size_t listed; /* of the reader's tables, in its order */
	struct map by_key; /* hash of guest and build-id or path -> index of newest in links + 1 */
	VECTOR(struct guest_file_link) links;
};

void guest_files_init(struct guest_files *files);
void guest_files_deinit(struct guest_files *files);

/*
 * What to ask for (symbol/dso.h) to find ENTRY, a guest's file, on this machine. *RET_ROOT is what
 * it points to besides ENTRY: the caller's to free, may be NULL.
 */
void guest_files_request(const struct session *session, const struct dso_entry *entry,
			 struct dso_request *ret, char **ret_root);
/* The function of ENTRY, a guest's file, at ADDRESS; NULL: unknown. Loads tables as needed. */
const struct symbol *guest_files_find(struct session *session, struct dso_entry *entry,
				      uint64_t address, const struct symbol_table **ret_table);
/*
 * Everything that guest_files_find() can find for ENTRY, as a table owned by the caller; NULL:
 * nothing.
 */
struct symbol_table *guest_files_table(struct session *session, struct dso_entry *entry);

#endif
