#!/usr/bin/env python3
"""settings_bad_data.py GENERATOR: every mistake in data/settings/ that the generator knows is refused."""
import os
import subprocess
import sys
import tempfile

GOOD = "[A]\ntype = bool\ndefault = true\ncategories = x\nhelp = H.\n"
CASES = [
    ("type = bool\n", "neither '[NAME]' nor"),
    ("[A]\nkind = bool\n", "unknown line 'kind'"),
    ("[A]\ntype = bool\ntype = int\n", "'type' occurs twice in [A]"),
    (GOOD + GOOD, "[A] is defined twice"),
    (GOOD.replace("help = H.\n", ""), "[A] has no 'help'"),
    (GOOD.replace("bool", "flag"), "no type 'flag'"),
    (GOOD.replace("true", "on"), "default of a bool is true or false"),
    (GOOD.replace("bool", "int").replace("true", "1.5"), "'1.5' is not of type int"),
    (GOOD.replace("bool", "string") + "choices = a b\n", "'true' is not among its choices"),
    (GOOD + "advanced = no\n", "'advanced' is yes, or left out"),
    (GOOD + "option = maybe\n", "'option' is own or none"),
    (GOOD + "renamed = B\n", "no setting B"),
    (GOOD + "renamed = A\n", "'renamed' and the category deprecated belong together"),
    (GOOD.replace("[A]", "[A_*]"), "'*' in a name and 'each' belong together"),
]


def run(text, folder):
    path = os.path.join(folder, "bad.settings")
    with open(path, "w") as f:
        f.write(text)
    return subprocess.run([sys.executable, sys.argv[1], os.path.join(folder, "ids.h"),
                           os.path.join(folder, "table.c"), path], stderr=subprocess.PIPE, text=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        good = run(GOOD, folder)
        if good.returncode:
            sys.exit("refused: " + good.stderr)
        for text, message in CASES:
            done = run(text, folder)
            if not done.returncode or message not in done.stderr or "bad.settings:" not in done.stderr:
                sys.exit("not refused with '%s': %r: %s" % (message, text, done.stderr))


main()
