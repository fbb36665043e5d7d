#!/bin/sh
# The command lines that docker gets, argument by argument: a stand-in records them, and runs what
# is executed in a container on this machine.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu
need_program bash
mkdir "$work/fake"
cat >"$work/fake/docker" <<'SH'
#!/bin/bash
printf '%s|' "$@" >>"$DOCKER_RECORD"
echo >>"$DOCKER_RECORD"
case $1 in
push) [ -z "${DOCKER_PUSH_FAILS:-}" ] || { echo "denied: no access" >&2; exit 1; } ;;
image) [ -z "${DOCKER_IMAGE_MISSING:-}" ] || exit 1 ;;
exec)
	shift 2
	args=("$@")
	[ "$1" != /opt/wavescope/bin/wavescope ] || args=(wavescope "${@:2}")
	IN_CONTAINER=yes exec "${args[@]}"
	;;
esac
SH
chmod +x "$work/fake/docker"
PATH=$work/fake:$PATH DOCKER_RECORD=$work/record
export PATH DOCKER_RECORD
unset MODEL_DIR MAD_CONTAINER_ENGINE
mkdir "$work/project"
cd "$work/project"
mkdir -p docker scripts/plain
cat >models.json <<'JSON'
[{"name": "plain", "dockerfile": "docker/plain", "scripts": "scripts/plain/run.sh", "n_gpus": "1",
  "args": "--steps 3", "additional_docker_run_options": "--shm-size '16 G'",
  "env_vars": {"DOCKER_IMAGE_NAME": "rocm/own:1"}}]
JSON
printf '%s\n' "# CONTEXT {'gpu_vendor': 'AMD'}" 'ARG BASE_DOCKER=rocm/pytorch' 'FROM $BASE_DOCKER' \
	>docker/plain.ubuntu.amd.Dockerfile
echo 'echo "args: $* in $IN_CONTAINER"; echo "performance: 1 samples_per_second"' >scripts/plain/run.sh

recorded() { grep "^$1|" "$DOCKER_RECORD" || :; }

# build and push
run madengine build --tags plain --registry host:5000 --clean-docker-cache \
	--additional-context '{"docker_build_arg": {"A": "x y"}}'
rc_is 0
is "$(recorded build)" "build|--no-cache|--network=host|-t|ci-plain_plain.ubuntu.amd|--pull|-f|\
./docker/plain.ubuntu.amd.Dockerfile|--build-arg|A=x y|./docker|" "arguments of build"
is "$(recorded tag)" "tag|ci-plain_plain.ubuntu.amd|host:5000/ci-plain_plain.ubuntu.amd|" "tag"
is "$(recorded push)" "push|host:5000/ci-plain_plain.ubuntu.amd|" "push"
grep -q '"registry_image": "host:5000/ci-plain_plain.ubuntu.amd"' build_manifest.json ||
	fail "the manifest has no image of the registry"

# run: an image that is not here is pulled
: >"$DOCKER_RECORD"
DOCKER_IMAGE_MISSING=yes
export DOCKER_IMAGE_MISSING
run madengine run --manifest-file build_manifest.json --additional-context '{"docker_cpus": "0, 1",
	"docker_gpus": "all", "docker_mounts": {"/data": "/nfs/some data"}, "docker_env_vars": {"E": "1 2"}}'
rc_is 0
unset DOCKER_IMAGE_MISSING
is "$(recorded pull)" "pull|host:5000/ci-plain_plain.ubuntu.amd|" "pull"
line=$(recorded run)
options='run|-t|-d|--network|host|-u|root|--group-add|video|--cap-add=SYS_PTRACE|--cap-add|SYS_ADMIN|'
options="$options--device|/dev/fuse|--security-opt|seccomp=unconfined|--security-opt|"
options="${options}apparmor=unconfined|--ipc=host|"
case $line in
"$options"*"|-v|$PWD:/myworkspace/|--workdir|/myworkspace/|--name|\
container_ci-plain_plain.ubuntu.amd|ci-plain_plain.ubuntu.amd|cat|") ;;
*) fail "docker run gets $line" ;;
esac
for part in "-v|/nfs/some data:/data" "--cpuset-cpus|0,1" "--shm-size|16 G" "--env|E=1 2" \
	"--env|MAD_MODEL_NAME=plain" "--env|MAD_RUNTIME_NGPUS=1" "--env|MAD_GPU_VENDOR=AMD" \
	"--env|MAD_MULTI_NODE_RUNNER=torchrun --standalone --nproc_per_node=1"; do
	case $line in
	*"|$part|"*) ;;
	*) fail "docker run does not get $part: $line" ;;
	esac
done
if [ ! -e /dev/kfd ]; then
	case $line in
	*"|-v|$WS_BUILD:/opt/wavescope:ro|"*) ;;
	*) fail "docker run does not get wavescope: $line" ;;
	esac
fi
grep -qx "args: --steps 3 in yes" plain_plain.ubuntu.amd.run.live.log || fail "the model did not run"
is "$(tail -1 perf.csv | cut -d, -f1,15)" "plain,docker" "row"
is "$(recorded rm | tail -1)" "rm|-f|container_ci-plain_plain.ubuntu.amd|" "at the end"

# a push that fails is an error of the build, and in the manifest
DOCKER_PUSH_FAILS=yes
export DOCKER_PUSH_FAILS
run madengine build --tags plain --registry host:5000
rc_is 2
err_has "denied: no access"
grep -q '"push_failures"' build_manifest.json || fail "the manifest is silent about the push"

# --use-image builds nothing
: >"$DOCKER_RECORD"
run madengine build --tags plain --use-image auto
rc_is 0
is "$(recorded build)" "" "builds"
grep -q '"docker_image": "rocm/own:1"' build_manifest.json || fail "not the model's own image"
run madengine build --tags plain --use-image other:2
rc_is 0
grep -q '"docker_image": "other:2"' build_manifest.json || fail "not the image that was given"
