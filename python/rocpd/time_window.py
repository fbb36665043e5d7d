"""Looking at a stretch of time: the views of everything that has a time are narrowed."""
import argparse
import sqlite3

from .importer import RocpdImportData, fetch

__all__ = ["apply_time_window", "get_min_max_time", "add_args", "process_args", "execute"]

_TIMED = {
    "rocpd_region": ("start", "end"), "rocpd_kernel_dispatch": ("start", "end"),
    "rocpd_memory_copy": ("start", "end"), "rocpd_memory_allocate": ("start", "end"),
    "rocpd_sample": ("timestamp", "timestamp"),
}


def get_min_max_time(connection):
    """The first and the last nanosecond of the data; (None, None) where nothing has a time."""
    parts = [f'SELECT MIN("{start}") AS a, MAX("{end}") AS b FROM {table}'
             for table, (start, end) in _TIMED.items()]
    _, rows = fetch(connection, "SELECT MIN(a), MAX(b) FROM (" + " UNION ALL ".join(parts) + ")")
    return rows[0]


def _time(option, text, first, last):
    text = str(text)
    try:
        if not text.endswith("%"):
            return int(text)
        percent = float(text[:-1])
    except ValueError:
        raise ValueError(f"{option}: '{text}' is neither nanoseconds nor a percentage") from None
    if not 0 <= percent <= 100:
        raise ValueError(f"{option}: '{text}' is not in 0% to 100%")
    return first + int((last - first) * percent / 100)


def _marker(connection, name, what):
    _, rows = fetch(connection, f"SELECT {what} FROM regions_and_samples WHERE category LIKE "
                    "'MARKER%' AND json_extract(extdata, '$.message') = ?", (name,))
    if rows[0][0] is None:
        raise ValueError(f"no marker '{name}' in the data")
    return rows[0][0]


def _narrow(connection, table, from_ns, to_ns, inclusive):
    start, end = _TIMED[table]
    if not inclusive:
        start, end = end, start
    whole = " UNION ALL ".join(connection.table_info[table])
    connection.execute(f'DROP VIEW temp."{table}"')
    connection.execute(f'CREATE TEMPORARY VIEW "{table}" AS SELECT * FROM ({whole}) '
                       f'WHERE "{start}" >= {from_ns} AND "{end}" <= {to_ns}')


def apply_time_window(connection, start=None, end=None, start_marker=None, end_marker=None,
                      inclusive=True, **_):
    """Leave out of the views what lies outside of the window.

    start, end                nanoseconds, or a share of the span such as "25%"
    start_marker, end_marker  names of roctx markers: where the first begins, where the last ends
    inclusive                 True: only what lies inside as a whole; False: also what reaches in
    """
    if start is None and end is None and start_marker is None and end_marker is None:
        return connection
    if (start is not None and start_marker is not None) or (
            end is not None and end_marker is not None):
        raise ValueError("start and start_marker, end and end_marker exclude each other")
    first, last = get_min_max_time(connection)
    if first is None:
        raise ValueError("ERROR: Cannot create time window - trace file contains no timing data")
    from_ns, to_ns = first, last
    if start is not None:
        from_ns = _time("start", start, first, last)
    if end is not None:
        to_ns = _time("end", end, first, last)
    if start_marker is not None:
        from_ns = _marker(connection, start_marker, "MIN(start)")
    if end_marker is not None:
        to_ns = _marker(connection, end_marker, 'MAX("end")')
    if to_ns <= from_ns:
        raise ValueError(f"the window ends at {to_ns}, before it begins at {from_ns}")
    for table in _TIMED:
        if table in connection.table_info:
            _narrow(connection, table, from_ns, to_ns, inclusive)
    connection.window = (from_ns, to_ns, bool(inclusive))
    for label, a, b in (("Initial", first, last), ("Windowed", from_ns, to_ns)):
        print(f"# {label:>8} time bounds: {a} : {b} nsec (delta={b - a} nsec)")
    reduced = 100.0 * (1 - (to_ns - from_ns) / (last - first)) if last > first else 0.0
    print(f"# Time windowing reduced the duration by {reduced:6.2f}%")
    return connection


def options(data):
    """The options of the command rocpd for the window of @data."""
    if data.window is None:
        return []
    from_ns, to_ns, inclusive = data.window
    return ["--start", str(from_ns), "--end", str(to_ns), "--inclusive", str(inclusive).lower()]


def _truth(text):
    return text.lower() in ("true", "t", "yes", "1")


def add_args(parser):
    """Options of a script's own for the window. Returns their names."""
    group = parser.add_argument_group("Time window options")
    pair = group.add_mutually_exclusive_group()
    pair.add_argument("--start", help="leave out what is before: ns, or 25%% of the span")
    pair.add_argument("--start-marker", help="begin where this roctx marker begins")
    pair = group.add_mutually_exclusive_group()
    pair.add_argument("--end", help="end of the time window")
    pair.add_argument("--end-marker", help="end where this roctx marker ends")
    group.add_argument("--inclusive", type=_truth, default=True,
                       help="true (the default): only what lies inside as a whole")
    return ["start", "end", "inclusive", "start_marker", "end_marker"]


def process_args(args, valid_args):
    return {k: getattr(args, k) for k in valid_args if getattr(args, k, None) is not None}


def execute(input_rpd, **kwargs):
    """Open databases and narrow them."""
    return apply_time_window(RocpdImportData(input_rpd), **kwargs)


def main(argv=None):
    """Say what a time window leaves of the data."""
    parser = argparse.ArgumentParser(prog="rocpd.time_window", description=main.__doc__)
    parser.add_argument("-i", "--input", nargs="+", required=True, metavar="FILE")
    names = add_args(parser)
    args = parser.parse_args(argv)
    try:
        execute(args.input, **process_args(args, names))
    except (OSError, ValueError, sqlite3.Error) as why:
        parser.error(str(why))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
