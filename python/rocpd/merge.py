"""One database made of several."""
import os
import sys

import _wavescope

from .importer import files_of

__all__ = ["execute", "merge_sqlite_dbs"]


def execute(input, output_file="merged", output_path="."):
    """Merge databases or packages; the path of the new database."""
    name = output_file[:-3] if output_file.endswith(".db") else output_file
    _wavescope.read("rocpd", "merge", "-i", *files_of(input), "-o", name, "-d", output_path)
    return os.path.abspath(os.path.join(output_path, name + ".db"))


def merge_sqlite_dbs(sources, dest_path, on_log=None):
    """Merge @sources into the file @dest_path; @on_log, such as print, gets the messages."""
    folder, name = os.path.split(os.path.abspath(dest_path))
    path = execute(list(sources), name, folder)
    if path != os.path.abspath(dest_path):  # it does not end in .db
        os.replace(path, dest_path)
    if on_log:
        on_log(f"  Merged into {dest_path}")


def main(argv=None):
    """Run `rocpd merge ARGS` (those of this program when None); its exit code."""
    return _wavescope.call("rocpd", ["merge", *(sys.argv[1:] if argv is None else argv)])


if __name__ == "__main__":
    _wavescope.become("rocpd", ["merge"])
