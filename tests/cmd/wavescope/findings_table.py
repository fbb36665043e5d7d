#!/usr/bin/env python3
"""What fired where, as the tables of docs/findings.md: findings_table.py rules | fired NAME=DIR..."""
import collections
import json
import subprocess
import sys


def advise(*words):
    return subprocess.run(["wavescope", "advise", *words], check=True, capture_output=True, text=True).stdout


def rules():
    print("| rule | about | finding |\n|---|---|---|")
    for line in advise("--list-rules").splitlines():
        name, about, title = line.split(None, 2)
        print(f"| `{name}` | {about} | {title} |")


def fired(places):
    print("| workload | finding | subjects, and what could be gained of their time at most |\n|---|---|---|")
    for place in places:
        name, path = place.split("=", 1)
        answer = json.loads(advise(path, "--json"))
        for f in answer["findings"]:
            subjects = [f"{s['subject'].split('(')[0]} {s['gain_pct']:.0f} %" for s in f["subjects"]]
            print(f"| {name} | `{f['id']}` | {', '.join(subjects)} |")
        if not answer["findings"]:
            print(f"| {name} | {'none' if answer['n_subjects'] else 'not checked: no durations'} | |")


def pairs(path):
    """For each rule about kernels: whether it fires on NAME_slow and not on NAME_fast."""
    found = json.loads(advise(path, "--json", "--min-share", "0", "--min-gain", "0"))["findings"]
    on = collections.defaultdict(set)
    for f in found:
        on[f["id"]].update(s["subject"].split("(")[0] for s in f["subjects"])
    wrong = n = 0
    for line in advise("--list-rules").splitlines():
        rule, about = line.split()[:2]
        if about != "kernel":
            continue
        n += 1
        if rule + "_slow" not in on[rule]:
            print(f"{rule} does not fire on {rule}_slow")
            wrong += 1
        # A cured kernel may still have another problem, but not its own.
        if rule + "_fast" in on[rule]:
            print(f"{rule} fires on {rule}_fast")
            wrong += 1
    print(f"{n} pairs, {wrong} wrong")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    if sys.argv[1] == "rules":
        rules()
    elif sys.argv[1] == "fired":
        fired(sys.argv[2:])
    else:
        pairs(sys.argv[2])
