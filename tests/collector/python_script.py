"""Calls with known numbers, for python_regions.sh; the word after the name chooses what happens."""
import os
import re
import sys
import threading


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def numbers(n):
    for i in range(n):
        yield i


def raises(depth):
    if depth:
        raises(depth - 1)
    raise ValueError("at the bottom")


def closes():
    it = numbers(10)
    next(it)
    it.close()


def worker():
    fib(3)


def everything():
    fib(4)
    sum(numbers(3))
    closes()
    try:
        raises(2)
    except ValueError:
        pass
    max([1, 2], key=lambda x: -x)
    threads = [threading.Thread(target=worker) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def deep(n):
    return deep(n - 1) + 1 if n else 0


def forks():
    pid = os.fork()
    if pid == 0:
        fib(2)
        return
    os.waitpid(pid, 0)
    worker()


def marked():
    with profile:
        fib(2)
    with noprofile:
        worker()
    decorated(2)


def leaves():
    sys.exit(5)


def fails():
    raises(1)


def hidden():
    fib(1)


def filters():
    hidden()
    worker()


def sleeps():
    import time

    time.sleep(0.001)
    len("text")
    try:
        int("no number")
    except ValueError:
        pass


def user_regions():
    from rocprofsys import user

    user.push_region("outer")
    with user.region("inner"):
        fib(0)
    user.pop_region("outer")
    user.stop_trace()
    with user.region("paused"):
        fib(1)
    user.start_trace()


def api():
    """All ways to begin and end profiling; run with -b, so that nothing else is recorded."""
    import rocprofsys
    from rocprofsys.libpyrocprofsys import profiler as native

    @rocprofsys.profile
    def bare_decorator():
        fib(0)

    @rocprofsys.profile()
    def decorator():
        """Text."""
        raise KeyError("passes through")

    assert decorator.__doc__ == "Text." and rocprofsys.is_initialized()
    bare_decorator()
    try:
        decorator()
    except KeyError as error:
        assert error.args == ("passes through",)
    assert sys.getprofile() is None
    assert rocprofsys.Profiler().runcall(fib, 1) == 1
    space = {"fib": fib}
    rocprofsys.Profiler().runctx("x = fib(2)", space, space)
    assert space["x"] == 1
    profiler = rocprofsys.Profiler()
    assert profiler.start() == 1 and profiler.start() == 2
    assert profiler.stop() == 1 and sys.getprofile() is not None
    assert profiler.stop() == 0 and sys.getprofile() is None and profiler.stop() == 0
    rocprofsys.Profiler.condition(lambda: False)
    with rocprofsys.profile():
        worker()
    rocprofsys.Profiler.condition(lambda: True)
    with rocprofsys.profile():
        with rocprofsys.noprofile():
            worker()
        closes()
    native.profiler_init()
    sys.setprofile(native.profiler_function)
    hidden()
    sys.setprofile(None)
    rocprofsys.config.exclude_functions = rocprofsys.config.exclude_functions + ["^closes$"]
    with rocprofsys.profile():
        closes()
        filters_again = [fib(0)]
    assert filters_again == [0]
    try:
        rocprofsys.config.include_functions = ["("]
        raise AssertionError("a pattern that is wrong")
    except re.error:
        pass
    rocprofsys.finalize()


if "profile" in __builtins__.__dict__ if hasattr(__builtins__, "__dict__") else "profile" in __builtins__:
    @profile
    def decorated(n):
        """Its text."""
        fib(n)

    @noprofile
    def unseen():
        fib(1)

    assert decorated.__name__ == "decorated" and decorated.__doc__ == "Its text."

assert __name__ == "__main__" and sys.modules["__main__"].fib is fib
assert os.path.basename(sys.argv[0]) == os.path.basename(__file__) == "python_script.py"
if sys.argv[1] == "deep":
    sys.setrecursionlimit(20000)
    threading.stack_size(256 << 20)
    thread = threading.Thread(target=deep, args=(600,))
    thread.start()
    thread.join()
else:
    globals()[sys.argv[1]]()
