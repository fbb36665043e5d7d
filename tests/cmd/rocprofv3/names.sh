#!/bin/sh
# What the program calls its threads, streams and GPUs is what the trace calls them.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
need_program sqlite3
named=$WS_BUILD/tests/cmd/named
[ -x "$named" ] || skip "no HIP program in this build"
sql() { sqlite3 "$1" "$2"; }
track() { grep -aqF "$2" "$1" || fail "no track '$2' in $1"; }

run rocprofv3 --marker-trace --kernel-trace --memory-copy-trace -f rocpd json pftrace -d a -o r -- "$named"
rc_is 0
track a/r_results.pftrace 'STREAM [" 1 "] uploads'
track a/r_results.pftrace 'COPY BYTES to Agent [0] (CPU) the host'
grep -aqE 'THREAD [0-9]+ \([0-9]+\) loader' a/r_results.pftrace || fail "the thread has no name"
is "$(sql a/r_results.db "SELECT name FROM rocpd_info_stream WHERE name <> 'Default Stream'")" uploads \
	"streams in the database"
is "$(sql a/r_results.db "SELECT user_name FROM rocpd_info_agent ORDER BY type" | tr '\n' '|')" \
	'the host|train "1"|' "agents in the database"
is "$(sql a/r_results.db "SELECT COUNT(*) FROM rocpd_info_thread WHERE name = 'loader'")" 1 "thread in the database"
is "$("${PYTHON:-python3}" -c '
import json
p = json.load(open("a/r_results.json"))["rocprofiler-sdk-tool"][0]
n = p["metadata"]["names"]
types = {a["id"]["handle"]: a["type"] for a in p["agents"]}
print(sorted((types[a["agent_id"]["handle"]], a["name"]) for a in n["agents"]),
      [(s["stream_id"]["handle"], s["name"]) for s in n["streams"]],
      [t["name"] for t in n["threads"] if t["name"] == "loader"])')" \
	"[(1, 'the host'), (2, 'train \"1\"')] [(1, 'uploads')] ['loader']" "json"

# By queue; and HIP's device 0 is another GPU.
run env WAVESCOPE_GPU=mi210,mi100 HIP_VISIBLE_DEVICES=1 rocprofv3 --marker-trace --kernel-trace --group-by-queue \
	-f rocpd pftrace -d b -o r -- "$named"
rc_is 0
track b/r_results.pftrace 'COMPUTE Agent [2] QUEUE [0] GPU train "1"'
is "$(sql b/r_results.db "SELECT user_name FROM rocpd_info_agent WHERE type_index = 1 AND type = 'GPU'")" \
	'train "1"' "the second GPU"
is "$(sql b/r_results.db "SELECT COUNT(*) FROM rocpd_info_agent WHERE user_name = 'train \"1\"'")" 1 "only that one"

# A program that never starts HSA: the machine's agents are listed all the same.
cat >marks.py <<'END'
import ctypes
ctypes.CDLL("librocprofiler-sdk-roctx.so.1").roctxMarkA(b"alone")
END
WAVESCOPE_GPU=mi210,mi100 run rocprofv3 --marker-trace -f csv json rocpd -d m -o r -- "${PYTHON:-python3}" marks.py
rc_is 0
is "$(tail -n +2 m/r_agent_info.csv | cut -d, -f3 | tr '\n' ' ')" '"CPU" "GPU" "GPU" ' "agents of a program without HSA"
is "$(sql m/r_results.db "SELECT COUNT(*) FROM rocpd_info_agent WHERE type = 'GPU'")" 2 "its GPUs in the database"
is "$(find . -name .rocprofv3)" "" "folders left behind"
