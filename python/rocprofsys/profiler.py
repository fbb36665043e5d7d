"""Python functions as regions of category python.

The interpreter calls the profiler's native function for each call and return
(PyEval_SetProfile). Only the first call of each function comes here, to `_resolve`, which decides
whether it is recorded and under which name.
"""

import os
import re
import sys
import threading
from functools import wraps

from . import _native
from ._scope import Scope

__all__ = ["profile", "noprofile", "config", "Profiler", "FakeProfiler", "Config"]

DEFAULT_EXCLUDE_FUNCTIONS = ["^<.*>$"]
DEFAULT_EXCLUDE_MODULES = [r"(encoder|decoder|threading)\.py$", "^<.*>$"]

_OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Config:
    """What is recorded. A change has effect from the next call of a function on."""

    _LISTS = ("restrict_functions", "restrict_modules", "include_functions", "include_modules",
              "exclude_functions", "exclude_modules")

    def __init__(self):
        self._is_running = False
        self._stale = True
        self._patterns = {}
        self.trace_c = False  # functions written in C, too
        self.include_internal = False  # functions of this package, too
        self.include_args = False  # arguments in the name
        self.include_line = False
        self.include_filename = False
        self.full_filepath = False
        self.annotate_trace = False
        self.verbosity = 0  # 1: print the functions that are not recorded
        self.restrict_functions = []  # these only
        self.restrict_modules = []
        self.include_functions = []  # also if they are excluded
        self.include_modules = []
        self.exclude_functions = list(DEFAULT_EXCLUDE_FUNCTIONS)
        self.exclude_modules = list(DEFAULT_EXCLUDE_MODULES)

    def __setattr__(self, name, value):
        if name in self._LISTS:
            value = list(value)
            # compiled here: a mistake is reported where it is made
            self._patterns[name] = [re.compile(pattern) for pattern in value]
        object.__setattr__(self, name, value)
        if not name.startswith("_"):
            object.__setattr__(self, "_stale", True)
            if getattr(self, "_is_running", False):
                self._apply()

    def _apply(self):
        """Tells the native half; False if nothing is recorded."""
        if self._stale and _native.lib:
            flags = _native.C_CALLS if self.trace_c else 0
            flags |= _native.EACH if self.include_args else 0
            flags |= _native.ANNOTATE if self.annotate_trace else 0
            if not _native.lib.col_python_configure(flags):
                return False
            self._stale = False
        return _native.available()

    def _matches(self, name, text):
        return any(pattern.search(text) for pattern in self._patterns[name])


config = Config()


def _decide(function, file):
    """True: recorded. Else one of the SKIPs."""
    if not config.include_internal and file.startswith(_OWN_FOLDER):
        return _native.SKIP_OWN
    forced = False
    if config.restrict_functions:
        forced = config._matches("restrict_functions", function)
        if not forced:
            return _native.SKIP
    if not forced:
        if config._matches("include_functions", function):
            forced = True
        elif config._matches("exclude_functions", function):
            # A function that the user excludes hides what it calls; module bodies,
            # comprehensions and the like do not.
            default = any(re.search(p, function) for p in DEFAULT_EXCLUDE_FUNCTIONS)
            return _native.SKIP if default else _native.SKIP_ALL
    if not forced and config.restrict_modules:
        forced = config._matches("restrict_modules", file)
        if not forced:
            return _native.SKIP
    if not forced and not config._matches("include_modules", file) and \
            config._matches("exclude_modules", file):
        return _native.SKIP
    return True


def _label(function, file, line, arguments=""):
    name = function + arguments
    if config.include_filename:
        shown = file if config.full_filepath else os.path.basename(file)
        return "[%s][%s%s]" % (name, shown, ":%d" % line if config.include_line else "")
    return "%s:%d" % (name, line) if config.include_line else name


def _arguments(frame):
    import inspect

    try:
        return inspect.formatargvalues(*inspect.getargvalues(frame))
    except Exception:  # a __repr__ of the program
        return "(...)"


def _resolve(subject):
    """The number of the region of a code object, a frame or a C function."""
    code = getattr(subject, "f_code", subject)
    if hasattr(code, "co_filename"):
        function, file, line = code.co_name, code.co_filename, code.co_firstlineno
    else:
        function = getattr(code, "__qualname__", None) or repr(code)
        file, line = getattr(code, "__module__", None) or "builtins", 0
    verdict = _decide(function, file)
    if verdict is not True:
        if config.verbosity > 0 and verdict != _native.SKIP_OWN:
            sys.stderr.write("rocprof-sys-python: not recorded: %s (%s:%d)\n" % (function, file, line))
        return verdict
    arguments = _arguments(subject) if code is not subject else ""
    return _native.intern(_native.CATEGORY_PYTHON, _label(function, file, line, arguments), file,
                          line)


def _thread_begins(frame, event, arg):
    """For threading.setprofile(): the first event of a new thread replaces this function."""
    _native.profile_thread(_resolve)
    if event == "call":
        _native.lib.col_python_event(_resolve, frame, 0, None)


_state = threading.local()
_lock = threading.Lock()
_n_running = 0


def _always():
    return True


class Profiler(Scope):
    """Decorator and context manager: what is called inside is profiled.

    Threads that are started inside are profiled until they end.
    """

    _conditional_functor = staticmethod(_always)

    def __new__(cls, function=None, **kwargs):
        self = super().__new__(cls)
        if not callable(function):
            return self
        self.__init__()  # @profile without parentheses
        return self(function)

    def __init__(self, function=None, **kwargs):
        """AMD's keywords are accepted and have no effect."""

    def _count(self):
        """How often this thread has started it."""
        return sum(owner is self for owner, _ in getattr(_state, "stack", ()))

    @staticmethod
    def condition(functor):
        """Sets a function that decides whether profiling begins."""
        Profiler._conditional_functor = staticmethod(functor)

    @staticmethod
    def is_enabled():
        """What that function says."""
        try:
            return bool(Profiler._conditional_functor())
        except Exception:
            return False

    def start(self):
        """Begins; each start needs a stop of the same thread."""
        global _n_running
        stack = _state.__dict__.setdefault("stack", [])
        before = sys.getprofile()
        if before is _resolve or not _native.available() or not self.is_enabled() or \
                not config._apply():
            stack.append((self, None))  # on already, or not wanted
            return self._count()
        with _lock:
            _n_running += 1
            config._is_running = True
            threading.setprofile(_thread_begins)
        stack.append((self, (before if before is not _thread_begins else None,
                             _native.lib.col_python_mark())))
        _native.profile_thread(_resolve)
        return self._count()

    def stop(self):
        """Ends what its last start in this thread began."""
        global _n_running
        stack = getattr(_state, "stack", [])
        places = [i for i, (owner, _) in enumerate(stack) if owner is self]
        began = stack.pop(places[-1])[1] if places else None
        if began is not None:
            before, mark = began
            _native.restore_thread(before)
            _native.lib.col_python_rewind(mark)
            with _lock:
                _n_running -= 1
                if _n_running == 0:
                    config._is_running = False
                    threading.setprofile(None)
        return self._count()

    def run(self, command):
        """Executes text in the name space of __main__."""
        import __main__

        text = command if isinstance(command, str) else " ".join(command)
        return self.runctx(text, __main__.__dict__, __main__.__dict__)

    def runctx(self, command, globals, locals):
        """Executes text or code."""
        self.start()
        try:
            exec(command, globals, locals)
        finally:
            self.stop()
        return self


def _pause(change):
    if _native.lib:
        _native.lib.col_python_pause(change)


class FakeProfiler:
    """Decorator and context manager: what the thread calls inside is not profiled."""

    def __new__(cls, function=None, **kwargs):
        self = super().__new__(cls)
        return self(function) if callable(function) else self

    def __init__(self, *args, **kwargs):
        pass

    @staticmethod
    def condition(functor):
        """Without effect."""

    @staticmethod
    def is_enabled():
        return False

    def __call__(self, function):
        @wraps(function)
        def function_wrapper(*args, **kwargs):
            _pause(1)
            try:
                return function(*args, **kwargs)
            finally:
                _pause(-1)

        return function_wrapper

    def __enter__(self):
        _pause(1)
        return self

    def __exit__(self, kind, value, traceback):
        _pause(-1)


profile = Profiler
noprofile = FakeProfiler
