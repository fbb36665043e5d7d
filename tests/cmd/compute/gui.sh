#!/bin/sh
# rocprof-compute analyze --gui: the profile page from a server, with AMD's filters and comparison.
. "$WS_SOURCE/tests/cmd/lib.sh"
. "$WS_SOURCE/tests/cmd/server.sh"
cd "$work"
make_load() { "$PYTHON" "$WS_SOURCE/tests/cmd/compute/make_workload.py" "$@"; }
evil=$(printf '<img src=x onerror=alert(1)>"`${1}&amp;\303\274\342\202\254\001\033[2J')
make_load before --rename "saxpy<float>=$evil"
make_load after --rename "saxpy<float>=$evil" --slower gemm=1.3

# --- mistakes ---
run rocprof-compute analyze -p before --random-port
rc_is 2
err_has "--gui flag is required to enable --random-port"
run rocprof-compute analyze -p before --gui x
rc_is 2
err_has "--gui 'x': a port is a number up to 65535; 0 is any that is free"
run rocprof-compute analyze -p before --gui 70000
rc_is 2
run rocprof-compute analyze -p before --gui --tui
rc_is 2
err_has "--gui and --tui exclude each other"
run rocprof-compute analyze -p before --gui --output-format html
rc_is 2
err_has "--gui writes no files: leave out -o and --output-format"
run rocprof-compute analyze --gui
rc_is 2
err_has "The following arguments are required: -p/--path"

# --- pages are those that files have for the same filters ---
run rocprof-compute analyze -p before -p after --output-format html --output-name both
run rocprof-compute analyze -p before -k 0 -n per_wave --max-stat-num 5 --output-format html --output-name gemm
run rocprof-compute analyze -p after -d 0 1 2 --output-format html --output-name three
rc_is 0
ls -lR --full-time before after >listed
serve rocprof-compute analyze -p before -p after --gui --random-port
run "$PYTHON" -B "$WS_SOURCE/tests/cmd/compute/gui.py" "$url"
cat "$out"
rc_is 0
run rocprof-compute analyze -p before --gui "$port"
rc_is 1
err_has "port $port is in use: choose another one, or 0 for any that is free"
stop INT
rc_is 0
[ ! -s "$work/served.err" ] || fail "something is said: $(cat "$work/served.err")"
ls -lR --full-time before after | cmp -s - listed || fail "a workload has changed"

# --- -k narrows what can be selected ---
serve rocprof-compute analyze -p before --gui 0 -k 0
fetch check
code_is 200
out_is_text() { [ "$(cat "$out")" = "$1" ] || fail "'$shown' is answered with '$(cat "$out")', not '$1'"; }
out_is_text "[6]"
fetch "check?dispatches=1"
code_is 404
out_has "no dispatch of 'before' is selected"
stop HUP
rc_is 0
