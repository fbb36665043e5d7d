#!/bin/sh
# Captures of ranks on nodes whose clocks are known: what merge says of them, and of wrong ones.
. "$WS_SOURCE/tests/cmd/lib.sh"
cd "$work"
make_ranks() { # FOLDER KEY=NUMBER...
	mkdir "$1"
	"$WS_BUILD/tests/ranks/make-ranks" "$@" >made || fail "make-ranks"
}
# column FILE NAME ROW: a cell of a CSV file
column() { "$PYTHON" -c 'import csv, sys; print(list(csv.DictReader(open(sys.argv[1])))[int(sys.argv[3])][sys.argv[2]])' "$@"; }

# ---- the clocks and the slow rank are found ----
make_ranks a ranks=6 per-node=2 steps=300 slow=3
run wavescope merge a -o all
rc_is 0
is "$(head -1 "$out")" "6 ranks on 3 nodes, 6 processes, 7200 events" summary
out_has "  node1          2-3        123456.78"
out_has "  node2: from 300 collectives in common with node0"
[ "$(awk '{ if (length > 80) n++ } END { print n + 0 }' "$out")" = 0 ] || fail "lines of more than 80 columns"
"$PYTHON" - <<'END' || fail "values"
import csv, json
for row, node in ((1, 1), (2, 2)):
    clock = list(csv.DictReader(open("all_clocks.csv")))[row]
    # the clock of node k is k * 123456.789012345 s behind, and 20 k ppm fast from a known time on
    start = 10**16 - node * 123456789012345
    true = node * 123456789012345
    at = int(clock["OffsetNs"]) + float(clock["DriftPpm"]) * 1e-6 * (start - int(clock["AtNs"]))
    assert abs(at - true) <= float(clock["UncertaintyNs"]) < 60000, (at - true, clock)
    assert abs(float(clock["DriftPpm"]) + 20 * node) <= float(clock["DriftUncertaintyPpm"]) + 0.01, clock
    assert clock["Clock"] == "collectives" and clock["Collectives"] == "300", clock
rows = {row["Kind"]: row for row in csv.DictReader(open("all_imbalance.csv"))}
assert rows["kernel"]["Name"] == "step" and rows["kernel"]["SlowestRank"] == "3", rows
assert rows["kernel"]["Ranks"] == "6" and rows["kernel"]["Calls"] == "3600", rows
assert abs(float(rows["kernel"]["Spread"]) - 20 / (260 / 6)) < 0.001, rows
assert rows["collective"]["Name"] == "MPI_Allreduce" and rows["collective"]["SlowestRank"] == "3", rows
assert rows["collective"]["CommRanks"] == "6" and rows["collective"]["MostWaitRank"] != "3", rows
assert 20000 < int(rows["collective"]["MostWaitNs"]) / 300 < 60000, rows
data = json.load(open("all_ranks.json"))
assert data["gpu_times"] == "hardware", data["gpu_times"]
assert 10000 < data["wait_uncertainty_ns"] < 60000, data["wait_uncertainty_ns"]
assert data["ranks"] == 6 and data["matched_collectives"] == 300 and data["unmatched_calls"] == 0, data
assert [node["ranks"] for node in data["nodes"]] == [[0, 1], [2, 3], [4, 5]], data
by_rank = data["imbalance"][0]["by_rank"]
assert [row["rank"] for row in by_rank] == list(range(6)) and all(row["calls"] == 300 for row in by_rank)
assert sum(row["times_last"] for row in by_rank) == 300
assert len(list(csv.DictReader(open("all_ranks.csv")))) == 12
END

# ---- one Perfetto file: a group per rank, in one time ----
"$PYTHON" - "$WS_SOURCE/tests/output" all_results.pftrace <<'END' || fail "Perfetto trace"
import sys
sys.path.insert(0, sys.argv[1])
from pftrace_file import fields
names, pids, tids, times = [], set(), set(), []
for number, packet in fields(open(sys.argv[2], "rb").read()):
    packet = dict((n, v) for n, v in fields(packet))
    if 60 in packet:
        descriptor = dict(fields(packet[60]))
        if 3 in descriptor:
            process = dict(fields(descriptor[3]))
            names.append(process[6].decode())
            pids.add(process[1])
        if 4 in descriptor:
            tids.add(dict(fields(descriptor[4]))[2])
    if 11 in packet:
        times.append(packet[8])
assert names == ["rank %d: made on node%d" % (rank, rank // 2) for rank in range(6)], names
assert len(pids) == 6 and len(tids) == 6, (pids, tids)
assert min(times) > 10**16 - 10**6 and max(times) < 10**16 + 301 * 10**6, (min(times), max(times))
END

# The same with a decoder that knows nothing of Perfetto: message 1 is a packet, 60 in it describes a track.
if part_needs protoc; then
	protoc --decode_raw <all_results.pftrace >raw || fail "protoc cannot decode the trace"
	"$PYTHON" - raw <<'END' || fail "Perfetto trace, decoded by protoc"
import collections, re, sys
parents, processes, on, kinds, track = {}, {}, collections.Counter(), collections.Counter(), None
stack, fields = [], {}
for line in open(sys.argv[1]):
    line = line.strip()
    if line.endswith("{"):
        stack.append(line.split()[0])
        if stack in (["1", "60"], ["1", "11"]):
            fields = {}
    elif line == "}":
        if stack == ["1", "60"]:
            parents[fields["1"]] = fields.get("5")
            if "3.6" in fields:
                processes[fields["1"]] = fields["3.6"]
        elif stack == ["1", "11"]:
            on[fields["11"]] += 1
            kinds[fields["9"]] += 1
        stack.pop()
    elif stack[:2] in (["1", "60"], ["1", "11"]):
        number, value = line.split(": ", 1)
        fields.setdefault(".".join(stack[2:] + [number]), value.strip('"'))
assert not stack
by_rank = collections.Counter()
for track, n in on.items():
    while track not in processes:
        track = parents[track]
    by_rank[processes[track]] += n
# 600 kernels and 300 collectives, each with a beginning and an end
assert by_rank == {"rank %d: made on node%d" % (rank, rank // 2): 2 * 900 for rank in range(6)}, by_rank
assert kinds == {"1": 5400, "2": 5400}, kinds
END
fi

# ---- a database has the same, and can be merged again ----
run wavescope merge a -o again -f rocpd
rc_is 0
is "$(ls again*)" again_results.db "files of -f rocpd"
is "$(sqlite3 again_results.db 'SELECT COUNT(*), COUNT(DISTINCT pid), MAX(start) - MIN(start) < 301000000 FROM rocpd_kernel_dispatch')" "3600|6|1" dispatches
is "$(sqlite3 again_results.db "SELECT json_extract(value, '\$.nodes[1].clock') FROM rocpd_metadata WHERE tag = 'wavescope_ranks'")" collectives clocks
mkdir database
mv again_results.db database
run wavescope merge database -o twice
rc_is 0
is "$(head -1 "$out")" "6 ranks on 1 node, 6 processes, 3600 events" "the merged database"

# What an earlier merge wrote is not merged again; a launcher needs no rank.
make_ranks launched steps=50 launcher=1
for time in first second; do
	run wavescope merge launched -d launched -f rocpd json
	rc_is 0
	is "$(head -1 "$out")" "4 ranks on 3 nodes, 5 processes, 800 events" "the $time time"
	err_is "wavescope: warning: node 'login' has processes without a rank only: its clock is assumed to be aligned"
	out_has " 9999995.000000000 s    unknown  assumed"
done

# ---- what is missing or damaged is said, and the rest is merged ----
make_ranks missing ranks=6 per-node=2 steps=50 skip=3
run wavescope merge missing -o missing/m -f json
rc_is 0
err_is "wavescope: warning: rank 3 is missing: 5 of 6 ranks are there, and waits are those for the ranks that are"
make_ranks cut steps=2000
truncate -s 200000 cut/rank2.wcap
run wavescope merge cut -o cut/m -f json
rc_is 0
err_has "'cut/rank2.wcap' is damaged or truncated: "
make_ranks headless steps=50
truncate -s 20 headless/rank1.wcap
: >headless/rank3.wcap
run wavescope merge headless -o headless/m -f json
rc_is 0
err_has "'headless/rank1.wcap' is truncated within its first 20 bytes: left out"
err_has "'headless/rank3.wcap' is empty: its process was killed before it recorded anything: left out"
err_has "ranks 1, 3 are missing: 2 of 4 ranks are there"
# some collectives were recorded at a wrong time: they are left out
make_ranks wrong steps=500 wrong-every=50
run wavescope merge wrong -o wrong/m -f csv
rc_is 0
out_has "some contradict and were left out"
is "$(column wrong/m_clocks.csv Outliers 1)" 10 outliers

# ---- what cannot be merged is refused, with one message ----
refused() { # MESSAGE OPERAND...
	message=$1
	shift
	run wavescope merge "$@" -o refused
	rc_is 1
	is "$(wc -l <"$err")" 1 "lines of '$(cat "$err")'"
	err_has "$message"
	[ ! -e refused_results.pftrace ] || fail "a trace was written"
}
make_ranks kernels steps=50 no-collectives=1
refused "the clock of node 'node1' (ranks 2-3) is not known: it recorded no collective of MPI, or of RCCL with kernels, together with 'node0'; see --collective-kernels and --assume-aligned" kernels
make_ranks contradict steps=50 wrong-every=3
refused "clocks of nodes 'node0' and 'node1': the bounds contradict each other by" contradict
mkdir copy
cp a/rank0.wcap copy/x.wcap
refused "rank 0 is there twice, in '" a copy
make_ranks other ranks=3 steps=50 skip=0
refused "is of a job of 3 ranks and 'a/rank0.wcap' of one of 6: merge the ranks of one run" a/rank0.wcap other
mkdir empty
refused "no captures (*.wcap) or databases (*.db) under 'empty'" empty
refused "cannot read 'nothing'" nothing
printf 'no capture\n' >text.wcap
run wavescope merge text.wcap
rc_is 1
err_has "'text.wcap' is not a capture: left out"
err_has "none of the files under 'text.wcap' can be read"
run wavescope merge
rc_is 2
err_has "nothing to merge: name the output folders, captures or databases of all ranks"
run wavescope merge --collective-kernels '(' kernels
rc_is 2

# ---- what the user knows better ----
run wavescope merge kernels -o known -f csv json --assume-aligned
rc_is 0
out_has "unknown  assumed"
make_ranks unsure steps=50
run wavescope merge unsure -o known -f csv json --assume-aligned
rc_is 0
out_has "  (wait): shorter per call than the uncertainty of the clocks"
is "$(column known_clocks.csv Clock 1)" assumed clock
is "$(column known_clocks.csv UncertaintyNs 1)" "" uncertainty
run wavescope merge kernels -o known -f csv --collective-kernels '^step'
rc_is 0
is "$(column known_imbalance.csv Kind 0)" collective "kernels as collectives"
is "$(column known_clocks.csv Collectives 1)" 100 "collective kernels"
