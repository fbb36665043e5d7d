#!/bin/sh
# What a user types first, and what is said when it is not quite right.
. "$WS_SOURCE/tests/cmd/lib.sh"
cp -r "$WS_SOURCE/tests/cmd/compute/workloads/gfx90a" "$work/w"
mkdir "$work/here"
cd "$work/here"

# A workload beside the folder one is in; folders that are made with their parents.
run rocprof-compute analyze -p ../w -b 2.1 --save-dfs a/b --charts c/d
rc_is 0
[ -s a/b/2.1_System_Speed-of-Light.csv ] || fail "no table in a/b: $(ls a/b)"
[ -s c/d/memory_chart.svg ] || fail "no chart in c/d"

# Blocks that are not there.
for id in 99 2.99 2.1.999 lsd; do
	run rocprof-compute analyze -p ../w -b $id
	rc_is 2
	err_is "rocprof-compute: -b $id: gfx90a has no such block, table or metric: --list-blocks gfx90a and --list-metrics gfx90a list them"
	out_is_empty
done
run rocprof-compute analyze -p ../w -b 99 2.1.1
rc_is 0
err_is "rocprof-compute: warning: -b 99: gfx90a has no such block, table or metric"
out_has "2.1.1"

# What is not known is N/A, also in the machine's description and where there is no traffic.
sed -i '2s/,[^,]*$/,/' ../w/sysinfo.csv
run rocprof-compute analyze -p ../w -b 1
rc_is 0
out_has " N/A "
out_lacks "nan"
"$PYTHON" - <<'PY'
import csv, glob
for name in glob.glob("../w/*.csv"):
    with open(name, newline="") as f:
        rows = list(csv.reader(f))
    if "SQ_LDS_IDX_ACTIVE" in rows[0] or "SQ_LDS_BANK_CONFLICT" in rows[0]:
        for column in ("SQ_LDS_IDX_ACTIVE", "SQ_LDS_BANK_CONFLICT"):
            if column in rows[0]:
                for row in rows[1:]:
                    row[rows[0].index(column)] = "0"
        with open(name, "w", newline="") as f:
            csv.writer(f).writerows(rows)
PY
run rocprof-compute analyze -p ../w -b 4 --save-dfs roof
rc_is 0
grep -q '^AI LDS,,\|^AI LDS,N/A,' roof/4.2*.csv || fail "$(grep 'AI LDS' roof/4.2*.csv)"
grep -q '^AI HBM,[0-9.]*[1-9]' roof/4.2*.csv || fail "no arithmetic at all: $(cat roof/4.2*.csv)"

# The scalar cache's latency: cycles in flight by requests, not a hundred times as many.
"$PYTHON" - <<'PY'
import csv
with open("../w/pmc_perf.csv", newline="") as f:
    rows = list(csv.reader(f))
head = rows[0]
if "SQC_DCACHE_REQ" not in head:
    head.append("SQC_DCACHE_REQ")
    for row in rows[1:]:
        row.append("0")
level = [head + ["SQ_ACCUM_PREV_HIRES"]]
for row in rows[1:]:
    row[head.index("SQC_DCACHE_REQ")] = "1000"
    level.append(row + ["250000"])
for name, table in (("pmc_perf", rows), ("SQC_DCACHE_INFLIGHT_LEVEL", level)):
    with open(f"../w/{name}.csv", "w", newline="") as f:
        csv.writer(f).writerows(table)
PY
run rocprof-compute analyze -p ../w -b 3 --save-dfs chart
rc_is 0
is "$(grep '^sL1D Lat,' chart/3.1*.csv)" "sL1D Lat,250.0" "latency of the scalar cache"
