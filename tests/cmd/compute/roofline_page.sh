#!/bin/sh
# The roofline page in a real browser: points, roofs, hovering, switches, no message, no request.
. "$WS_SOURCE/tests/cmd/lib.sh"

command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 ||
	skip "chromium is not installed"
cd "$work"
"$PYTHON" "$WS_SOURCE/tests/cmd/compute/make_workload.py" load --soft
run rocprof-compute analyze -p load -b 4 --charts pictures
rc_is 0
limit_s=120 run "$PYTHON" "$WS_SOURCE/tests/cmd/compute/browser.py" pictures/roofline.html load
cat "$out"
rc_is 0
