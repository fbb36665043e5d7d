#!/usr/bin/env python3
"""The flame graph in a browser: flame_page.py MADE_REPORT [SCREENSHOTS]

Values, search, zoom, threads, keyboard, hostile names; a page with 100,000 call paths. With a
folder, pictures of what a reader sees are put into it.
"""
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from devtools import check, installed, visit  # noqa: E402

pictures = sys.argv[2] if len(sys.argv) > 2 else None

TABLE = """Object.fromEntries([...document.querySelectorAll('#table tbody tr')].map(
    r => [r.cells[0].firstChild.nextSibling.data, [...r.cells].slice(1).map(c => c.innerText)]))"""


def text(b, name):
    return b.js(f"document.getElementById('{name}').innerText")


def choose(b, name, value):
    b.js(f"(e => {{ e.value = {value!r}; e.dispatchEvent(new Event('change')); }})"
         f"(document.getElementById('{name}'))")


def search(b, words):
    b.js(f"(e => {{ e.value = {words!r}; e.dispatchEvent(new Event('input')); }})"
         "(document.getElementById('search'))")


def picture(b, name):
    if pictures:
        b.screenshot(f"{pictures}/{name}.png")


def colour_at(b, depth, share):
    """Of the graph, at a depth (0: the root) and a place from 0 to 1."""
    return b.js(f"""(() => {{
        const c = document.getElementById('graph'), box = document.getElementById('scroll');
        const ratio = devicePixelRatio || 1;
        const height = document.getElementById('space').clientHeight;
        const y = document.getElementById('icicle').getAttribute('aria-pressed') === 'true' ?
            {depth} * 18 + 3 : height - ({depth} + 1) * 18 + 3;
        const dot = new OffscreenCanvas(1, 1).getContext('2d', {{ willReadFrequently: true }});
        dot.drawImage(c, -Math.round({share} * c.clientWidth * ratio), -Math.round((y - box.scrollTop) * ratio));
        return [...dot.getImageData(0, 0, 1, 1).data.slice(0, 3)]; }})()""")


def rgb(b, kind):
    value = b.js(f"getComputedStyle(document.documentElement).getPropertyValue('--{kind}').trim()")
    return [int(value[i:i + 2], 16) for i in (1, 3, 5)]


def settle(b):
    b.call("Runtime.evaluate", expression="new Promise(r => requestAnimationFrame(() => "
           "requestAnimationFrame(r)))", awaitPromise=True)


def values(b):
    check("the title names the program", b.js("document.title") == "Flame graph \u2013 app")
    check("there are three clocks", b.js("[...document.querySelectorAll('#view option')].map(o => o.text)")
          == ["CPU time", "Wall clock", "Regions and calls"])
    check("the total is the sum of both threads", "1.200 s, 13 call paths" in text(b, "note"))
    table = b.js(TABLE)
    check("own and total time of a function", table["at::native::conv2d(at::Tensor)"] ==
          ["500.0 ms", "41.67 %", "500.0 ms", "41.67 %", "50"])
    check("a function above others", table["main"] == ["0 ns", "0.00 %", "1.000 s", "83.33 %", "100"])
    check("recursion counts once in total", table["worker"][2:] == ["200.0 ms", "16.67 %", "20"])
    check("the largest own time is first", list(table)[0] == "at::native::conv2d(at::Tensor)")
    b.js("document.querySelectorAll('#table th button')[2].click()")
    check("the table can be sorted by total", list(b.js(TABLE))[0] == "_start")
    check("the legend has the languages",
          b.js("[...document.querySelectorAll('#legend span')].map(e => e.innerText)")
          == ["C", "C++", "Python", "HIP and ROCm"])
    settle(b)
    check("C, Python, C++ and HIP have their colours",
          [colour_at(b, depth, 0.2) for depth in (1, 4, 5)] == [rgb(b, k) for k in ("c", "python", "cpp")]
          and colour_at(b, 5, 0.79) == rgb(b, "hip"))
    picture(b, "cpu")


def threads(b):
    check("threads can be chosen", b.js("[...document.querySelectorAll('#thread option')].map(o => o.text)")
          == ["All 2 threads, merged", "Thread 0 (4711) python3", "Thread 1 (4712) worker </option>"])
    choose(b, "thread", "1")
    check("one thread is shown", "200.0 ms, 5 call paths" in text(b, "note"))
    choose(b, "thread", "-1")


def searching(b):
    search(b, "TENSOR")
    check("search reports the share", text(b, "matched") == "matched 66.67 %")
    check("search filters the table", sorted(b.js(TABLE)) ==
          ["at::native::conv2d(at::Tensor)", "at::native::relu(at::Tensor)"])
    search(b, "worker")
    check("what is inside of a match counts once", text(b, "matched") == "matched 16.67 %")
    search(b, "/^at::.*conv/")
    check("patterns work", text(b, "matched") == "matched 41.67 %")
    settle(b)
    picture(b, "search")
    search(b, "")
    b.js("document.querySelectorAll('#table tbody tr')[1].focus()")
    b.key("Enter")
    check("Enter on a row finds its function", text(b, "matched") == "matched 83.33 %" and
          list(b.js(TABLE)) == ["main"])
    search(b, "/(/")
    check("a wrong pattern finds nothing", text(b, "matched") == "matched 0.00 %")
    check("the address has the search", "search=" in b.js("location.hash"))
    search(b, "")


def zooming(b):
    b.js("document.getElementById('scroll').focus()")
    for name in ("ArrowUp",) * 5:
        b.key(name)
    check("arrow keys go along the largest path", "at::native::conv2d(at::Tensor)" in text(b, "details")
          and "app.c:15" in text(b, "details") and "total 500.0 ms (41.67 %)" in text(b, "details"))
    b.key("ArrowRight")
    check("and to the next beside it", "at::native::relu" in text(b, "details"))
    b.key("Enter")
    settle(b)
    check("Enter zooms", colour_at(b, 5, 0.99) == rgb(b, "cpp") and colour_at(b, 1, 0.99) == rgb(b, "c"))
    b.key("Escape")
    settle(b)
    check("Escape resets", colour_at(b, 5, 0.99) != rgb(b, "cpp"))
    b.js("document.getElementById('icicle').click()")
    settle(b)
    check("the icicle hangs from the top", colour_at(b, 1, 0.2) == rgb(b, "c") and
          colour_at(b, 4, 0.2) == rgb(b, "python"))
    picture(b, "icicle")
    box = b.js("(r => [r.x, r.y, r.width])(document.getElementById('graph').getBoundingClientRect())")
    b.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0] + 20, y=box[1] + 5 * 18 + 9)
    check("hovering shows file and line", "at::native::conv2d(at::Tensor)\napp.c:15\n/opt/app" in text(b, "tip"))
    for kind in ("mousePressed", "mouseReleased"):
        b.call("Input.dispatchMouseEvent", type=kind, x=box[0] + 20, y=box[1] + 5 * 18 + 9, button="left",
               clickCount=1)
    settle(b)
    check("a click zooms", colour_at(b, 5, 0.99) == rgb(b, "cpp"))
    b.js("document.getElementById('reset').click()")
    b.js("document.getElementById('icicle').click()")


def calls(b):
    choose(b, "view", "2")
    table = b.js(TABLE)
    check("measured time with the kernel below its launch",
          table["gemm(float*, float*, float*, int)"] == ["240.0 ms", "19.35 %", "240.0 ms", "19.35 %", "4"]
          and table["hipLaunchKernel"] == ["40.00 ms", "3.23 %", "280.0 ms", "22.58 %", "4"])
    check("hostile names are text", all(name in table for name in (
        "</script><script>document.title='x'</script>", "\"'`${1}&amp;<!--", "a\tb\nc\x01\x7f",
        "\ufffd\ufffd not UTF-8", "<img src=x onerror=alert(1)>")))
    check("and nothing else", b.js("document.querySelectorAll('img').length") == 0
          and b.js("document.title") == "Flame graph \u2013 app")
    settle(b)
    picture(b, "calls")
    b.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    settle(b)
    check("follows the reader's dark mode", colour_at(b, 0, 0.5) == rgb(b, "rule") and
          rgb(b, "page") == [13, 17, 23])
    picture(b, "dark")


def use(b):
    values(b)
    threads(b)
    searching(b)
    zooming(b)
    calls(b)


def many(b):
    check("all call paths are there", "call paths" in text(b, "note") and
          int(text(b, "note").split(", ")[1].split()[0]) >= 100000)
    check("the table says what it leaves out", "The first 500 of 2000 functions" in text(b, "more"))
    start = time.monotonic()
    for words in ("function_1", "function_12", ""):
        search(b, words)
        settle(b)
    took = time.monotonic() - start
    check(f"searching takes {took / 3:.2f} s", took < 6)
    picture(b, "many")


def main():
    if not installed():
        print("SKIP: chromium is not installed")
        sys.exit(77)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder], check=True, stdout=subprocess.DEVNULL)
        failed += visit(f"{folder}/flamegraph.html", use)
        subprocess.run([sys.argv[1], folder, "110000"], check=True, stdout=subprocess.DEVNULL)
        failed += visit(f"{folder}/flamegraph.html", many)
    sys.exit(1 if failed else 0)


main()
