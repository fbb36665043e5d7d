#!/bin/sh
# A database in the other formats has the numbers of the direct output.
. "$WS_SOURCE/tests/cmd/rocpd/lib.sh"
run rocpd convert -i a_results.db -f csv pftrace -o c -d c
rc_is 0
out_has "Converting database(s) to csv format:"
out_has "Converting database(s) to pftrace format:"
# The same rows, but for the guid in front, order and rounding.
for stem in hip_api_trace memory_copy_trace; do
	sed 1d a_$stem.csv | sort >want
	sed 1d c/c_$stem.csv | cut -d, -f2- | sort >got
	same_files want got "$stem differs"
	is "$(head -1 c/c_$stem.csv)" "\"Guid\",$(head -1 a_$stem.csv)" "columns of $stem"
done
same "$(sed 1d c/c_kernel_trace.csv | sed 's/"[^"]*"/x/g' | cut -d, -f11,12,18-23)" \
	"$(sed 1d a_kernel_trace.csv | sed 's/"[^"]*"/x/g' | cut -d, -f10,11,17-22)" kernels
sed 1d a_agent_info.csv >want
sed 1d c/c_agent_info.csv | cut -d, -f2- >got
same_files want got "agents differ"
# The slices of the direct trace.
for file in a_results.pftrace c/c_results.pftrace; do
	"$PYTHON" "$WS_SOURCE/tests/cmd/rocpd/pftrace_text.py" slices $file >${file##*/}.slices ||
		fail "$file cannot be read"
done
for name in 'hip_api hipMalloc' 'hip_api hipMemcpy' 'kernel_dispatch vecCopy' 'memory_copy MEMORY_COPY_HOST_TO_DEVICE'; do
	grep -q "^$name" a_results.pftrace.slices || fail "no '$name' in a_results.pftrace"
done
same_files a_results.pftrace.slices c_results.pftrace.slices "slices differ"
# The kernels of the direct output are in the page.
run rocpd convert -i a_results.db -f html -o c -d c
rc_is 0
"$PYTHON" -B "$WS_SOURCE/tests/cmd/rocpd/html_text.py" a_kernel_trace.csv >want
"$PYTHON" -B "$WS_SOURCE/tests/cmd/rocpd/html_text.py" c/c_results.html >got || fail "the page cannot be read"
grep -q vecCopy want || fail "no vecCopy in a_kernel_trace.csv"
same_files want got "kernels of the page differ"
run rocpd2csv -i a_results.db b_results.db -o two -d c
rc_is 0
is "$(rows c/two_kernel_trace.csv)" 2 kernels
is "$(tail -1 "$out")" "Done. Exiting..." "last line"
if part_needs otf2-print; then
	run rocpd2otf2 -i a_results.db -o o -d c
	rc_is 0
	run otf2-print c/o_results.otf2
	out_has vecCopy
fi
# Windows: everything, nothing, and what lies inside.
run rocpd convert -i a_results.db -f csv -o w -d w --start 0% --end 100%
out_has "Initial time bounds:"
same "$(rows w/w_hip_api_trace.csv)" "$(rows a_hip_api_trace.csv)" "calls in the whole window"
start=$(sqlite3 a_results.db 'SELECT MIN(start) FROM kernels') end=$(sqlite3 a_results.db 'SELECT MAX(end) FROM kernels')
run rocpd2csv -i a_results.db -o k -d w --start "$start" --end "$end"
is "$(rows w/k_kernel_trace.csv)" 1 "kernels in their window"
run rocpd2csv -i a_results.db -o h -d w --start "$start" --end "$((end - 1))"
[ ! -e w/h_kernel_trace.csv ] || fail "a kernel that is not wholly inside"
run rocpd2csv -i a_results.db -o o -d w --start "$start" --end "$((end - 1))" --inclusive false
is "$(rows w/o_kernel_trace.csv)" 1 "kernels that reach in"
run rocpd2csv -i a_results.db --start 90% --end 10%
rc_is 2
