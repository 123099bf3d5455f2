/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A text that the user types in the last line of the screen. */
#include <curses.h>
#include <string.h>

#include "base/utf8.h"
#include "terminal/browser.h"
#include "terminal/screen.h"

#define CTRL(letter) ((letter) & 0x1f)
#define ESCAPE 0x1b
#define DELETE 0x7f

enum answer { GOES_ON, TAKEN, GIVEN_UP };

static void remove_last(char *text)
{
	size_t length = strlen(text);

	while (length && (text[--length] & 0xc0) == 0x80)
		;
	text[length] = 0;
}

/* Appends KEY, encoded in the locale, if there is room. */
static void append(char *text, size_t size, wint_t key)
{
	size_t length = strlen(text), bytes;
	char encoded[64];
	mbstate_t state = { 0 };

	if (utf8_steers_terminal(key) || MB_CUR_MAX > sizeof(encoded))
		return;
	bytes = wcrtomb(encoded, key, &state);
	if (bytes == (size_t)-1 || length + bytes >= size)
		return;
	memcpy(text + length, encoded, bytes);
	text[length + bytes] = 0;
}

static enum answer take_key(char *text, size_t size, wint_t key, bool special)
{
	if (special && key == KEY_BACKSPACE) {
		remove_last(text);
		return GOES_ON;
	}
	if (special)
		return key == KEY_ENTER ? TAKEN : GOES_ON;
	switch (key) {
	case '\r':
	case '\n':
		return TAKEN;
	case ESCAPE:
		return GIVEN_UP;
	case DELETE:
	case CTRL('h'):
		remove_last(text);
		return GOES_ON;
	case CTRL('u'):
		text[0] = 0;
		return GOES_ON;
	default:
		append(text, size, key);
		return GOES_ON;
	}
}

static void draw(struct browser *browser, const char *question, const char *text)
{
	struct buffer shown;

	browser_draw(browser);
	buffer_init(&shown, 4096);
	utf8_append_escaped(&shown, text);
	buffer_append_string(&shown, "_");
	buffer_append_u8(&shown, 0);
	browser_draw_last_line(browser, question, shown.size ? (char *)shown.data : "");
	buffer_deinit(&shown);
	refresh();
}

bool browser_ask(struct browser *browser, const char *question, char *text, size_t size,
		 void (*changed)(struct browser *browser, const char *text))
{
	char before[BROWSER_MESSAGE_BYTES], last[BROWSER_MESSAGE_BYTES];
	enum answer answer = GOES_ON;

	snprintf(before, sizeof(before), "%s", text);
	while (answer == GOES_ON) {
		enum screen_event event;
		wint_t key;
		bool special;

		draw(browser, question, text);
		event = browser_wait(browser, &key, &special);
		browser->done = event == SCREEN_END;
		if (browser->done)
			return false;
		if (event != SCREEN_KEY)
			continue;
		snprintf(last, sizeof(last), "%s", text);
		answer = take_key(text, size, key, special);
		if (answer == GIVEN_UP)
			snprintf(text, size, "%s", before);
		if (changed && strcmp(last, text))
			changed(browser, text);
	}
	return answer == TAKEN;
}
