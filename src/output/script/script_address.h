/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What perfvisor script prints after an address. Part of script_text.c. */
#ifndef OUTPUT_SCRIPT_ADDRESS_H
#define OUTPUT_SCRIPT_ADDRESS_H

#include "base/buffer.h"
#include "session/resolver.h"

struct script_address {
	struct resolver *resolver;
	const struct lookup *lookup; /* which is looked up */
	uint32_t location;
	uint64_t shown; /* the address as printed */
	uint32_t fields;
	bool inlined; /* with the functions that are inlined there, each in a line of its own */
};

/* Appends " symbol+offset (dso)", the source line, and newlines, as far as the fields have them. */
void script_append_address(const struct script_address *address, struct buffer *out);

#endif
