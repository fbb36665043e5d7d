#!/bin/sh
# import rocpd: databases of two programs and of markers, read and written as the commands do.
. "$WS_SOURCE/tests/python/lib.sh"
need_tracing
need_sample streams
run rocprofv3 --runtime-trace -f rocpd -o a -- "$vcopy" -n 65536 -b 256
rc_is 0
run rocprofv3 --runtime-trace -f rocpd -o b -- "$WS_BUILD/samples/streams"
rc_is 0
cat >marked.py <<'END'
import sys
import time
sys.path.insert(0, sys.argv[1])
import roctx
roctx.mark("before")
with roctx.range("inner"):
    time.sleep(0.001)
roctx.mark("after")
END
run rocprofv3 --marker-trace -f rocpd -o m -- \
	"${PYTHON:-python3}" marked.py "$WS_SOURCE/collector/roctx/python"
rc_is 0
run_tests rocpd_test.py
