"""A page in Chromium, for tests that use it as a reader would.

Speaks DevTools' protocol over a pipe, with the standard library alone. Every console message,
every exception and every request that leaves the file, or the server of the page, is a failure.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

LIMIT_S = 90
wrong = []


def installed():
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    def __init__(self, profile):
        here_read, there_write = os.pipe()
        there_read, here_write = os.pipe()

        def as_3_and_4():
            # duplicated out of the way first: one of them may already be 3 or 4
            r, w = os.dup(there_read), os.dup(there_write)
            os.dup2(r, 3)
            os.dup2(w, 4)

        program = installed()
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-dev-shm-usage",
             f"--user-data-dir={profile}", "--window-size=1300,1000", "--remote-debugging-pipe",
             "about:blank"],
            preexec_fn=as_3_and_4, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(there_read)
        os.close(there_write)
        self.read_fd, self.write_fd = here_read, here_write
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        self.until = time.monotonic() + LIMIT_S

    def receive(self):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_fd], [], [], max(0, self.until - time.monotonic()))
            if not ready:
                sys.exit("the browser does not answer")
            chunk = os.read(self.read_fd, 1 << 20)
            if not chunk:
                sys.exit("the browser ended")
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_fd, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def js(self, text):
        result = self.call("Runtime.evaluate", expression=text, returnByValue=True)
        if "exceptionDetails" in result:
            sys.exit(f"{text}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def move(self, selector):
        box = self.js(f"(() => {{ const b = document.querySelector({json.dumps(selector)})"
                      ".getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])

    def click(self, selector):
        self.js(f"document.querySelector({json.dumps(selector)}).click()")

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name)

    def screenshot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))


def check(what, good):
    print(("ok   " if good else "FAIL ") + what)
    if not good:
        wrong.append(what)


def address(page):
    return page if page.startswith("http://") else "file://" + os.path.abspath(page)


def go(b, page):
    """Open another of the files that visit() was called with, with or without a '#', and wait until it is loaded."""
    b.events = [e for e in b.events if e.get("method") != "Page.loadEventFired"]
    b.call("Page.navigate", url=address(page))
    while not any(e.get("method") == "Page.loadEventFired" for e in b.events):
        b.events.append(b.receive())


def visit(page, use, screenshot=None, also=()):
    """Open a file or the page of a server, call use(browser), and return how many checks failed. It may go() to
    those in @also."""
    files = [address(name) for name in (page, *also)]
    profile = tempfile.mkdtemp(prefix="ws-browser.")
    b = Browser(profile)
    try:
        target = b.call("Target.createTarget", url="about:blank")["targetId"]
        b.session = b.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            b.call(domain + ".enable")
        go(b, page)
        use(b)
        if screenshot:
            b.screenshot(screenshot)
        requests = [e["params"]["request"]["url"] for e in b.events
                    if e.get("method") == "Network.requestWillBeSent"]
        check("asks for nothing but itself",
              requests and all(u.split("#")[0] in files or u.startswith("data:") or
                               (page.startswith("http://") and u.startswith(page)) for u in requests))
        said = [e for e in b.events if e.get("method") in
                ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")]
        check("the console stays empty" + "".join(f": {e}" for e in said), not said)
    finally:
        b.process.kill()
        b.process.wait()
        shutil.rmtree(profile, ignore_errors=True)
    return len(wrong)
