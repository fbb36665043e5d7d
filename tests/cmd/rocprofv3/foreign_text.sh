#!/bin/sh
# Names with control characters, and names that are no UTF-8: files stay readable, and the
# terminal obeys nobody but us.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
python=${PYTHON:-python3}
fit() { "$python" "$WS_SOURCE/tests/cmd/foreign_text.py" "$@" || fail "'$shown'"; }
evil=$(printf 'ev\033]0;title\007il\377\302\233')
cat >mark.py <<'PY'
import ctypes, sys
roctx = ctypes.CDLL("librocprofiler-sdk-roctx.so.1")
for text in (b"red\x1b[31m", b"latin\xe9", b"turned\xe2\x80\xae", b"line\nend", b"plain"):
    roctx.roctxRangePushA(text)
    roctx.roctxMarkA(text)
    roctx.roctxRangePop()
PY
ln -s "$("$python" -c 'import sys; print(sys.executable)')" "$evil"
mkdir -p out
run rocprofv3 --marker-trace -S -f csv json pftrace rocpd --output-config -d out -o x -- \
	"./$evil" mark.py "$evil"
rc_is 0
fit shown "$err"
err_has '(ev\x1b]0;title\x07il\xff\xc2\x9b)'
err_has '| red\x1b[31m '
err_has '| latin\xe9 '
err_has '| line\x0aend '
fit json out/x_results.json out/x_config.json
fit pftrace out/x_results.pftrace
fit db out/x_results.db
# What could be kept is kept, in JSON too; a CSV has the bytes.
"$python" - <<'PY' || fail "texts"
import json
text = json.dumps(json.load(open("out/x_results.json")))
for wanted in (r"red\u001b[31m", r"latin\ufffd", r"turned\u202e", r"line\nend"):
    assert wanted in text, wanted
command = json.load(open("out/x_config.json"))["rocprofiler-sdk-tool"][0]["metadata"]["command"]
assert len(command) == 3 and command[2].startswith("ev\x1b]0;title\x07il\ufffd"), command
assert b"latin\xe9" in open("out/x_marker_api_trace.csv", "rb").read()
PY
if part_needs otf2-print; then
	run rocprofv3 --marker-trace -f otf2 -d out -o o -- "./$evil" mark.py
	rc_is 0
	otf2-print -G out/o_results.otf2 >defs.txt
	"$python" -c 'open("defs.txt", encoding="utf-8").read()' || fail "strings of the archive"
	grep -q 'latin' defs.txt || fail "no marker in the archive"
fi

# The same through a database.
run rocpd query -i out/x_results.db --query "SELECT string FROM rocpd_string WHERE string LIKE '%red%' OR string LIKE 'latin%'"
rc_is 0
fit shown "$out"
out_has 'red\x1b[31m'
for format in json html md; do
	run rocpd query -i out/x_results.db --format $format -d out -o q \
		--query "SELECT string, CAST(x'ff41' AS TEXT) AS raw FROM rocpd_string"
	rc_is 0
	"$python" -c 'import sys; open(sys.argv[1], encoding="utf-8").read()' out/q.$format || fail "$format"
done
fit json out/q.json
run rocpd convert -i out/x_results.db -f pftrace -d out -o c
rc_is 0
fit pftrace out/c_results.pftrace

# Complaints quote what was typed.
run rocprofv3 --kernel-trace -- "./no$evil"
rc_is 127
fit shown "$err"
err_has 'not found: check the path'
run rocprofv3 "--$evil"
rc_is 2
fit shown "$err"
