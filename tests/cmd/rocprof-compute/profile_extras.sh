#!/bin/sh
# What options add to the counters: HIP calls, databases, PC samples, peaks.
. "$WS_SOURCE/tests/cmd/rocprof-compute/lib.sh"
need_tracing
need_program sqlite3

profile --output-directory hip --hip-trace --set launch_stats -- "$vcopy" -n 4096 -b 256 -i 3
rc_is 0
is "$(grep -c '"hipLaunchKernel"' hip/pmc_perf_0_hip_api_trace.csv)" 3 "launches"
is "$(cd hip && echo *trace.csv)" pmc_perf_0_hip_api_trace.csv "traces"

profile --output-directory db --format-rocprof-output rocpd --retain-rocpd-output -b 12 -- \
	"$vcopy" -n 4096 -b 256 -i 3
rc_is 0
[ -s db/pmc_perf.db ] || fail "no database"
is "$(sqlite3 db/pmc_perf.db "SELECT count(DISTINCT dispatch_id) FROM counters_collection")" 3 \
	"dispatches in the database"
is "$(cd db && echo .out*)" '.out*' "leftovers"

# The samples of block 21 are one more run; the report shows them by instruction. MI210 has host traps only.
profile --output-directory pcs --replace -b 21 -- "$vcopy" -n 65536 -b 256
rc_is 0
out_lacks "no PC samples"
[ -s pcs/ps_file_kernel_trace.csv ] || fail "no kernels of the sampled run"
[ -s pcs/ps_file_pc_sampling_host_trap.csv ] || fail "no samples"
run rocprof-compute analyze -p pcs -b 21 -k 0
rc_is 0
grep -q 's_waitcnt vmcnt(0)' "$out" || fail "no instruction in the report"
profile --output-directory pcs --replace -b 21 --pc-sampling-interval 1048576 -- "$vcopy" -n 4096
rc_is 0
out_has "no PC samples: no kernel runs as long as 1048576 microseconds"
profile --output-directory refused -b 21 --pc-sampling-method stochastic -- "$vcopy" -n 4096
rc_is 1
err_has "stochastic sampling exists from MI300 on, and not on gfx90a: use host_trap"

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
out_has "Results: $work/peaks/roofline.csv"
[ -s peaks/log.txt ] || fail "no log"
run rocprof-compute profile --output-directory peaks --bench-only -- "$vcopy"
rc_is 2
err_has "--bench-only runs no program"

# Ranks of one launch measure once and share.
rm bench.log
XDG_CACHE_HOME=$work/cache_of_ranks
for rank in 0 1 2; do
	PMI_RANK=$rank PMI_SIZE=3 rocprof-compute profile --output-directory ranks --roof-only -- \
		"$vcopy" -n 4096 -b 256 >rank$rank.txt 2>&1 &
done
wait
is "$(wc -l <bench.log | tr -d ' ')" 1 "measurements by three ranks"
for rank in 0 1 2; do
	[ -s ranks/$rank/roofline.csv ] || fail "no roofline.csv of rank $rank: $(cat rank$rank.txt)"
done
# Also where they are to measure anew.
for rank in 0 1 2; do
	PMI_RANK=$rank PMI_SIZE=3 rocprof-compute profile --output-directory ranks --roof-again \
		--roof-only -- "$vcopy" -n 4096 -b 256 >rank$rank.txt 2>&1 &
done
wait
is "$(wc -l <bench.log | tr -d ' ')" 2 "measurements by three ranks that were told to"
