/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keys do. Most are those of `perf report`. */
#include <curses.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "output/view.h"
#include "terminal/browser.h"
#include "terminal/browser_code.h"

#define CTRL(letter) ((letter) & 0x1f)
#define ESCAPE 0x1b
#define DELETE 0x7f
#define MAX_INFO_LINES 100000
#define SKIP_CELLS 8

static const char *const browser_help[] = {
	"Up, Down, j, k       to another line",
	"PgUp, PgDn, Space    a screen up or down",
	"Home, End            to the first or the last line",
	"< >                  the rest of what is too long for the last column",
	"",
	"Enter                unfold or fold a line: a group's rows, a row's call chains",
	"+, Right             unfold",
	"-, Left              fold; Left goes to the line above that it belongs to",
	"e  c                 unfold or fold a line and everything below it",
	"r                    call chains from the outermost function on, or from the innermost",
	"",
	"a                    the instructions of a row's function (not in top)",
	"/                    show only rows that contain a text",
	"F  n  N              find a text in a line; the next one; the one before",
	"v  V  p  f  m  d     group by VM, vCPU, process, function, mode, object;",
	"                     once more: no groups",
	"z                    zoom into a VM, process, object or mode of the line",
	"Backspace, Esc       back to what was shown before that; then, without the filter",
	"s                    sort by share with children, or by the function's own",
	"P                    zoomed in, shares are of what is shown, or of all samples",
	"Tab                  the next event",
	"i                    about the recording",
	"?  h                 these keys",
	"q, Ctrl-C            quit",
};

static void go_to(struct browser *browser, size_t line)
{
	size_t count = outline_count(browser->outline);

	browser->cursor = line < count ? line : count ? count - 1 : 0;
}

/* After everything has changed. */
static void go_home(struct browser *browser)
{
	browser->cursor = browser->top = browser->skip = 0;
	browser->leads = true;
}

static void go_back(struct browser *browser)
{
	if (!outline_zoom_out(browser->outline)) {
		if (!*outline_filter(browser->outline))
			return;
		outline_set_filter(browser->outline, "");
	}
	go_home(browser);
}

static enum outline_fold fold_of(const struct browser *browser)
{
	struct outline_line line;

	outline_line(browser->outline, browser->cursor, &line);
	return line.fold;
}

static void unfold(struct browser *browser)
{
	if (fold_of(browser) == OUTLINE_FOLDED &&
	    !outline_unfold(browser->outline, browser->cursor))
		browser_say(browser, "nothing is below it");
}

static void fold_or_go_up(struct browser *browser)
{
	size_t above = outline_above(browser->outline, browser->cursor);

	if (fold_of(browser) == OUTLINE_UNFOLDED)
		outline_fold(browser->outline, browser->cursor);
	else if (above != browser->cursor)
		browser->cursor = above;
	else
		go_back(browser);
}

static void unfold_all(struct browser *browser)
{
	if (!outline_unfold_all(browser->outline, browser->cursor))
		browser_say(browser, "this is not all: there is too much below it");
}

static void filter_by(struct browser *browser, const char *text)
{
	outline_set_filter(browser->outline, text);
	go_home(browser);
}

static void ask_filter(struct browser *browser)
{
	char text[BROWSER_MESSAGE_BYTES];

	snprintf(text, sizeof(text), "%s", outline_filter(browser->outline));
	browser_ask(browser, "show only: ", text, sizeof(text), filter_by);
}

static void find(struct browser *browser, bool backwards)
{
	size_t found;

	if (!*outline_wanted(browser->outline)) {
		browser_say(browser, "F asks what to find");
		return;
	}
	found = outline_find(browser->outline, browser->cursor, backwards);
	if (found == outline_count(browser->outline))
		browser_say(browser, "no line contains it");
	else
		go_to(browser, found);
}

static void ask_find(struct browser *browser)
{
	char text[BROWSER_MESSAGE_BYTES];

	snprintf(text, sizeof(text), "%s", outline_wanted(browser->outline));
	if (!browser_ask(browser, "find: ", text, sizeof(text), NULL))
		return;
	outline_set_wanted(browser->outline, text);
	find(browser, false);
}

/* By KEY, or no longer, if it is. */
static void group(struct browser *browser, enum profile_key key, enum profile_key otherwise)
{
	enum profile_key now = outline_group(browser->outline);

	if (now != PROFILE_KEY_COUNT && (now == key || now == otherwise))
		outline_group_by(browser->outline, PROFILE_KEY_COUNT);
	else if (!outline_group_by(browser->outline, key) &&
		 (otherwise == key || !outline_group_by(browser->outline, otherwise)))
		snprintf(browser->message, sizeof(browser->message),
			 "rows are not counted by that: --sort %s does it",
			 view_sort_word(outline_profile(browser->outline), key));
	if (now != outline_group(browser->outline))
		go_home(browser);
}

static void zoom(struct browser *browser)
{
	struct outline_zoom zooms[PROFILE_KEY_COUNT];
	size_t count = outline_zooms_of(browser->outline, browser->cursor, zooms), chosen = 0;

	if (count > 1) {
		const char *lines[PROFILE_KEY_COUNT];

		for (size_t i = 0; i < count; i++)
			lines[i] = zooms[i].text;
		chosen = browser_show_page(browser, "Show only:", lines, count, true);
	}
	if (chosen < count) {
		outline_zoom_in(browser->outline, &zooms[chosen]);
		go_home(browser);
	}
	outline_zooms_free(zooms, count);
}

static void change_order(struct browser *browser)
{
	if (!outline_options(browser->outline)->children) {
		browser_say(browser, "there is only one share to sort by");
		return;
	}
	outline_sort_by_self(browser->outline, !outline_is_sorted_by_self(browser->outline));
	go_home(browser);
}

/* What shares are of. */
static void change_base(struct browser *browser)
{
	bool absolute = !outline_options(browser->outline)->absolute;

	outline_set_absolute(browser->outline, absolute);
	if (!outline_narrows_samples(browser->outline))
		browser_say(browser, "shares are of all samples here: only a VM, vCPU or process "
				     "has samples of its own");
}

static void reverse_calls(struct browser *browser)
{
	const struct outline_options *options = outline_options(browser->outline);

	if (!options->chains) {
		browser_say(browser, "there are no call chains");
		return;
	}
	outline_set_caller(browser->outline, !options->caller);
	go_home(browser);
}

static void show_info(struct browser *browser)
{
	char **lines = NULL;
	size_t count = 0;
	char *copy, *rest, *line;

	if (!browser->info) {
		browser_say(browser, "nothing is known about it but what is shown");
		return;
	}
	lines = memory_calloc(MAX_INFO_LINES, sizeof(*lines));
	copy = rest = memory_printf("%.*s", (int)browser->info->size,
				    (const char *)browser->info->data);
	while (count < MAX_INFO_LINES && (line = strsep(&rest, "\n")))
		lines[count++] = line;
	browser_show_page(browser, "About the recording", (const char *const *)lines, count, false);
	free(copy);
	free(lines);
}

static void show_help(struct browser *browser)
{
	const struct browser_source *source = browser->source;
	size_t own = sizeof(browser_help) / sizeof(*browser_help);
	size_t others = source ? source->help_count : 0;
	_cleanup_free_ const char **lines = memory_calloc(own + others, sizeof(*lines));

	memcpy(lines, browser_help, sizeof(browser_help));
	if (others)
		memcpy(lines + own, source->help, others * sizeof(*lines));
	browser_show_page(browser, "Keys", lines, own + others, false);
}

/* Keys that move the cursor. False: KEY is none of them. */
static bool move_cursor(struct browser *browser, wint_t key, bool special)
{
	size_t page = browser_page_lines(browser);

	if (special ? key == KEY_DOWN : key == 'j')
		go_to(browser, browser->cursor + 1);
	else if (special ? key == KEY_UP : key == 'k')
		go_to(browser, browser->cursor ? browser->cursor - 1 : 0);
	else if (special ? key == KEY_NPAGE : key == ' ')
		go_to(browser, browser->cursor + page);
	else if (special && key == KEY_PPAGE)
		go_to(browser, browser->cursor > page ? browser->cursor - page : 0);
	else if (special && key == KEY_HOME)
		go_to(browser, 0);
	else if (special && key == KEY_END)
		go_to(browser, outline_count(browser->outline));
	else
		return false;
	return true;
}

/* Keys that are about the line of the cursor. False: KEY is none of them. */
static bool change_line(struct browser *browser, wint_t key, bool special)
{
	bool enter = special ? key == KEY_ENTER : key == '\r' || key == '\n';

	if (!outline_count(browser->outline))
		return false;
	if (enter && fold_of(browser) == OUTLINE_UNFOLDED)
		outline_fold(browser->outline, browser->cursor);
	else if (enter || (special ? key == KEY_RIGHT : key == '+'))
		unfold(browser);
	else if (!special && key == '-')
		outline_fold(browser->outline, browser->cursor);
	else if (special && key == KEY_LEFT)
		fold_or_go_up(browser);
	else if (!special && key == 'e')
		unfold_all(browser);
	else if (!special && key == 'c')
		outline_fold_all(browser->outline, browser->cursor);
	else if (!special && key == 'z')
		zoom(browser);
	else if (!special && key == 'a')
		browser_annotate(browser);
	else
		return false;
	return true;
}

/* Keys that choose what is shown. */
static bool change_view(struct browser *browser, wint_t key)
{
	switch (key) {
	case '/':
		ask_filter(browser);
		return true;
	case 'v':
		group(browser, PROFILE_VM, PROFILE_VM);
		return true;
	case 'V':
		group(browser, PROFILE_VCPU, PROFILE_VCPU);
		return true;
	case 'p':
		group(browser, PROFILE_GUEST_COMM, PROFILE_COMM);
		return true;
	case 'f':
		group(browser, PROFILE_SYMBOL, PROFILE_SYMBOL);
		return true;
	case 'm':
		group(browser, PROFILE_MODE, PROFILE_MODE);
		return true;
	case 'd':
		group(browser, PROFILE_DSO, PROFILE_DSO);
		return true;
	case 's':
		change_order(browser);
		return true;
	case 'r':
		reverse_calls(browser);
		return true;
	case 'P':
		change_base(browser);
		return true;
	default:
		return false;
	}
}

static void do_other(struct browser *browser, wint_t key)
{
	switch (key) {
	case 'F':
		ask_find(browser);
		break;
	case 'n':
	case 'N':
		find(browser, key == 'N');
		break;
	case '<':
		browser->skip -= browser->skip < SKIP_CELLS ? browser->skip : SKIP_CELLS;
		break;
	case '>':
		browser->skip += SKIP_CELLS;
		break;
	case '\t':
		if (outline_next_event(browser->outline))
			go_home(browser);
		break;
	case 'i':
		show_info(browser);
		break;
	case '?':
	case 'h':
		show_help(browser);
		break;
	case ESCAPE:
	case DELETE:
	case CTRL('h'):
		go_back(browser);
		break;
	case 'q':
		browser->done = true;
		break;
	default:
		if (browser->source)
			browser->source->key(browser->source, browser, key);
		break;
	}
}

void browser_key(struct browser *browser, wint_t key, bool special)
{
	bool led = browser->leads;

	/* From now on, the cursor stays with its row. */
	browser->leads = special && key == KEY_HOME;
	if (move_cursor(browser, key, special) || change_line(browser, key, special))
		return;
	browser->leads = led;
	if (special && key == KEY_BACKSPACE)
		go_back(browser);
	else if (!special && !change_view(browser, key))
		do_other(browser, key);
}
