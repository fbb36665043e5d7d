#!/bin/sh
# Where the program's own memory lies differs from run to run; counters do not depend on it.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
pinned=$WS_BUILD/tests/hip/pinned
[ -x "$pinned" ] || skip "tests/hip/pinned is not built: no hipcc"

some="SQ_WAIT_ANY SQ_WAIT_INST_ANY SQ_WAVE_CYCLES SQ_IFETCH_LEVEL SQ_INST_LEVEL_VMEM SQC_DCACHE_MISSES
	TCP_UTCL1_TRANSLATION_MISS TCP_TCC_READ_REQ TCP_PENDING_STALL_CYCLES TCC_REQ TCC_MISS TCC_EA_RDREQ
	TCC_BUSY GRBM_GUI_ACTIVE"
for pages in 0 1 5 77 511 100003; do
	run rocprofv3 --pmc $some -f csv -d "d$pages" -o r -- "$pinned" "$pages"
	rc_is 0
	n=$("$PYTHON" "$WS_SOURCE/tests/cmd/rocprofv3/counted.py" same d0/r "d$pages/r") ||
		fail "$pages pages further on: $n"
	[ "$n" -ge 14 ] || fail "only $n values were compared"
done
