"""Any number of databases as one sqlite3 connection.

Each file is attached, read-only, as db0, db1, ...; every table of the schema is a temporary view
over the same table of all of them, and the data views (kernels, regions, ...) are made on top.
"""
import contextlib
import os
import re
import sqlite3
import sys
import tempfile
import urllib.parse

import _wavescope

from .schema import RocpdSchema

__all__ = ["RocpdImportData", "execute_statement"]

_ATTACH_MAX = 10  # what SQLite is built with, as a rule


def execute_statement(conn, statement, is_script=False):
    """conn.execute(), which says on stderr which statement failed."""
    try:
        return conn.executescript(statement) if is_script else conn.execute(statement)
    except sqlite3.Error as why:
        sys.stderr.write(f"SQLite3 error: {why}\nStatement:\n\t{statement}\n")
        raise


def fetch(data, query, params=()):
    """(names of columns, rows as tuples), whatever row_factory is set."""
    cursor = data.cursor()
    cursor.row_factory = None
    cursor.execute(query, params)
    return [column[0] for column in cursor.description or ()], cursor.fetchall()


# ---- inputs ----

def _scalar(text):
    text = text.strip()
    quoted = re.match(r"""'((?:''|[^'])*)'|"((?:\\.|[^"\\])*)\"""", text)
    if not quoted:
        return text.split(" #")[0].rstrip()
    if quoted.group(1) is not None:
        return quoted.group(1).replace("''", "'")
    return re.sub(r"\\(.)", r"\1", quoted.group(2))


def _read_package(index):
    """The files that an index.yaml names: `path: FOLDER` and a list below `files:`."""
    with open(index, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    names, path, listed = [], ".", False
    for line in lines:
        key, colon, value = line.partition(":")
        if listed and line.startswith("- "):
            names.append(_scalar(line[2:]))
        elif key == "files" and colon:
            listed = True
            value = value.strip()
            if value.startswith("[") and value.endswith("]"):
                names += [_scalar(v) for v in value[1:-1].split(",") if v.strip()]
            elif value and not value.startswith("#"):
                names.append(_scalar(value))  # AMD's tool writes one name so
        elif line and not line.startswith("#"):
            listed = False
            if key == "path" and colon:
                path = _scalar(value)
    if not names:
        raise ValueError(f"'{index}' is not a package: no rocprofiler-sdk: rocpd: files:")
    return [os.path.join(os.path.dirname(index), path, name) for name in names]


def files_of(input):
    """The databases behind what a caller names."""
    if isinstance(input, RocpdImportData):
        return input.paths
    if isinstance(input, (str, os.PathLike)):
        input = [input]
    if not isinstance(input, (list, tuple)) or not input:
        raise ValueError("rocpd: the input is a file, a package, or a list of those, "
                         f"not {type(input).__name__}")
    files = []
    for name in map(os.fspath, input):
        index = os.path.join(name, "index.yaml")
        if not os.path.exists(name):
            raise FileNotFoundError(f"File '{name}' does not exist.")
        if os.path.isdir(name) and not os.path.exists(index):
            raise ValueError(f"'{name}' is a folder but not a package: specify the databases in it")
        if os.path.isdir(name):
            files += _read_package(index)
        elif name.endswith((".yaml", ".yml")):
            files += _read_package(name)
        else:
            files.append(name)
    return files


# ---- joining ----

def _attach(connection, i, path):
    uri = "file:" + urllib.parse.quote(os.path.abspath(path)) + "?mode=ro"
    try:
        connection.execute(f"ATTACH ? AS db{i}", (uri,))
        rows = connection.execute(
            f"SELECT DISTINCT value FROM db{i}.rocpd_metadata WHERE tag = 'uuid'").fetchall()
    except (sqlite3.Error, UnicodeDecodeError) as why:  # damage may be quoted in the complaint
        raise sqlite3.DatabaseError(f"'{path}' is not a rocpd database: {why}") from None
    if not rows:
        raise sqlite3.DatabaseError(
            f"'{path}' is not a rocpd database: no uuid in rocpd_metadata")
    return [row[0] for row in rows]


def _join(connection, files):
    """Temporary views over all files; from each view's name to what is put together in it."""
    seen, tables = set(), {}
    for i, path in enumerate(files):
        uuids = _attach(connection, i, path)
        # Joined with itself every number would be a multiple of what it is.
        if seen.intersection(uuids):
            raise ValueError(f"'{path}' contains a run that is also in another input: remove one")
        seen.update(uuids)
        for (name,) in connection.execute(
                f"SELECT name FROM db{i}.sqlite_master WHERE type = 'view' "
                "AND name LIKE 'rocpd\\_%' ESCAPE '\\'"):
            tables.setdefault(name, []).append(f'SELECT * FROM db{i}."{name}"')
    for name, selects in tables.items():
        connection.execute(f'CREATE TEMPORARY VIEW "{name}" AS ' + " UNION ALL ".join(selects))
    views = RocpdSchema().data_views.replace("CREATE VIEW IF NOT EXISTS", "CREATE VIEW")
    connection.executescript(views.replace("CREATE VIEW", "CREATE TEMPORARY VIEW"))
    return tables


@contextlib.contextmanager
def _fitting(files):
    """SQLite attaches only so many: one file made of all stands for more.

    It may go once it is attached: SQLite has it open.
    """
    if len(files) <= _ATTACH_MAX:
        yield files
        return
    with tempfile.TemporaryDirectory(prefix="rocpd-") as folder:
        _wavescope.read("rocpd", "merge", "-i", *files, "-o", "merged", "-d", folder)
        yield [os.path.join(folder, "merged.db")]


def _text(raw):
    # Names of kernels are whatever a compiler wrote; one that is not UTF-8 is no reason to stop.
    return str(raw, "utf-8", "replace")


class RocpdImportData:
    """Databases as one; whatever sqlite3.Connection has, this has, too.

    connection  the sqlite3.Connection
    databases   the files, as they were named; paths: the same from the root
    table_info  from each base table's name to the SELECTs that are put together in its view
    window      (first, last, inclusive) in ns after time_window.apply_time_window(), else None
    """

    def __init__(self, input, **kwargs):
        if isinstance(input, RocpdImportData):
            self.__dict__.update(input.__dict__)
            return
        if isinstance(input, sqlite3.Connection):
            raise ValueError("rocpd: the input is the files' names, not a connection to them")
        self.databases = files_of(input)
        self.paths = [os.path.abspath(path) for path in self.databases]
        self.window = None
        self.connection = sqlite3.connect(":memory:", uri=True, **kwargs)
        self.connection.text_factory = _text
        try:
            with _fitting(self.databases) as files:
                self.table_info = _join(self.connection, files)
        except BaseException:
            self.connection.close()
            raise

    def __getattr__(self, name):
        if name == "connection":  # not there yet
            raise AttributeError(name)
        return getattr(self.connection, name)

    def __setattr__(self, name, value):
        # What sqlite3 has for reading rows is to be set where it works.
        if hasattr(sqlite3.Connection, name):
            setattr(self.connection, name, value)
        else:
            object.__setattr__(self, name, value)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        # As sqlite3's own: ends the transaction, and leaves the connection open.
        return self.connection.__exit__(*what)
