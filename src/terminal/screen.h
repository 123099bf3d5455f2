/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal as a screen to draw on, with ncurses, from screen_open() to screen_close(): both
 * ends leave it as they found it, and so does every signal in between that stops or ends the
 * process. Keys and signals are waited for together. One screen at a time: ncurses has one.
 */
#ifndef TERMINAL_SCREEN_H
#define TERMINAL_SCREEN_H

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

/* Whether stdin and stdout are a terminal whose cursor can be moved. Reads terminfo. */
bool screen_can_open(void);
/* False: the terminal cannot be used. Nothing was changed then. */
bool screen_open(void);
void screen_close(void);

enum screen_event {
	SCREEN_KEY,    /* *ret_key: a character, or one of ncurses' KEY_* if *ret_special */
	SCREEN_RESIZE, /* or for another reason everything is to be drawn again */
	SCREEN_OTHER,  /* what else was waited for */
	SCREEN_END,    /* the user, or a signal, ends the program, or the terminal is gone */
};

#define SCREEN_INPUTS 2
#define SCREEN_NEVER UINT64_MAX

/* What else screen_wait() waits for. */
struct screen_others {
	int fds[SCREEN_INPUTS];	   /* -1: none */
	bool ready[SCREEN_INPUTS]; /* set after SCREEN_OTHER: there are bytes, or the end */
	uint64_t due_ns;	   /* a time on CLOCK_MONOTONIC */
};

/* Waits for something to happen; keys come first. OTHERS: NULL if there is nothing else. */
enum screen_event screen_wait(struct screen_others *others, wint_t *ret_key, bool *ret_special);
/* The signal that screen_wait() ended for, such as SIGTERM; 0: none, or Ctrl-C, which quits. */
int screen_signal(void);

/* Looks of text. Without colours, some are bold, underlined or the same. */
enum screen_look {
	LOOK_PLAIN,
	LOOK_TITLE,  /* a bar across the screen */
	LOOK_CURSOR, /* the line that keys are about */
	LOOK_HOT,    /* a large share */
	LOOK_WARM,
	LOOK_FAINT, /* what is less important */
};
void screen_set_look(enum screen_look look);

#endif
