/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "terminal/browser.h"

#include <curses.h>

#include "terminal/screen.h"

#define MAX_TEXT_BYTES (1024 * 1024)

void browser_init(struct browser *browser, struct outline *outline, const char *title,
		  const struct buffer *info)
{
	*browser = (struct browser){ .outline = outline, .title = title, .info = info,
				     .leads = true };
	buffer_init(&browser->text, MAX_TEXT_BYTES);
}

void browser_deinit(struct browser *browser)
{
	buffer_deinit(&browser->text);
}

enum screen_event browser_wait(struct browser *browser, wint_t *ret_key, bool *ret_special)
{
	struct browser_source *source = browser->source;

	for (;;) {
		enum screen_event event =
			screen_wait(source ? &source->waits : NULL, ret_key, ret_special);
		bool changed;

		if (event != SCREEN_OTHER)
			return event;
		changed = source->work(source, browser);
		if (browser->done)
			return SCREEN_END;
		if (changed)
			return SCREEN_RESIZE;
	}
}

void browser_suspend(struct browser *browser)
{
	outline_suspend(browser->outline, browser->cursor);
}

void browser_resume(struct browser *browser, const struct profile *profile)
{
	size_t line = outline_resume(browser->outline, profile, browser->cursor);

	browser->cursor = browser->leads ? 0 : line;
}

void browser_say(struct browser *browser, const char *text)
{
	snprintf(browser->message, sizeof(browser->message), "%s", text);
}

void browser_run(struct browser *browser)
{
	while (!browser->done) {
		bool special;
		wint_t key;

		browser_draw(browser);
		switch (browser_wait(browser, &key, &special)) {
		case SCREEN_KEY:
			browser->message[0] = 0;
			browser_key(browser, key, special);
			break;
		case SCREEN_OTHER:
		case SCREEN_RESIZE:
			break;
		case SCREEN_END:
			browser->done = true;
			break;
		}
	}
}
