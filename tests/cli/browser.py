# SPDX-License-Identifier: GPL-2.0-or-later
"""A headless Chromium, driven through chromedriver by the WebDriver protocol
(w3.org/TR/webdriver)."""
import json
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--hide-scrollbars", "--window-size=1280,800"]
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Backspace": "\ue003", "ArrowLeft": "\ue012",
        "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015"}


class Browser:
    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                self.address = "http://127.0.0.1:" + line.split("port")[1].strip(" .\n")
                break
        flags = FLAGS + ["--user-data-dir=" + self.profile.name]
        self.session = ""
        wanted = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": {"args": flags}}}}
        self.session = "/session/" + self.call("POST", "/session", wanted)["sessionId"]
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.profile.cleanup()

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            self.address + self.session + path, method=method,
            data=json.dumps(body or {}).encode() if method == "POST" else None)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()) from error

    def open(self, path):
        self.open_address("file://" + path)

    def open_address(self, address):
        self.call("POST", "/url", {"url": address})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def frame(self):
        """Waits until all changes are drawn."""
        self.call("POST", "/execute/async", {
            "script": "const done = arguments[0];"
                      "requestAnimationFrame(() => requestAnimationFrame(() => done()))",
                      "args": []})

    def pointer(self, x, y, click=False):
        actions = [{"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)}]
        if click:
            actions += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse",
                                                    "actions": actions}]})
        self.frame()

    def drag(self, start, end):
        """From one place to another, each (x, y)."""
        actions = [{"type": "pointerMove", "duration": 0, "x": start[0], "y": start[1]},
                   {"type": "pointerDown", "button": 0},
                   {"type": "pointerMove", "duration": 0, "x": end[0], "y": end[1]},
                   {"type": "pointerUp", "button": 0}]
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse",
                                                    "actions": actions}]})
        self.frame()

    def press(self, *keys):
        actions = []
        for key in keys:
            for kind in "keyDown", "keyUp":
                actions.append({"type": kind, "value": KEYS.get(key, key)})
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys",
                                                    "actions": actions}]})
        self.frame()

    def emulate(self, feature, value):
        self.call("POST", "/goog/cdp/execute", {
            "cmd": "Emulation.setEmulatedMedia",
            "params": {"features": [{"name": feature, "value": value}]}})
        self.frame()

    def resize(self, width, height):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height,
                      deviceScaleFactor=1, mobile=False)
        self.frame()

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def wait(self, script, seconds=60):
        """Waits until SCRIPT returns a true value."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.run(script):
                return True
            time.sleep(0.1)
        return False


def looks(browser, sizes, axe):
    """At each of SIZES, light and dark: (what, what was found, what is right). Nothing is wider
    than a window, and AXE, the script of axe-core, finds nothing; None: it is not asked."""
    for width, height in sizes:
        browser.resize(width, height)
        for scheme in "light", "dark":
            browser.emulate("prefers-color-scheme", scheme)
            what = f"{width} points, {scheme}"
            yield f"{what}: width", browser.run(
                "return document.documentElement.scrollWidth <= innerWidth"), True
            if axe:
                browser.run(axe)
                yield f"{what}: axe-core", browser.call("POST", "/execute/async", {
                    "script": "const done = arguments[0]; axe.run().then(found => done(["
                              "found.passes.length > 20, found.violations.map(each =>"
                              "[each.id, each.nodes.map(node => node.html)])]))",
                    "args": []}), [True, []]
        browser.emulate("prefers-color-scheme", "light")
