/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded stacks: "command;outermost;…;innermost PERIOD", one line per chain. */
#ifndef OUTPUT_FOLD_TEXT_H
#define OUTPUT_FOLD_TEXT_H

#include "base/error.h"
#include "output/stacks.h"

/* Writes to descriptor FD. It is not an error if the reader closes the pipe early. */
struct error *fold_text_write(int fd, const struct stacks *stacks) MUST_CHECK;

#endif
