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
SECOND_NS = 150_000_000  # second() takes 0.2 s of processor time
again = page + ".again.html"  # another address: the same one would not be loaded again


def names(b, tab):
    """Of all rows of a call tree, after it was opened; of the flame graph, by its keys."""
    b.js(f"document.getElementById('tab-{tab}').click()")
    for _ in range(20):
        closed = f"[...document.querySelectorAll('#pane-{tab} [aria-expanded=false]')]"
        if b.js(f"document.querySelectorAll('#pane-{tab} tbody tr, #pane-{tab} [role=treeitem]').length") and \
                not b.js(closed + ".length"):
            break
        b.js(closed + ".forEach(e => e.click())")
        time.sleep(0.05)
    return b.js(f"document.getElementById('pane-{tab}').innerText")


def until(get, is_good):
    """What get() returns once it is good: the sums of a selection come after the click."""
    for _ in range(100):
        value = get()
        if is_good(value):
            break
        time.sleep(0.05)
    return value


def choose_samples(b):
    until(lambda: b.js("document.querySelectorAll('#source option[value=samples]').length"), bool)
    b.js("(e => { e.value = 'samples'; e.dispatchEvent(new Event('change')); })(document.getElementById('source'))")


def flame_details(b):
    b.js("document.getElementById('tab-flame').click()")
    return until(lambda: b.js("document.getElementById('flame-details').innerText"), lambda t: t.startswith("all \u00b7 total"))


def check_tree(b, tab, what, is_good):
    check(what, is_good(until(lambda: names(b, tab), is_good)))


def use(b):
    choose_samples(b)
    check_tree(b, "topdown", "top-down: both functions",
               lambda t: "first" in t and "second" in t and t.index("main") < t.index("second"))
    check_tree(b, "bottomup", "bottom-up: what they call comes first",
               lambda t: "spend" in t and "second" in t and t.index("spend") < t.index("second"))
    whole = flame_details(b)
    check("the flame graph has samples", whole.startswith("all \u00b7 total"))
    length = b.js("Number(new URLSearchParams(location.hash.slice(1)).get('to'))")
    go(b, f"{again}#from=0&to={length}&range={length - min(length // 10, SECOND_NS)}-{length}&tab=topdown")
    choose_samples(b)
    check_tree(b, "topdown", "of its end: one function", lambda t: "second" in t and "first" not in t)
    check_tree(b, "bottomup", "bottom-up of it, too", lambda t: "spend" in t and "second" in t and "first" not in t)
    part = flame_details(b)
    check(f"the flame graph is of the selection: {part}, of all {whole}", part != whole)


if not installed():
    sys.exit("chromium is not installed")
shutil.copy(page, again)
sys.exit(visit(page, use, also=[again]) != 0)
