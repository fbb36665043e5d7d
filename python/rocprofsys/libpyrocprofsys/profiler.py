"""See rocprofsys.profiler; these are the names of AMD's native module."""

from .. import _native
from ..profiler import _pause, _resolve, config

__all__ = ["config", "profiler_init", "profiler_finalize", "profiler_function", "profiler_pause",
           "profiler_resume"]

_EVENTS = {"call": 0, "return": 3}


def profiler_init():
    """Applies `config`."""
    config._apply()


def profiler_finalize():
    """The calling thread is not profiled any more."""
    import sys

    if sys.getprofile() is _resolve:
        _native.restore_thread(None)
        _native.lib.col_python_rewind(0)


def profiler_function(frame, event, arg):
    """For sys.setprofile(). Profiler.start() costs less per call."""
    if _native.lib and event in _EVENTS:
        _native.lib.col_python_event(_resolve, frame, _EVENTS[event], None)


def profiler_pause():
    _pause(1)


def profiler_resume():
    _pause(-1)
