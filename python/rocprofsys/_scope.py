"""What has start() and stop(), as a decorator and a context manager."""

from functools import wraps


class Scope:
    def __call__(self, function):
        @wraps(function)
        def function_wrapper(*args, **kwargs):
            self.start()
            try:
                return function(*args, **kwargs)
            finally:
                self.stop()

        return function_wrapper

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, value, traceback):
        self.stop()

    def runcall(self, function, *args, **kwargs):
        """Calls a function between start and stop."""
        self.start()
        try:
            return function(*args, **kwargs)
        finally:
            self.stop()
