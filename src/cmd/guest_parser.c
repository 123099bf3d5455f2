/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfvisor guest-parser: the caged process of src/host/inspect/cage.h. perfvisor starts itself
 * with this command; it is not for users and is not listed.
 */
#include "cmd/guest_parser.h"

#include "host/inspect/cage.h"
#include "service/service.h"

struct error *guest_parser_run(void)
{
	struct error *error = host_cage_enter();

	if (error)
		return error;
	guest_service_run(HOST_CAGE_FD);
	_exit(0); /* exit handlers (a leak checker) are not allowed in the cage */
}
