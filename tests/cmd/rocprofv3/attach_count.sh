#!/bin/sh
# rocprofv3 --pid with counters: into a program that was started without it, and out again.
. "$WS_SOURCE/tests/cmd/lib.sh"
. "$WS_SOURCE/tests/cmd/resident.sh"

# The values of a counter, each once, and how many dispatches and queues they are of.
values() { # FILE COUNTER
	"${PYTHON:-python3}" -c '
import csv, sys
rows = [r for r in csv.DictReader(open(sys.argv[1])) if r["Counter_Name"] == sys.argv[2]]
assert all(r["Kernel_Name"] == "fill(int*, int)" for r in rows)
assert len({r["Dispatch_Id"] for r in rows}) == len(rows), "a dispatch twice"
assert all(int(r["Start_Timestamp"]) < int(r["End_Timestamp"]) for r in rows)
queues = [r["Queue_Id"] for r in rows]
print(*sorted({"%g" % float(r["Counter_Value"]) for r in rows}),
      "many" if len(rows) > 10 else len(rows),
      # nine of ten turns use the queue that was there before the attach
      "old" if queues and queues.count(max(queues, key=queues.count)) > len(rows) / 2 else "new")' \
		"$1" "$2"
}

# 1024 work-items in workgroups of 64 are 16 waves.
start
run rocprofv3 --pmc SQ_WAVES -f csv -d a -o a --pid "$pid" --attach-duration-msec 500
rc_is 0
is "$(values a/a_counter_collection.csv SQ_WAVES)" "16 many old" "SQ_WAVES"
[ ! -e a/a_kernel_trace.csv ] || fail "kernels that were not asked for"

# Again, for others, more than fit together: the GPU repeats each dispatch.
run rocprofv3 --pmc SQ_INSTS_VALU,SQ_INSTS_SALU,SQ_INSTS_SMEM,SQ_INSTS_LDS,SQ_BUSY_CYCLES \
	--pmc SQ_WAVE_CYCLES,SQ_WAIT_ANY,SQ_INSTS_VMEM_WR,SQ_INSTS_VMEM_RD --kernel-trace \
	-f csv -d b -o b --pid "$pid" --attach-duration-msec 500
rc_is 0
err_has "kernel replay"
is "$(values b/pass_1/b_counter_collection.csv SQ_INSTS_LDS)" "0 many old" "SQ_INSTS_LDS"
is "$(values b/pass_2/b_counter_collection.csv SQ_INSTS_VMEM_WR)" "16 many old" "SQ_INSTS_VMEM_WR"
grep -q SQ_WAVES b/pass_*/b_counter_collection.csv && fail "a counter of the attach before"
[ "$(rows b/pass_1/b_kernel_trace.csv)" -gt 10 ] || fail "no kernels"

# Its values are those of a program that was started to be counted.
rm -f ready2
rocprofv3 --pmc SQ_INSTS_VALU -f csv -d c -o c -- "$resident" ready2 >/dev/null 2>c.err &
front=$!
wait_for ready2
kill -TERM "$(cut -d' ' -f1 "/proc/$front/task/$front/children")"
wait $front || fail "the other program: $(cat c.err)"
valu=$(values b/pass_1/b_counter_collection.csv SQ_INSTS_VALU)
other=$(values c/c_counter_collection.csv SQ_INSTS_VALU)
is "${valu%% *}" "${other%% *}" "SQ_INSTS_VALU"

# Kernels are chosen by patterns of this attach; none here, and then all again.
run rocprofv3 --pmc SQ_WAVES --kernel-include-regex nothing -f csv -d d -o d --pid "$pid" \
	--attach-duration-msec 200
rc_is 0
[ ! -e d/d_counter_collection.csv ] || is "$(rows d/d_counter_collection.csv)" 0 "rows"

# Samples, too.
run rocprofv3 --pc-sampling-beta-enabled --pc-sampling-method stochastic \
	--pc-sampling-unit cycles --pc-sampling-interval 256 -f csv -d e -o e --pid "$pid" \
	--attach-duration-msec 300
rc_is 0
[ "$(rows e/e_pc_sampling_stochastic.csv)" -gt 10 ] || fail "no samples"

# The front end is killed: the program goes on uncounted, and may be counted again.
rocprofv3 --pmc SQ_WAVES -d f --pid "$pid" --attach-duration-msec 60000 2>f.err &
front=$!
i=0
while ! grep -qs attached f.err && [ $i -lt 300 ]; do
	i=$((i + 1))
	sleep 0.1
done
kill -KILL $front
wait $front 2>/dev/null || :
sleep 0.5
run rocprofv3 --pmc SQ_WAVES -f csv -d g -o g --pid "$pid" --attach-duration-msec 500
rc_is 0
is "$(values g/g_counter_collection.csv SQ_WAVES)" "16 many old" "SQ_WAVES the last time"

# What cannot be is said, and nothing is left behind.
run rocprofv3 --pmc SQ_INSTS_VALU SQ_INSTS_SALU SQ_INSTS_SMEM SQ_INSTS_LDS SQ_BUSY_CYCLES \
	SQ_WAVE_CYCLES SQ_WAIT_ANY SQ_INSTS_VMEM_WR SQ_INSTS_VMEM_RD --replay application -d h \
	--pid "$pid" --attach-duration-msec 100
rc_is 1
err_has "a running process cannot be run again"
[ ! -e h/.rocprofv3 ] || fail "a folder was left behind"
run rocprofv3 --pmc NO_SUCH -d h --pid "$pid" --attach-duration-msec 100
rc_is 1
err_has "NO_SUCH"
run rocprofv3 --pmc SQ_WAVES -d h --pid $$ --attach-duration-msec 100
rc_is 1
err_has "process $$ does not use the software GPU"

# It ends while it is counted.
(
	i=0
	while ! grep -qs attached "$err" && [ $i -lt 300 ]; do
		i=$((i + 1))
		sleep 0.1
	done
	sleep 1
	kill -TERM "$pid"
) &
run rocprofv3 --pmc SQ_WAVES -f csv -d i -o i --pid "$pid" --attach-duration-msec 60000
rc_is 0
is "$(values i/i_counter_collection.csv SQ_WAVES)" "16 many old" "SQ_WAVES until its end"
code=0
wait "$pid" || code=$?
is "$code" 0 "exit code of the program ($(cat resident.err))"
is "$(cat resident.err)" "" "what the program said"
