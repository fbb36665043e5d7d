"""OTF2 read back, by otf2-print."""
import collections
import re
import subprocess

from harness import CATEGORY, can_run, fail, of, same, same_rows


def check_otf2(where, events, rename=False):
    archive = f"{where}/host/4711_results.otf2"
    if not can_run("otf2-print"):
        return
    text = subprocess.run(["otf2-print", "-G", archive], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=True).stdout.decode("utf-8", "replace")
    counts = {int(m.group(1)): int(m.group(2)) for m in re.finditer(
        r"^LOCATION\s+(\d+)\s.*?# Events: (\d+)", text, re.M)}
    run = subprocess.run(["otf2-print", archive], stdout=subprocess.PIPE, check=True)
    text = run.stdout.decode("utf-8", "surrogateescape")
    seen, open_regions, got = collections.Counter(), collections.defaultdict(list), []
    last = {}
    pattern = re.compile(r'^(ENTER|LEAVE)\s+(\d+)\s+(\d+)\s+Region: "(.*?)" <(\d+)>', re.M | re.S)
    attribute = re.compile(r'ADDITIONAL ATTRIBUTES: \("category" <0>; STRING; "(\w+)"')
    for m in pattern.finditer(text):
        what, location, at, name = m.group(1), int(m.group(2)), int(m.group(3)), m.group(4)
        seen[location] += 1
        if at < last.get(location, 0):
            fail("otf2: time goes backwards")
        last[location] = at
        if what == "ENTER":
            category = attribute.search(text, m.end())
            open_regions[location, m.group(5)].append((at, name, category.group(1)))
        else:
            start, name, category = open_regions[location, m.group(5)].pop()
            got.append((category, start, at))
    if any(open_regions.values()):
        fail("otf2: a region is never left")
    same(dict(seen), counts, "otf2: events per location")
    expected = []
    for domain in list(CATEGORY) + ["MEMORY_ALLOCATION"]:
        for e in of(events, domain):
            if not (domain == "MARKER_API" and e["kind"] == 32 and e["op"] == 0):
                expected.append((domain.lower(), e["start"], e["end"]))
    # which of two overlapping regions of one name is left first cannot be told
    same_rows([(c, s) for c, s, _ in got], [(c, s) for c, s, _ in expected], "otf2 starts")
    same_rows([(c, e) for c, _, e in got], [(c, e) for c, _, e in expected], "otf2 ends")
