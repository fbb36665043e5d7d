"""Marks PyTorch operators: one range per call of a module or of a torch function.

A range is called OPERATOR:#CONTEXT. The operator is the path of calls that led there,
`nn.Module.Net.forward/nn.Module.Linear.forward/torch.nn.functional.linear`; the context is
the ordinal of the call from a line of the program, `3@train.py:12`. The collector puts the
innermost range on every kernel that is launched inside it, on the same thread, so kernels
and operators are joined by that and not by time.

Torch functions are met through a torch function mode: nothing in torch is replaced, so
scripting and comparisons of functions work as before.
"""
import ctypes
import functools
import os
import sys
import threading

_here = os.path.abspath(__file__)


def _markers():
    """roctxRangePushA and roctxRangePop: preloaded by the profiler, or found by name."""
    for name in (None, "librocprofiler-sdk-roctx.so.1", "libroctx64.so.4"):
        try:
            library = ctypes.CDLL(name)
            push, pop = library.roctxRangePushA, library.roctxRangePop
        except (OSError, AttributeError):
            continue
        push.argtypes = [ctypes.c_char_p]
        return push, pop
    raise RuntimeError("there is no roctx library in this process")


class _Names(threading.local):
    """The operators that the thread is in, outermost first."""

    def __init__(self):
        self.path = []


class _Ranges:
    def __init__(self, torch):
        self._push, self._pop = _markers()
        self._names = _Names()
        self._calls = {}
        self._lock = threading.Lock()
        folder = os.path.dirname(os.path.abspath(torch.__file__))
        # Between the program and what it called: not where the call came from.
        self._inside = {
            _here,
            os.path.join(folder, "overrides.py"),
            os.path.join(folder, "_tensor.py"),
            os.path.join(folder, "nn", "functional.py"),
            os.path.join(folder, "nn", "modules", "module.py"),
        }

    def _context(self):
        frame = sys._getframe(2)
        while frame.f_back is not None and frame.f_code.co_filename in self._inside:
            frame = frame.f_back
        place = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
        with self._lock:
            self._calls[place] = self._calls.get(place, 0) + 1
            return f"{self._calls[place]}@{place}"

    def enter(self, name):
        path = self._names.path
        path.append(name)
        self._push(f"{'/'.join(path)}:#{self._context()}".encode("utf-8", "replace"))

    def leave(self):
        self._pop()
        self._names.path.pop()


def _instrument_modules(torch, ranges):
    call = torch.nn.Module.__call__

    @functools.wraps(call)
    def traced_call(self, *args, **kwargs):
        ranges.enter(f"nn.Module.{type(self).__name__}.forward")
        try:
            return call(self, *args, **kwargs)
        finally:
            ranges.leave()

    torch.nn.Module.__call__ = traced_call


def _instrument_functions(torch, ranges):
    mode_class = getattr(torch.overrides, "TorchFunctionMode", None)
    if mode_class is None:
        raise RuntimeError(f"torch {torch.__version__} has no function modes: 1.13 or later has")
    resolve = getattr(torch.overrides, "resolve_name", None)
    names = {}

    def name_of(function):
        name = names.get(function)
        if name is None:
            name = resolve(function) if resolve else None
            name = name or f"torch.{getattr(function, '__name__', 'function')}"
            names[function] = name
        return name

    class Mode(mode_class):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            name = name_of(function)
            # Reading an attribute launches nothing; marking it would only cost.
            if name.endswith((".__get__", ".__set__")):
                return function(*args, **(kwargs or {}))
            ranges.enter(name)
            try:
                return function(*args, **(kwargs or {}))
            finally:
                ranges.leave()

    # A mode belongs to a thread: this one, and those that the program starts.
    Mode().__enter__()
    run = threading.Thread.run

    @functools.wraps(run)
    def traced_run(self):
        with Mode():
            run(self)

    threading.Thread.run = traced_run


_done = False


def instrument(torch):
    """Once per process; torch is the imported module."""
    global _done
    if _done:
        return
    _done = True
    ranges = _Ranges(torch)
    _instrument_modules(torch, ranges)
    _instrument_functions(torch, ranges)
