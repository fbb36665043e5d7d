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
	err_has "has an unfinished profile, $((at - 1)) of $n passes: --resume continues it"
	# Of another command it is not gone on with.
	profile --output-directory "$what" --resume -- ./app "$what" -n 8192 -b 256
	rc_is 1
	err_has "it belongs to another command"

	: >runs
	echo 0 >at
	profile --output-directory "$what" --replay application --resume "$@" -- \
		./app "$what" -n 4096 -b 256
	rc_is 0
	is "$(wc -l <runs | tr -d ' ')" $((n - at + 1)) "runs that were left"
	same_files kept "$first" "a finished pass was written again"
	# The same as in one go.
	profile --output-directory whole --replace "$@" -- "$vcopy" -n 4096 -b 256
	rc_is 0
	counters_of "$what" >after
	counters_of whole >before
	same_files before after "not as in one go"
	run rocprof-compute analyze -p "$what"
	rc_is 0
}

stops fail 7 12 1 "'./app' exited with code 3"
stops crash 3 5 1 "'./app' was killed by signal 6" -b 12 5
# longer than any run that does not hang
stops hang 3 5 1 "took longer than --timeout 6" -b 12 5 --timeout 6
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
out_has "All requested counters were already collected"
