#!/bin/sh
# A disk that becomes full: said clearly, earlier passes are whole, --resume goes on.
. "$WS_SOURCE/tests/cmd/rocprof-compute/lib.sh"
need_tracing
mkdir small
mount -t tmpfs -o size=2m none small 2>/dev/null || skip "no right to mount a small disk"
cleanup() { umount "$work/small"; }

# After the fourth run there is no more room.
cat >app <<SH
#!/bin/sh
echo run >>$work/runs
[ "\$(wc -l <$work/runs)" -ne 5 ] || cat /dev/zero >$work/small/filler 2>/dev/null
exec "$vcopy" "\$@"
SH
chmod +x app
profile --output-directory small/p --replay application -- ./app -n 4096 -b 256
[ "$rc" -ne 0 ] || fail "a full disk is not noticed"
err_has "No space left on device"
out_has "of 12 passes are complete"
for file in small/p/*.csv; do
	is "$(awk 'END { print (NR > 1) }' "$file")" 1 "rows in $file"
done
ls small/p/*.part >/dev/null 2>&1 && fail "a file in the making is left"
rm small/filler
profile --output-directory small/p --replay application --resume -- ./app -n 4096 -b 256
rc_is 0
run rocprof-compute analyze -p small/p -b 7.1
rc_is 0

# Full when the only run has ended: it is recorded, and --resume makes the files of that.
cat >fills <<SH
#!/bin/sh
"$vcopy" "\$@" || exit
echo run >>$work/runs
cat /dev/zero >$work/small/filler 2>/dev/null
exit 0
SH
chmod +x fills
: >runs
rm -rf small/p
profile --output-directory small/q -b 12 -- ./fills -n 4096 -b 256
rc_is 1
err_has "No space left on device"
out_has "The run is recorded in $work/small/q, but its files could not be written"
rm small/filler
profile --output-directory small/q -b 12 -- ./fills -n 4096 -b 256
rc_is 1
err_has "has a run whose files could not be written: --resume writes them"
profile --output-directory small/q -b 12 --resume -- ./fills -n 4096 -b 256
rc_is 0
is "$(wc -l <runs | tr -d ' ')" 1 "runs of the program"
[ ! -e small/q/.recorded ] || fail "the recording is left behind"
profile --output-directory whole -b 12 -- "$vcopy" -n 4096 -b 256
rc_is 0
counters_of whole >before
counters_of small/q >after
same_files before after "not as in one go"

# Full while the only run counts: what is missing is said, and it is not called complete.
rm -rf small/*
mount -o remount,size=700k small
profile --output-directory small/r -- "$vcopy" -n 4096 -b 256 -i 30
rc_is 1
err_has "No space left on device"
mount -o remount,size=8m small
profile --output-directory small/r --resume -- "$vcopy" -n 4096 -b 256 -i 30
rc_is 0
is "$(rows small/r/pmc_perf_0.csv)" 30 "dispatches"
