#!/bin/sh
# A Python program that uses HIP through ctypes.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
cat >app.py <<'END'
import ctypes
hip = ctypes.CDLL("libamdhip64.so.5")
p = ctypes.c_void_p()
for i in range(3):
    assert hip.hipMalloc(ctypes.byref(p), ctypes.c_size_t(4096)) == 0
    assert hip.hipMemset(p, 0, ctypes.c_size_t(4096)) == 0
    assert hip.hipFree(p) == 0
hip.hipDeviceSynchronize()
print("done")
END
run rocprofv3 --stats --sys-trace --kernel-trace -f csv -o py -- "${PYTHON:-python3}" app.py
rc_is 0
out_is done
for f in hipMalloc hipMemset hipFree; do
	is "$(grep -c "\"$f\"" py_hip_api_trace.csv)" 3 "$f calls"
done
[ -s py_kernel_trace.csv ] || fail "no kernels"

# Without -f: the database, and the statistics that were asked for.
run rocprofv3 --stats --sys-trace --kernel-trace -o seed -- "${PYTHON:-python3}" app.py
rc_is 0
for f in agent_info.csv domain_stats.csv kernel_stats.csv kernel_trace.csv results.db; do
	[ -s seed_$f ] || fail "no seed_$f"
done
run rocprofv3 --stats --kernel-trace -f pftrace -o seed -- "${PYTHON:-python3}" app.py
err_has "--stats has no effect on these formats"

# A fatal signal that was sent, not earned, passes the software GPU's handler of faults.
echo 'import os; os.kill(os.getpid(), 11)' | cat app.py - >sent.py
run "${PYTHON:-python3}" -c '
import os, subprocess, sys
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0" # else it has a handler
print(subprocess.run(["rocprofv3", "--kernel-trace", "-o", "sent", "-f", "csv", "--", sys.executable, "sent.py"]).returncode)'
is "$(tail -1 "$out")" -11 "end by a signal that was sent"
