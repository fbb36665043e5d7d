"""Profiles Python functions with rocprof-sys.

    from rocprofsys import profile

    @profile()
    def work(): ...

    with rocprofsys.user.region("step"): ...

Run the script under rocprof-sys-python or rocprof-sys-run. Without them nothing is recorded, and
the script runs as it is.
"""

from . import libpyrocprofsys, profiler, user
from .libpyrocprofsys import finalize, initialize, is_finalized, is_initialized
from .profiler import Config, FakeProfiler, Profiler, config, noprofile, profile

__all__ = ["initialize", "finalize", "is_initialized", "is_finalized", "Profiler", "Config",
           "FakeProfiler", "config", "profile", "noprofile", "profiler", "user",
           "libpyrocprofsys"]
