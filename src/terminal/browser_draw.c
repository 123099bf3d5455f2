/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the top: a title, the titles of columns, the lines of the outline, what is shown, and a line
 * for messages and hints. On a low screen there are fewer of them; on a narrow one columns are cut
 * off or left out, and the last one has half of the room.
 */
#include <curses.h>
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "output/view.h"
#include "terminal/browser.h"
#include "terminal/screen.h"
#include "terminal/screen_text.h"

#define INDENT 2      /* cells for each level */
#define LEAST_CELLS 4 /* narrower columns are left out */
#define SHARE_CELLS 8 /* of a call: "12.34%" and a gap */
#define HOT_PERCENT 5.0
#define WARM_PERCENT 0.5

#define HINT "Enter unfold  / filter  v p f m d group  z zoom  s sort  ? help  q quit"

#define ROOM_FOR_PARTS 10 /* on a lower screen they are left out */

/* How the screen is divided. */
struct layout {
	bool title, columns, status, hint;
	size_t parts; /* rows that show the source's */
	size_t first, count; /* rows of the screen that show lines */
};

/* The bytes of TEXT up to its last comma, which is one of them; 0: there is none. */
static size_t last_comma(const char *text, size_t size)
{
	while (size && text[size - 1] != ',')
		size--;
	return size;
}

/*
 * The source's parts, "68.1% host, 0.0% lost", in as many rows of the screen from ROW on as they
 * take, none of them cut in two. Returns how many; DRAWS: and draws them.
 */
static size_t draw_parts(const struct browser *browser, size_t row, bool draws)
{
	const char *at = (const char *)browser->source->parts.data;
	size_t rest = browser->source->parts.size, rows = 0;

	for (; rest; rows++) {
		size_t size = rest, next;

		/* They are ASCII: a byte is a cell. */
		while (size > (size_t)COLS && (next = last_comma(at, size - 1)))
			size = next;
		if (draws)
			mvaddnstr(row + rows, 0, at, size);
		at += size;
		rest -= size;
		for (; rest && *at == ' '; at++)
			rest--;
	}
	return rows;
}

static struct layout divide(const struct browser *browser)
{
	struct layout layout = { .title = LINES >= 6, .columns = LINES >= 5, .status = LINES >= 3,
				 .hint = LINES >= 7 };
	size_t others;

	if (browser->source && LINES >= ROOM_FOR_PARTS)
		layout.parts = draw_parts(browser, 0, false);
	layout.first = layout.title + layout.parts + layout.columns;
	others = layout.first + layout.status + layout.hint;
	layout.count = (size_t)LINES > others ? LINES - others : 1;
	return layout;
}

size_t browser_page_lines(const struct browser *browser)
{
	return divide(browser).count;
}

static const struct report_columns *columns_of(const struct browser *browser)
{
	return outline_options(browser->outline)->columns;
}

/* The columns of shares and sums that the screen has room for: at least one, at most half. */
static bool shows_field(const struct browser *browser, size_t number)
{
	const struct report_columns *columns = columns_of(browser);
	size_t width = 0, before = 0;

	for (size_t i = 0; i <= number; i++) {
		if (columns->items[i].field == REPORT_KEY)
			continue;
		before += i < number;
		width += report_field_width(columns->items[i].field) + 1;
	}
	return columns->items[number].field != REPORT_KEY &&
	       (!before || width <= (size_t)COLS / 2);
}

static bool shows_key(const struct browser *browser, size_t number)
{
	const struct report_column *column = &columns_of(browser)->items[number];

	return column->field == REPORT_KEY && outline_shows(browser->outline, column->key);
}

/* The column that ends lines. */
static size_t last_key(const struct browser *browser)
{
	size_t last = 0;

	for (size_t i = 0; i < columns_of(browser)->count; i++)
		if (shows_key(browser, i))
			last = i;
	return last;
}

/* Cells that are left in the row of the screen. */
static size_t room(void)
{
	int x = getcurx(stdscr);

	return x < COLS ? COLS - x : 0;
}

/* The cells that all key columns but LAST take, with gaps, if none has more than LIMIT. */
static size_t sum_widths(const struct browser *browser, size_t last, size_t limit)
{
	size_t sum = 0;

	for (size_t i = 0; i < columns_of(browser)->count; i++)
		if (shows_key(browser, i) && i != last)
			sum += 1 + (browser->widths[i] < limit ? browser->widths[i] : limit);
	return sum;
}

/* The most cells that a key column other than the last one may have, of ALL that there are. */
static size_t limit_of(const struct browser *browser, size_t all)
{
	size_t last = last_key(browser), limit = all;

	while (limit && sum_widths(browser, last, limit) > all / 2)
		limit--;
	return limit < LEAST_CELLS ? 0 : limit;
}

/* The cells of key column NUMBER; 0: it is left out. */
static size_t key_width(const struct browser *browser, size_t number, size_t all)
{
	size_t limit = limit_of(browser, all), width = browser->widths[number];

	return width < limit ? width : limit;
}

static void start_text(struct browser *browser)
{
	buffer_clear(&browser->text);
}

/* The look of a share, unless the line has one. */
static void set_share_look(double percent, bool plain)
{
	if (plain)
		return;
	screen_set_look(percent >= HOT_PERCENT	  ? LOOK_HOT
			: percent >= WARM_PERCENT ? LOOK_WARM
						  : LOOK_PLAIN);
}

static void draw_field(struct browser *browser, const struct outline_line *line,
		       enum report_field field, bool cursor)
{
	uint64_t total = outline_total(browser->outline);
	bool share = field == REPORT_CHILDREN || field == REPORT_OVERHEAD;

	start_text(browser);
	if (line->kind != OUTLINE_CALL && (field != REPORT_CHILDREN || line->children_known))
		report_field_append(&browser->text, field, &line->row, total);
	set_share_look(report_field_percent(field, &line->row, total), cursor || !share);
	screen_draw_right(&browser->text, report_field_width(field));
	if (!cursor)
		screen_set_look(LOOK_PLAIN);
	screen_draw_spaces(1);
}

static void draw_cells(struct browser *browser, size_t number)
{
	const struct report_columns *columns = columns_of(browser);
	size_t last = last_key(browser), all = room();

	for (size_t i = 0; i < columns->count; i++) {
		size_t width = i == last ? 0 : key_width(browser, i, all);

		if (!shows_key(browser, i) || (i != last && !width))
			continue;
		start_text(browser);
		outline_append_cell(browser->outline, number, columns->items[i].key,
				    &browser->text);
		if (i == last) {
			screen_draw_text(&browser->text, browser->skip, room());
		} else {
			screen_draw_text(&browser->text, 0, width);
			screen_draw_spaces(1);
		}
	}
}

static void draw_call_share(struct browser *browser, const struct outline_line *line, bool cursor)
{
	uint64_t total = outline_total(browser->outline);

	start_text(browser);
	if (line->forks) {
		report_field_append(&browser->text, REPORT_OVERHEAD, &line->row, total);
		set_share_look(report_field_percent(REPORT_OVERHEAD, &line->row, total), cursor);
	}
	screen_draw_right(&browser->text, SHARE_CELLS - 1);
	if (!cursor)
		screen_set_look(LOOK_PLAIN);
	screen_draw_spaces(1);
}

static void draw_line(struct browser *browser, size_t number)
{
	static const char marks[] = { [OUTLINE_LEAF] = ' ', [OUTLINE_FOLDED] = '+',
				      [OUTLINE_UNFOLDED] = '-' };
	bool cursor = number == browser->cursor;
	struct outline_line line;
	size_t indent;

	outline_line(browser->outline, number, &line);
	screen_set_look(cursor ? LOOK_CURSOR : LOOK_PLAIN);
	for (size_t i = 0; i < columns_of(browser)->count; i++)
		if (shows_field(browser, i))
			draw_field(browser, &line, columns_of(browser)->items[i].field, cursor);
	indent = (size_t)line.indent * INDENT;
	screen_draw_spaces(indent < room() / 2 ? indent : room() / 2);
	addch(marks[line.fold]);
	addch(' ');
	if (line.kind == OUTLINE_CALL)
		draw_call_share(browser, &line, cursor);
	if (line.kind == OUTLINE_ROW) {
		draw_cells(browser, number);
		return;
	}
	start_text(browser);
	outline_append_text(browser->outline, number, &browser->text);
	screen_draw_text(&browser->text, browser->skip, room());
}

/* The cells of the widest cell of KEY in the COUNT lines on the screen, at least WIDTH. */
static size_t widest(struct browser *browser, enum profile_key key, size_t count, size_t width)
{
	size_t least = strlen(view_title(outline_profile(browser->outline), key));

	width = width > least ? width : least;
	for (size_t i = browser->top; i < browser->top + count; i++) {
		struct outline_line line;
		size_t cells;

		outline_line(browser->outline, i, &line);
		if (line.kind != OUTLINE_ROW)
			continue;
		start_text(browser);
		outline_append_cell(browser->outline, i, key, &browser->text);
		cells = screen_text_width(&browser->text);
		width = cells > width ? cells : width;
	}
	return width;
}

/* Columns become as wide as what is on the screen needs, and stay so. */
static void measure(struct browser *browser, size_t count)
{
	const struct report_columns *columns = columns_of(browser);

	for (size_t i = 0; i < columns->count; i++) {
		size_t *width = &browser->widths[i];

		if (columns->items[i].width)
			*width = columns->items[i].width;
		else if (shows_key(browser, i))
			*width = widest(browser, columns->items[i].key, count, *width);
	}
}

static void draw_column_titles(struct browser *browser)
{
	const struct report_columns *columns = columns_of(browser);
	size_t last = last_key(browser), all;

	for (size_t i = 0; i < columns->count; i++) {
		if (!shows_field(browser, i))
			continue;
		start_text(browser);
		buffer_append_string(&browser->text,
				     report_field_title(columns, columns->items[i].field));
		screen_draw_right(&browser->text, report_field_width(columns->items[i].field));
		screen_draw_spaces(1);
	}
	screen_draw_spaces(INDENT);
	all = room();
	for (size_t i = 0; i < columns->count; i++) {
		size_t width = i == last ? room() : key_width(browser, i, all);

		if (!shows_key(browser, i) || !width)
			continue;
		start_text(browser);
		buffer_append_string(&browser->text, view_title(outline_profile(browser->outline),
							columns->items[i].key));
		screen_draw_text(&browser->text, 0, width);
		if (i != last)
			screen_draw_spaces(1);
	}
}

/* A bar with text at its left and its right end. */
static void draw_bar(struct browser *browser, const char *right)
{
	size_t width = strlen(right);

	screen_set_look(LOOK_TITLE);
	if (width + 1 < room()) {
		screen_draw_text(&browser->text, 0, room() - width);
		addstr(right);
	} else {
		screen_draw_text(&browser->text, 0, room());
	}
	screen_set_look(LOOK_PLAIN);
}

static void draw_title(struct browser *browser)
{
	const struct profile_event *event = outline_event(browser->outline);

	start_text(browser);
	utf8_append_escaped(&browser->text, browser->title);
	if (!browser->source)
		buffer_printf(&browser->text, ": %" PRIu64 " samples of ", event->total_samples);
	else
		buffer_append_string(&browser->text, *event->name ? ", " : "");
	utf8_append_escaped(&browser->text, event->name);
	draw_bar(browser, "");
}

static void draw_status(struct browser *browser)
{
	size_t count = outline_count(browser->outline);
	char place[64];

	start_text(browser);
	outline_append_state(browser->outline, &browser->text);
	snprintf(place, sizeof(place), "%zu/%zu", count ? browser->cursor + 1 : 0, count);
	draw_bar(browser, place);
}

void browser_draw_last_line(struct browser *browser, const char *before, const char *text)
{
	move(LINES - 1, 0);
	screen_set_look(LOOK_PLAIN);
	start_text(browser);
	buffer_printf(&browser->text, "%s%s", before, text);
	/* The last cell of a screen is better left alone; a long text shows its end. */
	screen_draw_text(&browser->text, 0, room() ? room() - 1 : 0);
}

/* Keeps the cursor on a line, and that on the screen. */
static void follow_cursor(struct browser *browser, size_t lines)
{
	size_t count = outline_count(browser->outline);

	if (browser->cursor >= count)
		browser->cursor = count ? count - 1 : 0;
	if (browser->cursor < browser->top)
		browser->top = browser->cursor;
	if (browser->cursor >= browser->top + lines)
		browser->top = browser->cursor - lines + 1;
	if (browser->top + lines > count)
		browser->top = count > lines ? count - lines : 0;
}

void browser_draw(struct browser *browser)
{
	struct layout layout = divide(browser);
	size_t count = outline_count(browser->outline), shown;

	follow_cursor(browser, layout.count);
	shown = count - browser->top < layout.count ? count - browser->top : layout.count;
	measure(browser, shown);
	erase();
	if (layout.title)
		draw_title(browser);
	if (layout.parts)
		draw_parts(browser, layout.title, true);
	if (layout.columns) {
		move(layout.title + layout.parts, 0);
		draw_column_titles(browser);
	}
	for (size_t i = 0; i < shown; i++) {
		move(layout.first + i, 0);
		draw_line(browser, browser->top + i);
	}
	screen_set_look(LOOK_PLAIN);
	if (layout.status) {
		move(layout.first + layout.count, 0);
		draw_status(browser);
	}
	if (browser->message[0])
		browser_draw_last_line(browser, "", browser->message);
	else if (layout.hint)
		browser_draw_last_line(browser, "", HINT);
	refresh();
}
