#!/bin/sh
# The scripts of madengine's tools with stand-ins for the profilers: what they pass on, collect and complain.
. "$WS_SOURCE/tests/cmd/lib.sh"
common=$WS_SOURCE/data/madengine/scripts/common
wrapper=$common/tools/rocprof_wrapper.sh
cd "$work"

# A folder that has nothing but what a script may call, and the stand-ins of a test.
mkdir tools
for name in sh bash sed head grep readlink mktemp mkfifo rm cat awk find sort date mkdir cp mv ls rmdir chmod \
	dirname basename uname python3 ln gzip sleep tail env; do
	if path=$(command -v $name); then ln -s "$path" tools/; fi
done
stand_in() { # NAME: prints its arguments, one per line, and ends with 7
	printf '#!/bin/sh\nfor word; do echo "<$word>"; done\necho "sql text value for value is empty. Using NULL instead" >&2\necho "rocprofv2 in favor" >&2\necho kept >&2\nexit 7\n' >"tools/$1"
	chmod +x "tools/$1"
}
only() { run env PATH="$work/tools" "$@"; }

# ---- rocprof_wrapper.sh ----
only bash "$wrapper" --sys-trace -- ./app
rc_is 1
err_has "neither rocprofv3 nor rocprof is on PATH"

stand_in rocprof
only bash "$wrapper" --sys-trace -- ./app 'a b' -- c
rc_is 7
out_is "<--sys-trace>
<./app>
<a b>
<-->
<c>"
err_is "sql text value for value is empty. Using NULL instead
kept"

stand_in rocprofv3
only bash "$wrapper" --sys-trace -d 'x y' -- ./app -- c
rc_is 7
out_is "<--sys-trace>
<-d>
<x y>
<-->
<./app>
<-->
<c>"
err_is "rocprofv2 in favor
kept"
only bash "$wrapper" --sys-trace ./app
rc_is 2
err_has "no '--' between the options and the program"
out_is_empty

# ---- trace.sh rocprof ----
folder() {
	rm -rf ws
	mkdir -p ws/run_directory
	cd ws/run_directory
}
collect() { run bash "$common/post_scripts/trace.sh" "$@"; }
host=$(uname -n)

folder
collect rocprof
rc_is 1
err_is "post_scripts/trace.sh: there is no output of the profiler: it recorded nothing; its messages are in the log"
cd "$work"

# without -d, two processes; the same counter in two passes, and a name with a comma
folder
mkdir "$host"
for pid in 11 12; do
	echo "db $pid" >"$host/${pid}_results.db"
	printf 'Kind,Name\n"K","k%s"\n' $pid >"$host/${pid}_kernel_trace.csv"
done
mkdir -p rocprof_output/pmc_1 rocprof_output/pmc_2
printf '"Kernel_Name","Counter_Name","Counter_Value"\n"f(int, ""x"")","SQ_INSTS_VALU",10\n"g","SQ_INSTS_VALU",5\n' \
	>rocprof_output/pmc_1/r_counter_collection.csv
printf '"Kernel_Name","Counter_Name","Counter_Value"\n"f","SQ_INSTS_VALU",10\n"f","SQ_INSTS_VMEM_RD",3\n"f","SQ_INSTS_VMEM_WR",4\n"f","SQ_WAIT_INST_ANY",2.0\n' \
	>rocprof_output/pmc_2/r_counter_collection.csv
collect rocprof
rc_is 0
cd ../rocprof_output
is "$(cat instruction_histogram.json | tr -d ' \n')" '{"VALU":15,"VMEM":7,"WAITCNT":2}' histogram
dated=$(echo 2*)
is "$(ls "$dated" | tr '\n' ' ')" "11_results.db 12_results.db kernel_trace.csv " "the dated folder"
is "$(cat "$dated/kernel_trace.csv")" 'Kind,Name
"K","k11"
"K","k12"' "kernels of both processes"
is "$(cat rocprofv3_output_kernel_trace.csv)" "$(cat "$host/11_kernel_trace.csv")" "copy of the first"
is "$(rows rocprofv3_output_counter_collection.csv)" 6 "counters of both passes"
cd "$work"

# rocprof's own files, and -d of the user's own
folder
echo old >results.csv
mkdir -p my_traces/deep
echo t >my_traces/deep/9_results.pftrace
mkdir unrelated
echo x >unrelated/file
collect rocprof
rc_is 0
[ -e ../rocprof_output/results.csv ] || fail "results.csv is not in rocprof_output"
[ -e ../my_traces/deep/9_results.pftrace ] || fail "the folder of -d was not copied"
[ ! -e ../unrelated ] || fail "a folder of the model was copied"
[ -e my_traces ] || fail "the folder of -d is gone"
collect sideways
rc_is 1
err_has "no tracer 'sideways'"
cd "$work"

# ---- tracers of others ----
folder
run env PATH="$work/tools" bash "$common/pre_scripts/trace.sh" rpd
rc_is 1
err_has "rpd is not installed"
mkdir -p "$work/rpd/rpd_tracer" "$work/rpd/tools"
printf '#!/bin/sh\necho traced >trace.rpd\nexec "$@"\n' >"$work/rpd/rpd_tracer/runTracer.sh"
echo 'import shutil, sys; shutil.copy(sys.argv[1], sys.argv[2])' >"$work/rpd/tools/rpd2tracing.py"
chmod +x "$work/rpd/rpd_tracer/runTracer.sh"
run env PATH="$work/tools" RPD_PATH="$work/rpd" bash "$common/pre_scripts/trace.sh" rpd
rc_is 0
collect rpd
rc_is 1
err_has "there is no trace.rpd"
run ./rocmProfileData/rpd_tracer/runTracer.sh sh -c 'exit 4'
rc_is 4
collect rpd
rc_is 0
is "$(cat ../rpd_output/trace.rpd ../rpd_output/trace.json)" "traced
traced" rpd_output
cd "$work"

folder
run env PATH="$work/tools" RTL_MODE=lite bash "$common/tools/rtl_trace_wrapper.sh" ./app
rc_is 127
err_has "rocm-trace-lite is not installed"
run env PATH="$work/tools" bash "$common/pre_scripts/trace.sh" rocm_trace_lite
rc_is 1
err_has "ROCM_TRACE_LITE_WHEEL_URL"
printf '#!/bin/sh\necho "$@"\necho db >rocm_trace_lite_output/trace.db\nexit 5\n' >"$work/tools/rtl"
chmod +x "$work/tools/rtl"
run env PATH="$work/tools" bash "$common/pre_scripts/trace.sh" rocm_trace_lite
rc_is 0
run env PATH="$work/tools" RTL_MODE=default bash "$common/tools/rtl_trace_wrapper.sh" ./app 1
rc_is 5
out_is "trace --mode default -o rocm_trace_lite_output/trace.db ./app 1"
collect rocm_trace_lite
rc_is 0
is "$(cat ../rocm_trace_lite_output/trace.db)" db "rocm_trace_lite_output"
