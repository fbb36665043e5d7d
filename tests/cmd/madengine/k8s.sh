#!/bin/sh
# Jobs of Kubernetes: the objects, read back by a parser of YAML, and what kubectl is asked.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_program bash
"$PYTHON" -c 'import yaml' 2>/dev/null || skip "there is no PyYAML (Debian: python3-yaml)"
unset MODEL_DIR KUBECONFIG
mkdir "$work/fake" "$work/project"
cd "$work/project"
mkdir -p scripts/big/data
cat >models.json <<'JSON'
[{"name": "Scope_Big.model", "scripts": "scripts/big/run.sh", "n_gpus": "2", "args": "--steps 3",
  "env_vars": {"DOCKER_IMAGE_NAME": "host:5000/big:1"}, "multiple_results": "out.csv"}]
JSON
printf 'echo "it'\''s: $*"\n\techo "performance: 5 samples_per_second"\n\n' >scripts/big/run.sh
echo '{"yes": "no: #"}' >scripts/big/data/config.json
run madengine build --tags Scope_Big.model --use-image auto
rc_is 0

# Without kubectl the file is written, and the user is told.
cat >context.json <<'JSON'
{"k8s": {"namespace": "team", "gpu_count": 4, "host_ipc": true, "memory": "100Gi",
  "node_selector": {"gpu": "mi300x"}, "tolerations": [{"key": "gpu", "operator": "Exists"}],
  "secrets": {"image_pull_secret_names": ["pull"]}, "ttl_seconds_after_finished": 60},
 "distributed": {"launcher": "torchrun", "nnodes": 2, "port": 29501},
 "env_vars": {"MINE": "a: 'b' #c", "NCCL_DEBUG": "INFO"},
 "tools": [{"name": "rocprofv3_lightweight"}]}
JSON
mkdir "$work/few"
for program in bash sh python3 git uname; do
	ln -s "$(command -v $program)" "$work/few/" 2>/dev/null || :
done
run env PATH="$WS_BUILD/bin:$work/few" madengine run --manifest-file build_manifest.json -f context.json
rc_is 0
out_has "SKIPPED: there is no kubectl: apply k8s_manifests/madengine-scope-big-model.yaml"
"$PYTHON" - k8s_manifests/madengine-scope-big-model.yaml <<'PY'
import subprocess, sys, yaml
docs = {d["kind"]: d for d in yaml.safe_load_all(open(sys.argv[1]))}
assert list(docs) == ["ConfigMap", "PersistentVolumeClaim", "Service", "Job"], list(docs)
name = "madengine-scope-big-model"
for d in docs.values():
    assert d["metadata"]["namespace"] == "team" and d["metadata"]["labels"]["app"] == "madengine", d
data = docs["ConfigMap"]["data"]
assert data["model-run.sh"] == open("scripts/big/run.sh").read(), data["model-run.sh"]
assert data["model-data-config.json"] == '{"yes": "no: #"}\n', data
assert "scripts-common-tools-rocprof_wrapper.sh" in data
claim = docs["PersistentVolumeClaim"]
assert claim["spec"]["accessModes"] == ["ReadWriteMany"], claim
assert claim["spec"]["storageClassName"] == "nfs-banff", claim
service = docs["Service"]["spec"]
assert service["clusterIP"] == "None" and service["ports"][0]["port"] == 29501, service
job = docs["Job"]
assert job["apiVersion"] == "batch/v1" and job["metadata"]["name"] == name, job["metadata"]
spec = job["spec"]
want = dict(completions=2, parallelism=2, completionMode="Indexed", backoffLimit=3,
            ttlSecondsAfterFinished=60)
assert {k: spec[k] for k in want} == want, spec
assert service["selector"].items() <= spec["template"]["metadata"]["labels"].items(), service
pod = spec["template"]["spec"]
assert pod["restartPolicy"] == "Never" and pod["subdomain"] == name and pod["hostIPC"] is True, pod
assert pod["nodeSelector"] == {"gpu": "mi300x"}, pod
assert pod["tolerations"] == [{"key": "gpu", "operator": "Exists"}], pod
assert pod["imagePullSecrets"] == [{"name": "pull"}], pod
(c,) = pod["containers"]
assert c["image"] == "host:5000/big:1" and c["imagePullPolicy"] == "Always", c
assert c["resources"]["requests"] == {"amd.com/gpu": "4", "memory": "100Gi", "cpu": "16"}, c["resources"]
assert c["resources"]["limits"] == {"amd.com/gpu": "4", "memory": "128Gi", "cpu": "32"}, c["resources"]
assert c["securityContext"]["capabilities"]["add"] == ["SYS_PTRACE"], c
env = {e["name"]: e["value"] for e in c["env"]}
want = dict(MINE="a: 'b' #c", NCCL_DEBUG="INFO", HSA_NO_SCRATCH_RECLAIM="1", GPU_MAX_HW_QUEUES="2",
            NCCL_TIMEOUT="600", MAD_RUNTIME_NGPUS="4", MAD_OUTPUT_CSV="out.csv")
assert {k: env.get(k) for k in want} == want, env
assert all(isinstance(v, str) for v in env.values()), env
names = {v["name"] for v in pod["volumes"]}
assert {m["name"] for m in c["volumeMounts"]} == names == {"workspace", "config", "shm", "results"}
assert c["command"] == ["/bin/bash", "-c"]
script = c["args"][0]
assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0
assert f"MASTER_ADDR={name}-0.{name}.team.svc.cluster.local" in script, script
assert "--rdzv_endpoint=${MASTER_ADDR}:29501 --rdzv_id=${mad_job} --role=worker --tee=3" in script
assert "rocprof_wrapper.sh --hip-trace --kernel-trace" in script and "bash run.sh --steps 3" in script
PY

# The script of the pod does what it is for, in a folder instead of a pod.
"$PYTHON" - k8s_manifests/madengine-scope-big-model.yaml "$work/pod" <<'PY'
import os, subprocess, sys, yaml
docs = {d["kind"]: d for d in yaml.safe_load_all(open(sys.argv[1]))}
root = sys.argv[2]
# as the kubelet lays the volume
(volume,) = [v["configMap"] for v in docs["Job"]["spec"]["template"]["spec"]["volumes"] if "configMap" in v]
assert volume["name"] == docs["ConfigMap"]["metadata"]["name"], volume
assert len(volume["items"]) == len(docs["ConfigMap"]["data"]), volume
for item in volume["items"]:
    path = f"{root}/config/{item['path']}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "w").write(docs["ConfigMap"]["data"][item["key"]])
    os.chmod(path, item["mode"])
c = docs["Job"]["spec"]["template"]["spec"]["containers"][0]
script = c["args"][0].replace("/tmp/run_launcher", root + "/run_launcher")
script = script.replace("/workspace", root + "/workspace").replace("/config/", root + "/config/")
script = script.replace("results=/results", f"results={root}/results")
# without the profiler: what it needs is another test's
lines = ["bash " + root + "/run_launcher.sh" if "rocprof_wrapper" in l and "run_launcher" in l else l
         for l in script.split("\n") if not l.startswith("before_or_after ")]
env = dict(os.environ, HOSTNAME="pod", JOB_COMPLETION_INDEX="1")
p = subprocess.run(["bash", "-c", "\n".join(lines)], env=env, text=True, capture_output=True)
assert p.returncode == 0, (p.stdout, p.stderr)
assert "it's: --steps 3\nperformance: 5 samples_per_second\ntest_duration: " in p.stdout, p.stdout
assert p.stdout.endswith("madengine: node 1 ended with 0\n"), p.stdout
assert os.path.exists(root + "/workspace/run_directory/data/config.json")
PY

# With a kubectl: applied, waited for, logs of all pods collected.
cat >"$work/fake/kubectl" <<'SH'
#!/bin/sh
echo "$*" >>"$KUBECTL_RECORD"
case "$*" in
*" get job "*)
	n=$(grep -c ' get job ' "$KUBECTL_RECORD")
	[ "$n" -lt 2 ] && echo "2 active,  succeeded,  failed: " && exit
	echo " active, 2 succeeded,  failed: ${KUBECTL_END:-Complete}" ;;
*"completion-index=0")
	printf 'performance: 10 samples_per_second\ntest_duration: 1.50s\nmadengine: node 0 ended with 0\n' ;;
*"completion-index=1")
	printf 'performance: 20 samples_per_second\nmadengine: node 1 ended with 0\n' ;;
esac
SH
chmod +x "$work/fake/kubectl"
PATH=$work/fake:$PATH KUBECTL_RECORD=$work/kubectl
export PATH KUBECTL_RECORD
run madengine run --manifest-file build_manifest.json -f context.json
rc_is 0
out_has "SUCCESS: performance 30 samples_per_second, 1.50 s"
grep -qx -e "--namespace team apply -f k8s_manifests/madengine-scope-big-model.yaml" "$KUBECTL_RECORD" ||
	fail "not applied: $(cat "$KUBECTL_RECORD")"
is "$(tail -1 perf.csv | cut -d, -f1-4)" "Scope_Big.model,8,2,4" "row"
KUBECTL_END=Failed
export KUBECTL_END
run madengine run --manifest-file build_manifest.json -f context.json
rc_is 3
err_has "job madengine-scope-big-model failed: the logs are in k8s_results/madengine-scope-big-model"

# What cannot be a pod.
run madengine run --manifest-file build_manifest.json \
	-c '{"k8s": {}, "distributed": {"launcher": "mpirun", "nnodes": 2}}'
rc_is 3
err_has "mpirun starts the ranks of several nodes on Slurm only"
run madengine run --manifest-file build_manifest.json -c '{"k8s": {}, "slurm": {}}'
rc_is 4
