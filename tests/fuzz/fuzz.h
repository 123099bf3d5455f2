/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Called by libFuzzer (or replay.c); every fuzz target defines it. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
