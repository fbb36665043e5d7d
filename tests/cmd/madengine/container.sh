#!/bin/sh
# Models in real containers of podman, on the software GPU.
. "$WS_SOURCE/tests/cmd/lib.sh"
. "$WS_SOURCE/tests/lib/podman.sh"
podman_start "$@"
need_tracing
MAD_CONTAINER_ENGINE=podman
export MAD_CONTAINER_ENGINE
unset MODEL_DIR

mkdir -p docker scripts/prof
cat >models.json <<JSON
[{"name": "Prof", "dockerfile": "docker/prof", "scripts": "scripts/prof/run.sh", "n_gpus": "1",
  "tags": ["profiling"], "additional_docker_run_options": "--env 'EXTRA=two words'"},
 {"name": "stuck", "dockerfile": "docker/prof", "scripts": "scripts/prof/stuck.sh", "n_gpus": "1"}]
JSON
cat >docker/prof.ubuntu.amd.Dockerfile <<'FILE'
# CONTEXT {'gpu_vendor': 'AMD', 'guest_os': 'UBUNTU'}
ARG BASE_DOCKER=localhost/base
FROM $BASE_DOCKER
ARG WORD=none
ENV WORD=$WORD
FILE
cat >docker/prof.ubuntu.nvidia.Dockerfile <<'FILE'
# CONTEXT {'gpu_vendor': 'NVIDIA', 'guest_os': 'UBUNTU'}
FROM localhost/no-such-image
FILE
cat >scripts/prof/run.sh <<'SH'
$WAVESCOPE_SAMPLES/vcopy -n 65536 -b 256 || exit 1
echo "in a container: WORD=$WORD EXTRA=$EXTRA $MAD_MODEL_NAME $(pwd) $(id -u)"
# no device was handed in; the software GPU shows one to programs that it is preloaded into
env -u LD_PRELOAD test ! -e /dev/kfd && echo "performance: 7 samples_per_second"
SH
cat >scripts/prof/stuck.sh <<'SH'
echo $$ >stuck.pid
sleep 300
SH
context='"docker_build_arg": {"WORD": "built here"}, "docker_mounts": {"/usr": "/usr", "/etc/alternatives": "/etc/alternatives"}'

# One image for AMD; the dockerfile of NVIDIA is not for this context.
run madengine build --tags profiling --additional-context "{$context}"
rc_is 0
"$PYTHON" - <<'PY'
import json
m = json.load(open("build_manifest.json"))
(built,) = m["built_images"].values()
assert built["docker_image"] == "ci-prof_prof.ubuntu.amd", built
assert built["base_docker"] == "localhost/base", built
line = built["build_command"]
assert line.startswith("podman build --network=host -t ci-prof_prof.ubuntu.amd --pull=newer -f "), line
assert " --build-arg WORD='built here' " in line, line
PY
[ -s Prof_prof.ubuntu.amd.build.live.log ] || fail "no log of the build"

run madengine run --manifest-file build_manifest.json \
	--additional-context "{$context, \"tools\": [{\"name\": \"rocprofv3_lightweight\"}]}"
rc_is 0
log=Prof_prof.ubuntu.amd.run.live.log
grep -qF "in a container: WORD=built here EXTRA=two words Prof /myworkspace/run_directory 0" $log ||
	fail "no output of the container: $(cat $log)"
grep -q vecCopy rocprof_output/*/*_results.json || fail "nothing was recorded"
is "$(tail -1 perf.csv | cut -d, -f1,15)" "Prof,podman" "row"
is "$(podman ps -aq)" "" "containers that are left"

# --keep-alive, and how to enter it. The time limit ends the model inside, too.
run madengine run --tags stuck --timeout 2 --keep-alive --additional-context "{$context}"
rc_is 3
err_has "stuck: FAILURE"
err_has "podman exec -it container_ci-stuck_prof.ubuntu.amd bash"
run podman exec container_ci-stuck_prof.ubuntu.amd cat run_directory/stuck.pid
rc_is 0
# nobody takes its exit code inside, so it may stay as a zombie
run podman exec container_ci-stuck_prof.ubuntu.amd grep '^State:.[^Z]' "/proc/$(cat "$out")/status"
[ "$rc" -ne 0 ] || fail "the model goes on in its container"
podman kill container_ci-stuck_prof.ubuntu.amd >/dev/null
podman rm container_ci-stuck_prof.ubuntu.amd >/dev/null

# An image that cannot run it.
run madengine run --tags profiling --additional-context '{}'
rc_is 3
err_has "Prof: FAILURE: the container does not start: "
is "$(podman ps -aq | wc -l | tr -d ' ')" 0 "containers that are left"
