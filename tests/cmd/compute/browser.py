#!/usr/bin/env python3
"""Open the roofline page in Chromium and use it: browser.py PAGE.html WORKLOAD [SCREENSHOT.png]

WORKLOAD is what make_workload.py wrote and the page was made from.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
import roofline_places  # noqa: E402
from devtools import check, visit  # noqa: E402
from roofline_places import drawn_axis, points  # noqa: E402


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


sys.exit(1 if visit(sys.argv[1], lambda b: use(b, sys.argv[2]), *sys.argv[3:4]) else 0)
