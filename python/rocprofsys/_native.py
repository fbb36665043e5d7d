"""The profiler inside this process: functions of its collector, found with ctypes.

Without the profiler `lib` is None, and everything that is built on it does nothing.
"""

import ctypes
import sys

__all__ = ["lib", "available", "intern", "enter", "leave"]

CATEGORY_USER, CATEGORY_PYTHON = 1, 2
SKIP, SKIP_ALL, SKIP_OWN = 0, 0xFFFFFFFF, 0xFFFFFFFE
C_CALLS, EACH, ANNOTATE = 1, 2, 4


def _load():
    try:
        # PyDLL: the interpreter's lock stays held, which is what makes a call cheap.
        library = ctypes.PyDLL(None)
        u32, text = ctypes.c_uint32, ctypes.c_char_p
        for name, result, arguments in (
            ("col_region_wanted", ctypes.c_bool, []),
            ("col_region_intern", u32, [u32, text, text, u32]),
            ("col_region_enter_call", None, [u32]),
            ("col_region_leave_call", None, [u32]),
            ("col_region_trace", None, [ctypes.c_bool]),
            ("col_region_thread", None, [ctypes.c_bool]),
            ("col_python_configure", ctypes.c_int, [u32]),
            ("col_python_pause", None, [ctypes.c_int]),
            ("col_python_mark", u32, []),
            ("col_python_rewind", None, [u32]),
            ("col_python_event", ctypes.c_int,
             [ctypes.py_object, ctypes.py_object, ctypes.c_int, ctypes.c_void_p]),
        ):
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        return library if library.col_region_wanted() else None
    except (OSError, AttributeError):
        return None


lib = _load()


def available():
    """True if the profiler is loaded and records regions."""
    return lib is not None


def intern(category, name, file=None, line=0):
    """The number of a region."""
    return lib.col_region_intern(
        category, name.encode("utf-8", "replace"), file.encode("utf-8", "replace") if file else None,
        line)


enter = lib.col_region_enter_call if lib else None
leave = lib.col_region_leave_call if lib else None

if lib:
    _set_profile = ctypes.pythonapi.PyEval_SetProfile
    _set_profile.restype = None
    _set_profile.argtypes = [ctypes.c_void_p, ctypes.py_object]
    _event = ctypes.cast(lib.col_python_event, ctypes.c_void_p)


def profile_thread(resolver):
    """The calling thread is profiled from now on; `resolver` is what sys.getprofile() returns."""
    _set_profile(_event, resolver)


def restore_thread(function):
    """As before: another profiler's function, or None."""
    sys.setprofile(function)
