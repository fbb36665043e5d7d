"""roctx: say in a trace what a Python program is doing.

    import roctx
    roctx.rangePush("iteration")
    ...
    roctx.rangePop()

    with roctx.range("step"): ...
    @roctx.range("train"): def train(): ...

The interface of AMD's roctx package. Without a profiler, and without the library, calls do nothing.
"""
import ctypes
import os

__all__ = ["mark", "rangePush", "rangePop", "rangeStart", "rangeStop", "profilerPause",
           "profilerResume", "getThreadId", "nameOsThread", "nameHipDevice", "range", "profiler"]

_NAMES = ("librocprofiler-sdk-roctx.so.1", "librocprofiler-sdk-roctx.so", "libroctx64.so.4",
          "libroctx64.so")


def _load():
    # A preloaded library first: its functions are in the process under their own names.
    libraries = [None]
    here = os.path.dirname(os.path.abspath(__file__))
    # beside us when installed (lib/wavescope/python/roctx), or in the build tree (lib)
    for folder in (os.path.join(here, "..", ".."), os.path.join(here, "..", "..", "..", "lib")):
        libraries += [os.path.join(folder, n) for n in _NAMES]
    for name in libraries + list(_NAMES):
        try:
            lib = ctypes.CDLL(name)
            lib.roctxRangePushA
            return lib
        except (OSError, AttributeError):
            continue
    return None


class _Nothing:
    """Stands for the library where there is none; ranges still have their depth."""

    def __init__(self):
        self.depth = 0
        self.last = 0

    def roctxMarkA(self, message):
        pass

    def roctxRangePushA(self, message):
        self.depth += 1
        return self.depth - 1

    def roctxRangePop(self):
        if self.depth == 0:
            return -1
        self.depth -= 1
        return self.depth

    def roctxRangeStartA(self, message):
        self.last += 1
        return self.last

    def roctxRangeStop(self, handle):
        pass

    def roctxProfilerPause(self, tid):
        return 0

    def roctxProfilerResume(self, tid):
        return 0

    def roctxNameOsThread(self, name):
        return 0

    def roctxNameHipDevice(self, name, device):
        return 0


_lib = _load()
if _lib is None:
    _lib = _Nothing()
else:
    for _name, _args, _result in (
            ("roctxMarkA", [ctypes.c_char_p], None),
            ("roctxRangePushA", [ctypes.c_char_p], ctypes.c_int),
            ("roctxRangePop", [], ctypes.c_int),
            ("roctxRangeStartA", [ctypes.c_char_p], ctypes.c_uint64),
            ("roctxRangeStop", [ctypes.c_uint64], None),
            ("roctxProfilerPause", [ctypes.c_uint64], ctypes.c_int),
            ("roctxProfilerResume", [ctypes.c_uint64], ctypes.c_int),
            ("roctxNameOsThread", [ctypes.c_char_p], ctypes.c_int),
            ("roctxNameHipDevice", [ctypes.c_char_p, ctypes.c_int], ctypes.c_int)):
        try:
            _fn = getattr(_lib, _name)
        except AttributeError:  # an older libroctx64: what it has not, does nothing
            setattr(_lib, _name, lambda *args: 0)
            continue
        _fn.argtypes, _fn.restype = _args, _result


def _text(message):
    return message if isinstance(message, bytes) else str(message).encode()


def mark(message):
    _lib.roctxMarkA(_text(message))


def rangePush(message):
    """Open a range on this thread; the depth it is at, from 0."""
    return _lib.roctxRangePushA(_text(message))


def rangePop():
    """Close the innermost range of this thread; its depth, negative when none is open."""
    return _lib.roctxRangePop()


def rangeStart(message):
    """Open a range of the process; a handle for rangeStop."""
    return _lib.roctxRangeStartA(_text(message))


def rangeStop(handle):
    _lib.roctxRangeStop(handle)


def profilerPause(tid=0):
    return _lib.roctxProfilerPause(tid)


def profilerResume(tid=0):
    return _lib.roctxProfilerResume(tid)


def getThreadId():
    import threading
    return threading.get_native_id()


def nameOsThread(name):
    return _lib.roctxNameOsThread(_text(name))


def nameHipDevice(name, device):
    return _lib.roctxNameHipDevice(_text(name), device)


from .context_decorators import RoctxProfiler, RoctxRange  # noqa: E402  (they use the above)

range = RoctxRange
profiler = RoctxProfiler
