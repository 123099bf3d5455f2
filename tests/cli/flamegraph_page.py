# SPDX-License-Identifier: GPL-2.0-or-later
"""Opens a flame graph in a browser and uses it as a person would.

    flamegraph_page.py PAGE TRUTH        TRUTH: the report of tests/unit/output/write_chains.c

The positions of frames are computed from the truth: at each position the page must show this frame.
"""
import sys

from browser import Browser

ROW = 21
failures = []


def check(what, got, want):
    if got != want:
        failures.append(what)
        print(f"{what}: got {got!r}, wanted {want!r}")


class Node:
    def __init__(self, kind, name):
        self.kind, self.name = kind, name
        self.own = self.total = self.start = 0
        self.children = {}

    def child(self, kind, name):
        return self.children.setdefault((kind, name), Node(kind, name))

    def lay_out(self, start):
        """Children in the order of their names, each as wide as its total; then
        the frame's own part."""
        self.start, self.total = start, 0
        for child in sorted(self.children.values(), key=lambda node: node.name.encode()):
            child.lay_out(start + self.total)
            self.total += child.total
        self.total += self.own

    def path(self, *names):
        node = self
        for name in names:
            node = next(child for child in node.children.values() if child.name == name)
        return node

    def matched(self, part):
        if part in self.name.lower() and self.kind != "all":
            return self.total
        return sum(child.matched(part) for child in self.children.values())

    def largest(self, name):
        """The total of the largest node of that name."""
        return max([self.total if self.name == name else 0]
                   + [child.largest(name) for child in self.children.values()])


def read_truth(path, vcpus):
    root = Node("all", "all")
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            period, vm, vcpu, process, *frames = line.rstrip("\n").split("\t")
            node = root.child("VM", vm)
            if vcpus and vcpu != "-":
                node = node.child("vCPU", "vCPU " + vcpu)
            node = node.child("process", process)
            for frame in frames:
                first, second, name = frame.split(" ", 2)
                # Two bytes of invalid UTF-8; a control character in a symbol's name.
                node = node.child(first + " " + second, name.replace("\x1b", "?"))
            node.own += int(period)
    root.lay_out(0)
    return root


def percent(part, whole):
    share = 100 * part / whole
    digits = 0 if share >= 99.995 or share < 0.005 else 2 if share < 10 else 1
    return f"{share:.{digits}f}\u2009%"


class Page:
    def __init__(self, browser, root):
        self.browser, self.root, self.zoom = browser, root, root

    def text(self, element):
        return self.browser.run("return document.getElementById(arguments[0]).textContent", element)

    def place(self, names):
        """The position in the window of the frame at the path NAMES."""
        box = self.browser.run(
            "const box = document.getElementById('canvas').getBoundingClientRect();"
            "return [box.left, box.top, box.width]")
        node = self.root.path(*names)
        middle = (node.start + node.total / 2 - self.zoom.start) / self.zoom.total
        return box[0] + box[2] * middle, box[1] + (len(names) + 0.5) * ROW

    def tip(self):
        return self.browser.run(
            "const tip = document.getElementById('tip');"
            "return tip.hidden ? null : [...tip.children].map(part => part.textContent)")

    def check_tip(self, *names, file=None):
        node = self.root.path(*names)
        self.browser.pointer(*self.place(names))
        name, about = self.tip() or (None, "")
        parts = about.split(" \u00b7 ")
        check("name in the tip of " + "/".join(names), name, node.name)
        check("kind in it", parts[0], node.kind + (", " + file if file else ""))
        check("share in it", parts[1], percent(node.total, self.root.total) + " of all")
        samples = node.total // 250000
        check("samples in it", f"{samples} sample{'s' if samples != 1 else ''}" in parts, True)
        check("own share in it", parts[-1] == percent(node.own, self.root.total) + " its own",
              node.own > 0)

    def click(self, *names):
        self.browser.pointer(*self.place(names), click=True)
        self.zoom = self.root.path(*names)

    def focused(self):
        return self.text("status").split(" \u2014 ")[0]

    def colour(self, *names):
        """The colour at the frame's left end, where there is no text."""
        x, y = self.place(names)
        return tuple(self.browser.run(
            "const canvas = document.getElementById('canvas'),"
            " box = canvas.getBoundingClientRect();"
            "const scale = canvas.width / box.width;"
            "return [...canvas.getContext('2d').getImageData((arguments[0] - box.left) * scale,"
            "(arguments[1] - box.top) * scale, 1, 1).data].slice(0, 3)", x, y - ROW / 2 + 3))


SERVER = ("web <1>", "server", "[app]")
KERNEL = SERVER + ("entry_SYSCALL_64", "do_syscall_64")
SCRIPT = "</script><script>document.title='owned'</script>"


def shows_what_is_there(page):
    check("header", "123 samples" in page.text("about") and "cpu-clock" in page.text("about"), True)
    check("legend", page.text("legend"), "guest kernelguest userhost userprocess")
    page.check_tip("web <1>")
    page.check_tip(*SERVER[:2])
    page.check_tip(*SERVER, file="app")
    page.check_tip(*KERNEL, "vfs_read", file="[guest.kernel.kallsyms]")
    page.check_tip("web <1>", "server", "? entry_SYSCALL_64", "? do_syscall_64", "vfs_read",
                   file="[guest.kernel.kallsyms]")
    page.check_tip("db", "server", "[app]", "[app]", "entry_SYSCALL_64", "do_syscall_64",
                   "vfs_read", "vfs_read", file="[guest.kernel.kallsyms]")
    page.check_tip("[host]", "spinner", "[spinner]", file="spinner")
    colours = [page.colour(*SERVER), page.colour(*KERNEL),
               page.colour("[host]", "spinner", "[spinner]"), page.colour("web <1>")]
    check("levels have colours of their own", len(set(colours)), 4)


def takes_no_orders(page):
    page.check_tip(*KERNEL, SCRIPT, file="[guest.kernel.kallsyms]")
    page.check_tip("web <1>", "evil </script>", "entry_SYSCALL_64", "gr\u00f6\u00dfe_\u20ac",
                   file="[guest.kernel.kallsyms]")
    page.check_tip("web <1>", "evil </script>", "[app]", "entry_SYSCALL_64", "do_syscall_64",
                   "<img src=x onerror=\"document.title='owned'\">", file="[guest.kernel.kallsyms]")
    browser = page.browser
    check("title", browser.run("return document.title"), "vm.data \u2013 flame graph")
    check("elements of a guest's", browser.run(
        "return document.querySelectorAll('img, iframe, object, a, link').length"), 0)
    check("scripts", browser.run("return document.scripts.length"), 1)
    check("loaded from elsewhere",
          browser.run("return performance.getEntriesByType('resource').length"), 0)


def zooms(page):
    page.click(*KERNEL)
    check("status", page.focused(), "do_syscall_64")
    node = page.root.path(*KERNEL)
    page.check_tip(*KERNEL, "vfs_read", file="[guest.kernel.kallsyms]")
    tip = page.tip()[1]
    check("share of what is zoomed", percent(page.root.path(*KERNEL, "vfs_read").total, node.total)
          + " of what is zoomed" in tip, True)
    # The frames above remain, over the whole width; a click on one zooms out.
    page.browser.pointer(30, page.place(KERNEL)[1] - 4 * ROW)
    check("above the zoomed frame", page.tip()[0], "web <1>")
    page.browser.press("Backspace")
    check("status one level up", page.focused(), "entry_SYSCALL_64")
    page.browser.run("document.getElementById('reset').click()")
    page.browser.frame()
    page.zoom = page.root
    check("status after a reset", page.focused(), "all")
    page.check_tip("db")


def searches(page):
    browser = page.browser
    for word, functions in (("vfs_read", 1), ("syscall", 4), ("SCRIPT", 2), ("operator<(", 1),
                            ("^db$", 1), ("nothing like it", 0)):
        browser.press("/")
        browser.run("const search = document.getElementById('search'); search.value = '';")
        browser.press(*word)
        total = page.root.matched(word.lower().strip("^$"))
        names = "name" if functions == 1 else "names"
        check("search for " + word, page.text("matched"),
              f"Matched {percent(total, page.root.total)} in {functions} {names}")
        browser.press("Escape")
    check("no search", page.text("matched"), "")
    plain = page.colour(*KERNEL)
    browser.press("/", *"do_sys", "Enter")
    check("a match", page.focused(), "do_syscall_64")
    share = percent(page.root.largest("do_syscall_64"), page.root.total)
    check("it is the largest", f"{share} of all" in page.text("status"), True)
    check("a match has a colour of its own", page.colour(*KERNEL) != plain, True)
    first = page.text("status")
    browser.press("n")
    check("next match", page.focused().removeprefix("? "), "do_syscall_64")
    check("next match is another", page.text("status") != first, True)
    browser.press("Escape", "/", "Escape")
    page.zoom = page.root


def goes_by_keys(page):
    browser = page.browser
    browser.press("Escape", "ArrowDown")
    check("down: the largest", page.focused(), "web <1>")
    browser.press("ArrowLeft")
    check("left", page.focused(), "db")
    browser.press("ArrowRight", "ArrowDown", "ArrowRight")
    check("right, down, right", page.focused(), "server")
    browser.press("Enter", "ArrowDown", "ArrowDown", "ArrowDown")
    check("zoomed", page.focused(), "do_syscall_64")
    browser.press("ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp")
    check("up, out of what was zoomed", page.focused(), "web <1>")
    browser.press("Escape")
    check("reset", page.focused(), "all")
    page.zoom = page.root


def switches_vcpus(page, truth):
    browser = page.browser
    button = "document.getElementById('vcpus')"
    check("a switch", browser.run(
        f"return [{button}.hidden, {button}.getAttribute('aria-pressed')]"), [False, "false"])
    page.click("web <1>", "server")
    browser.press("v")
    browser.frame()
    check("nothing is zoomed", page.focused(), "all")
    page.root = page.zoom = read_truth(truth, True)
    page.check_tip("web <1>", "vCPU 0")
    page.check_tip("web <1>", "vCPU 1", "server", "? entry_SYSCALL_64", "? do_syscall_64",
                   "vfs_read", file="[guest.kernel.kallsyms]")
    page.check_tip("web <1>", "vCPU 0", "server", "[app]", file="app")
    page.check_tip("[host]", "spinner", "[spinner]", file="spinner")
    browser.run(f"{button}.click()")
    browser.frame()
    page.root = page.zoom = read_truth(truth, False)
    page.check_tip(*KERNEL, "vfs_read", file="[guest.kernel.kallsyms]")


def places_of(node, name, callers=()):
    """Yields (callers, the innermost first; node) of each NAME that is not below another."""
    if node.name == name:
        yield callers, node
        return
    for child in node.children.values():
        yield from places_of(child, name, callers if node.kind == "all" else (node.name, *callers))


def turns_around(page):
    """The callers of a function, and what it calls, each added up over all its places."""
    browser, root = page.browser, page.root
    places = list(places_of(root, "do_syscall_64"))
    total = sum(node.total for _, node in places)
    sums = {}
    for callers, node in places:
        sums[callers[0]] = sums.get(callers[0], 0) + node.total
    callees = {}
    for _, node in places:
        for child in node.children.values():
            callees[child.name] = callees.get(child.name, 0) + child.total
    check("several places, callers and callees", (len(places) > 1, len(callees) > 1), (True, True))
    for key, parts in ("c", sums), ("e", callees):
        browser.press("/", "Escape", "Escape", "/", *"do_sys", "Enter", key)
        browser.frame()
        check(f"{key}: the function", page.text("status").split(" \u00b7 ")[1],
              f"{percent(total, root.total)} of all")
        browser.press("ArrowDown")
        largest = max(parts, key=parts.get)
        text = page.text("status").split(" \u00b7 ")
        check(f"{key}: the largest", page.focused(), largest)
        check(f"{key}: its share", text[1:3],
              [f"{percent(parts[largest], root.total)} of all",
               f"{percent(parts[largest], total)} of do_syscall_64"])
        browser.press(key)
        browser.frame()
        check(f"{key}: all again", page.focused(), "all")
    browser.press("/", "Escape", "Escape")
    page.check_tip(*SERVER, file="app")


def flips(page):
    """The outermost frame at the bottom."""
    browser = page.browser
    colours = page.colour(*SERVER), page.colour("db")
    x, y = page.place(SERVER)
    browser.press("i")
    browser.frame()
    depth = 1 + max(len(names) for names in all_paths(page.root))
    browser.pointer(x, y + (depth - 1 - 2 * len(SERVER)) * ROW)
    check("flipped", page.tip()[0], SERVER[-1])
    browser.press("ArrowUp")
    check("up: the largest", page.focused(), "web <1>")
    browser.press("i", "Escape")
    browser.frame()
    check("back", (page.colour(*SERVER), page.colour("db")), colours)


def all_paths(node, names=()):
    yield names
    for child in node.children.values():
        yield from all_paths(child, (*names, child.name))


def is_narrow(page):
    """On a telephone all of the status can be read."""
    browser = page.browser
    browser.devtools("Emulation.setDeviceMetricsOverride", width=390, height=700,
                     deviceScaleFactor=1, mobile=False)
    browser.frame()
    browser.press("/", *"do_sys", "Enter")
    check("a narrow page", browser.run("return innerWidth"), 390)
    check("the status is not cut off", browser.run(
        "const status = document.getElementById('status');"
        "return status.textContent.length > 60 && status.scrollWidth <= status.clientWidth &&"
        "    status.scrollHeight <= status.clientHeight"), True)
    browser.press("Escape", "/", "Escape")
    browser.devtools("Emulation.clearDeviceMetricsOverride")
    browser.frame()


def has_a_dark_side(page):
    browser = page.browser
    light = (browser.run("return getComputedStyle(document.body).backgroundColor"),
             page.colour(*KERNEL))
    browser.emulate("prefers-color-scheme", "dark")
    dark = (browser.run("return getComputedStyle(document.body).backgroundColor"),
            page.colour(*KERNEL))
    check("dark page", sum(map(int, dark[0][4:-1].split(","))) < 150 <
          sum(map(int, light[0][4:-1].split(","))), True)
    check("dark frames", sum(dark[1]) < sum(light[1]) - 100, True)
    browser.emulate("prefers-color-scheme", "light")
    check("light again", page.colour(*KERNEL), light[1])


def main():
    with Browser() as browser:
        page = Page(browser, read_truth(sys.argv[2], False))
        browser.open(sys.argv[1])
        for test in (shows_what_is_there, takes_no_orders, zooms, searches,
                     goes_by_keys, turns_around, flips, is_narrow, has_a_dark_side):
            test(page)
        switches_vcpus(page, sys.argv[2])
        errors = browser.call("POST", "/se/log", {"type": "browser"})
        check("errors in the browser",
              [entry for entry in errors if entry["level"] == "SEVERE"], [])
    sys.exit(bool(failures))


main()
