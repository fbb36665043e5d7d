"""An OTF2 archive from databases.

    rocpd.otf2.execute(["a_results.db", "b_results.db"], output_path="out", output_file="both")
    python3 -m rocpd.otf2 -i a_results.db b_results.db -d out -o both
"""
import _wavescope

from . import output_config
from .importer import RocpdImportData
from .time_window import apply_time_window


def write_otf2(importData, config):
    """The files, of what @importData shows."""
    return output_config.write("otf2", importData, config, {})


def execute(input, config=None, window_args=None, **kwargs):
    """Open, apply the time window, write; keywords as of output_config."""
    data = apply_time_window(RocpdImportData(input), **(window_args or {}))
    return output_config.write("otf2", data, config, kwargs)


def add_args(parser):
    """There are no options that only OTF2 has."""
    return []


def process_args(args, valid_args):
    return {k: getattr(args, k) for k in valid_args if getattr(args, k, None) is not None}


def main(argv=None):
    """Run `rocpd2otf2 ARGS` (those of this program when None); its exit code."""
    import sys

    return _wavescope.call("rocpd2otf2", sys.argv[1:] if argv is None else argv)


if __name__ == "__main__":
    _wavescope.become("rocpd2otf2")
