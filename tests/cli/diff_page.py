# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks a differential flame graph against the folded stacks of both recordings.

    diff_page.py OLD NEW PAGE SAME        OLD, NEW: what collapse.py prints; SAME: the page of a
                                          recording and itself
    diff_page.py OLD NEW PAGE --browser
"""
import collections
import json
import re
import sys

ADDED = re.compile(r"(\.(cold|isra|constprop|part|lto_priv|localalias|llvm|clone)(\.\d+)?)+$")
CERTAIN = 2
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


def read_page(path):
    """Path -> [old period, new period, samples of both, verdict]."""
    page = open(path, encoding="utf-8").read()
    found = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    check(f"{path}: one script of data", len(found), 1)
    check(f"{path}: no tags in it", "<" in found[0], False)
    data = json.loads(found[0])
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


def check_in_browser(page, old, new):
    from browser import Browser
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
        browser.open(page.replace("page.html", "same.html"))
        browser.frame()
        check("nothing differs", browser.run(COLOURS), [False, False])


def main():
    old, new = read_folded(sys.argv[1]), read_folded(sys.argv[2])
    if sys.argv[4] == "--browser":
        check_in_browser(sys.argv[3], old, new)
    else:
        check_page(sys.argv[3], sys.argv[4], old, new)
        print(f"{len(old)} and {len(new)} stacks")
    sys.exit(bool(failures))


main()
