/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walls of a process that reads files; see walls.h. */
#include "walls/walls.h"

#include <unistd.h>

#include "walls/landlock.h"
#include "walls/system_calls.h"

#define NOBODY 65534
#define VERSION_OF_LINKS 2 /* of Landlock: files can be linked to other folders */

static bool landlock_suits(const struct walls *needs)
{
	return landlock_version() >= (needs->folder ? VERSION_OF_LINKS : 1);
}

struct error *walls_raise(const struct walls *needs)
{
	bool landlock = landlock_suits(needs);
	bool is_root = !geteuid();
	struct error *error;

	/* Fails in a user namespace that has no such user. */
	if (!landlock && !needs->folder)
		error_destroy(rights_keep_as(NOBODY, WALLS_CAPABILITIES));
	/* A root that can write keeps nothing that makes it more than an owner of files. */
	error = rights_keep(is_root && (landlock || !needs->folder) ? WALLS_CAPABILITIES : 0);

	if (!error && landlock)
		error = landlock_restrict(needs);
	if (!error && system_calls_can_restrict())
		error = system_calls_restrict_reader(
			needs->folder || (needs->cache && landlock), needs->terminal);
	return error ? error_prefix(error, "could not give up rights before reading files") : NULL;
}
