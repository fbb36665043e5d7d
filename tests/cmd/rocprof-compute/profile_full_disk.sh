#!/bin/sh
# A disk that becomes full: said clearly, earlier passes are whole, --resume goes on.
. "$WS_SOURCE/tests/cmd/rocprof-compute/lib.sh"
need_tracing
mkdir small
mount -t tmpfs -o size=2m none small 2>/dev/null || skip "no right to mount a small disk"
trap 'umount "$work/small"; rm -rf "$work"' EXIT

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
