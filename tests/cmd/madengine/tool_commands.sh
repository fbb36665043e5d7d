#!/bin/sh
# Commands of tools as they are in tools.json, around a HIP program: the files that the guide promises have
# content.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
common=$WS_SOURCE/data/madengine/scripts/common
mkdir scripts
ln -s "$common" scripts/common
# as madengine does
export ROCPROF_OUTPUT_FORMAT=csv,rocpd
tool() {
	rm -rf run_directory rocprof_output
	mkdir run_directory
	cd run_directory
	cmd=$("$PYTHON" -c 'import json, sys; print(json.load(open(sys.argv[1]))["tools"][sys.argv[2]]["cmd"])' "$common/tools.json" "$1")
	run sh -c "$cmd $vcopy -n 65536 -b 256"
	rc_is 0
	run bash ../scripts/common/post_scripts/trace.sh rocprof
	rc_is 0
	cd "$work"
	cd rocprof_output
}
has() { [ -s "$1" ] || fail "$1 is missing or empty: $(find . -type f | sort | tr '\n' ' ')"; }

tool rocprofv3_perfetto
has model_trace.pftrace
dated=$(echo 2*)
for name in kernel hip_api memory_copy; do has "$dated/${name}_trace.csv"; done
"$PYTHON" - "$dated"/*_results.db <<'END' || fail "the database"
import sqlite3, sys
kernels = sqlite3.connect(sys.argv[1]).execute("SELECT name FROM kernels").fetchall()
assert len(kernels) == 1 and "vecCopy" in kernels[0][0], kernels
END
cd "$work"

tool rocprofv3_agent_counter
is "$(tr -d ' \n' <instruction_histogram.json | sed 's/"WAITCNT":[0-9]*/"WAITCNT":N/')" \
	'{"VALU":10240,"SALU":3072,"VMEM":2048,"WAITCNT":N}' "instructions by class"
is "$(rows rocprofv3_output_counter_collection.csv)" 5 "counters of all passes"
