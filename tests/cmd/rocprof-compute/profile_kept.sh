#!/bin/sh
# What a profile that was stopped leaves: dispatches, passes without peaks, nothing, captures;
# and two profiles at a time.
. "$WS_SOURCE/tests/cmd/rocprof-compute/lib.sh"
need_tracing

# With kernel replay a program that dies leaves what it had counted.
cat >dying.sh <<SH
#!/bin/sh
"$vcopy" -n 4096 -b 256 -i 2
kill -KILL \$\$
SH
chmod +x dying.sh
profile --output-directory dies -b 12 -- ./dying.sh
rc_is 1
err_has "'./dying.sh' was killed by signal 9"
is "$(rows dies/pmc_perf_0.csv)" 2 "dispatches before the end"
out_has "2 dispatches counted before that are kept in $work/dies, and 'rocprof-compute analyze' reads"
run rocprof-compute analyze -p dies -b 12.1
rc_is 0
profile --output-directory dies -b 12 -- ./dying.sh
rc_is 1
err_has "has the dispatches of a run that was stopped: --resume runs the program again"

# One that failed before anything was counted is in nobody's way, and promises nothing.
profile --output-directory typo -b 12 -- /bin/false
rc_is 1
err_has "'/bin/false' exited with code 1"
out_lacks "--resume"
profile --output-directory typo -b 7 -- "$vcopy" -n 4096 -b 256
rc_is 0
profile --output-directory wrong -b 12 -k nosuch -- "$vcopy" -n 4096 -b 256
rc_is 1
err_has "matches --kernel: its kernels are vecCopy"
profile --output-directory wrong -b 12 -k vecCopy -- "$vcopy" -n 4096 -b 256
rc_is 0

# Ctrl-C while the peaks are measured: the counters are there, --resume does the rest.
cat >measure <<SH
#!/bin/sh
[ ! -e $work/stop ] || { kill -INT \$PPID; sleep 5; exit 1; }
echo "HBM BW, GPU ID: 0, mean:1358.4 GB/sec"
printf 'device,HBMBw\n0,1358.4\n' >"\$2"
SH
chmod +x measure
ROOFLINE_BIN=$work/measure
export ROOFLINE_BIN
touch stop
cat >app <<SH
#!/bin/sh
echo run >>$work/runs
exec "$vcopy" "\$@"
SH
chmod +x app
run rocprof-compute profile --output-directory peaks -b 4 -- ./app -n 4096 -b 256
rc_is 130
err_has "roofline: interrupted"
out_has "All 3 passes are complete and kept in $work/peaks"
run rocprof-compute profile --output-directory peaks -b 4 -- ./app -n 4096 -b 256
rc_is 1
err_has "was stopped after its last pass: --resume completes it"
rm stop
run rocprof-compute profile --output-directory peaks -b 4 --resume -- ./app -n 4096 -b 256
rc_is 0
is "$(wc -l <runs | tr -d ' ')" 1 "runs of the program"
is "$(cell peaks/roofline.csv HBMBw 1)" 1358.4 "the peak"
grep -q "^HBM BW, GPU ID: 0, mean:1358.4 GB/sec" peaks/log.txt || fail "the log lacks the peaks"
unset ROOFLINE_BIN

# Two at a time in one folder: the second is refused, and does the first no harm.
cat >slow <<SH
#!/bin/sh
echo \$\$ >$work/pid && mv $work/pid $work/started
while [ ! -e $work/go ]; do sleep 0.1; done
exec "$vcopy" "\$@"
SH
chmod +x slow
rocprof-compute profile --no-roof --output-directory shared -b 12 -- ./slow -n 4096 >first 2>&1 &
first=$!
for i in $(seq 1 600); do [ -e started ] && break; sleep 0.1; done
profile --output-directory shared -b 12 -- "$vcopy" -n 4096 -b 256
rc_is 1
err_has "is in use by another rocprof-compute"
touch go
wait $first || fail "the first of two: $(cat first)"
is "$(rows shared/pmc_perf_0.csv)" 1 "dispatches of the first"

# One that is killed leaves captures; the next profile in the folder removes them.
rm started go
rocprof-compute profile --no-roof --output-directory killed -b 12 -- ./slow -n 4096 >first 2>&1 &
first=$!
for i in $(seq 1 600); do [ -e started ] && break; sleep 0.1; done
kill -KILL $first "$(cat started)"
wait $first || :
[ -e killed/.rocprofv3 ] || fail "captures were elsewhere"
run rocprof-compute analyze -p killed
rc_is 1
err_has "'killed' is an interrupted profile, 0 of 2 passes are done: 'rocprof-compute profile --resume --output-directory killed' continues it"
touch go
profile --output-directory killed -b 12 --resume -- ./slow -n 4096
rc_is 0
[ ! -e killed/.rocprofv3 ] || fail "captures of the killed one are left"

# What HIP says of a program that was compiled for another GPU, in words that help.
profile --output-directory foreign -- sh -c \
	'echo "hipErrorNoBinaryForGpu: Unable to find code object for all current devices!"; exit 134'
rc_is 1
err_has "has no code for gfx90a: compile it with hipcc --offload-arch=gfx90a"
