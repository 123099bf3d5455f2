/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions of a function, each with its share, and the source lines between them. Samples
 * are counted when the function is asked for: a profile does not have their addresses.
 */
#include "terminal/browser_code.h"

#include <curses.h>
#include <string.h>

#include "annotate/annotation_text.h"
#include "base/utf8.h"
#include "terminal/screen.h"
#include "terminal/screen_text.h"

#define ESCAPE 0x1b
#define SHARE_CELLS 8
#define HOT_PERCENT 5.0
#define WARM_PERCENT 0.5
#define NO_INSTRUCTION SIZE_MAX
#define HINT "H hottest  Right follows a jump  Enter, Left, q go back"

/* A line on the screen: an instruction, or the source of the next one. */
struct code_line {
	size_t instruction;
	bool is_place;
};

struct code_page {
	const struct annotation *annotation;
	VECTOR(struct code_line) lines;
	size_t cursor, top;
};

static size_t room(void)
{
	return LINES > 3 ? LINES - 3 : 1;
}

static void list_lines(struct browser *browser, struct code_page *page)
{
	for (size_t i = 0; i < page->annotation->instructions.items.count; i++) {
		buffer_clear(&browser->text);
		if (annotation_text_place(&browser->text, page->annotation, i))
			vector_append(&page->lines, (struct code_line){ i, true });
		vector_append(&page->lines, (struct code_line){ i, false });
	}
}

static void go_to_instruction(struct code_page *page, size_t instruction)
{
	for (size_t i = 0; i < page->lines.count; i++)
		if (!page->lines.items[i].is_place &&
		    page->lines.items[i].instruction == instruction)
			page->cursor = i;
}

static void draw_share(struct browser *browser, double percent, bool cursor)
{
	buffer_clear(&browser->text);
	if (percent > 0)
		buffer_printf(&browser->text, "%.2f", percent);
	if (!cursor)
		screen_set_look(percent >= HOT_PERCENT	  ? LOOK_HOT
				: percent >= WARM_PERCENT ? LOOK_WARM
							  : LOOK_PLAIN);
	screen_draw_right(&browser->text, SHARE_CELLS);
	if (!cursor)
		screen_set_look(LOOK_PLAIN);
	screen_draw_spaces(2);
}

static void append_place(struct browser *browser, const struct code_page *page, size_t instruction)
{
	annotation_text_place(&browser->text, page->annotation, instruction);
	buffer_append_string(&browser->text, "   ");
	annotation_text_source(&browser->text, page->annotation, instruction);
}

static void draw_line(struct browser *browser, const struct code_page *page, size_t number)
{
	const struct code_line *line = &page->lines.items[number];
	bool cursor = number == page->cursor;
	size_t cells = COLS > SHARE_CELLS + 2 ? COLS - SHARE_CELLS - 2 : 0;

	screen_set_look(cursor ? LOOK_CURSOR : LOOK_PLAIN);
	draw_share(browser, line->is_place ? 0 : annotation_percent(page->annotation,
								    line->instruction), cursor);
	buffer_clear(&browser->text);
	if (line->is_place)
		append_place(browser, page, line->instruction);
	else
		annotation_text_instruction(&browser->text, page->annotation, line->instruction);
	if (line->is_place && !cursor)
		screen_set_look(LOOK_FAINT);
	screen_draw_text(&browser->text, 0, cells);
	screen_set_look(LOOK_PLAIN);
}

static void draw_bar(struct browser *browser)
{
	screen_set_look(LOOK_TITLE);
	screen_draw_text(&browser->text, 0, COLS);
	screen_set_look(LOOK_PLAIN);
}

static void draw(struct browser *browser, struct code_page *page)
{
	size_t lines = room();

	if (page->cursor < page->top)
		page->top = page->cursor;
	if (page->cursor >= page->top + lines)
		page->top = page->cursor - lines + 1;
	erase();
	buffer_clear(&browser->text);
	annotation_text_title(&browser->text, page->annotation);
	draw_bar(browser);
	for (size_t i = page->top; i < page->lines.count && i - page->top < lines; i++) {
		move(1 + i - page->top, 0);
		draw_line(browser, page, i);
	}
	move(LINES > 2 ? LINES - 2 : 0, 0);
	buffer_clear(&browser->text);
	buffer_printf(&browser->text, "instruction %zu/%zu",
		      page->lines.items[page->cursor].instruction + 1,
		      page->annotation->instructions.items.count);
	draw_bar(browser);
	browser_draw_last_line(browser, "", browser->message[0] ? browser->message : HINT);
	refresh();
}

/* To where the line's jump leads, if that is in the function. */
static void follow(struct browser *browser, struct code_page *page)
{
	const struct instructions *all = &page->annotation->instructions;
	uint64_t target = all->items.items[page->lines.items[page->cursor].instruction].target;
	size_t found = target ? instructions_find(all, target) : all->items.count;

	if (found < all->items.count)
		go_to_instruction(page, found);
	else
		browser_say(browser, "this line leads nowhere in the function");
}

static void move_by(struct code_page *page, wint_t key)
{
	size_t step = key == KEY_UP || key == KEY_DOWN ? 1 : room();
	size_t last = page->lines.count - 1;

	if (key == KEY_HOME)
		page->cursor = 0;
	else if (key == KEY_END)
		page->cursor = last;
	else if (key == KEY_UP || key == KEY_PPAGE)
		page->cursor = page->cursor > step ? page->cursor - step : 0;
	else if (key == KEY_DOWN || key == KEY_NPAGE)
		page->cursor = last - page->cursor > step ? page->cursor + step : last;
}

/* False: the page ends. */
static bool take_key(struct browser *browser, struct code_page *page, wint_t key, bool special)
{
	if (special && (key == KEY_ENTER || key == KEY_LEFT || key == KEY_BACKSPACE))
		return false;
	if (special && key == KEY_RIGHT)
		follow(browser, page);
	else if (special)
		move_by(page, key);
	else if (key == 'j' || key == 'k' || key == ' ')
		move_by(page, key == 'j' ? KEY_DOWN : key == 'k' ? KEY_UP : KEY_NPAGE);
	else if (key == 'H')
		go_to_instruction(page, annotation_hottest(page->annotation));
	else
		return key != 'q' && key != '\r' && key != '\n' && key != ESCAPE && key != 'a';
	return true;
}

static void show(struct browser *browser, const struct annotation *annotation)
{
	struct code_page page = { .annotation = annotation };
	bool special, stays = true;
	wint_t key;

	list_lines(browser, &page);
	go_to_instruction(&page, annotation_hottest(annotation));
	page.top = page.cursor > room() / 2 ? page.cursor - room() / 2 : 0;
	while (stays) {
		draw(browser, &page);
		switch (browser_wait(browser, &key, &special)) {
		case SCREEN_KEY:
			browser->message[0] = 0;
			stays = take_key(browser, &page, key, special);
			break;
		case SCREEN_OTHER:
		case SCREEN_RESIZE:
			break;
		case SCREEN_END:
			browser->done = true;
			stays = false;
			break;
		}
	}
	vector_deinit(&page.lines);
}

/* ERROR as a message; the hint does not fit. */
static void say_error(struct browser *browser, struct error *error)
{
	utf8_printable(error_message(error), strlen(error_message(error)), browser->message,
		       sizeof(browser->message));
	error_destroy(error);
}

/* The function of FUNCTIONS that has the most samples of the event that is shown. */
static size_t find_shown(const struct browser *browser, const struct functions_samples *functions)
{
	const struct profile *profile = outline_profile(browser->outline);
	size_t event = outline_event(browser->outline) - profile->events, i = 0;

	while (i < functions->items.count && functions->items.items[i].event != event)
		i++;
	return i;
}

static void annotate(struct browser *browser, const struct function_choice *choice)
{
	struct functions_samples functions;
	struct annotation annotation;
	struct error *error;
	size_t shown;

	browser_draw_last_line(browser, "", "counting the function's samples ...");
	refresh();
	functions_samples_count(outline_profile(browser->outline)->session, choice, &functions);
	shown = find_shown(browser, &functions);
	if (shown < functions.items.count) {
		error = annotation_make(&functions, shown, &annotation);
		if (error)
			say_error(browser, error);
		else
			show(browser, &annotation);
		annotation_deinit(&annotation);
	} else {
		browser_say(browser, "no sample was taken in the function itself");
	}
	functions_samples_deinit(&functions);
}

void browser_annotate(struct browser *browser)
{
	const struct profile *profile = outline_profile(browser->outline);
	struct function_choice choice = { .filter = browser->filter };
	struct outline_line line;

	if (!browser->annotates) {
		browser_say(browser, "only a recording has the addresses of samples: report "
				     "annotates");
		return;
	}
	outline_line(browser->outline, browser->cursor, &line);
	if (line.kind != OUTLINE_ROW ||
	    !profile_keys_have(outline_options(browser->outline)->keys, PROFILE_SYMBOL)) {
		browser_say(browser, "instructions are those of a row that is a function");
		return;
	}
	choice.symbol = resolver_symbol_name(profile->resolver, line.row.location);
	if (!choice.symbol) {
		browser_say(browser, "the function has no name, so its extent is not known");
		return;
	}
	choice.dso = intern_string(profile->session->strings,
				   resolver_dso_name(profile->resolver, line.row.location));
	choice.vm = line.row.vm;
	annotate(browser, &choice);
}
