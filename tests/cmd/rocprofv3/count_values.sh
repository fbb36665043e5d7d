#!/bin/sh
# Counters of a kernel whose numbers are known, in every format. vcopy copies a vector: 65536 work
# items in workgroups of 256 are 1024 waves of 10 vector instructions, one load and one store each.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
counted() { "$PYTHON" "$WS_SOURCE/tests/cmd/rocprofv3/counted.py" "$@" || fail "counted.py $*"; }

run rocprofv3 --pmc SQ_WAVES SQ_INSTS_VALU -f csv -d out -o r -- "$vcopy" -n 65536 -b 256
rc_is 0
is "$(counted values out/r)" "1 vecCopy SQ_INSTS_VALU 10240
1 vecCopy SQ_WAVES 1024" values
is "$(find out -type f | sort | tr '\n' ' ')" \
	"out/r_agent_info.csv out/r_counter_collection.csv out/r_counter_info.csv " files
err_has "counted dispatches                 1           1           0"
err_has "counters of GPU 0: 2 exact, 0 modelled"
is "$(sed -n 1p out/r_counter_collection.csv)" '"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"' header
grep -q '"Agent 1",1,[0-9]*,[0-9]*,65536,[0-9]*,"vecCopy(double\*, double\*, double\*, int, int)",256,' \
	out/r_counter_collection.csv || fail "the launch is not as it was made"
grep -q '"SQ_WAVES",1024.000000,' out/r_counter_collection.csv || fail "the number's form"
grep -q '"SQ_WAVES","exact"' out/r_counter_info.csv || fail "nothing is said of SQ_WAVES"

# All formats, with tracing beside it; instances, sums, one instance, derived, accumulated, constant.
run rocprofv3 --kernel-trace --pmc SQ_WAVES,TCC_HIT TCC_HIT_sum 'TCC_HIT[3]' L2CacheHit \
	MeanOccupancyPerCU SQ_LEVEL_WAVES_ACCUM MAX_WAVE_SIZE -f csv json pftrace rocpd otf2 -d all -o r -- \
	"$vcopy" -n 65536 -b 256
rc_is 0
is "$(counted formats all/r)" 8 "values in all formats"
[ -s all/r_kernel_trace.csv ] || fail "no kernel trace beside the counters"
counted values all/r >values
hit=$(awk '$3 == "TCC_HIT" { print $4 }' values)
is "$(awk '$3 == "TCC_HIT_sum" { print $4 }' values)" "$hit" "the sum of the instances"
is "$(awk '$3 == "MAX_WAVE_SIZE" { print $4 }' values)" 64 "a constant"
awk '$3 == "L2CacheHit" && ($4 <= 0 || $4 >= 100) { exit 1 }' values || fail "L2CacheHit is no percentage"
# The dispatch is the same one in the trace and among the counters.
is "$(cut -d, -f1,18,19 all/r_counter_collection.csv | sed 1d | awk -F, '{ print $(NF-1) "," $NF }' | sort -u | wc -l)" 1 times

# The program's own end is passed on, and a capture outlives a kill.
run rocprofv3 --pmc SQ_WAVES -f csv -d killed -o r -- sh -c "$vcopy -n 65536 -b 256; kill -9 \$\$"
[ "$rc" -eq 137 ] || fail "ended with $rc, not by SIGKILL"
is "$(counted values killed/r)" "1 vecCopy SQ_WAVES 1024" "values of a killed run"

# The default format is the database; its counters come out of it again.
run rocprofv3 --pmc SQ_WAVES -d db -o r -- "$vcopy" -n 65536 -b 256
rc_is 0
run rocpd convert -i db/r_results.db -f csv -d db -o again
rc_is 0
grep -q '"SQ_WAVES",1024' db/again*counter_collection.csv || fail "rocpd convert lost the counter"

# Definitions of one's own.
cat >extra.yaml <<END
rocprofiler-sdk:
  counters-schema-version: 1
  counters:
    - name: VALU_PER_WAVE
      description: "vector instructions per wave"
      properties: []
      definitions:
        - architectures: [gfx90a, gfx908]
          expression: reduce(SQ_INSTS_VALU,sum)/reduce(SQ_WAVES,sum)+0.5
END
run rocprofv3 -E extra.yaml --pmc VALU_PER_WAVE -f csv -d extra -o r -- "$vcopy" -n 65536 -b 256
rc_is 0
is "$(counted values extra/r)" "1 vecCopy VALU_PER_WAVE 10.5" "a counter of one's own"
