/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An outline on the screen, with a cursor, and the keys that change it. screen_open() comes first.
 * Where the outline comes from is its owner's affair.
 */
#ifndef TERMINAL_BROWSER_H
#define TERMINAL_BROWSER_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#include "base/buffer.h"
#include "output/report_columns.h"
#include "view/outline.h"

#define BROWSER_MESSAGE_BYTES 256

struct browser {
	struct outline *outline;   /* borrowed */
	const char *title;	   /* borrowed; what is shown, such as a file's name; any bytes */
	const struct buffer *info; /* borrowed; lines about it, escaped; NULL: none */
	size_t cursor, top;	   /* the line that keys are about, and the first on the screen */
	size_t skip;		   /* cells of the last column that are to the left of the screen */
	size_t widths[REPORT_MAX_COLUMNS]; /* of key columns: the widest cell so far */
	struct buffer text;		   /* what is being drawn */
	char message[BROWSER_MESSAGE_BYTES]; /* until the next key; escaped */
	bool done;
};

void browser_init(struct browser *browser, struct outline *outline, const char *title,
		  const struct buffer *info);
void browser_deinit(struct browser *browser);
/* Draws all, and lets keys work until the user quits or the terminal is gone. */
void browser_run(struct browser *browser);

/* browser_draw.c */
void browser_draw(struct browser *browser);
size_t browser_page_lines(void); /* how many lines of the outline the screen shows */
/* Draws TEXT, which is escaped, in the last line. */
void browser_draw_last_line(struct browser *browser, const char *before, const char *text);

/* browser_keys.c */
void browser_key(struct browser *browser, wint_t key, bool special);

/* browser_prompt.c */
/*
 * Asks for a text, which begins as TEXT, in the last line. CHANGED, unless NULL, is called when it
 * changes. False: the user does not want it, and TEXT is as before. TEXT has SIZE bytes.
 */
bool browser_ask(struct browser *browser, const char *question, char *text, size_t size,
		 void (*changed)(struct browser *browser, const char *text));

/* browser_page.c */
/*
 * Shows COUNT lines, escaped text, that are scrolled, until the user leaves. CHOOSES: one of them
 * can be chosen, and its number is returned; otherwise, or if none is, COUNT.
 */
size_t browser_show_page(struct browser *browser, const char *title, const char *const *lines,
			 size_t count, bool chooses);

#endif
