# SPDX-License-Identifier: GPL-2.0-or-later
"""Opens the page of a report in a browser, filters in it, and checks what it shows.

    report_page.py KIND PAGE RECORDING PERFVISOR [AXE]
    report_page.py --hostile PAGE EMPTY         of write_chains, and of no samples

KIND is that of timed_samples.py, which made the RECORDING. What the page must show is added up from
its list of samples, and for spans of time compared with stock perf and perfvisor, too. AXE: the
script of axe-core, which looks for what keeps people from using a page.
"""
import collections
import decimal
import re
import subprocess
import sys

import timed_samples
from browser import Browser, looks

CELLS, CELL, MOST_WIDE = 50, 3, 28  # rows of the heat map, points of a row and at most of a column
MOST_BUCKETS = 36000
SIZES = (1280, 800), (390, 800)
failures = []


def check(what, got, want):
    if got != want:
        failures.append(what)
        print(f"{what}: got {got!r}, wanted {want!r}")


def percent(part, whole):
    share = 100 * part / whole if whole else 0
    digits = 0 if share >= 99.995 or share < 0.005 else 2 if share < 10 else 1
    rounded = decimal.Decimal(share).quantize(decimal.Decimal(1).scaleb(-digits),
                                              decimal.ROUND_HALF_UP)  # as JavaScript does
    return f"{rounded}\u2009%"


def bucket_ns(samples):
    """20 ms, or so much longer that there are not too many."""
    length = 20000000
    while (samples[-1].time_ns - samples[0].time_ns) // length >= MOST_BUCKETS:
        length *= 2
    return length


class Page:
    def __init__(self, browser, path, samples):
        self.browser, self.path, self.samples = browser, path, samples
        self.bucket = bucket_ns(samples)
        self.first = samples[0].time_ns
        self.count = (samples[-1].time_ns - self.first) // self.bucket + 1

    def text(self, element):
        return self.browser.run("return document.getElementById(arguments[0]).textContent", element)

    def choose(self, element, value):
        """Chooses the option with this text."""
        self.browser.run(
            "const select = document.getElementById(arguments[0]);"
            "select.value = [...select.options].find(o => o.textContent == arguments[1]).value;"
            "select.dispatchEvent(new Event('change'))", element, value)

    def click(self, element):
        self.browser.run("document.getElementById(arguments[0]).click()", element)
        self.browser.frame()

    def bucket_of(self, sample):
        return (sample.time_ns - self.first) // self.bucket

    def place(self, bucket):
        """A pixel of BUCKET in the heat map; and the bucket that is really there: columns can be
        narrower than a pixel."""
        self.browser.run("document.getElementById('heat').scrollIntoView({block: 'center'})")
        left, top, width = self.browser.run(
            "const box = document.getElementById('cells').getBoundingClientRect();"
            "return [box.left, box.top, box.width]")
        wide = min(MOST_WIDE, width / -(-self.count // CELLS))
        x = round(left + (bucket // CELLS + 0.5) * wide)
        y = round(top + bucket % CELLS * CELL + 1)
        return (x, y), int((x - left) // wide) * CELLS + bucket % CELLS

    def select(self, first, last):
        """Drags from one bucket to the other; returns the first and the last."""
        start, first = self.place(first)
        end, last = self.place(last)
        self.browser.drag(start, end)
        return sorted((first, min(last, self.count - 1)))

    def rows(self):
        """(self, total, samples, name, mode) of all functions."""
        return [tuple(row) for row in self.browser.run(
            "const more = document.getElementById('more');"
            "while (!more.hidden) more.click();"
            "return [...document.querySelectorAll('#rows tbody tr')].map(row =>"
            "  ['own', 'total', 'samples', 'name', 'kind'].map(key =>"
            "    row.querySelector('td.' + key).lastChild.textContent))")]


def check_shown(page, what, shown):
    """The table, the number of samples and the graph are of the samples SHOWN."""
    all_period, count = sum(sample.period for sample in shown), len(shown)
    own, total, taken = (collections.Counter() for _ in range(3))
    for sample in shown:
        names = [(name, "host user") for name in sample.functions]
        if sample.misc != timed_samples.USER:
            names.insert(0, ("", sample.mode))
        own[names[0]] += sample.period
        taken[names[0]] += 1
        for name in set(names):
            total[name] += sample.period
    want = sorted((percent(own[key], all_period), percent(total[key], all_period),
                   f"{taken[key]:,}", *key) for key in total)
    # What has no symbol is named by its address or file, and not the same for kernels and guests.
    got = sorted((*row[:3], row[3] if row[4] == "host user" else "", row[4])
                 for row in page.rows())
    check(what + ": the functions", got, want)
    everything = len(page.samples)
    text = f"{count:,}" + (f" of {everything:,}, {percent(count, everything)}"
                           if count < everything else " samples")
    check(what + ": how many", page.text("selected"), text)
    check(what + ": the root", page.text("status").split(" \u00b7 ")[1],
          f"{count:,} sample" + "s" * (count != 1))


def perf_counts(page, times, recording, perfvisor):
    """Samples at the TIMES: those of the host by stock perf, and all by perfvisor."""
    script = subprocess.run(["perf", "script", "-i", recording, "-F", "time,pid", "-G", "--time",
                             times], capture_output=True, text=True, check=False).stdout
    report = subprocess.run([perfvisor, "report", "-i", recording, "--stdio", "-n", "-g", "none",
                             "--no-children", "--sort", "vm", "--time", times],
                            capture_output=True, text=True, check=False).stdout
    rows = re.findall(r"^ *[\d.]+% +(\d+) ", report, re.M)
    return len(script.splitlines()), sum(map(int, rows))


def check_span(page, first, last, recording, perfvisor):
    first, last = page.select(first, last)
    what = f"buckets {first} to {last}"
    shown = [sample for sample in page.samples if first <= page.bucket_of(sample) <= last]
    check(what + ": some samples", 0 < len(shown) < len(page.samples), True)
    check_shown(page, what, shown)
    option, _, times = page.text("span").partition(" ")
    check(what + ": as an option", option, "--time")
    check(what + ": by perf, and by perfvisor", perf_counts(page, times, recording, perfvisor),
          (sum(not sample.guest for sample in shown), len(shown)))
    return shown


def filters(page, recording, perfvisor):
    samples = page.samples
    check_shown(page, "all", samples)
    check("the length of buckets", page.text("scale").split(" ")[0],
          f"{page.bucket // 1000000}")
    page.choose("process", "job12")
    check_shown(page, "a process", [each for each in samples if each.comm == "job12"])
    page.choose("mode", "kernel")
    shown = [each for each in samples if each.comm == "job12" and each.mode == "host kernel"]
    check_shown(page, "its kernel", shown)
    page.click("everything")
    check_shown(page, "everything again", samples)
    for mode in "guest", "host user", "user":
        page.choose("mode", mode)
        words = mode.split(" ")
        check_shown(page, mode, [each for each in samples
                                 if all(word in each.mode.split(" ") for word in words)])
    page.click("everything")
    page.choose("vm", "[host]")
    check_shown(page, "the host", [each for each in samples if not each.guest])
    busy = collections.Counter(map(page.bucket_of, samples))
    middle = sorted(busy)[len(busy) // 2]
    page.click("everything")
    for first, last in ((0, 0), (middle, middle), (middle, middle + 77), (page.count - 9, 20)):
        check_span(page, first, last, recording, perfvisor)
    # All at once; then the span alone is dropped.
    shown = check_span(page, 3, page.count - 30, recording, perfvisor)
    page.choose("vm", "[host]")
    page.choose("mode", "user")
    shown = [each for each in shown if each.mode == "host user"]
    check_shown(page, "span, VM and mode", shown)
    keeps_its_state(page, shown)
    page.click("always")
    check_shown(page, "all times", [each for each in samples if each.mode == "host user"])
    page.click("everything")


def keeps_its_state(page, shown):
    """The address has all of it, and strange ones do nothing."""
    browser = page.browser
    browser.press("/", *"f3", "Enter", "s")
    address = browser.run("return location.href")
    before = [page.text(name) for name in ("selected", "span", "status", "counted")]
    centre = page.text("status")
    check("a sandwich", centre.startswith("[f3] "), True)
    browser.open_address("about:blank")
    browser.open_address(address)
    browser.frame()
    check("the state of an address",
          [page.text(name) for name in ("selected", "span", "status", "counted")], before)
    check("its address", browser.run("return location.href"), address)
    for strange in ("#vm=<img src=x onerror=alert(1)>&process=__proto__&mode=other,none&time=1,2",
                    "#zoom=-9.9.9.99999999&callers=1e9&sort=constructor&time=" + 40 * "9",
                    "#sandwich=0&zoom=__proto__&search=((((&time=-1.000000000,2.000000000"):
        browser.run("location.hash = arguments[0]", strange)
        browser.frame()
        check("nothing is chosen by " + strange, page.text("selected"),
              f"{len(page.samples):,} samples")
    browser.run("location.href = arguments[0]", address)
    browser.frame()
    check("back by the address", page.text("selected"), before[0])
    browser.press("Escape", "/", "Escape", "Escape")
    browser.frame()
    check_shown(page, "after the sandwich", shown)


def sandwich(page):
    """The largest caller of a function is above it, the largest callee below."""
    browser = page.browser
    callers, callees, name = collections.Counter(), collections.Counter(), "[f3]"
    for sample in page.samples:
        kernel = ["[unknown]"] * (sample.mode == "host kernel")
        names = [sample.comm, *sample.functions[::-1], *kernel]
        if name in names:
            place = names.index(name)
            callers[names[place - 1]] += sample.period
            callees.update(names[place + 1:place + 2])
    browser.press("/", *"f3", "Enter", "s", "ArrowUp")
    check("the largest caller", page.text("name"), callers.most_common(1)[0][0])
    browser.press("ArrowDown")
    check("the function", page.text("name"), name)
    browser.press("ArrowDown")
    check("the largest callee", page.text("name"), callees.most_common(1)[0][0])
    browser.press("Escape", "Escape", "/", "Escape")


def sorts_and_finds(page):
    browser = page.browser
    for column, key in (0, "own"), (3, "name"), (2, "samples"):
        for _ in range(2):
            browser.run("document.querySelectorAll('#rows th button')[arguments[0]].click()",
                        column)
            rows = page.rows()
            sort = browser.run("return document.querySelectorAll('#rows th')[arguments[0]]"
                               ".getAttribute('aria-sort')", column)
            values = [row[3] if key == "name" else float(re.sub("[^0-9.]", "", row[column]))
                      for row in rows]
            check(f"sorted by {key}", values, sorted(values, reverse=sort == "descending"))
    browser.press("/", *"f3")
    check("found", {row[3] for row in page.rows()}, {"[f3]"})
    browser.press("Escape")
    check("all again", len(page.rows()) > 5, True)


def copies(page):
    browser = page.browser
    browser.devtools("Browser.grantPermissions",
                     permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    browser.press("/", *"f5", "Enter", "y")
    browser.wait("return document.getElementById('copy').textContent == 'Copied'")
    copied = browser.call("POST", "/execute/async", {
        "script": "const done = arguments[0];"
                  "navigator.clipboard.readText().then(done, error => done(String(error)))",
        "args": []})
    check("the name is copied", copied, "[f5]")
    browser.press("/", "Escape")


def by_keys(page):
    browser = page.browser
    browser.run("document.getElementById('heat').focus()")
    browser.press("ArrowDown", "ArrowDown", "Enter")
    shown = [each for each in page.samples if page.bucket_of(each) == 1]
    check_shown(page, "a bucket by keys", shown)
    browser.press("Escape")
    check_shown(page, "none by keys", page.samples)


def hostile(path, empty):
    """Names from guests are text, wherever they stand."""
    with Browser() as browser:
        browser.open(path)
        browser.frame()
        script = "</script><script>document.title='owned'</script>"
        table = browser.run("return document.getElementById('rows').textContent")
        check("a hostile function", script in table, True)
        check("a hostile process", "evil </script>" in browser.run(
            "return [...document.getElementById('process').options].map(o => o.textContent)"), True)
        browser.run("location.hash = 'vm=web <1>&process=evil </script>'")
        browser.frame()
        check("it is chosen", browser.run(
            "return document.getElementById('selected').textContent"),
            f"17 of 123, {percent(17, 123)}")
        for page in path, empty:
            browser.open(page)
            browser.frame()
            check("elements of a guest's", browser.run(
                "return document.querySelectorAll('img, iframe, object, a, link').length"), 0)
            check("scripts, and what they load", browser.run(
                "return [document.scripts.length,"
                "performance.getEntriesByType('resource').length]"), [1, 0])
            check("the title", browser.run("return document.title").startswith("vm.data "), True)
        errors = browser.call("POST", "/se/log", {"type": "browser"})
        check("errors in the browser",
              [entry for entry in errors if entry["level"] == "SEVERE"], [])


def main():
    if sys.argv[1] == "--hostile":
        hostile(*sys.argv[2:4])
        sys.exit(bool(failures))
    kind, path, recording, perfvisor = sys.argv[1:5]
    axe = open(sys.argv[5], encoding="utf-8").read() if sys.argv[5:] else None
    samples = timed_samples.samples(kind)
    with Browser() as browser:
        page = Page(browser, path, samples)
        browser.open(path)
        browser.frame()
        filters(page, recording, perfvisor)
        if kind == "even":
            sandwich(page)
            sorts_and_finds(page)
            by_keys(page)
            copies(page)
            for found in looks(page.browser, SIZES, axe):
                check(*found)
            check_span(page, 2, 60, recording, perfvisor)  # on a narrow page
        errors = browser.call("POST", "/se/log", {"type": "browser"})
        check("errors in the browser",
              [entry for entry in errors if entry["level"] == "SEVERE"], [])
    sys.exit(bool(failures))


main()
