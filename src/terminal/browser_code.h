/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TERMINAL_BROWSER_CODE_H
#define TERMINAL_BROWSER_CODE_H

#include "terminal/browser.h"

/* Shows the instructions of the function in the line of the cursor, until the user leaves. */
void browser_annotate(struct browser *browser);

#endif
