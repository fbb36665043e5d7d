"""A Perfetto trace from databases.

    rocpd.pftrace.execute(["a_results.db", "b_results.db"], output_path="out", output_file="both")
    python3 -m rocpd.pftrace -i a_results.db b_results.db -d out -o both
"""
import _wavescope

from . import output_config
from .importer import RocpdImportData
from .time_window import apply_time_window


def write_pftrace(importData, config):
    """The files, of what @importData shows."""
    return output_config.write("pftrace", importData, config, {})


def execute(input, config=None, window_args=None, **kwargs):
    """Open, apply the time window, write; keywords as of output_config."""
    data = apply_time_window(RocpdImportData(input), **(window_args or {}))
    return output_config.write("pftrace", data, config, kwargs)


def add_args(parser):
    """Options that only this format has. Returns their names."""
    group = parser.add_argument_group("Perfetto trace (pftrace) options")
    group.add_argument("--perfetto-backend", default="inprocess", choices=["inprocess", "system"])
    group.add_argument("--perfetto-buffer-fill-policy", default="discard",
                       choices=["discard", "ring_buffer"])
    group.add_argument("--perfetto-buffer-size", type=int, metavar="KB")
    group.add_argument("--perfetto-shmem-size-hint", type=int, metavar="KB")
    group.add_argument("--group-by-queue", action="store_true",
                       help="timelines per queue instead of per stream")
    return ["perfetto_backend", "perfetto_buffer_fill_policy", "perfetto_buffer_size",
            "perfetto_shmem_size_hint", "group_by_queue"]


def process_args(args, valid_args):
    return {k: getattr(args, k) for k in valid_args if getattr(args, k, None) is not None}


def main(argv=None):
    """Run `rocpd2pftrace ARGS` (those of this program when None); its exit code."""
    import sys

    return _wavescope.call("rocpd2pftrace", sys.argv[1:] if argv is None else argv)


if __name__ == "__main__":
    _wavescope.become("rocpd2pftrace")
