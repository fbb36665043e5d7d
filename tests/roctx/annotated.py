"""annotated: a Python program with roctx ranges."""
import sys

import roctx
from roctx.context_decorators import RoctxProfiler, RoctxRange


@RoctxRange("decorated")
def work():
    roctx.mark("inside")
    return 42


roctx.mark("marked")
assert roctx.rangePush("outer") == 0
assert roctx.rangePush("inner ü") == 1
assert roctx.rangePop() == 1
assert roctx.rangePop() == 0
assert roctx.rangePop() < 0
assert work() == 42 and work.__name__ == "work"
with RoctxRange("block"):
    roctx.mark("inside block")
try:
    with roctx.range("raises"):
        raise ValueError("through")
except ValueError:
    pass
handle = roctx.rangeStart("started")
assert handle
roctx.rangeStop(handle)
roctx.profilerPause(roctx.getThreadId())
roctx.mark("not recorded")
with RoctxProfiler():
    roctx.mark("recorded")
roctx.mark("not recorded")
print("good", file=sys.stdout)
