#!/bin/sh
# Where results go: names, placeholders, ranks, and what an earlier profile left there.
. "$WS_SOURCE/tests/cmd/rocprof-compute/lib.sh"
need_tracing

goes_to() { # FOLDER ARGUMENTS...
	folder=$1
	shift
	profile --set launch_stats "$@" -- "$vcopy" -n 4096 -b 256
	rc_is 0
	[ -e "$folder/sysinfo.csv" ] || fail "'$shown' did not write to $folder"
}
host=$(uname -n)

goes_to workloads/a/MI200 -n a
goes_to out --output-directory out
goes_to "p/$host/MI200" --output-directory p/%hostname%/%gpumodel%
REGION=west goes_to e/west/x --output-directory 'e/%env{REGION}%/x%env{NOT_SET}%'
goes_to r/end --output-directory r/%rank%/end
out_has "this process has no MPI rank"
goes_to old -p old
out_has "deprecated"
goes_to "old/$host" -p old --subpath node_name
goes_to both --output-directory both --name a
out_has "--name is ignored"
is "$(cell both/sysinfo.csv workload_name 1)" both "name of the workload"
is "$(cell workloads/a/MI200/sysinfo.csv workload_name 1)" a "name of the workload"

# Ranks, as each launcher tells them.
for variable in SLURM_PROCID PMI_RANK PALS_RANKID; do
	export $variable=3
	goes_to "ranks/$variable/3" --output-directory "ranks/$variable"
	unset $variable
done
export OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4
goes_to workloads/b/2 -n b
goes_to k/2/x --output-directory k/%rank%/x
unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE

# A second profile of something else keeps the first beside it; --replace does not.
profile --set launch_stats --output-directory out -- "$vcopy" -n 8192 -b 256
rc_is 0
out_has "The earlier profile in this folder is kept as $work/out.1"
is "$(cell out.1/pmc_perf_0.csv Grid_Size 1) $(cell out/pmc_perf_0.csv Grid_Size 1)" "4096 8192" \
	"both profiles"
profile --set launch_stats --replace --output-directory out -- "$vcopy" -n 4096 -b 128
rc_is 0
[ ! -e out.2 ] || fail "--replace keeps the earlier profile"
is "$(cell out/pmc_perf_0.csv Workgroup_Size 1)" 128 "what replaced it"

# Another program under the same name is another workload.
cp "$vcopy" app
profile -b 12 --output-directory built -- ./app -n 4096 -b 256
rc_is 0
touch -d '2001-01-01' app
profile -b 12 --output-directory built -- ./app -n 4096 -b 256
rc_is 0
[ -e built.1 ] || fail "a program that was built anew is taken for the old one"

# What is put aside is not one more node.
for args in "-n 4096" "-n 8192"; do
	for rank in 0 1; do
		# shellcheck disable=SC2086 # words
		PMI_RANK=$rank PMI_SIZE=2 rocprof-compute profile --no-roof -n ranks --set launch_stats \
			-- "$vcopy" $args >ranks.out 2>&1 || fail "rank $rank: $(cat ranks.out)"
	done
done
is "$(cd workloads/ranks && echo *)" "0 0.1 1 1.1" "folders of two ranks, twice"
run rocprof-compute analyze -p workloads/ranks --list-nodes
rc_is 0
is "$(tail -n 1 "$out")" "0  1" "nodes"
run rocprof-compute analyze -p workloads/ranks --nodes -b 7.1
rc_is 0
grep -q '7.1.0 .*Grid Size .* 8192.00 .* 8192.00 .* 8192.00 ' "$out" || fail "an earlier profile is counted"
