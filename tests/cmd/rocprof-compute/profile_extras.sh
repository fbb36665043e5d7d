#!/bin/sh
# What options add to the counters: HIP calls, databases, PC samples, peaks.
. "$WS_SOURCE/tests/cmd/rocprof-compute/lib.sh"
need_tracing

profile --output-directory hip --hip-trace --set launch_stats -- "$vcopy" -n 4096 -b 256 -i 3
rc_is 0
is "$(grep -c '"hipLaunchKernel"' hip/pmc_perf_0_hip_api_trace.csv)" 3 "launches"
is "$(cd hip && echo *trace.csv)" pmc_perf_0_hip_api_trace.csv "traces"

profile --output-directory db --format-rocprof-output rocpd --retain-rocpd-output -b 12 -- \
	"$vcopy" -n 4096 -b 256 -i 3
rc_is 0
[ -s db/pmc_perf.db ] || fail "no database"
if command -v sqlite3 >/dev/null; then
	is "$(sqlite3 db/pmc_perf.db "SELECT count(DISTINCT dispatch_id) FROM counters_collection")" 3 \
		"dispatches in the database"
fi
is "$(cd db && echo .out*)" '.out*' "leftovers"

# The samples of block 21 are one more run.
profile --output-directory pcs -b 21 --pc-sampling-interval 65536 -- "$vcopy" -n 65536 -b 256
rc_is 0
[ -s pcs/ps_file_kernel_trace.csv ] || fail "no kernels of the sampled run"
[ -s pcs/ps_file_results.json ] || fail "no samples"

# Peaks: measured once per folder, not at all with --no-roof; --bench-only is just that.
cat >bench <<'SH'
#!/bin/sh
echo "bench $*" >>bench.log
printf 'device,HBMBw\n0,1\n' >"$2"
SH
chmod +x bench
export ROOFLINE_BIN=$work/bench
run rocprof-compute profile --output-directory roof --roof-only -- "$vcopy" -n 4096 -b 256
rc_is 0
out_has "Collecting Performance Counters (Roofline Only)"
out_has "[roofline] No roofline data found. Generating..."
[ -s roof/roofline.csv ] || fail "no roofline.csv"
is "$(ls roof/perfmon/*.txt | wc -l | tr -d ' ')" 3 "passes of the roofline"
is "$(cell roof/sysinfo.csv ip_blocks 1)" "SQ|LDS|SQC|TA|TD|TCP|TCC|SPI|CPC|CPF|roofline" blocks
run rocprof-compute profile --output-directory roof --roof-only -- "$vcopy" -n 4096 -b 256
rc_is 0
out_has "[roofline] Found"
is "$(wc -l <bench.log | tr -d ' ')" 1 "measurements"
run rocprof-compute profile --output-directory peaks --bench-only --device 0
rc_is 0
is "$(tail -n 1 bench.log)" "bench -o $work/peaks/roofline.csv -d 0" "how it is called"
run rocprof-compute profile --output-directory peaks --bench-only -- "$vcopy"
rc_is 1
err_has "--bench-only runs no program"

# Ranks of one launch measure once and share.
rm bench.log
for rank in 0 1 2; do
	PMI_RANK=$rank PMI_SIZE=3 rocprof-compute profile --output-directory ranks --roof-only -- \
		"$vcopy" -n 4096 -b 256 >rank$rank.txt 2>&1 &
done
wait
is "$(wc -l <bench.log | tr -d ' ')" 1 "measurements by three ranks"
for rank in 0 1 2; do
	[ -s ranks/$rank/roofline.csv ] || fail "no roofline.csv of rank $rank: $(cat rank$rank.txt)"
done
rm -f "${TMPDIR:-/tmp}/rocprof-compute-benchmark-$(id -u)/$$"-*
