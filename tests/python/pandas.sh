#!/bin/sh
# rocpd.query.dataframe: rows as a pandas.DataFrame.
. "$WS_SOURCE/tests/python/lib.sh"
need_tracing
for python in "$PYTHON" /usr/bin/python3 none; do
	[ "$python" != none ] || skip "no Python with pandas is installed (Debian: python3-pandas)"
	"$python" -c 'import pandas' 2>/dev/null && break
done
run rocprofv3 --runtime-trace -f rocpd -o a -- "$vcopy" -n 65536 -b 256
rc_is 0
run "$python" - <<'PY'
import pandas
import rocpd
import rocpd.query
frame = rocpd.query.dataframe(rocpd.connect("a_results.db"), "SELECT grid_x, name FROM kernels")
assert isinstance(frame, pandas.DataFrame)
assert list(frame.columns) == ["grid_x", "name"]
assert frame["grid_x"].tolist() == [65536]
PY
rc_is 0
