#!/bin/sh
# Counter values in a database come along into the other formats.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
need_program sqlite3
limit_s=200 run rocprofv3 --pmc SQ_WAVES GRBM_COUNT --kernel-trace -f rocpd pftrace csv -d . -o a -- \
	"$vcopy" -n 65536 -b 256
rc_is 0
waves=$(sqlite3 a_results.db "SELECT CAST(SUM(counter_value) AS INT) FROM pmc_events WHERE counter_name = 'SQ_WAVES'")
is "$waves" 1024 "waves in the database"
run rocpd convert -i a_results.db -f pftrace csv -d c -o c
rc_is 0
is "$(grep '"SQ_WAVES"' c/c_counter_collection.csv | sed 's/"[^"]*"/x/g' | cut -d, -f18)" 1024 "waves in CSV"
# a counter's track, and the value on the kernel's slice
for trace in a_results.pftrace c/c_results.pftrace; do
	for counter in SQ_WAVES GRBM_COUNT; do
		is "$(grep -aoc "$counter" $trace | head -1 | sed 's/^0$/none/; s/^[1-9].*/some/')" some "$counter in $trace"
	done
done
