"""A program in Python to take call-stack samples of: functions that call each other through C."""
import functools
import sys
import threading
import time


def busy(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(2000))


class Outer:
    def method(self, seconds):
        # through C: sorted() calls key(), which is called from Python again
        sorted([3], key=lambda _: self.inner(seconds))

    def inner(self, seconds):
        busy(seconds)


def recurse(depth, seconds):
    if depth:
        recurse(depth - 1, seconds)
    else:
        functools.reduce(lambda a, b: (Outer().method(seconds), b)[1], [1, 2])


def naïve(seconds):
    busy(seconds)


def sleeper():
    time.sleep(0.3)


def main():
    seconds = float(sys.argv[1])
    other = threading.Thread(target=naïve, args=(seconds / 2,))
    other.start()
    recurse(5, seconds / 2)
    other.join()
    sleeper()
    print("ok")
    sys.exit(7)


main()
