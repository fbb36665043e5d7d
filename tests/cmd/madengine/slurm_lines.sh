#!/bin/sh
# What is asked of Slurm, and what its answers lead to: stand-ins for its commands record them.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_program bash
unset MODEL_DIR SLURM_JOB_ID
MAD_CONTAINER_ENGINE=none
export MAD_CONTAINER_ENGINE
mkdir "$work/fake" "$work/project"
cd "$work/project"
# sbatch does not run the script: a test lays what its nodes would hand back.
cat >"$work/fake/slurm" <<'SH'
#!/bin/bash
name=${0##*/}
echo "$name $*" >>"$SLURM_RECORD"
case $name in
sinfo) printf '%s\n' a b c d ;;
srun)
	[[ $* != *"--nodelist b "* ]] || echo "process 7 (raylet) is left over"
	[[ $* != *"--nodelist c "* ]] || { echo "srun: error: c: down" >&2; exit 1; }
	echo "srun: job 4 queued and waiting for resources" >&2
	echo checked
	;;
sbatch)
	[ -z "${SLURM_REFUSES:-}" ] || { echo "sbatch: error: invalid partition specified: p" >&2; exit 1; }
	echo "Submitted batch job 41"
	;;
squeue)
	n=$(grep -c '^squeue' "$SLURM_RECORD")
	[ "$n" -ne 1 ] || echo "PENDING 0:00 (Priority)"
	[ "$n" -ne 2 ] || { echo "slurm_load_jobs error: Unable to contact slurm controller" >&2; exit 1; }
	;;
sacct) echo "${SLURM_END:-           COMPLETED}" ;;
scontrol) echo "JobId=41 JobName=x JobState=${SLURM_END:-COMPLETED} Reason=None" ;;
esac
SH
chmod +x "$work/fake/slurm"
for program in sinfo srun sbatch squeue sacct scontrol; do
	ln -s slurm "$work/fake/$program"
done
PATH=$work/fake:$PATH SLURM_RECORD=$work/record
export PATH SLURM_RECORD
mkdir -p scripts/m
echo 'echo "performance: 1 samples_per_second"' >scripts/m/run.sh
cat >models.json <<'JSON'
[{"name": "m", "scripts": "scripts/m/run.sh", "n_gpus": "1", "args": "-a 'b c'",
  "env_vars": {"DOCKER_IMAGE_NAME": "rocm/x:1"}}]
JSON
run madengine build --tags m
rc_is 0

lay_node() { # RANK NUMBER EXIT_CODE
	mkdir -p "slurm_results/m/41/node_$1"
	printf 'host=h%s\nexit_code=%s\n' "$1" "$3" >"slurm_results/m/41/node_$1/node.txt"
	echo "performance: $2 samples_per_second" >"slurm_results/m/41/node_$1/stdout.out"
}
directive() { sed -n "s/^#SBATCH --$1=//p" slurm_results/madengine_m.sh; }

# Idle nodes are checked until enough are free; the job is pinned to these.
lay_node 0 2 0
lay_node 1 3 0
run madengine run -m build_manifest.json -c '{"slurm": {"partition": "p", "nodes": 2, "qos": "q"}}'
rc_is 0
out_has "SUCCESS: performance 5 samples_per_second"
err_has "node b is not used: process 7 (raylet) is left over"
err_has "node c is not used: srun ended with 1: srun: error: c: down"
err_has "Unable to contact slurm controller: trying again"
err_has "job 41: PENDING (Priority)"
is "$(directive nodelist)" "a,d" nodelist
is "$(directive exclude)" "b,c" exclude
is "$(directive partition)" p partition
grep -q "^sinfo -p p -N -h -o %N -t idle$" "$SLURM_RECORD" || fail "idle nodes are not listed"
grep -q "^sacct -j 41 -n -X -o State%20$" "$SLURM_RECORD" || fail "sacct is not asked"

# Too few: refused, unless the user wants it.
: >"$SLURM_RECORD"
run madengine run -m build_manifest.json -c '{"slurm": {"nodes": 3}}'
rc_is 3
err_has "2 of 3 nodes are free of leftovers: not submitted"
! grep -q ^sbatch "$SLURM_RECORD" || fail "submitted all the same"
lay_node 2 4 0
run madengine run -m build_manifest.json \
	-c '{"slurm": {"nodes": 3, "allow_submit_without_clean_nodes": true}}'
rc_is 0
err_has "submitting all the same"

# Ends of a job, and what to do about them.
lay_node 0 2 143
rm -r slurm_results/m/41/node_1
SLURM_END=TIMEOUT
export SLURM_END
run madengine run -m build_manifest.json -c '{"slurm": {"nodes": 2, "nodelist": "a,b"}}'
rc_is 3
err_has "node 0 (h0) ended with 143, node 1 never started: the job's state is TIMEOUT"
err_has "raise slurm.time"
SLURM_REFUSES=yes
export SLURM_REFUSES
run madengine run -m build_manifest.json -c '{"slurm": {"nodelist": "a"}}'
rc_is 3
err_has "sbatch ended with 1: sbatch: error: invalid partition specified: p"
unset SLURM_REFUSES SLURM_END

# slurm_multi: the model's script makes its own containers, here inside an allocation.
run madengine build --tags m --use-image auto
rc_is 0
cat >scripts/m/run.sh <<'SH'
echo "$# $2 $DOCKER_IMAGE_NAME $xP $yD $SLURM_JOB_ID $(basename "$PWD")"
echo "performance: 9 samples_per_second"
SH
: >"$SLURM_RECORD"
SLURM_JOB_ID=77 run madengine run -m build_manifest.json -c '{"slurm": {"nodes": 3}, "distributed":
	{"launcher": "slurm-multi", "sglang_disagg": {"prefill_nodes": 1, "decode_nodes": 1}}}'
rc_is 0
out_has "SUCCESS: performance 9 samples_per_second"
! grep -q ^sbatch "$SLURM_RECORD" || fail "a job inside a job"
is "$(head -1 slurm_results/m/77/node_0/stdout.out)" "2 b c rocm/x:1 1 1 77 m" "the model's script"
grep -q "^srun docker pull rocm/x:1$" "$SLURM_RECORD" || fail "the image is not pulled on all nodes"

# Not a login node.
run env PATH="$WS_BUILD/bin:/usr/bin/no-such" madengine run -m build_manifest.json \
	-c '{"slurm": {"nodes": 2}}'
rc_is 3
err_has "there is no sbatch in PATH: run madengine on a login node of the cluster"
