#!/bin/sh
# library-trace counts what AMD's libraries log, leaves the rest of the output, and ends as the program does.
. "$WS_SOURCE/tests/cmd/lib.sh"
cd "$work"
calls=$WS_BUILD/tests/cmd/calls_libraries
LD_LIBRARY_PATH=$WS_BUILD/tests/cmd
JENKINS_BUILD_NUMBER=17 MAD_MODEL_NAME=dummy
export LD_LIBRARY_PATH JENKINS_BUILD_NUMBER MAD_MODEL_NAME
unset ROCBLAS_TRACE HIPBLASLT_TRACE MIOPEN_TRACE TENSILE_TRACE RCCL_TRACE TRACE_MODE OUTPUT_FILE
# the rows of a file, without dates
rows_of() { tr -d '\r' <"$1" | sed 's/,20[0-9-]* [0-9:]*,/,/'; }
header=jobid,created_date,model,library,config,calls

# All libraries; of hipBLASLt one that logs.
run wavescope library-trace -m rocblas_trace,hipblaslt_trace,miopen_trace -- "$calls" libhipblaslt.so 5
rc_is 5
is "$(cat "$out")" "begin
no end" "output"
err_is_empty
is "$(rows_of library_trace.csv)" "$header
17,dummy,rocblas,./rocblas-bench -f gemm -r f32_r -m 4 -n 4 -k 4,2
17,dummy,rocblas,./rocblas-bench -f gemm -r f32_r -m 5 -n 4 -k 4,1
17,dummy,hipblaslt,hipblaslt-bench --api_method c -m 12 --algo_method index,3
17,dummy,rocblas_function,\"- { rocblas_function: \"\"rocblas_sgemm\"\", M: 4, call_count: 1 }\",2
17,dummy,rocblas_function,\"- { rocblas_function: \"\"rocblas_sgemm\"\", M: 5, call_count: 1 }\",1
17,dummy,miopen,./bin/MIOpenDriver conv -n 16 -c 3,3" "all libraries"
is "$(grep -c "$(printf '\r')\$" library_trace.csv)" "$(wc -l <library_trace.csv)" "lines that end with CR LF"

# One that does not log: the wrapper does.
mkdir silent
cp "$WS_BUILD/tests/cmd/libhipblaslt-silent.so" silent/libhipblaslt.so
run env LD_LIBRARY_PATH="$work/silent" wavescope library-trace -m hipblaslt_trace -o silent.csv -- "$calls" libhipblaslt.so
rc_is 0
is "$(rows_of silent.csv)" "$header
17,dummy,hipblaslt,hipblaslt-bench --api_method c -m 12 -n 5 -k 8 --lda 8 --ldb 8 --ldc 12 --ldd 12 --stride_a 96 --stride_b 64 --stride_c 60 --stride_d 60 --transA T --transB N --batch_count 2 --a_type bf16_r --b_type bf16_r --c_type f32_r --d_type f32_r,3" "a library without a log"

# The tools of madengine: several prefixes act as one, also inside of a script; a mode that is off is off.
python="$PYTHON $WS_SOURCE/data/madengine/scripts/common/tools/get_library_trace.py"
echo "$python $calls libhipblaslt.so" >run.sh
run env ROCBLAS_TRACE=1 HIPBLASLT_LOG_LEVEL=2 $python $python sh run.sh
rc_is 0
is "$(cat "$out")" "begin
no end" "output"
is "$(rows_of library_trace.csv | cut -d, -f3 | sort | uniq -c | tr -s ' \n' ' ')" " 1 model 2 rocblas 2 rocblas_function " "nested"
run env TRACE_MODE=miopen_trace,rccl_trace OUTPUT_FILE=m.csv $python sh -c 'echo $NCCL_DEBUG $NCCL_DEBUG_SUBSYS; exec '"$calls"' none'
rc_is 0
out_has "INFO INIT,COLL"
is "$(sed 1d m.csv | rows_of /dev/stdin | cut -d, -f3,5)" "miopen,3" "modes of TRACE_MODE"

# Ends as the program does, also by a signal; a process left behind does not keep it.
run wavescope library-trace -m rocblas_trace -- sh -c 'kill -TERM $$'
[ "$rc" -eq 143 ] || fail "ended with $rc, not by SIGTERM"
limit_s=20
run wavescope library-trace -m rocblas_trace -- sh -c 'echo done; sleep 30 & exit 2'
rc_is 2
out_is done
run wavescope library-trace -m rocblas_trace -- ./no-such-program
rc_is 127
run wavescope library-trace -m rocblas_tracer -- true
rc_is 2
err_has "did you mean 'rocblas_trace'?"
run wavescope library-trace --
rc_is 2

# Killed: what was counted before is in the file.
wavescope library-trace -m rocblas_trace -o killed.csv -- sh -c 'echo "./rocblas-bench -m 1" >&2; sleep 1.2; echo "./rocblas-bench -m 1" >&2; sleep 20' &
pid=$!
tries=0
while ! grep -q "rocblas-bench -m 1" killed.csv 2>/dev/null && [ $tries -lt 100 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
kill -KILL $pid
grep -q "rocblas-bench -m 1" killed.csv || fail "a killed trace wrote nothing"
