#!/bin/sh
# Jobs of a real Slurm with two nodes: submitted, waited for, collected, also when a node dies.
. "$WS_SOURCE/tests/cmd/lib.sh"
slurm_names='n0 n1'
slurm_gpus=2
slurm_kill_wait_s=20
. "$WS_SOURCE/tests/lib/slurm.sh"
need_tracing
need_program bash
slurm_start
MAD_CONTAINER_ENGINE=none
export MAD_CONTAINER_ENGINE
unset MODEL_DIR

# The multi-node preset as in the README, with this cluster's partition.
preset=examples/profiling-configs/rocprofv3_multinode.json
cluster='"partition": "test", "nodes": 2, "gpus_per_node": 1, "time": "00:05:00", "exclusive": false,
	"enable_node_check": false'
ranks='"distributed": {"launcher": "torchrun", "nnodes": 2, "nproc_per_node": 1}'

run madengine build --tags dummy_prof --manifest-output build_manifest.json
rc_is 0
run madengine run --manifest-file build_manifest.json --additional-context-file $preset \
	--live-output -c "{\"slurm\": {$cluster}, $ranks}"
rc_is 0
err_has "submitted job"
err_has "COMPLETED"
for rank in 0 1; do
	out_has "[$rank] performance: "
done
job=$(sed -n 's/.*submitted job \([0-9]*\):.*/\1/p' "$err")
results=slurm_results/dummy_prof/$job
for rank in 0 1; do
	node=$results/node_$rank
	is "$(cat $node/node.txt)" "host=n$rank
exit_code=0" "what node $rank says"
	set -- $node/rocprof_output/*/[0-9]*_kernel_trace.csv
	is "$(grep -c vecCopy "$1")" 1 "kernels of node $rank"
	[ -s "$(echo $node/rocprof_output/*/*_results.pftrace)" ] || fail "no trace of node $rank"
	head -1 $node/gpu_info_power_profiler_output.csv | grep -q 'Power(Watt) GPU0' ||
		fail "no power of node $rank"
	grep -q "^performance: " $node/dummy_prof_*.run.live.log || fail "no log of node $rank"
	[ ! -e "/tmp/madengine_job_${job}_node_$rank" ] || fail "the folder of node $rank is left"
done
"$PYTHON" - "$results/results_summary.json" perf.csv "$job" <<'PY'
import csv, json, sys
summary = json.load(open(sys.argv[1]))
nodes = summary["per_node_metrics"]
assert summary["job_id"] == sys.argv[3] and summary["state"] == "COMPLETED", summary
assert [n["host"] for n in nodes] == ["n0", "n1"], nodes
total = sum(float(n["performance"]) for n in nodes)
assert abs(float(summary["final_performance"]) - total) < 1e-6 * total, summary
(row,) = csv.DictReader(open(sys.argv[2]))
want = dict(model="dummy_prof", n_gpus="2", nnodes="2", gpus_per_node="1", deployment_type="slurm",
            launcher="torchrun", status="SUCCESS", metric="samples_per_second",
            machine_name="n0,n1", performance=summary["final_performance"])
assert {k: row[k] for k in want} == want, row
PY

# The rank and the number of nodes, as each node gets them.
grep -q '^#SBATCH --ntasks-per-node=1$' slurm_results/madengine_dummy_prof.sh || fail "no directives"
"$PYTHON" - slurm_results/madengine_dummy_prof.manifest.json <<'PY'
import json, sys
m = json.load(open(sys.argv[1]))
assert m["deployment_config"]["target"] == "docker" and "slurm" not in m["deployment_config"], m
assert m["deployment_config"]["gpus_per_node"] == 1 and m["context"]["skip_perf_collection"], m
assert [t["name"] for t in m["context"]["tools"]][0] == "rocprofv3_communication", m
PY

# A job that takes longer. What a node recorded is kept when the other dies; the run has failed.
mkdir -p scripts/slow
cat >models.json <<JSON
[{"name": "slow", "scripts": "scripts/slow/run.sh", "n_gpus": "1", "tags": []}]
JSON
cat >scripts/slow/run.sh <<SH
"$vcopy" -n 65536 -b 256 && echo "performance: 5 samples_per_second"
echo "\$MAD_MULTI_NODE_RUNNER" >"$work/started.\$NODE_RANK"
sleep 60
SH
chmod 755 "$work"
run madengine build --tags slow
rc_is 0
slow="{\"slurm\": {$cluster}, $ranks, \"tools\": [{\"name\": \"rocprofv3_lightweight\"}]}"
madengine run --manifest-file build_manifest.json -c "$slow" >"$out" 2>"$err" &
waiting=$!
for rank in 0 1; do
	while [ ! -s started.$rank ]; do sleep 0.1; done
done
kill -TERM $waiting # as Ctrl-C, which a shell's background job ignores
rc=0
wait $waiting || rc=$?
shown="the interrupted run"
# Ctrl-C ends the waiting, and says how to go on.
rc_is 1
job=$(sed -n 's/.*submitted job \([0-9]*\):.*/\1/p' "$err")
err_has "job $job goes on"
err_has "squeue -j $job"
err_has "scancel $job"
err_has "\"job_id\": $job"
is "$(squeue -h -j "$job" -o %T)" RUNNING "the job after Ctrl-C"
# A user does as it says. Then a node dies in the middle.
(
	sleep 1
	slurm_kill n1
) &
run madengine run --manifest-file build_manifest.json -c "{\"slurm\": {$cluster,
	\"job_id\": $job}, $ranks}"
rc_is 3
wait
results=slurm_results/slow/$job
is "$(cat started.1)" "torchrun --nnodes=2 --nproc_per_node=1 --node_rank=1 --master_addr=n0 \
--master_port=29500" "runner of the second node"
err_has "node 1 (n1) did not finish"
grep -q vecCopy $results/node_0/rocprof_output/*/*_results.json ||
	fail "node 0 has lost its trace: $(cat $results/node_0/*.log $results/node_0/stderr.err)"
grep -q '"status": "did not finish"' $results/results_summary.json || fail "the summary is silent"
is "$(tail -1 perf.csv | grep -c 'slow,.*FAILURE')" 1 "rows of the failure"
rm -rf "/tmp/madengine_job_${job}_node_"[01]
