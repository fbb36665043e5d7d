"""Ranges as `with` blocks and decorators."""
import functools

import roctx


class _Scope:
    def __call__(self, function):
        @functools.wraps(function)
        def scoped(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return scoped


class RoctxRange(_Scope):
    """A range on the calling thread, for as long as the block or the call lasts."""

    def __init__(self, message):
        self.message = message

    def __enter__(self):
        roctx.rangePush(self.message)
        return self

    def __exit__(self, *exception):
        roctx.rangePop()
        return False


class RoctxProfiler(_Scope):
    """Recording is on inside the block, and off after it."""

    def __init__(self, tid=0):
        self.tid = tid

    def __enter__(self):
        roctx.profilerResume(self.tid)
        return self

    def __exit__(self, *exception):
        roctx.profilerPause(self.tid)
        return False
