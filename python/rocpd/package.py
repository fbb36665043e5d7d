"""A folder that stands for several databases."""
import os
import sys

import _wavescope

from .importer import files_of

__all__ = ["execute", "flatten_rocpd_yaml_input_file"]


def flatten_rocpd_yaml_input_file(input, **_):
    """The databases behind files and packages; there is no need to merge them first."""
    return list(files_of(input))


def execute(input, output_path="rocpd", copy=False, consolidate=False):
    """Make the package <output_path>.rpdb, which refers to the databases, or has copies of them,
    or one made of all; its path."""
    files = files_of(input)
    path = output_path if output_path.endswith(".rpdb") else output_path + ".rpdb"
    flags = ["--copy"] * bool(copy) + ["--consolidate"] * bool(consolidate)
    _wavescope.read("rocpd", "package", "-i", *files, "-d", path, *flags)
    return os.path.abspath(path)


def main(argv=None):
    """Run `rocpd package ARGS` (those of this program when None); its exit code."""
    return _wavescope.call("rocpd", ["package", *(sys.argv[1:] if argv is None else argv)])


if __name__ == "__main__":
    _wavescope.become("rocpd", ["package"])
