#!/usr/bin/env python3
"""Open the roofline page in Chromium and use it: browser.py PAGE.html WORKLOAD [SCREENSHOT.png]

WORKLOAD is what make_workload.py wrote and the page was made from.

Speaks DevTools' protocol over a pipe, with the standard library alone. Every console message,
every exception and every request that leaves the file is a failure.
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

import roofline_places
from roofline_places import drawn_axis, points

LIMIT_S = 90


class Browser:
    def __init__(self, profile):
        here_read, there_write = os.pipe()
        there_read, here_write = os.pipe()

        def as_3_and_4():
            # duplicated out of the way first: one of them may already be 3 or 4
            r, w = os.dup(there_read), os.dup(there_write)
            os.dup2(r, 3)
            os.dup2(w, 4)

        program = shutil.which("chromium") or shutil.which("chromium-browser")
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


wrong = []


def check(what, good):
    print(("ok   " if good else "FAIL ") + what)
    if not good:
        wrong.append(what)


def on_screen(b, workload):
    """Points are where the labels of the axes say, in pixels of the rendered page."""
    middle = "(b => [b.x + b.width / 2, b.y + b.height / 2])(e.getBoundingClientRect())"
    ticks = b.js("[...document.querySelectorAll('#axes .tick')].map(e => "
                 f"[e.getAttribute('text-anchor'), e.textContent, ...{middle}])")
    scale = {"k": 1e-6, "M": 1e-3, "G": 1, "T": 1e3}  # in units of 1e9
    to_x = drawn_axis("page x", [(x, float(text)) for anchor, text, x, _ in ticks if anchor == "middle"], 0.6)
    to_y = drawn_axis("page y", [(y, float(text.rstrip(" kMGT")) * scale.get(text[-1], 1e-9))
                                 for anchor, text, _, y in ticks if anchor == "end"], 0.6)
    want = sorted((letter, level, to_x(intensity), to_y(rate))
                  for letter, (rate, intensities) in points(workload).items()
                  for level, intensity in intensities.items())
    have = sorted(tuple(p) for p in b.js("[...document.querySelectorAll('.point')].map(e => "
                                         f"[e.dataset.kernel, e.dataset.level, ...{middle}])"))
    good = not roofline_places.wrong and [a[:2] for a in have] == [a[:2] for a in want] and all(
        abs(a[2] - c[2]) < 1.5 and abs(a[3] - c[3]) < 3 for a, c in zip(have, want))
    check("points are drawn where the axes say" + ("" if good else f": {have}, not {want}"), good)


def use(b, workload):
    data = json.loads(b.js("document.getElementById('data').textContent"))
    levels = [level for level in data["levels"] if data["types"][0]["bandwidth"].get(level)]

    def expected():
        return sum(1 for p in data["points"] for level in levels
                   if (p["flops"] or 0) > 0 and p["meanNs"] and (p["bytes"][level] or 0) > 0)

    check("every kernel and level with work has a point",
          b.js("document.querySelectorAll('.point').length") == expected() > 0)
    check("a slope per memory level",
          b.js("document.querySelectorAll('.ceiling[data-level]').length") == len(levels))
    roofs = sum(1 for unit in ("valu", "mfma") if data["types"][0][unit])
    check("a roof per unit", b.js("document.querySelectorAll('.ceiling[data-type]').length") == roofs)
    place = b.js("(() => { const p = document.querySelector('.point'); return [+p.dataset.x, +p.dataset.y,"
                 " p.dataset.kernel, p.dataset.level]; })()")
    point = next(p for p in data["points"] if p["letter"] == place[2])
    check("a point stands at its intensity and rate",
          abs(place[0] - point["flops"] / point["bytes"][place[3]]) < 1e-9 * place[0]
          and abs(place[1] - point["flops"] / point["meanNs"]) < 1e-9 * place[1])
    axis = b.js("[...document.querySelectorAll('#axes .tick')].map(t => t.textContent)")
    check("ticks are decades, readable", "0.1" in axis and "100" in axis and len(axis) >= 8)

    on_screen(b, workload)

    check("no tooltip before hovering", b.js("document.getElementById('tip').hidden"))
    b.move(".point")
    text = b.js("document.getElementById('tip').hidden ? '' : document.getElementById('tip').innerText")
    check("hovering over a point shows its values",
          point["name"] in text and "FLOP/byte" in text and "Performance" in text and "Bound" in text)
    check("hovering shows the room to the roof", b.js("document.querySelectorAll('.room').length") == 1)
    b.call("Input.dispatchMouseEvent", type="mouseMoved", x=3, y=3)
    check("the tooltip goes when the pointer does", b.js("document.getElementById('tip').hidden"))
    b.js("document.querySelector('.ceiling[data-level=HBM] .hit').dispatchEvent("
         "new MouseEvent('mouseenter', {clientX: 300, clientY: 300}))")
    check("hovering over a slope shows its bandwidth",
          "HBM bandwidth" in b.js("document.getElementById('tip').innerText"))
    b.js("document.querySelector('.point').focus()")
    check("the keyboard reaches points", point["name"] in b.js("document.getElementById('tip').innerText"))

    n = b.js("document.querySelectorAll('.point').length")
    b.click("#levels .chip[data-level=L2]")
    check("a memory level can be switched off",
          b.js("document.querySelectorAll('.point[data-level=L2], .ceiling[data-level=L2]').length") == 0
          and 0 < b.js("document.querySelectorAll('.point').length") < n)
    b.click("#levels .chip[data-level=L2]")
    check("and on again", b.js("document.querySelectorAll('.point').length") == n)
    b.click("#types .chip[data-type=FP64]")
    check("a second data type adds its roofs",
          b.js("document.querySelectorAll('.ceiling[data-type=FP64]').length") == 2
          and b.js("document.querySelectorAll('.ceiling[data-type=FP32]').length") == 2)
    overlaps = b.js("""(() => {
        const boxes = [...document.querySelectorAll('#ceilings .name')].map(t => t.getBoundingClientRect());
        let n = 0;
        for (let i = 0; i < boxes.length; i++)
            for (let k = i + 1; k < boxes.length; k++) {
                const a = boxes[i], b = boxes[k];
                if (!document.querySelectorAll('#ceilings .name')[i].getAttribute('transform') &&
                    !document.querySelectorAll('#ceilings .name')[k].getAttribute('transform') &&
                    a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom)
                    n++;
            }
        return n; })()""")
    check("names of roofs do not overlap", overlaps == 0)
    b.click("#types .chip[data-type=I32]")
    check("integer types have their own axis and points",
          "OP/byte" in b.js("[...document.querySelectorAll('.axis')].map(t => t.textContent).join()")
          and b.js("document.querySelectorAll('.ceiling[data-type=FP32]').length") == 0
          and b.js("document.querySelectorAll('.point').length") > 0)
    b.click("#types .chip[data-type=FP32]")
    check("the table has a row per kernel",
          b.js("document.querySelectorAll('tbody tr').length") == len(data["points"]))
    b.click("tbody input")
    check("a kernel can be hidden",
          b.js("document.querySelectorAll('.point[data-kernel=A]').length") == 0)
    b.click("tbody input")
    check("names are shown as they are",
          any("</script>" in (p["name"] or "") for p in data["points"])
          and "</script>" in b.js("document.getElementById('table').innerText"))
    check("says modelled when it is",
          ("modelled" in b.js("document.querySelector('header').innerText")) == data["modelled"])
    light = b.js("getComputedStyle(document.body).backgroundColor")
    b.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    check("follows the reader's dark mode", b.js("getComputedStyle(document.body).backgroundColor") != light)


def main():
    page = os.path.abspath(sys.argv[1])
    profile = tempfile.mkdtemp(prefix="ws-browser.")
    b = Browser(profile)
    try:
        target = b.call("Target.createTarget", url="about:blank")["targetId"]
        b.session = b.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            b.call(domain + ".enable")
        b.call("Page.navigate", url="file://" + page)
        while not any(e.get("method") == "Page.loadEventFired" for e in b.events):
            b.events.append(b.receive())
        use(b, sys.argv[2])
        if len(sys.argv) > 3:
            with open(sys.argv[3], "wb") as f:
                f.write(base64.b64decode(b.call("Page.captureScreenshot")["data"]))
        requests = [e["params"]["request"]["url"] for e in b.events
                    if e.get("method") == "Network.requestWillBeSent"]
        check("asks for nothing but itself",
              requests and all(u == "file://" + page or u.startswith("data:") for u in requests))
        said = [e for e in b.events if e.get("method") in
                ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")]
        check("the console stays empty" + "".join(f": {e}" for e in said), not said)
    finally:
        b.process.kill()
        b.process.wait()
        shutil.rmtree(profile, ignore_errors=True)
    sys.exit(1 if wrong else 0)


main()
