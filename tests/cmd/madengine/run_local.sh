#!/bin/sh
# A run as a process: its order, variables, files, and what is left of it.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu
cd "$work"
unset MODEL_DIR JENKINS_BUILD_NUMBER BUILD_NUMBER MAD_COLLECT_METRICS
export MAD_CONTAINER_ENGINE=none
mkdir -p scripts/m pre post
cat >models.json <<'END'
[{"name": "m", "scripts": "scripts/m/run.sh", "tags": ["t"], "args": "--own 1", "n_gpus": "1",
  "training_precision": "fp16", "dockerfile": "docker/m", "env_vars": {"OF_MODEL": "1", "BOTH": "model"}},
 {"name": "p", "scripts": "scripts/m/prog.py", "n_gpus": "-1"},
 {"name": "d", "scripts": "scripts/m"},
 {"name": "many", "scripts": "scripts/m/many.sh", "multiple_results": "many.csv"},
 {"name": "old", "scripts": "scripts/m/run.sh", "deprecated": true},
 {"name": "other", "scripts": "scripts/m/run.sh", "skip_gpu_arch": ["gfx90a"]}]
END
cat >scripts/m/run.sh <<'END'
echo "the model: $*"
echo "in ${PWD##*/}: $OF_MODEL $BOTH $OF_CONTEXT $MAD_MODEL_NAME $MAD_RUNTIME_NGPUS $MAD_GPU_VENDOR"
ls ../scripts/common/tools.json
echo "performance: 12.5 samples_per_second"
END
cat >scripts/m/prog.py <<'END'
import os
print("performance:", os.environ["MAD_RUNTIME_NGPUS"], "gpus")
END
printf 'model,performance,metric\nx,1,s\ny,2,s\n' >many.in
echo 'cp ../many.in "$MAD_OUTPUT_CSV"; echo rows >extra_output.csv' >scripts/m/many.sh
echo 'echo "pre $1 in ${PWD##*/}"' >pre/one.sh
echo 'echo "post $1"' >post/one.sh

run madengine run --tags m --additional-context "{'tools': [{'name': 'test_tools_A'}, {'name': 'test_tools_B'}],
  'pre_scripts': [{'path': 'pre/one.sh', 'args': 'mine'}], 'post_scripts': [{'path': 'post/one.sh', 'args': 'mine'}],
  'env_vars': {'OF_CONTEXT': 2, 'BOTH': 'context'}}"
rc_is 0
out_has 'madengine: m: SUCCESS: performance 12.5 samples_per_second'
log=m_m.ubuntu.amd.run.live.log
grep -v '^>' $log >seen
cat >expected <<'END'
pre_script B
pre_script A
pre mine in run_directory
cmd_B
cmd_A
the model: --own 1
in run_directory: 1 context 2 m 1 AMD
../scripts/common/tools.json
performance: 12.5 samples_per_second
END
head -9 seen >first
same_files expected first 'the order of a run'
grep -q '^test_duration: [0-9.]*s$' seen || fail 'no test_duration'
is "$(tail -3 seen)" 'post mine
post_script A
post_script B' 'scripts after the model'
# what the run needed is gone, what the user has is there
is "$(ls -A scripts)" m 'scripts/'
[ ! -e run_directory ] || fail 'the run folder is left'
is "$(sed -n 1p perf.csv | cut -d, -f1-7)" model,n_gpus,nnodes,gpus_per_node,training_precision,pipeline,args
"$PYTHON" - <<'END' || fail 'perf.csv is wrong'
import csv, json
row, = csv.DictReader(open("perf.csv"))
want = dict(model="m", n_gpus="1", nnodes="1", training_precision="fp16", args="--own 1", tags="t", status="SUCCESS",
            docker_file="docker/m.ubuntu.amd.Dockerfile", deployment_type="local", performance="12.5",
            metric="samples_per_second", gpu_architecture="gfx90a", build_number="0")
assert {k: row[k] for k in want} == want, row
assert float(row["test_duration"]) >= 0
assert len(row) == 29
assert json.load(open("perf_entry.json")) == row
manifest = json.load(open("build_manifest.json"))
assert list(manifest["built_models"]) == ["ci-m_m.ubuntu.amd"], manifest
assert manifest["context"]["tools"][0]["name"] == "test_tools_A"
env = list(csv.reader(open("m_env.csv")))
assert env[0] == ["section", "name", "value"] and ["variable", "BOTH", "context"] in env
END

# python, a folder without run.sh, arguments of a tag, all GPUs of two
WAVESCOPE_GPU=mi210,mi210 run madengine run --tags p
rc_is 0
out_has 'performance 2 gpus'
run madengine run --tags d
rc_is 0
run madengine run --tags m:x=3 --additional-context '{"model_args": "-z"}' --live-output
rc_is 0
out_has 'the model: -z'
run madengine run --tags m:x=3 --keep-model-dir --live-output
rc_is 0
out_has 'the model: --own 1 --x 3'
[ -e run_directory/run.sh ] || fail '--keep-model-dir keeps nothing'

# several results
run madengine run --tags many
rc_is 0
is "$(tail -2 perf.csv | cut -d, -f1,18,19)" 'many_x,1,s
many_y,2,s'
[ -e common_info.json ] || fail 'no common_info.json'
is "$(cat extra_output.csv)" rows

# the configuration that the arguments name is kept with the result
printf 'batch: 8\nlayers: [1, 2]\n' >scripts/m/conf.yaml
run madengine run --tags m:config=conf.yaml
rc_is 0
"$PYTHON" - <<'END' || fail 'the configuration is not kept'
import json
assert json.load(open("perf_entry_super.json"))[0]["configs"] == {"batch": 8, "layers": [1, 2]}
assert json.load(open("perf_super.json"))[0]["configs"] is None
END

# nothing is run: status SKIPPED
rows_before=$(rows perf.csv)
run madengine run --tags m --skip-model-run --summary-output sum.json
rc_is 0
out_has 'm: SKIPPED'
! grep -q 'the model:' $log || fail 'the model ran'
is "$(tail -1 perf.csv | cut -d, -f21)" SKIPPED
is "$(rows perf.csv)" $((rows_before + 1))
grep -q '"successful_runs"' sum.json || fail 'no summary'
run madengine run --tags other
rc_is 0
out_has 'other: SKIPPED: it lists this GPU architecture'
run madengine run --tags other --disable-skip-gpu-arch
rc_is 0
out_has 'other: SUCCESS'
run madengine run --tags old
rc_is 0
out_has 'old: SKIPPED: it is marked deprecated'
run madengine run --tags old --ignore-deprecated --output more/res.csv
rc_is 0
is "$(tail -1 more/res.csv | cut -d, -f1,21)" old,SUCCESS

# a folder that is not ours is not removed
rm -rf run_directory
mkdir run_directory
echo mine >run_directory/file
run madengine run --tags m
rc_is 3
err_has "'run_directory' is in the way, and madengine did not make it"
is "$(cat run_directory/file)" mine

# models of another folder, with common scripts of their own
mkdir -p "$work/other/scripts/common" "$work/here"
echo '[{"name": "o", "scripts": "run.sh"}]' >"$work/other/models.json"
echo 'bash ../scripts/common/mine.sh; ls ../scripts/common/tools.json' >"$work/other/run.sh"
echo 'echo "performance: 1 of_mine"' >"$work/other/scripts/common/mine.sh"
cd "$work/here"
MODEL_DIR=../other run madengine run --tags o
rc_is 0
out_has 'o: SUCCESS: performance 1 of_mine'
[ ! -e scripts ] || fail 'scripts/ is left'

# a script in the working folder itself: the folder is not copied into its own run folder
mkdir "$work/flat"
cd "$work/flat"
echo '[{"name": "f", "scripts": "f.sh", "args": "RuntimeError: performance: 9 wrong"}]' >models.json
echo 'ls; echo "performance: 2 right"' >f.sh
run madengine run --tags f --live-output
rc_is 0
out_has 'f: SUCCESS: performance 2 right'
out_lacks models.json
