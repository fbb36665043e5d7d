#!/bin/sh
# --diff and --fail-on: what changed by more than noise, and the exit code for CI.
. "$WS_SOURCE/tests/cmd/lib.sh"

make_workload() { "$PYTHON" "$WS_SOURCE/tests/cmd/compute/make_workload.py" "$@"; }
diff_of() { run rocprof-compute analyze -p before -p "$@"; }

# gate EXIT RUN CONDITIONS [TEXT...]: ends so, and says so
gate() {
	ends=$1
	diff_of "$2" --fail-on "$3"
	rc_is "$ends"
	shift 3
	for text; do out_has "$text"; done
}

# mistake CONDITION TEXT
mistake() {
	diff_of slow --fail-on "$1"
	rc_is 2
	err_has "$2"
}

cd "$work"
make_workload before
make_workload again --seed 2
make_workload slow --seed 3 --slower gemm=1.1
make_workload counted --seed 4 --more SQ_INSTS=1.25 --rename copy=memcpy
make_workload once --seed 5 --dispatches 1 --slower saxpy=1.5

# Nothing but noise.
diff_of again --diff
rc_is 0
err_is_empty
out_has '0 of '
out_lacks slower
out_lacks faster
grep -q 'noise (p = ' "$out" || fail "noise is not called so"

# One kernel is slower; the other is not, and what follows from time follows.
diff_of slow --diff
rc_is 0
grep 'gemm' "$out" | grep -q 'slower (p = 0.0022)' || fail "gemm is not slower"
grep 'saxpy' "$out" | grep -q 'noise' || fail "saxpy is not within noise"
grep -q 'Kernel 0: gemm' "$out" || fail "the largest change does not come first"
out_has 'down (p = 0.0022)'

# A counter without spread is certain; kernels of one side are listed.
diff_of counted --diff
rc_is 0
grep '2.1.14' "$out" | grep -q 'up (p = 0.0022)' || fail "IPC has not risen"
out_has 'Kernels only in A'
out_has '  copy(char*, "a & b", </script>): 6 dispatches'
out_has 'Kernels only in B'
out_has '  memcpy(char*, "a & b", </script>): 6 dispatches'
diff_of counted --diff -b 2.1.14
grep -q '1 of 1 metrics changed' "$out" || fail "-b does not limit the comparison"

# Conditions.
gate 3 slow 'duration>5%' 'Conditions of --fail-on: 1 of 1 failed'
grep 'FAILED  duration>5%  gemm' "$out" | grep -q 'p = 0.0022, Mann-Whitney' || fail "no reason given"
gate 0 slow 'duration>15%' '0 of 1 failed' 'holds   duration>15%'
diff_of slow --fail-on 'saxpy:duration>1%' --fail-on 'gemm:duration>5%, total_duration>5%'
rc_is 3
out_has '2 of 3 failed'
gate 3 counted 'SQ_INSTS>0%' 'no spread: certain'
gate 3 counted '2.1.14>5%,IPC<-5%' '1 of 2 failed'
gate 3 slow 'gemm:duration>1.05ms'
gate 0 slow 'gemm:duration>2ms,SQ_WAVES>20000'
gate 0 again 'duration<-0.01%' 'not more than noise'
# A condition that asks for a change fails without one.
gate 3 again 'gemm:duration>-5%'
# Spread of one dispatch is judged by the other side's; of one on each, not at all.
gate 3 once 'saxpy:duration>5%' 't, one value'
make_workload single --seed 6 --dispatches 1
run rocprof-compute analyze -p single -p once --fail-on 'saxpy:duration>5%'
rc_is 3
out_has 'one value each: spread unknown'
# What cannot be checked has not passed.
gate 3 counted 'copy(char*:duration>5%' 'cannot be checked: no such kernel is in both runs'

# Mistakes.
mistake 'duration' "condition 'duration' does not end in"
mistake 'durration>5%' "no metric 'durration'"
mistake '2.99.1>5%' "2.99.1"
mistake 'SQ_WAVES>5ms' 'only durations are times'
run rocprof-compute analyze -p before --diff
rc_is 2
err_has 'requires two'
