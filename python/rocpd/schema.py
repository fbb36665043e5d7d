"""The SQL that a rocpd database is made with."""
import os
from uuid import uuid4

import _wavescope

__all__ = ["RocpdSchema"]

_TABLES = ("tables",)
_VIEWS = ("views", "data_views", "summary_views")


def _folder():
    folder = os.environ.get("ROCPD_SCHEMA_PATH") or _wavescope.beside(
        os.path.join("share", "rocprofiler-sdk-rocpd"), os.path.join("rocpd", "sql"))
    if os.path.exists(os.path.join(folder, "data_views.sql")):
        return folder
    raise FileNotFoundError(f"rocpd: no data_views.sql in '{folder}': set ROCPD_SCHEMA_PATH to "
                            "the folder of the SQL files")


class RocpdSchema:
    """Statements: `tables`, `indexes` (there are none) and `views`.

    @guid names the run, @uuid ends the names of its tables; what is not given is made up.
    """

    def __init__(self, uuid="", guid=""):
        guid = guid or str(uuid4())
        self._values = {"uuid": uuid or "_" + guid.replace("-", "_"), "guid": guid}
        self.tables = self.load_schema(*_TABLES)
        self.indexes = ""
        self.views = self.load_schema(*_VIEWS)
        self.data_views = self.load_schema(*_VIEWS[1:])

    def load_schema(self, *names):
        text = ""
        for name in names:
            with open(os.path.join(_folder(), name + ".sql"), encoding="utf-8") as file:
                text += file.read() + "\n"
        for key, value in self._values.items():
            text = text.replace("{{%s}}" % key, value)
        return text

    def write_schema(self, connection):
        """Make the tables and views of an empty database."""
        for text in (self.tables, self.indexes, self.views):
            connection.executescript(text)


def main(argv=None):
    """Print the tables, or make an empty database of them."""
    import argparse
    import sqlite3

    parser = argparse.ArgumentParser(prog="rocpd.schema", description=main.__doc__)
    parser.add_argument("--create", metavar="FILE", help="make an empty database here")
    args = parser.parse_args(argv)
    schema = RocpdSchema()
    if not args.create:
        print(schema.tables)
        return 0
    if os.path.exists(args.create):
        parser.error(f"'{args.create}' is there already: name a new file")
    connection = sqlite3.connect(args.create)
    schema.write_schema(connection)
    connection.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
