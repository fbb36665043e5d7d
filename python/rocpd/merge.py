"""One database made of several."""
import os
import sys

import _wavescope

from .importer import files_of

__all__ = ["execute"]


def execute(input, output_file="merged", output_path="."):
    """Merge databases or packages; the path of the new database."""
    files = files_of(input)
    _wavescope.read("rocpd", "merge", "-i", *files, "-o", output_file, "-d", output_path)
    return os.path.abspath(os.path.join(output_path, output_file + ".db"))


def main(argv=None):
    """Run `rocpd merge ARGS` (those of this program when None); its exit code."""
    return _wavescope.call("rocpd", ["merge", *(sys.argv[1:] if argv is None else argv)])


if __name__ == "__main__":
    _wavescope.become("rocpd", ["merge"])
