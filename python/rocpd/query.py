"""Any SQL over databases, as rows, as text or in a file.

    data = rocpd.connect("a_results.db")
    columns, rows = rocpd.query.fetch(data, "SELECT name, duration FROM kernels")
    frame = rocpd.query.dataframe(data, "SELECT * FROM kernels")       with pandas, if installed
    rocpd.query.export_sqlite_query(data, "SELECT * FROM top_kernels", export_format="csv",
                                    export_path="out/top")
"""
import json
import math
import os
import re
import sys

import _wavescope

from . import output_config
from .importer import RocpdImportData, fetch
from .time_window import apply_time_window

__all__ = ["fetch", "dataframe", "export_sqlite_query", "execute", "add_args", "process_args"]

# Controls, and what turns the direction of writing: a terminal must not obey a kernel's name.
_NOT_SHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def dataframe(data, query, params=()):
    """The rows as a pandas.DataFrame."""
    try:
        import pandas
    except ImportError:
        raise ImportError("rocpd: pandas is not installed: fetch() returns columns and rows "
                          "without it") from None
    columns, rows = fetch(data, query, params)
    return pandas.DataFrame.from_records(rows, columns=columns)


# ---- a table as text, as the command rocpd writes it ----

def _number(value):
    """As SQLite turns a float into text."""
    if not math.isfinite(value):
        return "Inf" if value > 0 else "-Inf"
    text = "%.15g" % value
    mantissa, e, exponent = text.partition("e")
    return mantissa + ("" if "." in mantissa else ".0") + e + exponent


def _cell(value, none=""):
    if value is None:
        return none
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return _number(value) if isinstance(value, float) else str(value)


def _console(columns, rows):
    def shown(value):
        return _NOT_SHOWN.sub(lambda m: "".join("\\x%02x" % b for b in m.group().encode()),
                              _cell(value, "None"))

    table = [columns] + [[shown(v) for v in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*table)]
    return "".join(" ".join(c.rjust(w) for c, w in zip(row, widths)) + "\n" for row in table)


def _csv(columns, rows):
    def quoted(text):
        return '"' + text.replace('"', '""') + '"' if re.search('[,"\r\n]', text) else text

    return "".join(",".join(quoted(_cell(v)) for v in row) + "\n" for row in [columns, *rows])


def _json(columns, rows):
    def value(v):
        if isinstance(v, float):
            return _number(v) if math.isfinite(v) else "null"
        return json.dumps(v if v is None or isinstance(v, int) else _cell(v), ensure_ascii=False)

    objects = [",\n".join(f"    {value(c)}: {value(v)}" for c, v in zip(columns, row))
               for row in rows]
    return "[" + ",".join("\n  {\n" + o + "\n  }" for o in objects) + "\n]\n"


def _md(columns, rows):
    def line(cells):
        return "".join("| %s " % c.replace("|", "\\|").replace("\n", " ") for c in cells) + "|\n"

    return (line(columns) + "|:---" * len(columns) + "|\n" +
            "".join(line(_cell(v, "None") for v in row) for row in rows))


def _html(columns, rows):
    def line(cells, tag):
        texts = (c.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for c in cells)
        return "<tr>" + "".join(f"<{tag}>{t}</{tag}>" for t in texts) + "</tr>\n"

    return ('<!DOCTYPE html>\n<meta charset="utf-8">\n<table border="1">\n<thead>\n' +
            line(columns, "th") + "</thead>\n<tbody>\n" +
            "".join(line((_cell(v, "None") for v in row), "td") for row in rows) +
            "</tbody>\n</table>\n")


_FORMATS = {"console": _console, "csv": _csv, "json": _json, "md": _md, "html": _html}


def export_sqlite_query(conn, query, params=(), export_format=None, export_path=None,
                        dashboard_template_path=None):
    """Run a query and print it, or write it to a file as csv, json, md or html.

    Returns the file's path, or None when it was printed or has no rows.
    """
    form = (export_format or "console").lower()
    if form not in _FORMATS or dashboard_template_path:
        raise ValueError(f"format '{form}' is not available: csv, json, md and html are")
    columns, rows = fetch(conn, query, params)
    if not rows:
        sys.stderr.write(f"No results found for query: {query}\n")
        return None
    text = _FORMATS[form](columns, rows)
    if form == "console":
        sys.stdout.write(text)
        return None
    path = os.path.abspath(output_config.format_path(os.fspath(export_path or "query_output"),
                                                     "rocpd"))
    path += "" if path.endswith("." + form) else "." + form
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    print(f"Exported to: {path}")
    return path


def execute(input, args, config=None, window_args=None, **kwargs):
    """Open, apply the time window, run args.script and args.query, export as args.format.

    @args is a script's options (see add_args()), or just the SQL. Returns as
    export_sqlite_query().
    """
    if isinstance(args, str):
        query, script, form = args, None, kwargs.pop("format", None)
    else:
        query, script, form = args.query, getattr(args, "script", None), args.format
        if getattr(args, "email_to", None):
            raise ValueError("no mail is sent from here: write a file and attach it")
    data = apply_time_window(RocpdImportData(input), **(window_args or {}))
    config = output_config.output_config(**kwargs) if config is None else config.update(**kwargs)
    if script:
        with open(script, encoding="utf-8") as file:
            data.executescript(file.read())
    folder = config.output_path or os.environ.get("ROCPD_OUTPUT_PATH") or "./rocpd-output-data"
    name = config.output_file or os.environ.get("ROCPD_OUTPUT_NAME") or "out"
    return export_sqlite_query(data, query, export_format=form,
                               export_path=os.path.join(folder, name))


def add_args(parser):
    """Options of a script's own for a query. Returns their names."""
    group = parser.add_argument_group("Query Options")
    group.add_argument("--query", required=True, help="one SQL statement")
    group.add_argument("--script", help="file with statements to run first, such as views")
    group.add_argument("--format", choices=tuple(_FORMATS), type=str.lower,
                       help="console (the default), csv, json, md or html")
    return ["query", "script", "format"]


def process_args(args, valid_args):
    """None of them belongs to an output_config."""
    return {}


def main(argv=None):
    """Run `rocpd query ARGS` (those of this program when None); its exit code."""
    args = sys.argv[1:] if argv is None else argv
    return _wavescope.call("rocpd", ["query", *args])


if __name__ == "__main__":
    _wavescope.become("rocpd", ["query"])
