"""Regions of category user, as rocprofiler-systems/user.h has them. Without the profiler: nothing."""

from . import _native
from ._scope import Scope

__all__ = ["region", "Region", "start_trace", "start_thread_trace", "stop_trace",
           "stop_thread_trace", "push_region", "pop_region"]

_lib = _native.lib


def start_trace():
    """Recording of the whole process goes on."""
    if _lib:
        _lib.col_region_trace(True)


def stop_trace():
    """Recording of the whole process pauses."""
    if _lib:
        _lib.col_region_trace(False)


def start_thread_trace():
    """Regions of this thread are recorded again."""
    if _lib:
        _lib.col_region_thread(True)


def stop_thread_trace():
    """Regions of this thread are not recorded."""
    if _lib:
        _lib.col_region_thread(False)


def push_region(name):
    """A region of this thread begins."""
    if _lib:
        _native.enter(_native.intern(_native.CATEGORY_USER, str(name)))


def pop_region(name):
    """The region of that name ends, and what is open inside it."""
    if _lib:
        _native.leave(_native.intern(_native.CATEGORY_USER, str(name)))


class Region(Scope):
    """Decorator and context manager: a region with this label."""

    def __init__(self, label):
        self._label = label

    def start(self):
        push_region(self._label)

    def stop(self):
        pop_region(self._label)


region = Region
