/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of all stacks, as an array in JSON that stacks refer to by index. */
#ifndef EXPORT_FRAME_TABLE_H
#define EXPORT_FRAME_TABLE_H

#include "export/stack_walk.h"
#include "output/json.h"

/* "frames": an object for each frame of the tree; MODES: with its mode, and file called module. */
void frame_table_write(struct json *json, const struct export_input *input, bool modes);

#endif
