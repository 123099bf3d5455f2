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
#include "terminal/screen.h"
#include "view/outline.h"

#define BROWSER_MESSAGE_BYTES 256

struct browser;

/* Where rows come from that change while they are shown. */
struct browser_source {
	struct screen_others waits; /* when there is something for it to do */
	/* Does that; may end the browser. True: what is on the screen has changed. */
	bool (*work)(struct browser_source *source, struct browser *browser);
	/* KEY is none of the browser's. */
	void (*key)(struct browser_source *source, struct browser *browser, wint_t key);
	const char *const *help; /* lines about these keys, as in browser_keys.c */
	size_t help_count;
	struct buffer parts; /* ASCII; "68.1% host, 0.0% lost": shown below the title */
};

struct browser {
	struct outline *outline;   /* borrowed */
	const char *title;	   /* borrowed; what is shown, such as a file's name; any bytes */
	const struct buffer *info; /* borrowed; lines about it, escaped; NULL: none */
	bool annotates; /* samples are those of a recording, which can be read again */
	const struct filter *filter;   /* borrowed; which of them were counted; NULL: all */
	struct browser_source *source; /* borrowed; NULL: nothing changes but by keys */
	bool leads; /* the cursor stays in the first line, whatever comes there */
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
/* As screen_wait(), while the source works: SCREEN_RESIZE if that has changed something. */
enum screen_event browser_wait(struct browser *browser, wint_t *ret_key, bool *ret_special);
/* Before the outline's profile changes or goes, and with the other one: see outline_suspend(). */
void browser_suspend(struct browser *browser);
void browser_resume(struct browser *browser, const struct profile *profile);
/* Shows TEXT, which is escaped, until the next key. */
void browser_say(struct browser *browser, const char *text);

/* browser_draw.c */
void browser_draw(struct browser *browser);
/* How many lines of the outline the screen shows. */
size_t browser_page_lines(const struct browser *browser);
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
