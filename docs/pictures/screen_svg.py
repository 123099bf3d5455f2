# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws a terminal's screen, as `tmux capture-pane -e -p` prints it, as SVG.

Of the sequences in it, only those of colours and attributes (ECMA-48, SGR) are drawn; tmux prints
no others.
"""
import html
import re

CELL_WIDTH, CELL_HEIGHT, MARGIN = 8, 17, 8
BACKGROUND, FOREGROUND = "#1e1e1e", "#d4d4d4"
COLOURS = ["#2e2e2e", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d4d4d4"]
LIGHT = ["#7f848e", "#ff7b86", "#b5e890", "#ffd98a", "#84c8ff", "#e19cf5", "#7fdbe6", "#ffffff"]
PLAIN = {"colour": None, "background": None, "bold": False, "faint": False, "reverse": False,
         "underline": False}


def colour_256(number):
    if number < 16:
        return (COLOURS + LIGHT)[number]
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    levels = (0, 95, 135, 175, 215, 255)
    number -= 16
    return "#%02x%02x%02x" % tuple(levels[number // step % 6] for step in (36, 6, 1))


def change(style, text):
    """STYLE after the sequence with the numbers TEXT."""
    style = dict(style)
    numbers = [int(number or 0) for number in re.split("[;:]", text)]
    while numbers:
        number = numbers.pop(0)
        if number == 0:
            style = dict(PLAIN)
        elif number in (1, 2, 4, 7):
            style[{1: "bold", 2: "faint", 4: "underline", 7: "reverse"}[number]] = True
        elif number in (22, 24, 27):
            for name in {22: ("bold", "faint"), 24: ("underline",), 27: ("reverse",)}[number]:
                style[name] = False
        elif number in (38, 48) and numbers[:1] == [5]:
            style["colour" if number == 38 else "background"] = colour_256(numbers[1])
            del numbers[:2]
        elif number in (39, 49):
            style["colour" if number == 39 else "background"] = None
        else:
            for first, name, colours in ((30, "colour", COLOURS), (40, "background", COLOURS),
                                         (90, "colour", LIGHT), (100, "background", LIGHT)):
                if first <= number < first + 8:
                    style[name] = colours[number - first]
    return style


def runs(line, style):
    """The line as (column, text, style), and the style after it."""
    found, column = [], 0
    for part in re.split("(\x1b\\[[0-9;:]*m|\x0e|\x0f)", line):
        if part.startswith("\x1b"):
            style = change(style, part[2:-1])
        elif part not in ("", "\x0e", "\x0f"):
            found.append((column, part, style))
            column += len(part)
    return found, style


def escape(text):
    """With blanks that are drawn as they are: SVG takes several for one."""
    return html.escape(text, quote=False).replace(" ", "\u00a0")


def draw_run(column, row, text, style):
    x, y = MARGIN + column * CELL_WIDTH, MARGIN + row * CELL_HEIGHT
    colour, background = style["colour"] or FOREGROUND, style["background"]
    if style["reverse"]:
        colour, background = background or BACKGROUND, colour
    out = ""
    if background:
        out = (f'<rect x="{x}" y="{y}" width="{len(text) * CELL_WIDTH}" height="{CELL_HEIGHT}" '
               f'fill="{background}"/>')
    if not text.strip():
        return out
    lead = len(text) - len(text.lstrip())
    text, x = text.strip(), x + lead * CELL_WIDTH
    more = ' font-weight="bold"' if style["bold"] else ""
    more += ' opacity="0.6"' if style["faint"] else ""
    more += ' text-decoration="underline"' if style["underline"] else ""
    return out + (f'<text x="{x}" y="{y + 13}" textLength="{len(text) * CELL_WIDTH}" '
                  f'fill="{colour}"{more}>{escape(text)}</text>')


def draw(screen, columns, rows):
    width, height = columns * CELL_WIDTH + 2 * MARGIN, rows * CELL_HEIGHT + 2 * MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
           f'width="{width}" height="{height}" font-family="monospace" font-size="13">',
           f'<rect width="{width}" height="{height}" rx="6" fill="{BACKGROUND}"/>']
    style = PLAIN
    for row, line in enumerate(screen.split("\n")[:rows]):
        found, style = runs(line, style)
        out += [draw_run(column, row, text, how) for column, text, how in found]
    return "\n".join(filter(None, out + ["</svg>"])) + "\n"
