"""rocpd: databases of `rocprofv3 -f rocpd`, for scripts.

    import rocpd

    with rocpd.connect(["rank0_results.db", "rank1_results.db"]) as data:
        for name, calls in data.execute("SELECT name, total_calls FROM top_kernels"):
            print(name, calls)
    rocpd.write_csv(data, output_path="out", output_file="both")

The interface is that of AMD's rocpd package. Tables are read with sqlite3, files are never
changed; csv, pftrace and otf2 files are written by the command rocpd. docs/python.md has more.
"""
import importlib
import os
import sys

import _wavescope

from . import records
from .importer import RocpdImportData

__all__ = ["connect", "execute", "read_agents", "read_nodes", "read_processes", "read_threads",
           "write_perfetto", "write_csv", "write_otf2", "format_path", "RocpdImportData",
           "version_info"]


def connect(input, **kwargs):
    """Open databases or packages (a name, or several) as one; keywords go to sqlite3.connect()."""
    return RocpdImportData(input, **kwargs)


def execute(data, *args, **kwargs):
    """data.execute(sql, parameters): a cursor."""
    return data.execute(*args, **kwargs)


def read_agents(data, condition=""):
    """Agents as objects with node_id, logical_node_id, gpu_index, name, product_name, ...

    @condition is SQL such as "WHERE type = 'GPU'", here and below.
    """
    return records.read_agents(data, condition)


def read_nodes(data, condition=""):
    """Machines as objects with nid, hash, machine_id, hostname, system_name, ..."""
    return records.read_nodes(data, condition)


def read_processes(data, condition=""):
    """Processes as objects with pid, ppid, start, end, command, hostname, ..."""
    return records.read_processes(data, condition)


def read_threads(data, condition=""):
    """Threads as objects with tid, pid, name, start, end, hostname, ..."""
    return records.read_threads(data, condition)


def write_csv(connection, config=None, **kwargs):
    """CSV files of what @connection shows; keywords as of output_config. True, or an exception."""
    from . import output_config

    return output_config.write("csv", connection, config, kwargs)


def write_perfetto(connection, config=None, **kwargs):
    """A Perfetto trace of what @connection shows, as write_csv()."""
    from . import output_config

    return output_config.write("pftrace", connection, config, kwargs)


def write_otf2(connection, config=None, **kwargs):
    """An OTF2 archive of what @connection shows, as write_csv()."""
    from . import output_config

    return output_config.write("otf2", connection, config, kwargs)


def format_path(path, tag=os.path.basename(sys.executable or "python3")):
    """@path with %pid%, %hostname%, ... filled in; %tag% is @tag."""
    from . import output_config

    return output_config.format_path(path, tag)


def _version_info():
    rows = [row.partition(":") for row in _wavescope.read("rocpd", "--version").splitlines()]
    info = {key.strip(): value.strip() for key, _, value in rows if key.strip()}
    numbers = (info.get("version", "").split(".") + ["0", "0", "0"])[:3]
    info.update(zip(("major", "minor", "patch"), (int(n) if n.isdigit() else 0 for n in numbers)))
    return info


_MODULES = ("csv", "importer", "merge", "otf2", "output_config", "package", "pftrace", "query",
            "records", "schema", "summary", "time_window")


def __getattr__(name):
    # Modules, and what the command says of its version, once somebody wants them.
    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    if name == "version_info":
        globals()[name] = _version_info()
        return globals()[name]
    raise AttributeError(f"module 'rocpd' has no attribute '{name}'")
