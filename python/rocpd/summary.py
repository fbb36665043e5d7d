"""Calls and times by name, per kind of event: as views to query, as text or in files.

    data = rocpd.summary.execute(["a_results.db", "b_results.db"], format="csv", output_path="out")
    data.execute('SELECT Name, Calls, "DURATION (nsec)" FROM kernels_summary')
"""
import math
import os
import sys

import _wavescope

from .importer import RocpdImportData, fetch
from .query import export_sqlite_query
from .time_window import apply_time_window

__all__ = ["create_summary_views", "create_summary_region_views", "create_domain_view",
           "generate_all_summaries", "get_temp_view_names", "get_temp_view_columns", "execute",
           "add_io_args", "add_args", "process_args"]

def _sections():
    """summary.sql, which the command rocpd is made from too: {(words after the @): text}."""
    path = os.path.join(_wavescope.beside(os.path.join("share", "rocprofiler-sdk-rocpd"),
                                          os.path.join("rocpd", "sql")), "summary.sql")
    found = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            if line.startswith("-- @"):
                words = tuple(line[4:].split())
                found[words] = ""
            elif found:
                found[words] += line
    return found


_SQL = _sections()
# Rows by view; and the view of each category of API calls.
_ROWS = {words[1]: text for words, text in _SQL.items() if words[0] == "rows"}
_CATEGORIES = {words[2]: words[1] for words in _SQL if len(words) > 2}


class _Deviation:
    """The sample deviation; one pass, without cancellation."""

    def __init__(self):
        self.n, self.mean, self.m2 = 0, 0.0, 0.0

    def step(self, value):
        if value is not None:
            self.n += 1
            delta = value - self.mean
            self.mean += delta / self.n
            self.m2 += delta * (value - self.mean)

    def finalize(self):
        return math.sqrt(self.m2 / (self.n - 1)) if self.n > 1 else None


def get_temp_view_names(connection):
    return [row[0] for row in fetch(
        connection, "SELECT name FROM sqlite_temp_master WHERE type = 'view'")[1]]


def get_temp_view_columns(connection, view_name):
    return fetch(connection, f'SELECT * FROM "{view_name}" LIMIT 0')[0]


def _create(connection, view, text):
    connection.create_aggregate("rpd_stddev", 1, _Deviation)
    connection.execute(f'DROP VIEW IF EXISTS temp."{view}"')
    connection.execute(f'CREATE TEMPORARY VIEW "{view}" AS {text}')


def _grouped(rows, by_rank):
    """Rows of (guid, pid, "Name", duration), by name or by process and name."""
    return _SQL[("by_rank" if by_rank else "by_name",)].replace("{{rows}}", rows)


def _create_views(connection, views, by_rank):
    for view in views:
        _create(connection, f"{view}_summary", _grouped(_ROWS[view], False))
        if by_rank:
            _create(connection, f"{view}_summary_by_rank", _grouped(_ROWS[view], True))


def _gpu_views():
    return [view for view in _ROWS if view not in _CATEGORIES.values()]


def create_summary_views(connection, by_rank=False):
    """kernels_summary, memory_copies_summary, ...; and X_summary_by_rank."""
    _create_views(connection, _gpu_views(), by_rank)


def _wanted(region_categories):
    if region_categories is None:
        return list(_CATEGORIES.values())
    asked = {c.upper() for c in region_categories}
    unknown = asked - set(_CATEGORIES) - {"NONE", "MARKERS"}
    if unknown:
        raise ValueError(
            f"region category '{min(unknown)}' is none of {', '.join(_CATEGORIES)}, NONE")
    return [view for c, view in _CATEGORIES.items() if c in asked or c + "S" in asked]


def create_summary_region_views(connection, by_rank=False, region_categories=None):
    """hip_summary, hsa_summary, ..., markers_summary: of the requested categories, or all."""
    _create_views(connection, _wanted(region_categories), by_rank)


def create_domain_view(connection, by_rank=False, region_categories=None):
    """domain_summary: every kind of event as one row. Returns the view's name."""
    rows = " UNION ALL ".join(
        f"SELECT guid, pid, duration, '{view.upper()}' AS \"Name\" FROM ({_ROWS[view]})"
        for view in _gpu_views() + _wanted(region_categories))
    name = "domain_summary_by_rank" if by_rank else "domain_summary"
    _create(connection, name, _grouped(rows, by_rank))
    return name


def export_view(connection, view_name, output_format, output_path, filename=""):
    """A view as text or in a file; nothing when it is empty."""
    query = f'SELECT * FROM "{view_name}"'
    if not fetch(connection, query + " LIMIT 1")[1]:
        return None
    if output_format == "console":
        print(f"\n{view_name.upper()}:")
    name = f"{filename}_{view_name}" if filename else view_name
    return export_sqlite_query(connection, query, export_format=output_format,
                               export_path=os.path.join(output_path, name))


def generate_all_summaries(connection, format="console", output_file="", output_path=None,
                           domain_summary=False, summary_by_rank=False, region_categories=None):
    """Make the views and print them, or write each to a file; the files' paths."""
    output_path = output_path or os.environ.get("ROCPD_OUTPUT_PATH") or "./rocpd-output-data"
    create_summary_views(connection, summary_by_rank)
    create_summary_region_views(connection, summary_by_rank, region_categories)
    for by_rank in (False, True)[:1 + bool(summary_by_rank)] if domain_summary else ():
        create_domain_view(connection, by_rank, region_categories)
    paths = []
    for end, title in (("_summary", "Summary files:"),
                       ("_summary_by_rank", "Summary files by rank:"))[:1 + bool(summary_by_rank)]:
        print(f"\n{title}")
        for view in get_temp_view_names(connection):
            if view.endswith(end):
                paths.append(export_view(connection, view, format, output_path, output_file))
    return [path for path in paths if path]


def add_io_args(parser):
    """Options of a script's own for where summaries go. Returns their names."""
    group = parser.add_argument_group("I/O options")
    group.add_argument("-f", "--format", default="console",
                       choices=("console", "csv", "html", "json", "md"),
                       help="console (the default), csv, json, md or html")
    group.add_argument("-o", "--output-file", default=os.environ.get("ROCPD_OUTPUT_NAME", ""),
                       help="beginning of the file names")
    group.add_argument("-d", "--output-path",
                       default=os.environ.get("ROCPD_OUTPUT_PATH", "./rocpd-output-data"),
                       help="where files go (default: ./rocpd-output-data)")
    return ["format", "output_file", "output_path"]


def add_args(parser):
    """Options of a script's own for what is summed up. Returns their names."""
    group = parser.add_argument_group("Summary options")
    group.add_argument("--domain-summary", action="store_true",
                       help="add a table with a row per kind of event")
    group.add_argument("--summary-by-rank", action="store_true",
                       help="also print every table per process")
    group.add_argument("--region-categories", nargs="+",
                       help="HIP HSA RCCL ROCDECODE ROCJPEG MARKER, or NONE (default: all)")
    return ["domain_summary", "summary_by_rank", "region_categories"]


def process_args(args, valid_args):
    return {k: getattr(args, k) for k in valid_args if getattr(args, k, None) is not None}


def execute(input, window_args=None, **kwargs):
    """Open, apply the time window, generate_all_summaries(**kwargs); the data with its views."""
    data = apply_time_window(RocpdImportData(input), **(window_args or {}))
    generate_all_summaries(data, **kwargs)
    return data


def main(argv=None):
    """Run `rocpd2summary ARGS` (those of this program when None); its exit code."""
    return _wavescope.call("rocpd2summary", sys.argv[1:] if argv is None else argv)


if __name__ == "__main__":
    _wavescope.become("rocpd2summary")
