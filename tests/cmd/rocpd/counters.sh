#!/bin/sh
# Counter values in a database come along into the other formats.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
need_program sqlite3
counters() { "$PYTHON" "$WS_SOURCE/tests/cmd/rocpd/pftrace_text.py" counters "$1" || fail "$1 cannot be read"; }

limit_s=200 run rocprofv3 --pmc SQ_WAVES GRBM_COUNT --kernel-trace -f rocpd pftrace csv -d . -o a -- \
	"$vcopy" -n 65536 -b 256
rc_is 0
value() { # FILE COUNTER
	grep "\"$2\"" "$1" | sed 's/"[^"]*"/x/g; s/\.0*,/,/' | awk -F, '{ print $(NF - 2) }'
}
waves=1024 # 65536 work-items, 64 in each
is "$(value a_counter_collection.csv SQ_WAVES)" $waves "waves in direct CSV"
cycles=$(value a_counter_collection.csv GRBM_COUNT)
[ "${cycles:-0}" -gt 1000 ] || fail "'$cycles' cycles"
for pair in SQ_WAVES=$waves GRBM_COUNT=$cycles; do
	is "$(sqlite3 a_results.db "SELECT CAST(SUM(counter_value) AS INT) FROM pmc_events
		WHERE counter_name = '${pair%=*}'")" "${pair#*=}" "${pair%=*} in the database"
done

run rocpd convert -i a_results.db -f pftrace csv -d c -o c
rc_is 0
is "$(value c/c_counter_collection.csv SQ_WAVES)" $waves "waves in CSV"
is "$(value c/c_counter_collection.csv GRBM_COUNT)" "$cycles" "cycles in CSV"
# a track per counter, and the values on the kernel's slice
cat >want <<END
slice 'vecCopy(double*, double*, double*, int, int)' GRBM_COUNT $cycles
slice 'vecCopy(double*, double*, double*, int, int)' SQ_WAVES $waves
track 'Agent [1] PMC GRBM_COUNT' $cycles
track 'Agent [1] PMC SQ_WAVES' $waves
END
for trace in a_results.pftrace c/c_results.pftrace; do
	counters $trace >got
	same_files want got "$trace"
done
