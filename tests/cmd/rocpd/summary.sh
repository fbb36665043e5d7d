#!/bin/sh
# Calls and times by name, as the CSV statistics have them.
. "$WS_SOURCE/tests/cmd/rocpd/lib.sh"
run rocpd summary -i a_results.db b_results.db --domain-summary --summary-by-rank -f csv -d s
rc_is 0
is "$(sed -n 1p s/kernels_summary.csv)" \
	'Name,Calls,DURATION (nsec),AVERAGE (nsec),PERCENT (INC),MIN (nsec),MAX (nsec),STD_DEV' columns
is "$(sed -n 2p s/kernels_summary.csv | sed 's/"[^"]*"/x/' | cut -d, -f2,5)" "2,100.0" row
is "$(rows s/kernels_summary_by_rank.csv)" 2 ranks
total=$(for f in a b; do sqlite3 ${f}_results.db 'SELECT SUM(duration) FROM kernels'; done | awk '{ s += $1 } END { print s }')
is "$(sed -n 2p s/kernels_summary.csv | sed 's/"[^"]*"/x/' | cut -d, -f3)" "$total" total
for f in hip_summary memory_copies_summary memory_allocations_summary domain_summary domain_summary_by_rank; do
	[ -s s/$f.csv ] || fail "no $f"
done
is "$(grep ^KERNELS, s/domain_summary.csv | cut -d, -f2,3)" "2,$total" "domain summary"
run rocpd summary -i a_results.db --region-categories NONE
out_has "KERNELS_SUMMARY:"
out_lacks "HIP_SUMMARY:"
run rocpd2summary -i a_results.db
out_has "HIP_SUMMARY:"
