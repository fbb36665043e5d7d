#!/usr/bin/env python3
"""The trace page in a browser, as a file or from a server: trace_page.py file|server MADE_TRACE [SCREENSHOTS]

Timeline, hover, zoom, search, selection, statistics, call trees, arrows, keys, hostile names. With a
folder, pictures of what a reader sees are put into it.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from devtools import check, installed, visit  # noqa: E402

pictures = sys.argv[3] if len(sys.argv) > 3 else None
KERNEL = "<b>kernel</b>" + "k" * (4096 - 13)
HOSTILE = ["</script><script>document.title='x'</script>", "\"'`${1}&amp;<!--", "a\tb\nc\x01\x7f",
           "\ufffd\ufffd not UTF-8", "<img src=x onerror=alert(1)>", "\u00fcml\u00e4ut \u20ac \u6838"]
GUTTER, LENGTH_MS = 230, 110
# Tracks of the made-up program from the top: process 26, then heights of layTracks(); middle of the first row.
QUEUE, RANGES, THREAD, SAMPLES, MERGED, MEMORY = 40, 100, 130, 194, 258, 300


def text(b, name):
    return b.js(f"document.getElementById({name!r}).innerText")


def until(b, what, expression):
    """Wait for what the page does later; a failure if it never does."""
    for _ in range(400):
        if b.js(expression):
            check(what, True)
            return
        time.sleep(0.05)
    check(what, False)


def picture(b, name):
    if pictures:
        time.sleep(0.6)
        b.screenshot(f"{pictures}/{name}.png")


def place(b, ms, y):
    """Where a time is on a row of the timeline, while the whole trace is shown."""
    box = b.js("(r => [r.x, r.y, r.width])(document.getElementById('graph').getBoundingClientRect())")
    return box[0] + GUTTER + (box[2] - GUTTER) * ms / LENGTH_MS, box[1] + y


def mouse(b, kind, x, y, **more):
    b.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)


def hover(b, what, x, y, expression):
    """Move the pointer about until the page shows it: what is there may still be on its way from the server."""
    for n in range(400):
        mouse(b, "mouseMoved", x + n % 2, y)
        if b.js(expression):
            check(what, True)
            return
        time.sleep(0.05)
    check(what, False)


def click(b, x, y):
    mouse(b, "mouseMoved", x, y)
    for kind in ("mousePressed", "mouseReleased"):
        mouse(b, kind, x, y, button="left", buttons=1, clickCount=1)


def drag(b, start, end):
    mouse(b, "mousePressed", *start, button="left", buttons=1, clickCount=1)
    for part in (0.3, 0.7, 1):
        mouse(b, "mouseMoved", start[0] + (end[0] - start[0]) * part, start[1], button="left", buttons=1)
    mouse(b, "mouseReleased", end[0], start[1], button="left", clickCount=1)


def search(b, words):
    b.js(f"(e => {{ e.value = {json.dumps(words)}; e.dispatchEvent(new Event('input')); }})"
         "(document.getElementById('search'))")


def parts_of(address):
    return dict(part.split("=") for part in address.split("&") if part)


def changed(b, act):
    """What the address says is shown, after @act has changed it."""
    before = b.js("location.hash.slice(1)")
    act()
    for _ in range(400):
        after = b.js("location.hash.slice(1)")
        if after != before:
            return parts_of(after)
        time.sleep(0.05)
    return parts_of(before)


def length(parts):
    return int(parts["to"]) - int(parts["from"])


TABLE = """Object.fromEntries([...document.querySelectorAll('#table tbody tr')].map(
    r => [r.cells[0].textContent, [...r.cells].slice(1).map(c => c.textContent)]))"""


def first_look(b):
    until(b, "statistics of the whole trace are there", "document.querySelectorAll('#table tbody tr').length > 0")
    check("the title names the program", b.js("document.title") == "app \u2013 trace")
    check("the head counts the events", text(b, "facts") == "6,111 events, 110.0 ms")
    check("tracks are named", b.js("[...document.querySelectorAll('#heads .track')].map(e => e.firstChild.data)") ==
          ["Agent 0 queue 0", "Copies to unknown agent", "Ranges", "Thread 0 (4711)", "CPU time samples of 0 (4711)",
           "Thread 1 (4712) worker </b>", "Memory (S)"])
    table = b.js(TABLE)
    check("count, sum, share, mean, minimum and maximum of a name", table[KERNEL] ==
          ["10", "60.00 ms", table[KERNEL][2], "6.000 ms", "6.000 ms", "6.000 ms"])
    check("short calls are counted one by one", table["hipGetLastError"][0] == "6,000" and
          table["hipGetLastError"][1] == "12.00 ms")
    check("samples are not added to calls", "conv2d" not in table)
    check("hostile names are text", all(name in table for name in HOSTILE))
    check("and nothing else", b.js("document.querySelectorAll('img, b').length") == 0)
    check("the largest sum is first", list(table)[0] == "MEMORY_COPY_HOST_TO_DEVICE" or
          table[list(table)[0]][1] == "100.0 ms")
    b.js("document.querySelectorAll('#table th button')[1].click()")
    check("the table can be sorted by count", list(b.js(TABLE))[0] == "hipGetLastError")
    b.js("document.querySelectorAll('#table th button')[2].click()")
    picture(b, "trace")


def hovering(b):
    mouse(b, "mouseMoved", *place(b, 55, QUEUE))
    until(b, "hovering names a kernel", "document.getElementById('tip').innerText.startsWith('<b>kernel</b>kkk')")
    check("with its time", "6.000 ms from 53.00 ms" in text(b, "tip"))
    mouse(b, "mouseMoved", *place(b, 30, RANGES))
    check("hovering names a range", text(b, "tip").startswith("range\n25.00 ms"))
    mouse(b, "mouseMoved", *place(b, 5.5, MEMORY))
    check("hovering shows a value", text(b, "tip").startswith("Memory (S)\n7.5 MB"))
    mouse(b, "mouseMoved", *place(b, 30, MERGED))
    until(b, "hovering counts events that are merged", "document.getElementById('tip').innerText"
          ".startsWith('4 events, the longest: hipGetLastError')")
    mouse(b, "mouseMoved", *place(b, 56, SAMPLES))
    check("hovering names a sampled function", text(b, "tip").startswith("main\n100.0 ms"))


def flows(b):
    click(b, *place(b, 55, QUEUE))
    until(b, "a click shows details", "document.querySelector('#pane-details h2') !== null")
    check("the whole name", b.js("document.querySelector('#pane-details h2').textContent") == KERNEL)
    facts = b.js("Object.fromEntries([...document.querySelectorAll('#pane-details dl div')].map("
                 "d => [d.children[0].textContent, d.children[1].textContent]))")
    check("its numbers", facts["Duration"] == "6.000 ms" and facts["Start (ns)"] == "5053000000" and
          facts["Correlation"] == "11" and "Workgroup" in facts)
    check("its call path", "train \u203a step \u203a hipLaunchKernel" in text(b, "pane-details"))
    until(b, "the call that launched it", "document.querySelector('#pane-details .links button')?.innerText"
          ".startsWith('launched by: hipLaunchKernel')")
    picture(b, "flow")
    b.key("e")
    until(b, "e follows the arrow to the call",
          "document.querySelector('#pane-details h2')?.textContent === 'hipLaunchKernel'")
    until(b, "and the call has the arrow to the kernel", "document.querySelector('#pane-details .links button')?.title"
          ".startsWith('<b>kernel')")
    b.key(".")
    until(b, "the next slice of the row", "document.querySelector('#pane-details h2')?.textContent === 'hipMemcpyAsync'")
    b.key("Escape")
    until(b, "Escape clears the selection", "document.querySelector('#pane-details h2') === null")


def zooming(b):
    b.js("document.getElementById('scroll').focus()")
    near = changed(b, lambda: b.key("w"))
    check("w zooms in", 0.5 * LENGTH_MS < length(near) / 1e6 < 0.7 * LENGTH_MS)
    moved = changed(b, lambda: b.key("d"))
    check("d moves right", int(moved["from"]) > int(near["from"]) + 1000000 and
          abs(length(moved) - length(near)) < 3)
    x, y = place(b, 55, QUEUE)
    nearer = changed(b, lambda: mouse(b, "mouseWheel", x, y, deltaX=0, deltaY=-120, modifiers=2))
    check("Ctrl and the wheel zoom in", length(nearer) < 0.9 * length(moved))
    far = changed(b, lambda: b.key("0"))
    check("0 shows the whole trace", length(far) == LENGTH_MS * 1000000 and far["from"] == "0")


def selecting(b):
    start, end = place(b, 20.5, THREAD + 70), place(b, 40, THREAD + 70)
    parts = changed(b, lambda: drag(b, start, end))
    check("the address keeps the range", abs(int(parts.get("range", "0-0").split("-")[0]) / 1e6 - 20.5) < 0.2)
    until(b, "a range can be dragged", "document.getElementById('range').innerText.includes('selected')")
    until(b, "statistics are of the range", "document.getElementById('tab-statistics').ariaSelected === 'true'")
    until(b, "and are ready", f"({TABLE})['step']?.[0] === '2'")
    table = b.js(TABLE)
    check("kernels in the range", table[KERNEL][0] == "2")
    check("short calls in the range", abs(int(table["hipGetLastError"][0].replace(",", "")) - 1950) <= 20)
    b.js("document.getElementById('tab-topdown').click()")
    check("top-down begins with the outermost", b.js("document.querySelector('#pane-topdown tbody tr td').textContent")
          .endswith("train"))
    rows = "[...document.querySelectorAll('#pane-topdown tbody tr')].map(r => [r.ariaLevel, r.cells[0].innerText.trim()])"
    b.js("document.querySelector('#pane-topdown tbody tr button').click()")
    check("and what it called is below it", b.js(rows)[1][0] == "2" and b.js(rows)[1][1].endswith("step"))
    b.js("document.querySelector('#pane-topdown tbody tr button').click()")
    check("and can be closed again", all(level == "1" for level, _ in b.js(rows)))
    b.js("document.getElementById('tab-bottomup').click()")
    tree = "Object.fromEntries([...document.querySelectorAll('#pane-bottomup tbody tr')].map(" \
        "r => [r.cells[0].textContent.slice(1), r.cells[1].textContent]))"
    check("bottom-up has own times, clipped to the range", b.js(tree)["MEMORY_COPY_HOST_TO_DEVICE"] == "19.50 ms" and
          b.js(tree)["step"] == "13.50 ms")
    picture(b, "bottomup")
    b.js("document.getElementById('tab-flame').click()")
    check("the flame graph is of the range", text(b, "flame-details").startswith("all \u00b7 total"))
    b.js("document.getElementById('flame-scroll').focus()")
    b.key("ArrowDown")
    check("and has keys", text(b, "flame-details").startswith("train \u00b7 total"))
    picture(b, "flame")
    b.js("(e => { e.value = 'samples'; e.dispatchEvent(new Event('change')); })(document.getElementById('source'))")
    b.js("document.getElementById('tab-statistics').click()")
    until(b, "samples have statistics of their own", f"({TABLE})['conv2d'] !== undefined")
    check("and no calls", "step" not in b.js(TABLE))
    b.js("(e => { e.value = 'all'; e.dispatchEvent(new Event('change')); })(document.getElementById('source'))")
    b.js("document.getElementById('clear').click()")
    until(b, "the whole trace again", f"({TABLE})['step']?.[0] === '10'")


def searching(b):
    b.js("document.getElementById('scroll').focus()")
    b.key("/")
    check("/ goes to the search", b.js("document.activeElement.id") == "search")
    search(b, "hipmem")
    until(b, "search counts events and names", "document.getElementById('found').innerText === '10 events, 1 name'")
    check("search filters the statistics", list(b.js(TABLE)) == ["hipMemcpyAsync"])
    b.key("Enter")
    until(b, "Enter selects the first match", "document.querySelector('#pane-details dl')?.innerText.includes('2.000 ms')")
    b.key("Enter")
    until(b, "and the next one", "document.querySelector('#pane-details dl')?.innerText.includes('12.00 ms')")
    search(b, "/^(conv2d|relu)$/")
    until(b, "patterns work", "document.getElementById('found').innerText === '50 events, 2 names'")
    search(b, HOSTILE[0])
    until(b, "hostile names are found", "document.getElementById('found').innerText === '2 events, 1 name'")
    search(b, "")
    b.js("document.getElementById('scroll').focus()")
    b.key("Escape")


def looks(b):
    b.key("0")
    b.key("?")
    check("? shows the keys", b.js("document.getElementById('help').open") and "zoom in" in text(b, "keys"))
    b.js("document.getElementById('help').close()")
    b.js("document.getElementById('tab-statistics').click()")
    media(b, "dark")
    until(b, "follows the reader's dark mode", "getComputedStyle(document.body).backgroundColor === 'rgb(13, 17, 23)'")
    picture(b, "dark")
    b.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=2, mobile=True)
    until(b, "fits a phone", "document.documentElement.scrollWidth <= 390 && "
          "document.getElementById('scroll').clientHeight > 200")
    picture(b, "phone")


def media(b, scheme):
    """Without movements, so that a test need not wait for their end."""
    b.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme},
                                                   {"name": "prefers-reduced-motion", "value": "reduce"}])


def use(b):
    media(b, "light")
    b.call("Emulation.setDeviceMetricsOverride", width=1400, height=900, deviceScaleFactor=1, mobile=False)
    first_look(b)
    hovering(b)
    flows(b)
    zooming(b)
    selecting(b)
    searching(b)
    looks(b)


def requests_of(b):
    return [e["params"]["request"]["url"] for e in b.events if e.get("method") == "Network.requestWillBeSent"]


def fetching(b):
    """Details come when they are looked at: short calls are merged at first, and their tiles not requested."""
    media(b, "light")
    b.call("Emulation.setDeviceMetricsOverride", width=1400, height=900, deviceScaleFactor=1, mobile=False)
    until(b, "statistics of the whole trace are there", "document.querySelectorAll('#table tbody tr').length > 0")
    before = [u for u in requests_of(b) if "/tiles?" in u]
    sums = [u for u in requests_of(b) if "/sums?" in u]
    check("one request has the tiles of the first picture", len(before) == 1 and len(sums) == 1)
    hover(b, "events are merged", *place(b, 30, MERGED),
          "document.getElementById('tip').innerText.startsWith('4 events')")
    x, y = place(b, 30, MERGED)
    for _ in range(14):
        mouse(b, "mouseWheel", x, y, deltaX=0, deltaY=-120, modifiers=2)
    until(b, "the view is near", "Number(new URLSearchParams(location.hash.slice(1)).get('to')) - "
          "Number(new URLSearchParams(location.hash.slice(1)).get('from')) < 1e6")
    for _ in range(100):
        mouse(b, "mouseMoved", x, y)
        mouse(b, "mouseMoved", x + 1, y)
        if "\n2.000 \u00b5s from" in text(b, "tip"):
            break
        time.sleep(0.05)
    check("zooming shows each event", text(b, "tip").startswith("hipGetLastError\n2.000 \u00b5s from "))
    after = [u for u in requests_of(b) if "/tiles?" in u]
    check("which was requested then", len(after) > len(before) and after[-1] not in before)
    picture(b, "near")
    b.key("0")


def use_server(b):
    fetching(b)
    first_look(b)
    flows(b)
    selecting(b)
    searching(b)


def visit_server(folder):
    server = subprocess.Popen([sys.argv[2], folder, "serve"], stdout=subprocess.PIPE, text=True)
    try:
        failed = visit(server.stdout.readline().strip(), use_server)
    finally:
        server.send_signal(signal.SIGINT)
    check("Ctrl-C ends the server with 0", server.wait(20) == 0)
    return failed


def main():
    if not installed():
        print("SKIP: chromium is not installed: scripts/setup test")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[1] == "server":
            failed = visit_server(folder)
        else:
            subprocess.run([sys.argv[2], folder], check=True)
            failed = visit(f"{folder}/app_results.html", use)
    sys.exit(1 if failed else 0)


main()
