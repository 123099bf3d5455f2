/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded stacks: what perfvisor fold prints. */
#include "export/formats.h"
#include "output/fold_text.h"

struct error *export_folded(FILE *out, const struct export_input *input)
{
	return fold_text_write(fileno(out), input->stacks);
}
