#!/bin/sh
# Profiles that do not come to their end: what was collected stays, --resume goes on.
. "$WS_SOURCE/tests/cmd/rocprof-compute/lib.sh"
need_tracing

# In the run whose number is in the file `at` it does what $1 says.
cat >app <<SH
#!/bin/sh
what=\$1
shift
echo run >>$work/runs
if [ "\$(wc -l <$work/runs)" -eq "\$(cat $work/at)" ]; then
	case \$what in
	fail) exit 3 ;;
	crash) kill -ABRT \$\$ ;;
	hang) sleep 300 ;;
	interrupt) kill -INT \$PPID; sleep 5; exit 0 ;;
	esac
fi
exec "$vcopy" "\$@"
SH
chmod +x app

stops() { # WHAT AT PASSES CODE TEXT [OPTIONS...]
	what=$1 at=$2 n=$3 code=$4 text=$5
	shift 5
	: >runs
	echo "$at" >at
	profile --output-directory "$what" --replay application "$@" -- ./app "$what" -n 4096 -b 256
	rc_is "$code"
	err_has "$text"
	err_has "pass $at of $n"
	out_has "$((at - 1)) of $n passes are complete and kept in $work/$what"
	is "$(find "$what" -name 'pmc_perf_*.csv' -o -name 'SQ*.csv' | wc -l | tr -d ' ')" \
		$((at - 1)) "files of finished passes"
	[ ! -e "$what/.rocprofv3" ] || fail "captures are left behind"
	first=$(find "$what" -name '*_*.csv' | sort | head -n 1)
	cp "$first" kept

	# Without --resume nothing is touched.
	profile --output-directory "$what" --replay application "$@" -- ./app "$what" -n 4096 -b 256
	rc_is 1
	err_has "has an unfinished profile, $((at - 1)) of $n passes: --resume goes on with it"
	# Of another command it is not gone on with.
	profile --output-directory "$what" --resume -- ./app "$what" -n 8192 -b 256
	rc_is 1
	err_has "it is of another command"

	: >runs
	echo 0 >at
	profile --output-directory "$what" --replay application --resume "$@" -- \
		./app "$what" -n 4096 -b 256
	rc_is 0
	is "$(wc -l <runs | tr -d ' ')" $((n - at + 1)) "runs that were left"
	cmp -s kept "$first" || fail "a finished pass was written again"
	# The same as in one go.
	profile --output-directory whole --replace "$@" -- "$vcopy" -n 4096 -b 256
	rc_is 0
	counters_of "$what" >after
	counters_of whole >before
	cmp -s before after || fail "not as in one go: $(diff before after | head -5)"
	run rocprof-compute analyze -p "$what"
	rc_is 0
}

stops fail 7 12 1 "'./app' ended with exit code 3"
stops crash 3 5 1 "'./app' was ended by signal 6" -b 12 5
stops hang 3 5 1 "took longer than --timeout 20" -b 12 5 --timeout 20
stops interrupt 3 5 130 "interrupted" -b 12 5

# --resume alone knows what was run, and that nothing is left when that is so.
: >runs
echo 2 >at
rm -rf fail
profile --output-directory fail --replay application -b 12 10 -- ./app fail -n 4096 -b 256
rc_is 1
profile --output-directory fail --replay application --resume
rc_is 0
profile --output-directory fail --resume
rc_is 0
out_has "Everything that was asked for was there already"

# With kernel replay a program that dies leaves what it had counted.
cat >dying.sh <<SH
#!/bin/sh
"$vcopy" -n 4096 -b 256 -i 2
kill -KILL \$\$
SH
chmod +x dying.sh
profile --output-directory dies -b 12 -- ./dying.sh
rc_is 1
err_has "'./dying.sh' was ended by signal 9"
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
err_has "'/bin/false' ended with exit code 1"
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
echo 0 >at
: >runs
run rocprof-compute profile --output-directory peaks -b 4 -- ./app none -n 4096 -b 256
rc_is 130
err_has "roofline: interrupted"
out_has "All 3 passes are complete and kept in $work/peaks"
run rocprof-compute profile --output-directory peaks -b 4 -- ./app none -n 4096 -b 256
rc_is 1
err_has "was stopped after its last pass: --resume does what is missing"
rm stop
run rocprof-compute profile --output-directory peaks -b 4 --resume -- ./app none -n 4096 -b 256
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
touch go
profile --output-directory killed -b 12 --resume -- ./slow -n 4096
rc_is 0
[ ! -e killed/.rocprofv3 ] || fail "captures of the killed one are left"

# What HIP says of a program that was compiled for another GPU, in words that help.
profile --output-directory foreign -- sh -c \
	'echo "hipErrorNoBinaryForGpu: Unable to find code object for all current devices!"; exit 134'
rc_is 1
err_has "has no code for gfx90a: compile it with hipcc --offload-arch=gfx90a"
