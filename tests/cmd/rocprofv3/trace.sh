#!/bin/sh
# The first command line of everybody: files, columns and values.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
need_program sqlite3
run rocprofv3 --stats --sys-trace --kernel-trace -f csv rocpd json pftrace -d out -o %tag%_%pid% -- \
	"$vcopy" -n 65536 -b 256
rc_is 0
out_has "Finished executing kernel"
pid=$(sed -n 's/^rocprofv3: process \([0-9]*\) (vcopy).*/\1/p' "$err")
[ -n "$pid" ] || fail "no ledger"
p=out/vcopy_$pid
for file in kernel_trace.csv kernel_stats.csv domain_stats.csv agent_info.csv hip_api_trace.csv \
	hsa_api_trace.csv memory_copy_trace.csv memory_allocation_trace.csv results.db results.json \
	results.pftrace; do
	[ -s "${p}_$file" ] || fail "no ${p}_$file"
	err_has "Opened result file: $work/${p}_$file"
done
# One kernel: its name, sizes, and the same times everywhere.
is "$(rows "${p}_kernel_trace.csv")" 1 kernels
is "$(sed -n '2s/.*"\(vecCopy[^"]*\)".*/\1/p' "${p}_kernel_trace.csv")" \
	"vecCopy(double*, double*, double*, int, int)" name
is "$(sed 1d "${p}_kernel_trace.csv" | sed 's/"[^"]*"/x/g' | cut -d, -f17-22)" 256,1,1,65536,1,1 sizes
ns=$(sed 1d "${p}_kernel_trace.csv" | sed 's/"[^"]*"/x/g' | awk -F, '{ print $11 - $10 }')
is "$(sed 1d "${p}_kernel_stats.csv" | sed 's/"[^"]*"/x/g' | cut -d, -f2,3)" "1,$ns" stats
is "$(sqlite3 "${p}_results.db" 'SELECT duration FROM kernels')" "$ns" "duration in the database"
is "$(sqlite3 "${p}_results.db" "SELECT name FROM kernels")" "vecCopy(double*, double*, double*, int, int)" name
is "$("${PYTHON:-python3}" -c '
import json, sys
r = json.load(open(sys.argv[1]))["rocprofiler-sdk-tool"][0]["buffer_records"]["kernel_dispatch"]
print(len(r), r[0]["end_timestamp"] - r[0]["start_timestamp"])' "${p}_results.json")" "1 $ns" json
# The host function that the program registered leads to the kernel of the same name.
is "$("${PYTHON:-python3}" -c '
import json, sys
d = json.load(open(sys.argv[1]))["rocprofiler-sdk-tool"][0]
run = {r["dispatch_info"]["kernel_id"] for r in d["buffer_records"]["kernel_dispatch"]}
code = {k["kernel_id"]: k["code_object_id"] for k in d["kernel_symbols"]}
print(*[f["truncated_host_function_name"] for f in d["host_functions"]
        if f["kernel_id"] in run and f["code_object_id"] == code[f["kernel_id"]]])' "${p}_results.json")" \
	vecCopy "host functions of the kernels that ran"
# Copies: there and back. Rows are in the order of their starts, also those of nested calls.
for file in hip_api hsa_api memory_copy memory_allocation; do
	column=$(head -1 "${p}_${file}_trace.csv" | tr , '\n' | grep -n Start_Timestamp | cut -d: -f1)
	sed '1d; s/"[^"]*"/x/g' "${p}_${file}_trace.csv" | cut -d, -f"$column" | sort -n -c ||
		fail "${file}_trace.csv is not in order"
done
is "$(sed 1d "${p}_memory_copy_trace.csv" | cut -d'"' -f4 | tr '\n' ' ')" \
	"MEMORY_COPY_HOST_TO_DEVICE MEMORY_COPY_DEVICE_TO_HOST " copies
# Calls: as many in each format.
for api in hip HIP hsa HSA; do
	case $api in hip | hsa) low=$api ; continue ;; esac
	is "$(rows "${p}_${low}_api_trace.csv")" \
		"$(sqlite3 "${p}_results.db" "SELECT COUNT(*) FROM regions WHERE category LIKE '$api%'")" "$api calls"
done
# The ledger: one line per service that saw something; nothing of those that only -s brought along.
awk '/^ *kernel dispatches/ && $3 == 1 && $4 == 1 && $5 == 0 { found = 1 } END { exit !found }' "$err" ||
	fail "no line for the kernel in the ledger"
err_lacks "requested, but"
# AMD's tests take these for errors.
for name in HSA_API HIP_API MARKER_CORE_API KERNEL_DISPATCH CODE_OBJECT; do
	err_lacks $name
done
err_lacks "not in the output"
[ ! -e out/.rocprofv3 ] || fail "captures were left"

# Default names: <host>/<pid>_..., and the default format.
run rocprofv3 --kernel-trace -- "$vcopy" -n 65536 -b 256
rc_is 0
pid=$(sed -n 's/^rocprofv3: process \([0-9]*\) (vcopy).*/\1/p' "$err")
[ -s "$(hostname)/${pid}_results.db" ] || fail "no $(hostname)/${pid}_results.db"
is "$(find "$(hostname)" -type f | wc -l)" 1 files
