#!/bin/sh
# wavescope top: profiles, and a program that runs, on the terminal.
. "$WS_SOURCE/tests/cmd/lib.sh"
. "$WS_SOURCE/tests/cmd/tmux.sh"
cd "$work"
unpack_recording MI200 mi200

# --- mistakes ---
run wavescope top
rc_is 2
err_has "wavescope: name a profile folder, a capture, a database, or the output folder of a program that runs"
run wavescope top mi200 -i 0
rc_is 2
err_has "--interval requires 0.1 to 3600 seconds"
run wavescope top mi200 .
rc_is 2
err_has "only profile folders are compared"
mkdir empty
run wavescope top empty
rc_is 1
err_has "no captures (*.wcap) or databases (*.db) under 'empty'"
run wavescope top mi200 </dev/null
rc_is 1
err_has "this needs a terminal, and stdin or stdout is none"

# --- a profile ---
on_screen 200x50 wavescope top mi200
sees 'vecCopy(double*, double*, double*, int, int) [clone .kd]'
sees '6 Compare'
keys q
sees 'ended with 0'

# --- a trace whose kernel has a name that a terminal or a browser would obey ---
need_tracing
need_sample vcopy
run rocprofv3 --sys-trace -f rocpd -d . -o hostile -- "$WS_BUILD/samples/vcopy" -n 4096
rc_is 0
"$PYTHON" - <<'PY'
import sqlite3
name = "</script><script>alert(1)</script>\x1b[2J\x07\u202e\"'`${1}&amp;\u00fc\u6838" + "k" * 4096
base = sqlite3.connect("hostile_results.db")
n = 0
for (table,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
    for column in [row[1] for row in base.execute(f'PRAGMA table_info("{table}")')]:
        n += base.execute(f"UPDATE '{table}' SET \"{column}\" = replace(\"{column}\", 'vecCopy', ?) "
                          f"WHERE \"{column}\" LIKE '%vecCopy%'", (name,)).rowcount
assert n
base.commit()
PY
fit() { "$PYTHON" "$WS_SOURCE/tests/cmd/foreign_text.py" "$@" || fail "'$shown'"; }
on_screen 80x24 wavescope top hostile_results.db
sees '</script><'
fit shown "$out"
keys Enter
sees '\x1b[2J\x07\xe2\x80\xae'
fit shown "$out"
keys q
sees 'ended with 0'
run wavescope advise hostile_results.db --min-gain 0 --min-share 0
rc_is 0
fit shown "$out"
run wavescope advise hostile_results.db --json --min-gain 0 --min-share 0
rc_is 0
fit json "$out"
run rocpd convert -i hostile_results.db -f html -d . -o page
rc_is 0
! grep -q '<script>alert' page_results.html || fail "a name is a script in the page"

# --- a program that runs ---
resident=$WS_BUILD/tests/cmd/resident
[ -x "$resident" ] || skip "resident is not in this build (no hipcc?)"
wavescope run -- rocprofv3 --sys-trace -f csv -d out -- "$resident" ready >live.out 2>live.err &
front=$!
for try in $(seq 300); do
	[ -e ready ] && break
	sleep 0.1
done
[ -e ready ] || fail "the program does not start: $(cat live.err)"
capture=$(echo out/.rocprofv3/*/*-0.wcap)
pid=${capture##*/}
pid=${pid%-0.wcap}
end_all() {
	kill -TERM "$pid" 2>/dev/null || :
	tm kill-server 2>/dev/null || :
}
cleanup() { end_all; }
on_screen 80x24 wavescope top out -i 0.2
sees '1 running'
sees "gfx90a, resident ($pid): "
sees ' kernels/s '
case $(readlink -f "$(ldd "$resident" | sed -n 's/.*libamdhip64.so.5 => \([^ ]*\).*/\1/p')") in
*.so.5.[0-6].*) sees 'memory 1.00 MiB, at most 1.00 MiB' ;; # HIP 5.2 takes a MiB at once
*) sees 'memory 4.00 KiB, at most 4.00 KiB' ;;
esac
sees 'fill(int'
calls() { sed -n 's/^   0  [ 0-9.]* [mun]\{0,1\}s  *\([0-9]*\) .*/\1/p' "$out"; }
first=$(calls)
[ "${first:-0}" -gt 0 ] || fail "no calls of the kernel are shown"
for try in $(seq 100); do
	look
	[ "$(calls)" -gt "$first" ] && break
	sleep 0.05
done
[ "$(calls)" -gt "$first" ] || fail "the number of calls stays at $first while the program runs"
keys Enter
sees '> Kernel 0'
sees 'fill(int*, int)'
sees '100.0 % of all kernels'
keys BSpace 2
sees 'The host waits after nearly every kernel'
kill -TERM "$pid"
wait "$front" || fail "the program failed: $(cat live.err)"
keys 1
sees '  ended'
look
[ "$(calls)" -ge "$first" ] || fail "what was seen is gone"
keys q
sees 'ended with 0'
