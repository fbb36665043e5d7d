#!/bin/sh
# wavescope view: traces and profiles from a server; what the pages do is tests/pages and tests/serve.
. "$WS_SOURCE/tests/cmd/lib.sh"
. "$WS_SOURCE/tests/cmd/server.sh"
cd "$work"

# --- mistakes ---
run wavescope view
rc_is 2
err_has "wavescope: name a profile folder, a capture, a database or a folder of these"
run wavescope view . --port 65536
rc_is 2
err_has "--port requires a number up to 65535"
mkdir empty
run wavescope view empty
rc_is 1
err_has "no captures (*.wcap) or databases (*.db) under 'empty'"
run wavescope view missing
rc_is 1
err_has "missing"
mkdir lib
echo "no library" >lib/libmicrohttpd.so.12
LD_LIBRARY_PATH=$work/lib run wavescope view empty
rc_is 1
err_has "wavescope: a server needs libmicrohttpd.so.12, which cannot be opened: install the package libmicrohttpd12"

# --- captures of several processes ---
mkdir job
"$WS_BUILD/tests/ranks/make-ranks" job ranks=2 per-node=2 steps=100 >made || fail "make-ranks"
ls -lR --full-time job >before
serve wavescope view job
is() { [ "$1" = "$2" ] || fail "$3: '$1', not '$2'"; }
is "$(sed -n 3p served)" "  ssh -N -L $port:127.0.0.1:$port $(uname -n)" "the hint"
is "$(sed -n 4p served)" "Ctrl-C stops the server." "the last line"
fetch ""
code_is 200
out_has '"events":600,'
out_has '"pid":'
fetch tables
code_is 200
"$PYTHON" -c 'import json, sys, zlib
names = json.loads(zlib.decompress(open(sys.argv[1], "rb").read()))["names"]
assert "MPI_Allreduce" in names and "step" in names, names' "$out" || fail "names"
fetch "sums?from=0&to=99999999999&samples=0"
code_is 200
"$PYTHON" - "$out" <<'END' || fail "sums"
import sys
import zlib


def numbers(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


rows = list(numbers(zlib.decompress(open(sys.argv[1], "rb").read())))
assert len(rows) == 1 + 6 * rows[0], rows[:10]
assert sum(rows[2::6]) == 600, sum(rows[2::6])
assert rows[3::6] == rows[6::6], "all of it is inside"
END
fetch nothing
code_is 404
out_has "there is no such page"
run wavescope view --port "$port" job
rc_is 1
err_is "wavescope: port $port is in use: choose another one, or 0 for any that is free"
stop INT
rc_is 0
[ ! -s "$work/served.err" ] || fail "something is said: $(cat "$work/served.err")"
ls -lR --full-time job | cmp -s - before || fail "the folder of the captures has changed"

# --- a database, and another signal; a port that was just used is free ---
run wavescope merge job -f rocpd -o job
rc_is 0
serve wavescope view --port "$port" job_results.db
is "$url" "http://127.0.0.1:$port/$(echo "$url" | cut -d/ -f4)/" "the address"
fetch ""
code_is 200
out_has '"events":400,' # the kernels: databases have no MPI calls
stop TERM
rc_is 0

# --- files by name ---
set -- job/*.wcap
[ $# -eq 2 ] || fail "$# captures"
serve wavescope view "$1"
fetch ""
out_has '"events":300,'
stop INT
rc_is 0
serve wavescope view "$@"
fetch ""
out_has '"events":600,'
stop INT
rc_is 0

# --- profiles ---
unpack_recording MI200 mi200
serve wavescope view mi200
fetch ""
code_is 200
out_has 'vecCopy(double*, double*, double*, int, int) [clone .kd]'
fetch tiles
code_is 404
stop INT
rc_is 0
run wavescope view mi200 job
rc_is 2
err_has "profiles and traces are different pages: name one kind or the other"
