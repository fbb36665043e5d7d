#!/usr/bin/env python3
"""Turns data/settings/*.settings into C: gen_settings.py HEADER TABLE DATA_FILE...

HEADER gets the identifiers and the options of rocprof-sys-run as X-macros, TABLE the definitions.
data/settings/README.md describes the files.
"""
import re
import sys

PREFIX = "ROCPROFSYS_"
TYPES = ["bool", "int", "unsigned", "double", "string", "list"]
KEYS = {"type", "default", "categories", "choices", "advanced", "option", "renamed", "unused", "help", "each"}
OWN = ["custom", "librocprof-sys", "rocprofsys"]  # categories of all settings that are not timemory's
NUMBER = {"int": r"-?\d+$", "unsigned": r"\d+$", "double": r"-?\d+(\.\d+)?$"}


def fail(place, text):
    sys.exit("%s:%d: %s" % (place[0], place[1], text))


class Setting:
    def __init__(self, name, place):
        self.name, self.place, self.lines = name, place, {}

    def get(self, key):
        return self.lines.get(key, "")

    @property
    def categories(self):
        words = self.get("categories").split()
        if "native" in words:
            words = ["timemory" if w == "native" else w for w in words]
        else:
            words += OWN
        return sorted(set(words))


def read(path):
    """The blocks of a file, those with `each` once for each word."""
    blocks, key = [], None
    for n, line in enumerate(open(path, encoding="utf-8"), 1):
        place, line = (path, n), line.rstrip("\n")
        head = re.match(r"\[([A-Z0-9_*]+)\]$", line)
        pair = re.match(r"([a-z]+) =(?: (.*))?$", line)
        if not line or line.startswith("#"):
            key = None
        elif head:
            blocks.append(Setting(head.group(1), place))
            key = None
        elif line.startswith("\t") and key:
            blocks[-1].lines[key] += " " + line.strip()
        elif pair and blocks:
            key = pair.group(1)
            if key not in KEYS:
                fail(place, "unknown line '%s'" % key)
            if key in blocks[-1].lines:
                fail(place, "'%s' occurs twice in [%s]" % (key, blocks[-1].name))
            blocks[-1].lines[key] = (pair.group(2) or "").strip()
        else:
            fail(place, "neither '[NAME]' nor 'key = value'")
    for block in blocks:
        if ("*" in block.name) != bool(block.get("each")):
            fail(block.place, "[%s]: '*' in a name and 'each' belong together" % block.name)
        for word in block.get("each").split() or [""]:
            setting = Setting(block.name.replace("*", word), block.place)
            setting.lines = block.lines
            yield setting


def check(settings):
    names = {}
    for s in settings:
        if s.name in names:
            fail(s.place, "[%s] is defined twice" % s.name)
        names[s.name] = s
    for s in settings:
        kind, default, choices = s.get("type"), s.get("default"), s.get("choices").split()
        for key in ("type", "categories", "help"):
            if not s.get(key):
                fail(s.place, "[%s] has no '%s'" % (s.name, key))
        if kind not in TYPES:
            fail(s.place, "[%s]: no type '%s'" % (s.name, kind))
        if kind == "bool" and default not in ("true", "false"):
            fail(s.place, "[%s]: the default of a bool is true or false" % s.name)
        if kind in NUMBER and not re.match(NUMBER[kind], default):
            fail(s.place, "[%s]: the default '%s' is not of type %s" % (s.name, default, kind))
        for word in re.split(r"[ ,]+", default) if choices and default else []:
            if word not in choices:
                fail(s.place, "[%s]: the default '%s' is not among its choices" % (s.name, word))
        if s.get("advanced") not in ("", "yes"):
            fail(s.place, "[%s]: 'advanced' is yes, or left out" % s.name)
        if s.get("option") not in ("", "own", "none"):
            fail(s.place, "[%s]: 'option' is own or none" % s.name)
        if s.get("renamed") and s.get("renamed") not in names:
            fail(s.place, "[%s]: no setting %s" % (s.name, s.get("renamed")))
        if bool(s.get("renamed")) != ("deprecated" in s.categories):
            fail(s.place, "[%s]: 'renamed' and the category deprecated belong together" % s.name)


def text(value):
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def words(values):
    return "(const char *const[]){ %s, NULL }" % ", ".join(text(v) for v in values)


def option(s):
    """A row for rocprof-sys-run, or None."""
    if s.get("option") or s.get("renamed"):
        return None
    name = s.name.lower().replace("_", "-")
    kind = {"bool": "SWITCH", "list": "WORDS"}.get(s.get("type"), "STR")
    arg = {"int": "N", "unsigned": "N", "double": "X", "string": "TEXT", "list": "NAME..."}.get(s.get("type"), "")
    return "%s(%s, 0, %s, %s, %s)" % (kind, s.name, text(name), text(arg), text(s.get("help")))


def write_header(path, settings):
    with open(path, "w") as to:
        to.write("/* Made by settings/gen_settings.py. */\n#ifndef WS_SETTINGS_IDS_H\n#define WS_SETTINGS_IDS_H\n\n")
        to.write("/* clang-format off */\n#define SET_ID_TABLE(X)")
        for s in settings:
            to.write(" \\\n\tX(%s)" % s.name)
        to.write("\n\n/* Settings without an option of their own: kind(setting, letter, name, argument, help). */\n")
        to.write("#define SET_OPTION_TABLE(SWITCH, STR, WORDS)")
        for row in filter(None, map(option, settings)):
            to.write(" \\\n\t" + row)
        to.write("\n/* clang-format on */\n\n#endif\n")


def write_table(path, settings):
    with open(path, "w") as to:
        to.write('/* Made by settings/gen_settings.py. */\n#include "settings/def.h"\n\n')
        to.write("const struct set_def set_defs[SET_COUNT] = {\n")
        for s in settings:
            to.write("\t[SET_%s] = {\n" % s.name)
            to.write("\t\t.name = %s, .key = %s,\n" % (text(PREFIX + s.name), text(s.name.lower())))
            to.write("\t\t.type = SET_TYPE_%s, .fallback = %s,\n" % (s.get("type").upper(), text(s.get("default"))))
            to.write("\t\t.categories = %s,\n" % words(s.categories))
            if s.get("choices"):
                to.write("\t\t.choices = %s,\n" % words(s.get("choices").split()))
            to.write("\t\t.help = %s,\n" % text(s.get("help")))
            if s.get("unused"):
                to.write("\t\t.unused = %s,\n" % text(s.get("unused")))
            to.write("\t\t.advanced = %s, .renamed = %s,\n" %
                     ("true" if s.get("advanced") else "false",
                      "SET_" + s.get("renamed") if s.get("renamed") else "SET_COUNT"))
            to.write("\t},\n")
        to.write("};\n")


def main():
    header, table, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    settings = [s for path in files for s in read(path)]
    check(settings)
    write_header(header, settings)
    write_table(table, settings)


main()
