/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of text over the whole screen: help, what is known of a recording, a choice. */
#include <curses.h>

#include "terminal/browser.h"
#include "terminal/screen.h"
#include "terminal/screen_text.h"

struct page {
	const char *title;
	const char *const *lines;
	size_t count;
	bool chooses;
	size_t at; /* the chosen line, or the first that is shown */
};

static size_t page_room(void)
{
	return LINES > 2 ? LINES - 2 : 1;
}

static void draw_text(struct browser *browser, const char *text, enum screen_look look)
{
	buffer_clear(&browser->text);
	buffer_append_string(&browser->text, text);
	screen_set_look(look);
	screen_draw_text(&browser->text, 0, COLS);
	screen_set_look(LOOK_PLAIN);
}

static void draw(struct browser *browser, const struct page *page)
{
	size_t room = page_room(), first = page->at;

	if (page->chooses)
		first = page->at < room ? 0 : page->at - room + 1;
	erase();
	draw_text(browser, page->title, LOOK_TITLE);
	for (size_t i = first; i < page->count && i - first < room; i++) {
		move(1 + i - first, 0);
		draw_text(browser, page->lines[i],
			  page->chooses && i == page->at ? LOOK_CURSOR : LOOK_PLAIN);
	}
	browser_draw_last_line(browser, "",
			       page->chooses ? "Enter takes it, q goes back" : "q goes back");
	refresh();
}

static void move_by(struct page *page, wint_t key)
{
	size_t step = page_room(), seen = page->chooses ? 1 : page_room();
	size_t last = page->count > seen ? page->count - seen : 0;

	if (key == KEY_UP || key == KEY_DOWN)
		step = 1;
	if (key == KEY_HOME)
		page->at = 0;
	else if (key == KEY_END)
		page->at = last;
	else if (key == KEY_UP || key == KEY_PPAGE)
		page->at = page->at > step ? page->at - step : 0;
	else if (key == KEY_DOWN || key == KEY_NPAGE)
		page->at = page->at + step < last ? page->at + step : last;
}

/* True: the page ends, and *RET is what was chosen. */
static bool take_key(struct page *page, wint_t key, bool special, size_t *ret)
{
	*ret = page->count;
	if (special && key != KEY_ENTER && key != KEY_BACKSPACE && key != KEY_LEFT) {
		move_by(page, key);
		return false;
	}
	if (!special && (key == 'j' || key == 'k' || key == ' ')) {
		move_by(page, key == 'j' ? KEY_DOWN : key == 'k' ? KEY_UP : KEY_NPAGE);
		return false;
	}
	if (page->chooses && (key == KEY_ENTER || (!special && (key == '\r' || key == '\n'))))
		*ret = page->at;
	return true;
}

size_t browser_show_page(struct browser *browser, const char *title, const char *const *lines,
			 size_t count, bool chooses)
{
	struct page page = { title, lines, count, chooses, 0 };
	size_t chosen = count;
	bool special;
	wint_t key;

	for (;;) {
		draw(browser, &page);
		switch (browser_wait(browser, &key, &special)) {
		case SCREEN_KEY:
			if (take_key(&page, key, special, &chosen))
				return chosen;
			break;
		case SCREEN_OTHER:
		case SCREEN_RESIZE:
			break;
		case SCREEN_END:
			browser->done = true;
			return count;
		}
	}
}
