#!/usr/bin/env python3
"""Texts that others chose: foreign_text.py KIND FILE...

shown   a terminal would obey nothing in it, and it is UTF-8
json    it is JSON in UTF-8
xml     it is XML
db      every text of a SQLite database is UTF-8
pftrace every string of a Perfetto trace is UTF-8: all fields that hold bytes are walked, and
        those that are no messages are texts here
"""
import json
import re
import sqlite3
import sys
import xml.dom.minidom


def shown(data):
    text = data.decode("utf-8")
    # our own colours are not printed to files
    bad = re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    assert not bad, f"{bad.group()!r} in {text[max(0, bad.start() - 40):bad.end() + 40]!r}"


def db(path):
    base = sqlite3.connect(path)
    n = 0
    for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        for row in base.execute(f'SELECT * FROM "{name}"'):
            n += sum(isinstance(value, str) for value in row)
    assert n, "no text"


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """[(number, bytes)] of a message, or None when it is none."""
    at, found = 0, []
    try:
        while at < len(data):
            tag, at = varint(data, at)
            kind, number = tag & 7, tag >> 3
            if number == 0:
                return None
            if kind == 0:
                _, at = varint(data, at)
            elif kind == 1:
                at += 8
            elif kind == 5:
                at += 4
            elif kind == 2:
                n, at = varint(data, at)
                if at + n > len(data):
                    return None
                found.append((number, data[at:at + n]))
                at += n
            else:
                return None
            if at > len(data):
                return None
    except IndexError:
        return None
    return found


def texts(data):
    inner = fields(data)
    if inner is None or not data:
        yield data
        return
    for _, value in inner:
        yield from texts(value)


def main():
    kind = sys.argv[1]
    for path in sys.argv[2:]:
        data = open(path, "rb").read()
        try:
            if kind == "shown":
                shown(data)
            elif kind == "json":
                json.loads(data.decode("utf-8"))
            elif kind == "xml":
                xml.dom.minidom.parseString(data)
            elif kind == "db":
                db(path)
            elif kind == "pftrace":
                assert fields(data), "not a trace"
                for text in texts(data):
                    text.decode("utf-8")
        except Exception as error:  # noqa: BLE001
            sys.exit(f"{path}: {error}")


main()
