#!/bin/sh
# wavescope advise: options, formats, rules of one's own, and what fires on recordings of real GPUs.
. "$WS_SOURCE/tests/cmd/lib.sh"
cd "$work"
table=$WS_SOURCE/tests/cmd/wavescope/findings_table.py

# Every file of data/findings is built in, and documented.
run wavescope advise --list-rules
rc_is 0
cut -d' ' -f1 "$out" | sort >ids
sed -n 's/^finding \([a-z0-9_]*\) .*/\1/p' "$WS_SOURCE"/data/findings/*.finding | sort >files
same_files files ids "rules that are built in"
[ "$(wc -l <ids)" -ge 30 ] || fail "less than 30 rules"
between() { sed -n "/<!-- $1 -->/,/<!-- end -->/p" "$WS_SOURCE/docs/findings.md" | grep '^|'; }
"$PYTHON" "$table" rules >made
between rules >documented
same_files made documented "the rules of docs/findings.md"

# What fires on recordings of vcopy, as reviewed in the documentation.
places=
for name in $("$PYTHON" "$WS_SOURCE/tests/recorded/recording.py" list); do
	unpack_recording "$name" "$name"
	places="$places vcopy,$name=$name"
done
"$PYTHON" "$table" fired $places >made
between recorded >documented
same_files made documented "the findings of docs/findings.md"

# The same findings come first in the report, and not in AMD's form of it or with other blocks.
run wavescope advise MI200
rc_is 0
out_fits
grep '^[0-9]*\. ' "$out" >titles
run rocprof-compute analyze -p MI200
rc_is 0
out_has "0. What to look at"
head -5 titles | while read -r title; do out_has "$title"; done
run rocprof-compute analyze -p MI200 -b 0
out_has "0. What to look at"
for how in "--like-3.3" "-b 2" "--findings 0"; do
	run rocprof-compute analyze -p MI200 $how
	rc_is 0
	out_lacks "What to look at"
done

# JSON has the same findings; an empty rule file and a wrong one are errors with their line.
run wavescope advise MI200 --json
rc_is 0
"$PYTHON" - "$out" titles <<'P' || fail "JSON and text differ"
import json, sys
found = json.load(open(sys.argv[1]))
titles = [line.split(". ", 1)[1].rsplit(" [", 1)[0] for line in open(sys.argv[2])]
assert [f["title"] for f in found["findings"]][:len(titles)] == titles, titles
for f in found["findings"]:
    assert f["basis"] and 0 <= f["total_gain_pct"] <= 100 and f["subjects"]
    for s in f["subjects"]:
        assert s["evidence"] and all(v["value"] is not None for v in s["evidence"])
        assert s["next"] and 0 <= s["gain_pct"] <= 100
assert found["times"] == "hardware" and found["n_rules"] >= 25
P

mkdir own
cat >own/mine.finding <<'F'
# Of my own.
finding always "Always there"
per = kernel
metric time = 7.2 "Kernel Time"
require = time > 0
evidence "Twice the time" ns = 2 * time
gain = 50
basis = a guess
means = It means nothing.
advice = Nothing.
next = echo {path} {kernel}
F
run wavescope advise MI200 --config-dir own
rc_is 0
out_has "Always there [high]"
out_has "Next    echo MI200 0"
run wavescope advise MI200 --config-dir own --check always
out_has ": fires"
run wavescope advise MI200 --check small_grid
out_has "does not fire: groups < 0.8 * \$cu_per_gpu"

wrong() { # SED COMPLAINT
	sed "$1" own/mine.finding >bad/mine.finding
	run wavescope advise MI200 --config-dir bad
	rc_is 1
	err_has "$2"
}
mkdir bad
wrong '/^basis/d' "mine.finding:2: finding always has no 'basis'"
wrong 's/^gain/gian/' "mine.finding:7: unknown key 'gian' of a finding"
wrong 's/7.2 "Kernel Time"/99.2 "Kernel Time"/' "there is no table 99.2"
wrong 's/"Kernel Time"/"Kernel Time" columm "Avg"/' "only 'column \"NAME\"' may follow a metric"
wrong 's/per = kernel/per = wave/' "unknown subject 'wave'"
wrong 's/time > 0/tme > 0/' "unknown name 'tme'"
wrong 's/always/small_grid/' "finding small_grid is defined twice"

# What is no profile and no trace.
run wavescope advise
rc_is 2
run wavescope advise nowhere
rc_is 1
run wavescope advise MI200 --check small_gird
rc_is 2
err_has "did you mean small_grid"
