/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfvisor guest-parser: the caged process of src/base/cage.h. perfvisor starts itself
 * with this command; it is not for users and is not listed.
 */
#include "cmd/guest_parser.h"

#include "base/cage.h"
#include "service/service.h"

struct error *guest_parser_run(void)
{
	struct error *error = cage_enter(CAGE_GUEST);

	if (error)
		return error;
	guest_service_run(CAGE_FD);
	_exit(0); /* exit handlers (a leak checker) are not allowed in the cage */
}
