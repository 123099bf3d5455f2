# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks a differential flame graph against the folded stacks of both recordings.

    diff_page.py OLD NEW PAGE SAME TEXT   OLD, NEW: what collapse.py prints; SAME: the page of a
                                          recording and itself; TEXT: what diff -t '|' prints
    diff_page.py OLD NEW PAGE --browser [AXE]

AXE: the script of axe-core, which looks for what keeps people from using a page.
"""
import collections
import json
import re
import sys

ADDED = re.compile(r"(\.(cold|isra|constprop|part|lto_priv|localalias|llvm|clone)(\.\d+)?)+$")
CERTAIN = 2
SIZES = (1280, 800), (390, 800)
failures = []


def check(what, got, want):
    if got != want:
        failures.append(what)
        print(f"{what}: got {got!r}, wanted {want!r}")


def read_folded(path):
    """Path -> period, by functions without what compilers add to their names."""
    own = collections.Counter()
    for line in open(path, encoding="utf-8", errors="surrogateescape"):
        stack, period = line.rstrip("\n").rsplit(" ", 1)
        names = tuple(ADDED.sub("", name) for name in stack.split(";"))
        own[names] += int(period)
    return own


def tidy(name):
    """As collapse.py has it."""
    return re.sub(r"\((?!anonymous namespace\)).*", "", name.replace(";", ":")).replace(
        '"', "").replace("'", "")


def read_data(path):
    """The page's data."""
    page = open(path, encoding="utf-8").read()
    found = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    check(f"{path}: one script of data", len(found), 1)
    check(f"{path}: no tags in it", "<" in found[0], False)
    return json.loads(found[0])


def read_page(path):
    """Path -> [old period, new period, samples of both, verdict]."""
    data = read_data(path)
    old, old_samples = data["base"]["tree"], iter(data["base"]["samples"])
    samples, tree = iter(data["samples"]), data["tree"]
    check(f"{path}: all nodes are judged", (len(old), len(data["base"]["verdict"])),
          (len(tree) // 3,) * 2)
    nodes, above = {}, []
    for i in range(len(tree) // 3):
        frame, own, up = tree[3 * i:3 * i + 3]
        del above[len(above) - up:]
        above.append(data["names"][data["frames"][3 * frame]])
        nodes[tuple(above[1:])] = [
            old[i] * data["unit"], own * data["unit"],
            next(old_samples) if old[i] else 0, next(samples) if own else 0,
            data["base"]["verdict"][i]]
    check(f"{path}: margins", len(data["base"]["margin"]),
          sum(verdict > 0 for verdict in data["base"]["verdict"]))
    check(f"{path}: names", (data["base"]["recording"], data["recording"]),
          ("old.data", "old.data" if path.startswith("same") else "new.data"))
    return nodes


def inclusive(own, path):
    return sum(period for stack, period in own.items() if stack[:len(path)] == path)


def path_to(own, name):
    """That of NAME below changed() that has the most."""
    paths = {stack[:i + 1] for stack in own for i in range(2, len(stack))
             if stack[i - 1:i + 1] == ("changed", name)}
    return max(paths, key=lambda path: inclusive(own, path))


def check_page(page, same, old, new):
    nodes = read_page(page)
    got = [collections.Counter(), collections.Counter()]
    for path, numbers in nodes.items():
        names = path and (path[0].replace(" ", "_"), *(tidy(name) for name in path[1:]))
        for side in 0, 1:
            if numbers[side]:
                got[side][names] += numbers[side]
                check(f"samples of {names}", numbers[2 + side], numbers[side] // 200000)
    check("old stacks", got[0], old)
    check("new stacks", got[1], new)
    for function in "hot_a", "hot_b":
        check(f"changed() calls {function}()", nodes[path_to(new, function)][4], CERTAIN)
    check("a recording and itself", {node[4] for node in read_page(same).values()} <= {0, 1}, True)
    check("stacks are enough", len(old) > 4 and len(new) > 4, True)


def leaves(own):
    """Function -> the period of its own."""
    sums = collections.Counter()
    for stack, period in own.items():
        if len(stack) > 1:
            sums[stack[-1]] += period
    return sums


def read_text(path):
    """(file, function, whether of a kernel) -> baseline, delta, margin, certain: of diff's text."""
    rows = {}
    for line in open(path, encoding="utf-8"):
        if line.startswith("#") or not line.strip():
            continue
        *numbers, file, symbol = line.rstrip("\n").split("|")
        file = "[kernel]" if file.startswith("[kernel") else file
        name = ADDED.sub("", symbol[4:])
        rows[file, file if name == "[unknown]" else name, symbol[1] == "k"] = numbers
    return rows


def check_functions(page, text, old, new):
    """Those of the table, by what perf script says, and by diff's text."""
    data = read_data(page)
    got, rows, wanted = [collections.Counter(), collections.Counter()], 0, read_text(text)
    list_of, unit = data["base"]["functions"], data["unit"]
    for i in range(0, len(list_of), 7):
        frame, before, taken, own, samples, verdict, margin = list_of[i:i + 7]
        name, file, kind = data["frames"][3 * frame:3 * frame + 3]
        name, file = data["names"][name], data["names"][file]
        for side, period, count in (0, before, taken), (1, own, samples):
            got[side][tidy(name)] += period * unit
            check(f"samples of {name}", count, period * unit // 200000)
        file = file or name
        nameless = name.strip("[]") == file.strip("[]")
        numbers = wanted.get((file, file if nameless else name, kind == 6))
        rows += numbers is not None
        shares = before * unit / sum(old.values()), own * unit / sum(new.values())
        check(f"{name}: in the text", numbers,
              [f"{100 * shares[0]:.2f}%" if taken else "", f"{100 * (shares[1] - shares[0]):+.2f}%",
               f"{margin / 100:.2f}%" if verdict else "", ["few", "no", "yes"][verdict]])
    check("old functions", +got[0], leaves(old))
    check("new functions", +got[1], leaves(new))
    check("functions are enough", rows > 4 and rows == len(wanted), True)
    check("none is left out", data["base"]["functions_left_out"], 0)


def percent(part, whole):
    share = 100 * part / whole
    digits = 0 if share >= 99.995 or share < 0.005 else 2 if share < 10 else 1
    return f"{share:.{digits}f}\u2009%"


def look_up(browser, page, name, old, new):
    """Searches for NAME below changed(), and compares what is said of it."""
    path = path_to(new, name)
    browser.run("document.getElementById('search').value = ''")
    browser.press("/", *"^changed$", "Enter", "Enter", "ArrowDown")
    for _ in range(2):
        text = browser.run("return document.getElementById('status').textContent")
        if text.startswith(name + " "):
            break
        browser.press("ArrowRight" if name == "hot_b" else "ArrowLeft")
    before, after = inclusive(old, path), inclusive(new, path)
    shares = before / sum(old.values()), after / sum(new.values())
    check("the frame", text.split(" ")[0], name)
    check(f"{name}: its share", f"{percent(after, sum(new.values()))} of all" in text, True)
    check(f"{name}: its share before",
          f"before: {percent(before, sum(old.values()))}, {before // 200000:,} samples" in text,
          True)
    points = f"{100 * (shares[1] - shares[0]):+.2f}"
    check(f"{name}: the difference", (points + " \u00b1 " in text, "more than chance" in text),
          (True, True))
    if failures:
        print(text)
    browser.press("Escape", "Escape")


# Whether there is red, and blue, below the first row, which has the focus and a border.
COLOURS = """
const canvas = document.getElementById('canvas');
const data = canvas.getContext('2d').getImageData(0, 42, canvas.width, canvas.height).data;
let red = 0, blue = 0;
for (let i = 0; i < data.length; i += 4) {
    red += data[i] > data[i + 2] + 40;
    blue += data[i + 2] > data[i] + 40;
}
return [red > 100, blue > 100];
"""


def table_rows(browser):
    """Of each row of the table its class and cells."""
    return [tuple(row) for row in browser.run(
        "const more = document.getElementById('more');"
        "while (!more.hidden) more.click();"
        "return [...document.querySelectorAll('#rows tbody tr')].map(row =>"
        "  [row.className, ...[...row.children].map(cell => cell.textContent)])")]


def check_table(browser, old, new):
    browser.press("/", "Escape")
    rows = table_rows(browser)
    sums = sum(old.values()), sum(new.values())
    for name in "hot_a", "hot_b":
        before, after = leaves(old)[name], leaves(new)[name]
        delta = 100 * (after / sums[1] - before / sums[0])
        row = next(row for row in rows if row[6] == name)
        check(f"{name} in the table", row[:4] + row[5:],
              ("more" if delta > 0 else "less", percent(before, sums[0]), percent(after, sums[1]),
               f"{delta:+.2f}", "yes", name, "load", "host user"))
    check("what may be chance is grey", {row[0] for row in rows if row[5] != "yes"}, {"chance"})
    check("grey", browser.run(
        "const colour = row => getComputedStyle(document.querySelector(row)).color;"
        "return colour('#rows tr.chance td.name') == colour('#counted') &&"
        "  colour('#rows tr.more td.name') != colour('#counted')"), True)
    for column in 0, 1, 2, 3:
        for _ in range(2):
            browser.run("document.querySelectorAll('#rows th button')[arguments[0]].click()",
                        column)
            sort = browser.run("return document.querySelectorAll('#rows th')[arguments[0]]"
                               ".getAttribute('aria-sort')", column)
            values = [float(re.sub("[^-0-9.]", "", row[1 + column]) or 0)
                      for row in table_rows(browser)]
            check(f"sorted by column {column}", values,
                  sorted(values, reverse=sort == "descending"))
    address = browser.run("return location.hash")
    check("the order in the address", "sort=margin" in address, True)
    browser.press("/", *"^hot_a$")
    check("found", [row[6] for row in table_rows(browser)], ["hot_a"])
    browser.press("Escape")
    check("all again", len(table_rows(browser)), len(rows))


def check_in_browser(page, old, new, axe):
    from browser import Browser, looks
    with Browser() as browser:
        browser.open(page)
        for scheme in "light", "dark":
            browser.emulate("prefers-color-scheme", scheme)
            browser.frame()
            check(f"red and blue, {scheme}", browser.run(COLOURS), [True, True])
            check(f"legend, {scheme}",
                  browser.run("return document.getElementById('legend').textContent"),
                  "more than beforeless than beforemay be chance")
        browser.emulate("prefers-color-scheme", "light")
        check("about", "compared with old.data" in browser.run(
            "return document.getElementById('about').textContent"), True)
        for name in "hot_a", "hot_b":
            look_up(browser, page, name, old, new)
        check_table(browser, old, new)
        for found in looks(browser, SIZES, axe):
            check(*found)
        browser.resize(*SIZES[0])
        browser.open(page.replace("page.html", "same.html"))
        browser.frame()
        check("nothing differs", browser.run(COLOURS), [False, False])
        check("nothing differs in the table", {row[0] for row in table_rows(browser)}, {"chance"})


def main():
    old, new = read_folded(sys.argv[1]), read_folded(sys.argv[2])
    if sys.argv[4] == "--browser":
        axe = open(sys.argv[5], encoding="utf-8").read() if sys.argv[5:] else None
        check_in_browser(sys.argv[3], old, new, axe)
    else:
        check_page(sys.argv[3], sys.argv[4], old, new)
        check_functions(sys.argv[3], sys.argv[5], old, new)
        print(f"{len(old)} and {len(new)} stacks")
    sys.exit(bool(failures))


main()
