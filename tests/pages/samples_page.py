#!/usr/bin/env python3
"""Samples of rocprof-sys in the trace page: samples_page.py PAGE

Of a program that is first in first(), then in second(); both call spend().
"""
import os
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from devtools import check, go, installed, visit  # noqa: E402

page = sys.argv[1]
again = page + ".again.html"  # another address: the same one would not be loaded again


def names(b, tab):
    """Of all rows of a call tree, after it was opened; of the flame graph, by its keys."""
    b.js(f"document.getElementById('tab-{tab}').click()")
    for _ in range(100):
        closed = f"[...document.querySelectorAll('#pane-{tab} [aria-expanded=false]')]"
        if b.js(f"document.querySelectorAll('#pane-{tab} tbody tr, #pane-{tab} [role=treeitem]').length") and \
                not b.js(closed + ".length"):
            break
        b.js(closed + ".forEach(e => e.click())")
        time.sleep(0.05)
    return b.js(f"document.getElementById('pane-{tab}').innerText")


def choose_samples(b):
    b.js("(e => { e.value = 'samples'; e.dispatchEvent(new Event('change')); })(document.getElementById('source'))")


def use(b):
    choose_samples(b)
    check("the flame graph has samples", b.js("document.getElementById('tab-flame').click(), 1") and
          b.js("document.getElementById('flame-details').innerText").startswith("all \u00b7 total"))
    down, up = names(b, "topdown"), names(b, "bottomup")
    check("top-down: both functions", "first" in down and "second" in down and down.index("main") < down.index("second"))
    check("bottom-up: what they call comes first", "spend" in up and up.index("spend") < up.index("second"))
    whole = b.js("document.getElementById('flame-details').innerText")
    length = b.js("Number(new URLSearchParams(location.hash.slice(1)).get('to'))")
    go(b, f"{again}#from=0&to={length}&range=0-{length // 4}&tab=topdown")
    choose_samples(b)
    down, up = names(b, "topdown"), names(b, "bottomup")
    check("of the first quarter: one function", "first" in down and "second" not in down)
    check("bottom-up of it, too", "spend" in up and "first" in up and "second" not in up)
    b.js("document.getElementById('tab-flame').click()")
    part = b.js("document.getElementById('flame-details').innerText")
    check(f"the flame graph is of the selection: {part}, of all {whole}", part != whole)


if not installed():
    sys.exit("chromium is not installed")
shutil.copy(page, again)
sys.exit(visit(page, use, also=[again]) != 0)
