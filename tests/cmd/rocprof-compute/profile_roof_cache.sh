#!/bin/sh
# Peaks are measured once per machine, GPU and version, and kept where only their user looks.
. "$WS_SOURCE/tests/cmd/rocprof-compute/lib.sh"
need_tracing
cat >bench <<'SH'
#!/bin/sh
echo "bench $*" >>"${0%bench}bench.log"
printf 'device,HBMBw\n0,%s\n' "$(wc -l <"${0%bench}bench.log" | tr -d ' ')" >"$2"
SH
chmod +x bench
export ROOFLINE_BIN=$work/bench
measured() { is "$(wc -l <bench.log | tr -d ' ')" "$1" "measurements, $2"; }
peak() { is "$(sed -n 2p $1/roofline.csv)" "0,$2" "peak of $1"; }
prof() { run rocprof-compute profile --output-directory "$@" -b 4 -- "$vcopy" -n 4096 -b 256; }
known="peaks of this GPU as measured on"

prof a
rc_is 0
err_lacks "$known"
measured 1 "first profile"
is "$(stat -c %a cache/wavescope)" 700 "the folder's mode"
entry=$(echo cache/wavescope/roofline-????????????????)
[ -s "$entry" ] || fail "no entry: $entry"
grep -q "^GPU: gfx90a, AMD Instinct MI210" "$entry" || fail "no GPU in $entry"
grep -q "^runtime: /.*libhsa-runtime64.so.*, [0-9]* bytes" "$entry" || fail "no runtime in $entry"

# Another folder, the same GPU: no benchmark, and it is said so, also in the log; not with -q.
prof b
rc_is 0
err_has "rocprof-compute: roofline: $known $(date +%Y)-"
err_has ": --roof-again measures them again"
grep -q "$known" b/log.txt || fail "not in the log"
measured 1 "second profile"
same_files a/roofline.csv b/roofline.csv "other peaks"
run rocprof-compute -q profile --output-directory q -b 4 -- "$vcopy" -n 4096 -b 256
rc_is 0
err_lacks "$known"
measured 1 "third profile"

# Measured anew when told to, also over what is in the folder; others have it from then on.
prof b --roof-again
rc_is 0
err_lacks "$known"
measured 2 "--roof-again"
peak b 2
run rocprof-compute profile --output-directory bench_only --bench-only
rc_is 0
measured 3 "--bench-only"
run rocprof-compute profile --no-roof --roof-again -n x -- "$vcopy"
rc_is 2
err_has "--no-roof and --roof-again contradict each other"

# Another GPU, another benchmark: other peaks.
WAVESCOPE_GPU=mi250x prof d
rc_is 0
measured 4 "another GPU"
touch -d '2001-01-01' bench
prof e
measured 5 "another benchmark"
peak e 5
# No home, or another user's: nothing is kept, nothing is said.
unset XDG_CACHE_HOME
mkdir home
HOME="" prof i
rc_is 0
err_is_empty
measured 6 "without HOME"
HOME=$work/home prof j
measured 7 "with HOME"
[ -s home/.cache/wavescope/roofline-???????????????? ] || fail "nothing in ~/.cache"
if [ "$(id -u)" = 0 ]; then
	mkdir other && chown 65534 other
	HOME=$work/other prof k
	rc_is 0
	is "$(ls -A other)" "" "a home of another user's"
else
	skip_part "a home of another user: needs root"
fi
