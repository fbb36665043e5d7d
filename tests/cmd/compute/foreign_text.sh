#!/bin/sh
# Kernels and machines with names that a terminal would obey, or that are no UTF-8.
. "$WS_SOURCE/tests/cmd/lib.sh"
fit() { "$PYTHON" "$WS_SOURCE/tests/cmd/foreign_text.py" "$@" || fail "'$shown'"; }
cd "$work"
evil=$(printf 'w\033[2J\377')
cp -r "$WS_SOURCE/tests/cmd/compute/workloads/gfx90a" "$evil"
"$PYTHON" - "$evil" <<'PY'
import glob, os, sys
for name in glob.glob(os.path.join(os.fsencode(sys.argv[1]), b"*.csv")):
    with open(name, "rb") as f:
        data = f.read()
    data = data.replace(b"copy(double*, double*)", b"copy\x1b[31m\xe9\xe2\x80\xae\x07(double*, double*)")
    data = data.replace(b"gemm<float, 16>", b"gemm" + b"\xc3\xb6" * 60 + b"<float, 16>")
    if name.endswith(b"sysinfo.csv"):
        head, row = data.split(b"\n")[:2]
        cells = row.split(b",")
        cells[head.split(b",").index(b"hostname")] = b"ho\x1b]0;x\x07st\xff"
        data = head + b"\n" + b",".join(cells) + b"\n"
    with open(name, "wb") as f:
        f.write(data)
PY
grep -aq "$(printf 'copy\033')" "$evil/pmc_perf.csv" || fail "the names are as they were"
run wavescope advise "$evil"
rc_is 0
fit shown "$out"
out_has 'copy\x1b[31m\xe9\xe2\x80\xae\x07'
run wavescope advise "$evil" --json
rc_is 0
fit json "$out"
run rocprof-compute analyze -p "$evil"
rc_is 0
fit shown "$out" "$err"
out_has 'copy\x1b[31m\xe9\xe2\x80\xae\x07(double*, double*)'
out_has 'ho\x1b]0;x\x07st\xff'
# A name of characters of several bytes is wrapped and cut between them.
out_has 'gemm'
for what in "--list-stats" "-b 2 -k 0" "--explain 2.1.1"; do
	# shellcheck disable=SC2086 # words
	run rocprof-compute analyze -p "$evil" $what
	rc_is 0
	fit shown "$out" "$err"
done
cp -r "$evil" other
run rocprof-compute analyze --diff -p "$evil" -p other
fit shown "$out" "$err"
run rocprof-compute analyze -p "$evil" --output-format json --output-name report
rc_is 0
fit json report.json
fit shown "$out" "$err"
run rocprof-compute analyze -p "$evil" --charts charts --save-dfs dfs
rc_is 0
fit xml charts/*.svg
run rocprof-compute analyze -p "$evil" -p other --output-format html --output-name page
rc_is 0
fit shown page.html "$out" "$err"
fit shown dfs/0.1_Top_Kernels.csv
run rocprof-compute analyze -p "no$evil"
rc_is 1
fit shown "$err"
