"""The names of AMD's native module, for scripts that use it directly.

The profiler is loaded before the interpreter starts and writes when the program has ended, so
there is nothing to initialize or finalize here.
"""

from .. import _native
from .. import user
from . import profiler

__all__ = ["initialize", "finalize", "is_initialized", "is_finalized", "profiler", "user"]

_finalized = False


def initialize(*args):
    """Without effect."""


def finalize():
    """Ends profiling of the calling thread; what was recorded stays."""
    global _finalized
    if not _finalized:
        _finalized = True
        profiler.profiler_finalize()


def is_initialized():
    """True if the profiler is loaded."""
    return _native.available()


def is_finalized():
    return _finalized
