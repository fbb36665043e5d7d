"""Where files go and how things are named in them."""
import argparse
import os
import re
import socket
import sys
import time

import _wavescope

__all__ = ["format_path", "output_config", "add_args", "process_args"]

_DEFAULTS = {
    "output_path": None, "output_file": None, "tmp_directory": None,
    "csv": False, "pftrace": False, "otf2": False,
    "kernel_rename": False, "agent_index_value": "relative", "group_by_queue": False,
    "perfetto_backend": "inprocess", "perfetto_buffer_fill_policy": "discard",
    "perfetto_buffer_size": None, "perfetto_shmem_size_hint": None,
}


class output_config:
    """Settings of a conversion, as attributes and as keywords:

    output_path, output_file          the folder, and the beginning of the names in it
    kernel_rename                     name kernels by the roctx range around their launch
    agent_index_value                 "absolute", "relative" or "type-relative" numbers
    group_by_queue                    timelines per queue instead of per stream
    perfetto_backend, perfetto_buffer_fill_policy, perfetto_buffer_size,
    perfetto_shmem_size_hint          accepted, as the command accepts them
    """

    def __init__(self, **kwargs):
        self.__dict__.update(_DEFAULTS)
        self.update(**kwargs)

    def update(self, strict=True, **kwargs):
        """Set attributes; of an unknown one a KeyError unless @strict is false. Returns itself."""
        for key, value in kwargs.items():
            if key in _DEFAULTS:
                setattr(self, key, value)
            elif strict:
                raise KeyError(f"output_config does not have {key} attribute")
        return self

    def __repr__(self):
        return "output_config(%s)" % ", ".join(f"{k}={v!r}" for k, v in vars(self).items())


def options(config):
    """The options of `rocpd convert` that say the same."""
    args = []
    for key in ("output_path", "output_file"):
        if getattr(config, key) is not None:
            args += ["--" + key.replace("_", "-"), format_path(os.fspath(getattr(config, key)))]
    for key in ("kernel_rename", "group_by_queue"):
        if getattr(config, key):
            args.append("--" + key.replace("_", "-"))
    for key in ("agent_index_value", "perfetto_backend", "perfetto_buffer_fill_policy",
                "perfetto_buffer_size", "perfetto_shmem_size_hint"):
        if getattr(config, key) != _DEFAULTS[key]:
            args += ["--" + key.replace("_", "-"), str(getattr(config, key))]
    return args


def write(form, data, config, kwargs):
    """`rocpd convert` of the files and the time window of @data; what it complains is raised."""
    from . import importer, time_window

    data = importer.RocpdImportData(data)
    config = output_config(**kwargs) if config is None else config.update(**kwargs)
    _wavescope.read("rocpd", "convert", "-i", *data.paths, "-f", form, *options(config),
                    *time_window.options(data))
    return True


def check_file_exists(filename):
    """For argparse."""
    if not os.path.exists(filename):
        raise argparse.ArgumentTypeError(f"File '{filename}' does not exist.")
    return filename


# ---- placeholders ----

def _last_set(names, otherwise):
    values = [os.environ[n] for n in names if os.environ.get(n)]
    return values[-1] if values else otherwise


def _siblings():
    try:
        with open(f"/proc/{os.getppid()}/task/{os.getppid()}/children", encoding="ascii") as file:
            return len(file.read().split())
    except OSError:
        return 1


def _values(tag):
    words = [w.replace("/", "_").lstrip("._") for w in sys.argv]
    ranks = [f"{m}_{n}" for m, n in (("MPI", "RANK"), ("MPI", "LOCALRANKID"), ("MPI", "RANKID"),
                                     ("MV2_COMM_WORLD", "RANK"), ("OMPI_COMM_WORLD", "RANK"))]
    sizes = [f"{m}_{n}" for m, n in (("MPI", "SIZE"), ("MPI", "LOCALNRANKS"), ("MPI", "NRANKS"),
                                     ("MV2_COMM_WORLD", "SIZE"), ("OMPI_COMM_WORLD", "SIZE"))]
    rank = os.environ.get("SLURM_PROCID") or _last_set(ranks, "0")
    values = {
        "argv": "_".join(words), "args": "_".join(words[1:]), "argt": tag + "_".join(words[1:]),
        "tag": tag, "hostname": socket.gethostname(), "cwd": os.getcwd(),
        "pid": os.getpid(), "ppid": os.getppid(), "pgid": os.getpgid(0), "psid": os.getsid(0),
        "psize": _siblings(), "job": os.environ.get("SLURM_JOB_ID") or "0",
        "rank": rank, "nid": rank, "size": _last_set(sizes, "1"),
        "launch_date": time.strftime(os.environ.get("ROCPROF_DATE_FORMAT", "%F")),
        "launch_time": time.strftime(os.environ.get("ROCPROF_TIME_FORMAT", "%F_%H.%M")),
    }
    values.update((f"arg{i}", word) for i, word in enumerate(words))
    return values


def _environment(match):
    return re.sub(r"[\t /]", "_", os.environ.get(match.group(1), "").lstrip("\t /"))


def format_path(path, tag=os.path.basename(sys.executable or "python3")):
    """@path with the placeholders of docs/rocprofv3.md filled in for this process."""
    if not re.search(r"[%{$]", path):
        return path
    path = re.sub(r"(?:%env|%ENV|\$env|\$ENV|%q)\{([A-Z0-9_]+)\}%?", _environment, path)
    values = _values(tag)
    path = re.sub(r"%(\w+)%|\{(\w+)\}",
                  lambda m: str(values.get(m.group(1) or m.group(2), m.group(0))), path)
    short = {"h": "hostname", "p": "pid", "j": "job", "r": "rank", "s": "size"}
    return re.sub(r"%([hpjrs])(?!\w)", lambda m: str(values[short[m.group(1)]]), path)


# ---- arguments of scripts ----

def add_args(parser):
    """Options of a script's own: the folder and names of files. Returns their names."""
    group = parser.add_argument_group("I/O options")
    group.add_argument("-o", "--output-file", default=os.environ.get("ROCPD_OUTPUT_NAME", "out"),
                       help="beginning of the file names (default: out)")
    group.add_argument("-d", "--output-path",
                       default=os.environ.get("ROCPD_OUTPUT_PATH", "./rocpd-output-data"),
                       help="where files go (default: ./rocpd-output-data)")
    group = parser.add_argument_group("Kernel naming options")
    group.add_argument("--kernel-rename", action="store_true",
                       help="name kernels by the roctx range around their launch")
    return ["output_file", "output_path", "kernel_rename"]


def process_args(args, valid_args):
    """The options of @valid_args that have values, as keywords of output_config."""
    found = {k: getattr(args, k) for k in valid_args if getattr(args, k, None) is not None}
    if "output_path" in found:
        found["output_path"] = format_path(found["output_path"])
    return found


def add_generic_args(parser):
    """Options that all formats have."""
    group = parser.add_argument_group("Generic options")
    group.add_argument("--agent-index-value", default="relative",
                       choices=("absolute", "relative", "type-relative"),
                       help="how agents are numbered (default: relative)")
    return ["agent_index_value"]


def process_generic_args(args, valid_args):
    return {k: getattr(args, k) for k in valid_args if getattr(args, k, None) is not None}
