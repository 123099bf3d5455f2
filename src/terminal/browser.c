/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "terminal/browser.h"

#include <curses.h>

#include "terminal/screen.h"

#define MAX_TEXT_BYTES (1024 * 1024)

void browser_init(struct browser *browser, struct outline *outline, const char *title,
		  const struct buffer *info)
{
	*browser = (struct browser){ .outline = outline, .title = title, .info = info };
	buffer_init(&browser->text, MAX_TEXT_BYTES);
}

void browser_deinit(struct browser *browser)
{
	buffer_deinit(&browser->text);
}

void browser_run(struct browser *browser)
{
	while (!browser->done) {
		bool special;
		wint_t key;

		browser_draw(browser);
		switch (screen_wait(&key, &special)) {
		case SCREEN_KEY:
			browser->message[0] = 0;
			browser_key(browser, key, special);
			break;
		case SCREEN_RESIZE:
			break;
		case SCREEN_END:
			browser->done = true;
			break;
		}
	}
}
