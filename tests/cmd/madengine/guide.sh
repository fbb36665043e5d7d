#!/bin/sh
# The examples of AMD's profiling guide, as typed, in an empty folder.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
limit_s=120
export MAD_CONTAINER_ENGINE=none
unset MODEL_DIR

# example WORDS...: in a folder of its own, which the checks then are in
n=0
example() {
	n=$((n + 1))
	mkdir "$work/$n"
	cd "$work/$n"
	run madengine run "$@"
	rc_is 0
	out_has ': SUCCESS: performance'
	[ ! -e scripts ] && [ ! -e run_directory ] || fail 'files of the run are left'
}
# the layout of the guide
dated() {
	set -- rocprof_output/2*/
	[ $# -eq 1 ] && [ -d "$1" ] || fail "no single dated folder: $*"
	dated=${1%/}
	[ -s "$(echo "$dated"/*_results.db)" ] || fail 'no database'
	for kind in kernel hip_api; do
		[ "$(rows "$dated/${kind}_trace.csv")" -gt 0 ] || fail "${kind}_trace.csv has no rows"
	done
}
# counter VALUE...: the sum of a counter over all kernels is above 0
counted() {
	for counter; do
		cat rocprof_output/pmc_*/*/*_counter_collection.csv | tr -d '"' |
			awk -F, -v name="$counter" '$0 ~ name { n++ } END { exit !n }' || fail "no values of $counter"
	done
}
sampled() { # FILE HEADER
	is "$(head -n 1 "$1" | tr -d '\r')" "$2"
	[ "$(rows "$1")" -gt 0 ] || fail "$1 has no rows"
}
power='time,Power(Watt) GPU0'
vram='time,vram(%) GPU0'

example --tags your_model \
  --additional-context-file examples/profiling-configs/rocprofv3_compute_bound.json
dated
counted SQ_WAVES SQ_INSTS_VALU SQ_INSTS_SALU SQ_WAIT_INST_ANY
sampled gpu_info_power_profiler_output.csv "$power"

example --tags pyt_torchvision_resnet50 \
  --additional-context-file examples/profiling-configs/rocprofv3_memory_bound.json
dated
counted TCC_HIT_sum TCC_MISS_sum
[ "$(rows "$dated/memory_copy_trace.csv")" -gt 0 ] || fail 'memory_copy_trace.csv has no rows'
sampled gpu_info_vram_profiler_output.csv "$vram"

example --tags your_model \
  --additional-context-file examples/profiling-configs/rocprofv3_comprehensive.json
dated
counted SQ_WAVES TCC_HIT_sum
sampled gpu_info_power_profiler_output.csv "$power"
sampled gpu_info_vram_profiler_output.csv "$vram"
is "$(head -n 1 library_trace.csv | tr -d '\r')" jobid,created_date,model,library,config,calls

example --tags dummy_prof \
  --additional-context-file examples/profiling-configs/rocprofv3_lightweight.json
dated
"$PYTHON" - <<'END' || fail 'the analysis of the guide does not work'
import glob, json, sqlite3
path, = glob.glob("rocprof_output/2*/*_results.db")
conn = sqlite3.connect(path)
kernels = conn.execute("SELECT * FROM kernels")
columns = [c[0] for c in kernels.description]
rows = [dict(zip(columns, row)) for row in kernels]
assert rows and all("vecCopy" in row["name"] for row in rows), rows
assert all(row["end"] > row["start"] for row in rows), rows
try:
    import pandas as pd
except ImportError:
    pass
else:
    assert len(pd.read_sql_query("SELECT * FROM kernels", conn)) == len(rows)
assert json.load(open("rocprof_output/trace.json"))["rocprofiler-sdk-tool"]
END

example --tags dummy_prof \
  --additional-context '{
    "gpu_vendor": "AMD",
    "guest_os": "UBUNTU",
    "tools": [{"name": "rocprofv3_compute"}]
  }'
dated

example --tags your_model \
  --additional-context '{
    "gpu_vendor": "AMD",
    "guest_os": "UBUNTU",
    "docker_gpus": "all",
    "distributed": {
      "launcher": "torchrun",
      "nproc_per_node": 8
    },
    "tools": [{"name": "rocprofv3_communication"}]
  }'
dated
is "$(cut -d, -f1,2 perf.csv | tail -n 1)" your_model,8

example --tags your_model \
  --additional-context '{
    "gpu_vendor": "AMD",
    "guest_os": "UBUNTU",
    "tools": [{
      "name": "rocprof",
      "cmd": "bash ../scripts/common/tools/rocprof_wrapper.sh --hip-trace --kernel-trace --memory-copy-trace --output-format pftrace -d ./my_traces --",
      "env_vars": {
        "RCCL_DEBUG": "TRACE",
        "HSA_ENABLE_SDMA": "0"
      }
    }]
  }'
[ -s "$(echo my_traces/*/*_results.pftrace)" ] || fail 'no trace in my_traces'

example --tags your_model \
  --additional-context '{
    "tools": [{
      "name": "rocprof",
      "cmd": "bash ../scripts/common/tools/rocprof_wrapper.sh --hip-trace --kernel-trace --output-format json -d ./traces --"
    }]
  }'
[ -s "$(echo traces/*/*_results.json)" ] || fail 'no trace in traces'

example --tags pyt_vllm_llama2_7b \
  --additional-context-file examples/profiling-configs/rocprofv3_compute_bound.json
dated
counted SQ_INSTS_VALU_FMA_F32

example --tags dummy_prof --additional-context '{"tools": [{"name": "rocprofv3_perfetto"}]}'
dated
[ -s rocprof_output/model_trace.pftrace ] || fail 'no model_trace.pftrace'

# what was asked for and did not occur is said
example --tags dummy_prof --additional-context '{"tools": [{"name": "rocprofv3_pc_sampling"}]}'
dated
err_has 'warning: dummy_prof: rocprofv3: requested, but never observed: PC samples'

# a preset for a cluster, on a machine that has none
mkdir "$work/none"
cat >"$work/none/sinfo" <<'END'
#!/bin/sh
echo "sinfo: fatal: Could not establish a configuration source" >&2
exit 1
END
cp "$work/none/sinfo" "$work/none/sbatch"
chmod +x "$work/none/sinfo" "$work/none/sbatch"
PATH=$work/none:$PATH
example --tags pyt_torchtitan_llama3_8b \
  --additional-context-file examples/profiling-configs/rocprofv3_multi_gpu.json
err_has 'there is no cluster here: running on this machine'
dated
is "$(cut -d, -f1,2 perf.csv | tail -n 1)" communication_bound,4
sampled gpu_info_power_profiler_output.csv "$power,Power(Watt) GPU1,Power(Watt) GPU2,Power(Watt) GPU3"
sampled gpu_info_vram_profiler_output.csv "$vram,vram(%) GPU1,vram(%) GPU2,vram(%) GPU3"

run madengine run --tags your_model \
  --additional-context-file examples/profiling-configs/rocprofv3_multinode.json
rc_is 3
err_has 'Slurm has no configuration on this machine: run madengine on a login node of the cluster'

# a model that takes too long: what was recorded until then is kept
mkdir "$work/late"
cd "$work/late"
run madengine run --tags your_model:i=100000000 --timeout 3 \
	--additional-context-file rocprofv3_lightweight.json
rc_is 3
err_has 'your_model: FAILURE: the model took longer than 3 s'
dated
