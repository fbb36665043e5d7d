#!/usr/bin/env python3
"""The profile page of a server: gui.py URL

In the working folder are both.html, gemm.html and three.html: files of what the filters select.
"""
import json
import os
import re
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
from devtools import check, installed, visit, wrong  # noqa: E402

url = sys.argv[1]
EVIL = '<img src=x onerror=alert(1)>"`${1}&amp;\u00fc\u20ac'


def data_of(text, name="profile-data"):
    return json.loads(re.search(f'<script type="application/json" id="{name}">(.*?)</script>', text, re.S)[1])


def stored(name):
    with open(name, encoding="utf-8") as f:
        return data_of(f.read())


def ask(query):
    try:
        with urllib.request.urlopen(url + query, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def same(what, query, file, parts):
    code, text = ask(query)
    got, want = data_of(text), stored(file)
    check(f"{what}: status 200", code == 200)
    for part in parts:
        check(f"{what}: {part} are those of a file", got[part] == want[part] and got[part])


def filters():
    same("no filter", "", "both.html", ("runs", "kernels", "tables", "views", "changes", "machine"))
    code, text = ask("?runs=0&kernels=0&normal-unit=per_wave&max-stat-num=5")
    got, want = data_of(text), stored("gemm.html")
    check("one kernel, per wave: numbers are those of -k 0 -n per_wave", code == 200 and
          got["norm"] == "per_wave" and got["views"][0][0]["values"] == want["views"][0][0]["values"])
    check("and only that kernel is listed", [k["name"] for k in got["kernels"]] == ["gemm(float const*, float const*, float*)"])
    code, text = ask("?runs=1&dispatches=0-2")
    got, want = data_of(text), stored("three.html")
    check("dispatches: numbers are those of -d 0 1 2", code == 200 and got["runs"][0]["dispatches"] == 3 and
          got["views"][0][0]["values"] == want["views"][0][0]["values"])
    choices = data_of(ask("")[1], "choices")
    check("what can be selected", choices["runs"] == ["before", "after"] and len(choices["kernels"]) == 3 and
          choices["norms"] == ["per_wave", "per_cycle", "per_second", "per_kernel"] and choices["norm"] == "per_kernel" and
          choices["inTop"] == 10 and choices["lastDispatch"] == 17 and len(choices["gpus"]) == 1)
    check("the number of dispatches that are selected", ask("check?kernels=0") == (200, "[6,6]") and
          ask(f"check?gpus={choices['gpus'][0]}") == (200, "[18,18]"))


def mistakes():
    for query, code, text in (
            ("?kernels=99", 404, "no dispatch of 'before' is selected"), ("?runs=7", 404, "no workload is selected"),
            ("?dispatches=a", 400, "dispatches: a list looks like 3-7,9"), ("check?normal-unit=x", 400, "normal-unit requires"),
            ("check?gpus=77", 404, "choose other kernels, GPUs"), ("?max-stat-num=1e9", 400, "max-stat-num requires"),
            ("before/pmc_perf.csv", 404, "no such page"), ("../before/pmc_perf.csv", 404, "no such page")):
        got = ask(query)
        check(f"{query}: {code}", got[0] == code and text in got[1])


def wait(b, what, expression):
    for _ in range(400):
        if b.js(f"document.readyState === 'complete' && ({expression})"):
            check(what, True)
            return
        time.sleep(0.05)
    check(what, False)


def box(name, number):
    return f"document.querySelectorAll('#filters input[name={name}]')[{number}]"


def use(b):
    wait(b, "both workloads are compared", "document.getElementById('changes') !== null")
    check("names of others are text", b.js("document.querySelectorAll('img').length") == 0 and
          b.js(f"[...document.querySelectorAll('#filters .kernels span')].some(e => e.textContent.startsWith({json.dumps(EVIL)}))"))
    b.js("document.getElementById('filter-bar').open = true")
    b.js(box("runs", 1) + ".click()")
    b.js(box("kernels", 1) + ".click()")
    b.js("document.querySelector('#filters [type=submit]').click()")
    wait(b, "one workload and two kernels are left", "document.getElementById('facts')?.textContent.includes("
         "'2 kernels, 12 dispatches')")
    check("which the address keeps", b.js("location.search") == "?runs=0&kernels=0%2C2")
    check("and the form shows", b.js(f"[{box('runs', 1)}.checked, {box('kernels', 0)}.checked, {box('kernels', 1)}.checked, "
                                     "document.getElementById('filter-bar').open]") == [False, True, False, True])
    before = b.js("document.querySelector('[id=\"m-10.1.0\"]').textContent")
    b.js("(s => { s.value = 'per_wave'; s.dispatchEvent(new Event('change')); })(document.querySelector('[name=normal-unit]'))")
    wait(b, "another unit", "location.search.includes('normal-unit=per_wave') && document.getElementById('facts') !== null")
    check("has other numbers", b.js("document.querySelector('[id=\"m-10.1.0\"]').textContent") != before)
    b.js("document.querySelector('[name=dispatches]').value = '900'")
    b.js("document.querySelector('#filters [type=submit]').click()")
    wait(b, "a filter that selects nothing is refused on the page",
         "document.getElementById('refused')?.textContent.includes('no dispatch of')")
    check("which stays", b.js("location.search").endswith("normal-unit=per_wave") and
          b.js("document.getElementById('main').children.length") > 3)
    b.events = [e for e in b.events if "status of 404" not in json.dumps(e)]  # what a browser says of any such answer
    b.js("document.getElementById('unfilter').click()")
    wait(b, "everything can be selected again", "location.search === '' && document.getElementById('changes') !== null")
    wait(b, "the roofline runs its script", "document.getElementById('roofline-0')?.shadowRoot.querySelectorAll('svg circle, "
         "svg path').length > 0")


filters()
mistakes()
if installed():
    visit(url, use)
else:
    print("chromium is not installed: the form was not used")
    sys.exit(1 if wrong else 77)
sys.exit(1 if wrong else 0)
