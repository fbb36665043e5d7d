#!/bin/sh
# Several databases in one file or folder hold what each held.
. "$WS_SOURCE/tests/cmd/rocpd/lib.sh"
run rocpd merge -i a_results.db b_results.db -o both -d m
rc_is 0
is "$(sqlite3 m/both.db 'SELECT grid_x FROM kernels ORDER BY 1' | tr '\n' ' ')" "65536 131072 " kernels
for view in regions memory_copies memory_allocations; do
	a=$(sqlite3 a_results.db "SELECT COUNT(*) FROM $view")
	b=$(sqlite3 b_results.db "SELECT COUNT(*) FROM $view")
	[ "$a" -gt 0 ] && [ "$b" -gt 0 ] || fail "no $view to merge"
	is "$(sqlite3 m/both.db "SELECT COUNT(*) FROM $view")" $((a + b)) $view
done
run rocpd query -i m/both.db --query 'SELECT COUNT(*) AS n FROM kernels'
is "$(sed -n 2p "$out" | tr -d ' ')" 2 "merged kernels"
run rocpd merge -i a_results.db a_results.db -o twice -d m
rc_is 1
[ ! -e m/twice.db ] || fail "half a database was left"
# A database of another machine, whose clock is 5 s behind: refused, unless the user knows better.
cp b_results.db far_results.db
table=$(sqlite3 far_results.db "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_metadata%'")
sqlite3 far_results.db "UPDATE $table SET value = json_set(value, '\$.boot_id', '00000000000000010000000000000002', \
	'\$.realtime_offset_ns', json_extract(value, '\$.realtime_offset_ns') + 5000000000) WHERE tag = 'wavescope_ledger'"
run rocpd merge -i a_results.db far_results.db -o far -d m
rc_is 1
err_has "is not known: it recorded no collective of MPI, or of RCCL with kernels, together with"
[ ! -e m/far.db ] || fail "a database without a clock"
run rocpd merge -i a_results.db far_results.db -o far -d m --assume-aligned
rc_is 0
out_has " s    unknown  assumed"
out_has "Merged 2 databases into m/far.db"
# CLOCK_REALTIME is read once per process, so the two machines of this test differ by a little
for query in 'SELECT start, "end" FROM rocpd_kernel_dispatch' 'SELECT MIN(start), MAX("end") FROM rocpd_region' \
	'SELECT init, fini FROM rocpd_info_process' 'SELECT MIN(start), MAX("end") FROM rocpd_memory_copy'; do
	b=$(sqlite3 b_results.db "$query" | head -1)
	guid=$(sqlite3 b_results.db 'SELECT guid FROM rocpd_info_process')
	far=$(sqlite3 m/far.db "$query WHERE guid = '$guid'" | head -1)
	for k in 1 2; do
		moved=$(($(echo "$far" | cut -d'|' -f$k) - $(echo "$b" | cut -d'|' -f$k)))
		[ $moved -gt 4999000000 ] && [ $moved -lt 5001000000 ] || fail "$query: moved by $moved ns"
	done
done
is "$(sqlite3 m/far.db "SELECT json_extract(value, '\$.nodes[1].clock') FROM rocpd_metadata WHERE tag = 'wavescope_ranks'")" assumed "clock of the second"
run rocpd merge -i a_results.db far_results.db -o near -d m --collective-kernels .
rc_is 0
out_has "from 1 collectives in common with"
is "$(sqlite3 m/near.db 'SELECT MAX(start) - MIN(start) < 200000000 FROM rocpd_kernel_dispatch')" 1 "kernels that are one"

for how in "" --copy --consolidate; do
	# shellcheck disable=SC2086
	run rocpd package -i a_results.db b_results.db -d p$how $how
	rc_is 0
	run rocpd query -i "p$how.rpdb" --query 'SELECT COUNT(*) AS n FROM kernels'
	is "$(sed -n 2p "$out" | tr -d ' ')" 2 "kernels in the package ($how)"
done

# As AMD's tool writes it: one name is no list. And what a person may get wrong.
mkdir one.rpdb
cp a_results.db one.rpdb/x.db
printf 'rocprofiler-sdk:\n  rocpd:\n    files: x.db\n    path: .\n' >one.rpdb/index.yaml
cp one.rpdb/index.yaml one.rpdb/other.yml
for name in one.rpdb one.rpdb/index.yaml one.rpdb/other.yml; do
	run rocpd query -i $name b_results.db --query 'SELECT COUNT(*) AS n FROM kernels'
	rc_is 0
	is "$(sed -n 2p "$out" | tr -d ' ')" 2 "kernels with $name"
done
(cd one.rpdb && rocpd query -i index.yaml --query 'SELECT COUNT(*) AS n FROM kernels') >here ||
	fail "index.yaml of this folder"
is "$(sed -n 2p here | tr -d ' ')" 1 "kernels of index.yaml in this folder"
for files in '[[x.db]]' '[{a: b}]' '[""]'; do
	printf 'rocprofiler-sdk: {rocpd: {files: %s}}\n' "$files" >wrong.yaml
	run rocpd query -i wrong.yaml --query 'SELECT 1'
	rc_is 1
	err_has "'wrong.yaml': files: number 1 is not a name"
done
