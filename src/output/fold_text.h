/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded stacks: "command;outermost;…;innermost PERIOD", a line for each chain. */
#ifndef OUTPUT_FOLD_TEXT_H
#define OUTPUT_FOLD_TEXT_H

#include "base/error.h"
#include "output/stacks.h"

/* Writes to descriptor FD. A reader that closes the pipe early is no error. */
struct error *fold_text_write(int fd, const struct stacks *stacks) MUST_CHECK;

#endif
