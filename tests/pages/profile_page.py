#!/usr/bin/env python3
"""The profile page in a browser: profile_page.py ONE.html TWO.html ALL.json GEMM.json [SCREENSHOTS]

ONE is of one workload, TWO compares it with another; the JSON files have the same numbers, of all kernels
and of the first. With a folder, pictures of what a reader sees are put into it.
"""
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from devtools import check, go, visit  # noqa: E402

one, two = sys.argv[1:3]
pictures = sys.argv[5] if len(sys.argv) > 5 else None
GEMM = "gemm(float const*, float const*, float*)"
ROOF = "document.getElementById('roofline-%d').shadowRoot"


def picture(b, name):
    if pictures:
        time.sleep(0.4)
        b.screenshot(f"{pictures}/{name}.png")


def search(b, words):
    b.js(f"(e => {{ e.value = {json.dumps(words)}; e.dispatchEvent(new Event('input')); }})"
         "(document.getElementById('search'))")


def numbers(name):
    """Cells of the metric tables of a report in JSON, by id: {header: value}"""
    with open(name, encoding="utf-8") as f:
        tables = json.load(f)["tables"]
    return {row[0]: dict(zip(table["columns"], row)) for table in tables for row in table["rows"]
            if str(row[0]).count(".") == 2}


def shown(b, table):
    """What the page shows of a table: {id: {header: text}}"""
    return b.js("""(t => { const heads = [...t.tHead.rows[0].cells].map(c => c.textContent);
        return Object.fromEntries([...t.tBodies[0].rows].filter(r => r.id).map(r => [r.cells[0].textContent,
            Object.fromEntries([...r.cells].map((c, i) => [heads[i], c.textContent.trim()]))])); })
        (document.querySelector('[data-table="%s"] table'))""" % table)


def same(text, value):
    if value is None:
        return text == "N/A"
    return abs(float(text.replace(",", "")) - value) <= 0.0051 + 0.005 * abs(value) * ("e" in text)


def tables_are(b, what, want):
    wrong, n = [], 0
    for table in ("2.1", "10.1", "16.1", "17.3"):
        for row, cells in shown(b, table).items():
            for head, text in cells.items():
                if head in ("Avg", "Peak", "Pct of Peak", "Min", "Max"):
                    n += 1
                    if not same(text, want[row][head]):
                        wrong.append((row, head, text, want[row][head]))
    check(f"{what}: {n} cells are those of the report" + "".join(f"; {w}" for w in wrong[:5]), n > 100 and not wrong)


def whole(b):
    check("the title names the workload", b.js("document.title") == "before \u2013 profile")
    check("the head has the GPU and the time", b.js("document.getElementById('facts').textContent") ==
          "MI210 (gfx90a), 3 kernels, 18 dispatches, 6.676 ms")
    check("simulated numbers are labelled", b.js("document.getElementById('badge').textContent") == "simulated" and
          not b.js("document.getElementById('badge').hidden"))
    check("findings come first", b.js("document.querySelector('main section').id") == "findings" and
          "SIMD Utilization" in b.js("document.querySelector('article.finding').textContent") and
          "analyze -p before -k 0" in b.js("document.querySelector('article.finding .command').textContent"))
    check("kernels with the same problem are one finding", b.js("document.querySelectorAll('article.finding').length") == 1 and
          b.js("document.querySelector('article.finding details.more summary').textContent") ==
          "and 1 more kernel, all together 99 % of the time" and
          b.js("document.querySelector('.finding .subjects tbody tr').cells[0].textContent") == "52 %")
    kernels = b.js("[...document.querySelectorAll('table.kernels tbody tr')].map("
                   "r => [...r.cells].map(c => c.textContent))")
    check("kernels with share, sum, count, mean and median", [k[1] for k in kernels][0] == GEMM and
          kernels[0][2:7] == ["90.1 %", "6.015 ms", "6", "1.002 ms", "1.003 ms"])
    check("and the distribution of their times", b.js("[...document.querySelectorAll('table.kernels .histogram')].map("
          "h => h.querySelectorAll('.bin').length)") == [24, 24, 24] and "minimum 993.6 \u00b5s" in
          b.js("document.querySelector('table.kernels .histogram').getAttribute('aria-label')"))
    name = b.js("document.querySelectorAll('table.kernels .label')[1].textContent")
    check("a hostile name of 4 KB is text", name.startswith('<img src=x onerror=alert(1)>"`${1}&amp;\u00fc\u20ac') and
          "\\x1b[2J" in name and len(name) > 4096)
    check("and nothing else", b.js("document.querySelectorAll('img').length") == 0 and
          b.js("document.querySelectorAll('table.kernels .label')[2].textContent").endswith("</script>)"))
    tables_are(b, "all kernels", numbers(sys.argv[3]))
    classes = {row: cells["Class"] for row, cells in shown(b, "10.1").items()}
    check("every row has its class", all(classes.values()) and {"exact"} <= set(classes.values()) and
          set(c["Class"] for c in shown(b, "2.1").values()) >= {"modelled"})
    chart = b.js("document.querySelector('.memory').shadowRoot.querySelector('svg').textContent")
    check("the memory chart is drawn", "Vector L1 Cache" in chart and "838000" in chart)
    lines = b.js("[...document.querySelectorAll('table.samples tbody tr')].map("
                 "r => [r.cells[0].textContent, r.querySelector('.with-bar').textContent].join(' '))")
    check(f"samples by source line: {lines}", lines == [".../<b>.cpp:12 2 66.67 %", ".../copy.cpp:10 1 33.33 %"])
    picture(b, "profile")


def explaining(b):
    b.js("document.querySelector('[id=\"m-2.1.1\"] button.metric').click()")
    text = b.js("document.querySelector('.explanation').innerText")
    check("a click explains a metric", "Integer operations the vector ALU did per second" in text and
          "AVG(64 * (SQ_INSTS_VALU_INT32 + SQ_INSTS_VALU_INT64) / (End_Timestamp - Start_Timestamp))" in text)
    inputs = b.js("Object.fromEntries([...document.querySelectorAll('.explanation .inputs tbody tr')].map("
                  "r => [r.cells[0].textContent, [r.cells[1].textContent, r.cells[2].textContent]]))")
    check("with its counters, their means and classes", inputs["SQ_INSTS_VALU_INT32"] == ["85,666.67", "exact"] and
          inputs["End_Timestamp"][1] == "modelled")
    check("and the steps", b.js("document.querySelector('.explanation details pre').textContent").startswith("a = "))
    b.js("document.querySelector('[id=\"m-2.1.1\"] button.metric').click()")
    check("a second click closes it", b.js("document.querySelector('.explanation') === null"))
    b.js("document.querySelector('[id=\"m-2.1.8\"] button.metric').click()")
    check("a missing value has its reason", "no value: " in b.js("document.querySelector('.explanation').innerText"))
    b.js("document.querySelector('article.finding .evidence button.link').click()")
    check("evidence of a finding leads to its metric", b.js("document.activeElement.closest('tr').id") == "m-6.1.4" and
          b.js("document.activeElement.getAttribute('aria-expanded')") == "true")


def searching(b):
    b.js("document.activeElement.blur()")
    b.key("/")
    check("/ goes to the search", b.js("document.activeElement.id") == "search")
    search(b, "valu flops")
    check("search filters the rows of all tables", b.js("[...document.querySelectorAll('table.metrics tbody tr')].map("
          "r => r.cells[0].textContent)")[0] == "2.1.0" and
          all("valu flops" in t.lower() for t in b.js("[...document.querySelectorAll('table.metrics button.metric')].map("
                                                      "e => e.textContent)")))
    search(b, "SQ_LDS_BANK_CONFLICT")
    rows = b.js("[...document.querySelectorAll('table.metrics tbody tr')].map(r => r.cells[0].textContent)")
    check("a counter finds the metrics that are made of it", "2.1.17" in rows and "12.1.3" in rows and "2.1.0" not in rows)
    check("and counts them", b.js("document.getElementById('found').textContent") == f"{len(rows)} rows")
    search(b, "/^no such/")
    check("nothing is found by what is not there", "Nothing matches" in b.js("document.getElementById('main').innerText"))
    b.key("Escape")
    check("Escape shows all again", b.js("document.querySelector('main section').id") == "findings" and
          b.js("document.getElementById('search').value") == "")


def hovering(b, run):
    check(f"roofline {run}: no tooltip before", b.js(f"{ROOF % run}.getElementById('tip').hidden"))
    box = b.js(f"(e => {{ e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect();"
               f" return [r.x + r.width / 2, r.y + r.height / 2]; }})({ROOF % run}.querySelector('.point[data-kernel=A]'))")
    b.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
    text = b.js(f"{ROOF % run}.getElementById('tip').innerText")
    check(f"roofline {run}: hovering shows the values of a point", GEMM in text and
          ("20 TFLOP/s" if run == 0 else "15.3 TFLOP/s") in text and "Bound" in text)
    b.call("Input.dispatchMouseEvent", type="mouseMoved", x=3, y=300)


def filtering(b):
    b.js("(e => { e.value = '1'; e.dispatchEvent(new Event('change')); })(document.getElementById('kernel'))")
    tables_are(b, "one kernel", numbers(sys.argv[4]))
    check("the address keeps the kernel", b.js("location.hash") == "#kernel=1")
    check("findings of the kernel alone", b.js("document.querySelectorAll('article.finding').length") == 1 and
          b.js("document.querySelector('article.finding details.more')") is None)
    check("its row is marked", b.js("document.querySelector('tr.chosen .label').textContent") == GEMM)
    samples = b.js("[...document.querySelectorAll('table.samples tbody tr')].map("
                   "r => [...r.cells].map(c => c.textContent))")
    check(f"its instructions with samples and stalls: {samples}",
          [s[0] for s in samples] == [".../gemm.cpp:1", ".../gemm.cpp:2"] and
          samples[1][2] == "0x108" and samples[1][3].startswith("2 ") and samples[1][-1] == "WAITCNT 1")
    check("the memory chart is the kernel's", "2000000" in
          b.js("document.querySelector('.memory').shadowRoot.querySelector('svg').textContent"))
    points = f"[...{ROOF % 0}.querySelectorAll('g.kernel')].map(e => [e.dataset.kernel, e.classList.contains('faded')])"
    check(f"the roofline shows which one it is: {b.js(points)}", dict(b.js(points))["A"] is False and
          all(faded for letter, faded in b.js(points) if letter != "A") and
          b.js(f"{ROOF % 0}.querySelector('tr.lit').dataset.kernel") == "A")
    hovering(b, 0)
    check("also after hovering", not dict(b.js(points))["A"] and any(faded for _, faded in b.js(points)))
    b.js("document.activeElement.blur()")
    b.key("k")
    check("k goes to the next kernel", b.js("location.hash") == "#kernel=2")
    b.key("Escape")
    check("Escape shows all kernels", b.js("location.hash") == "#" or b.js("location.hash") == "")
    check("and no point is faded", not any(faded for _, faded in b.js(points)))


def comparing(b):
    go(b, two + "#find=valu%20flops&differing=1")
    check("the address says what is shown", b.js("document.getElementById('search').value") == "valu flops" and
          b.js("document.getElementById('differing').ariaPressed") == "true")
    b.key("Escape")
    b.key("Escape")
    check("both are named", b.js("document.getElementById('title').textContent") == "A before  \u00b7  B after")
    check("times of both have their class", "Times are A modelled, B measured." in
          b.js("document.getElementById('kernels').innerText"))
    check("only one is simulated", b.js("document.getElementById('badge').textContent") == "simulated: A")
    changes = b.js("document.getElementById('changes').innerText")
    check("what changed comes first", "+30 % changed" in changes and "6.676 ms \u2192 8.481 ms" in changes and
          "within noise" in changes)
    cells = shown(b, "2.1")["2.1.22"]
    check(f"values side by side with the difference: {cells}", cells["Avg A"] == "271.33" and
          cells["Avg B"] == "395.94 +46 %" and cells["Peak"] == "1,638.40" and cells["Pct of Peak B"] == "24.17 +46 %")
    check("classes of both", cells["Class"] == "modelled measured")
    n = b.js("document.querySelectorAll('table.metrics tbody tr').length")
    b.js("document.activeElement.blur()")
    b.key("d")
    rows = b.js("[...document.querySelectorAll('table.metrics tbody tr')].map(r => r.cells[0].textContent)")
    check("d shows only differences", "2.1.22" in rows and "2.1.2" not in rows and 0 < len(rows) < n / 2)
    b.key("d")
    hovering(b, 1)
    b.js("scrollTo(0, 0)")
    picture(b, "compare")


def looks(b):
    go(b, one)
    b.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    check("follows the reader's dark mode", b.js("getComputedStyle(document.body).backgroundColor") == "rgb(13, 17, 23)")
    picture(b, "dark")
    b.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=2, mobile=True)
    check("fits a phone", b.js("document.documentElement.scrollWidth") <= 390)
    picture(b, "phone")
    b.key("?")
    check("? lists keys and classes", b.js("document.getElementById('help').open") and
          "from models of caches" in b.js("document.getElementById('classes').innerText"))


def use(b):
    b.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    b.call("Emulation.setDeviceMetricsOverride", width=1400, height=900, deviceScaleFactor=1, mobile=False)
    whole(b)
    explaining(b)
    searching(b)
    hovering(b, 0)
    filtering(b)
    comparing(b)
    looks(b)


sys.exit(1 if visit(one, use, also=(two,)) else 0)
