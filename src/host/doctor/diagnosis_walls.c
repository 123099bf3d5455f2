/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walls around commands that read recordings. */
#include "base/buffer.h"
#include "host/doctor/diagnosis.h"
#include "walls/walls.h"

#define MEND "a kernel with CONFIG_SECURITY_LANDLOCK=y, enabled (lsm=landlock,...), and seccomp"

static void list(const struct walls_held *held, bool holds, struct buffer *to)
{
	const struct {
		bool holds;
		const char *text;
	} walls[] = {
		{ held->writing, "writing" }, { held->devices, "devices" },
		{ held->network, "the network" }, { held->programs, "other programs" },
		{ held->capabilities, "capabilities" },
	};

	for (size_t i = 0; i < sizeof(walls) / sizeof(*walls); i++)
		if (walls[i].holds == holds)
			buffer_printf(to, "%s%s", to->size ? ", " : "", walls[i].text);
}

void host_diagnose_walls(struct host_diagnosis *diagnosis)
{
	_cleanup_buffer_ struct buffer kept_out, let_in;
	struct walls_held held = { 0 };
	_cleanup_error_ struct error *error = walls_probe(&held);

	buffer_init(&kept_out, 1000);
	buffer_init(&let_in, 1000);
	list(&held, true, &kept_out);
	list(&held, false, &let_in);
	if (error)
		host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "Walls", MEND, "%s",
				   error_message(error));
	else if (let_in.size)
		host_diagnosis_add(diagnosis, HOST_WORKS_LESS, "Walls", MEND,
				   "commands that read recordings do not give up: %.*s",
				   (int)let_in.size, (const char *)let_in.data);
	else
		host_diagnosis_add(diagnosis, HOST_WORKS, "Walls", NULL,
				   "commands that read recordings give up: %.*s",
				   (int)kept_out.size, (const char *)kept_out.data);
}
