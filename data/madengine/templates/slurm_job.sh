#!/bin/bash
@directives@

# A job of madengine, complete in this file: `sbatch` runs it again, as another job.
@modules@
@exports@
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_ADDR
export WORLD_SIZE=${SLURM_NTASKS:-$NNODES}
export LOCAL_RANK=${SLURM_LOCALID:-0}
export MAD_SLURM_JOB_ID=$SLURM_JOB_ID
export MAD_NODE_RANK=${SLURM_NODEID:-0}
export mad_results=$mad_output_dir/$mad_model/$SLURM_JOB_ID

# The interface for NCCL and Gloo: as given, else InfiniBand, else that of the default route.
if [ -z "${NCCL_SOCKET_IFNAME:-}" ]; then
	if ls -d /sys/class/net/ib[0-9]* >/dev/null 2>&1; then
		NCCL_SOCKET_IFNAME=ib0
	else
		NCCL_SOCKET_IFNAME=$(awk '$2 == "00000000" { print $1; exit }' /proc/net/route)
	fi
fi
export NCCL_SOCKET_IFNAME=${NCCL_SOCKET_IFNAME:-eth0}
export GLOO_SOCKET_IFNAME=${GLOO_SOCKET_IFNAME:-$NCCL_SOCKET_IFNAME}

mkdir -p "$mad_results" || exit 1
mad_task=$mad_output_dir/madengine_task_$SLURM_JOB_ID.sh
cat >"$mad_task" <<'MAD_END_OF_TASK' || exit 1
#!/bin/bash
# What each node does: copy the project, run the model, hand back what it wrote.
set -u -o pipefail
rank=${SLURM_PROCID:-0}
export NODE_RANK=$rank RANK=$rank MAD_NODE_RANK=$rank
mad_job=$SLURM_JOB_ID
mad_hosts() { scontrol show hostnames "$SLURM_JOB_NODELIST"; }
@launcher@
node=$mad_results/node_$rank
log=$mad_output_dir/madengine-${mad_model}_${SLURM_JOB_ID}_node_$rank
work=
mkdir -p "$node" || exit 1
printf 'host=%s\n' "${SLURMD_NODENAME:-$(uname -n)}" >"$node/node.txt"

say() { printf 'madengine: node %s: %s\n' "$rank" "$*" >>"$log.err"; }

# Copy what the run left. A part that cannot be copied is named in node.txt.
hand_back() {
	local from name
	cp "$log.out" "$node/stdout.out" 2>/dev/null
	if [ -n "$work" ]; then
		for from in "$work"/*_env.csv "$work"/*.log "$work"/multi_results*.csv \
			"$work"/results* "$work"/gpu_info_*.csv "$work"/library_trace.csv \
			"$work"/*_output.csv "$work"/*_trace.csv "$work/$mad_multiple_results" \
			"$work"/rocprof_output "$work"/rpd_output "$work"/rocm_trace_lite_output; do
			name=${from##*/}
			if [ ! -e "$from" ] || [ -z "$name" ] || [ -e "$node/$name" ]; then
				continue
			fi
			cp -R "$from" "$node/" 2>>"$log.err" || printf 'lost=%s\n' "$name" >>"$node/node.txt"
		done
		# What a run that was stopped has not taken out of its run folder.
		for from in "$work"/*/rocprof_output; do
			if [ "$1" -ne 0 ] && [ -d "$from" ]; then
				mkdir -p "$node/rocprof_output"
				cp -Rn "$from/." "$node/rocprof_output/" 2>>"$log.err"
			fi
		done
	fi
	cp "$log.err" "$node/stderr.err" 2>/dev/null
}

finish() {
	local code=$1
	trap '' TERM INT
	hand_back "$code"
	printf 'exit_code=%s\n' "$code" >>"$node/node.txt"
	if [ -n "$work" ] && [ "$code" -eq 0 ]; then
		rm -rf "$work"
	elif [ -n "$work" ]; then
		printf 'work=%s:%s\n' "$(uname -n)" "$work" >>"$node/node.txt"
	fi
	exit "$code"
}

: >"$log.out"
: >"$log.err"
if ! command -v madengine >/dev/null; then
	say "no madengine in PATH: install it on the nodes, or load it with slurm.modules"
	finish 127
fi

# Each node works in a folder of its own, so that runs do not meet.
if [ -n "$mad_shared_workspace" ]; then
	work=$mad_shared_workspace/madengine_job_${SLURM_JOB_ID}_node_$rank
elif [ -n "${SLURM_TMPDIR:-}" ] && [ -w "${SLURM_TMPDIR:-}" ]; then
	work=$SLURM_TMPDIR/madengine_node_$rank
else
	work=/tmp/madengine_job_${SLURM_JOB_ID}_node_$rank
fi
# Results of earlier runs stay behind: they would be handed back as those of this one.
if ! mkdir -p "$work" || ! tar -C "$mad_submit_dir" -cf - \
	--exclude=.git --exclude=__pycache__ --exclude='*.pyc' --exclude='*.egg-info' \
	--exclude=.pytest_cache --exclude-tag-all=pyvenv.cfg --anchored \
	--no-wildcards-match-slash --exclude="./$mad_output_name" --exclude='./*.log' \
	--exclude='./*_env.csv' --exclude='./*_output.csv' --exclude='./*_trace.csv' \
	--exclude='./perf*.csv' --exclude='./perf*.json' --exclude=./rocprof_output \
	--exclude=./rpd_output --exclude=./rocm_trace_lite_output --exclude=./run_directory \
	--exclude=./scripts/common . 2>>"$log.err" | tar -C "$work" -xf - 2>>"$log.err"; then
	say "cannot copy $mad_submit_dir to $work"
	finish 1
fi
if ! cd "$work" || ! cp "$mad_manifest" build_manifest_local.json; then
	finish 1
fi

if [ "$rank" -eq 0 ]; then
	export MAD_COLLECT_METRICS=true MAD_SKIP_PERF_COLLECTION=false
else
	export MAD_COLLECT_METRICS=false MAD_SKIP_PERF_COLLECTION=true
fi
if [ "$NNODES" -gt 1 ]; then
	export TORCH_ELASTIC_RDZV_TIMEOUT=3600
	export MIOPEN_USER_DB_PATH=/tmp/.miopen/node_${rank}_rank_$LOCAL_RANK
fi

# Slurm ends a job with SIGTERM to all its processes, and SIGKILL after its KillWait. In between
# there is time to hand back what was recorded. In the background, because bash does not wait
# for it otherwise when it gets the signal itself.
trap 'say "the job is ending"' TERM INT
@command@ >>"$log.out" 2>>"$log.err" &
pid=$!
wait "$pid"
code=$?
while kill -0 "$pid" 2>/dev/null; do
	wait "$pid"
	code=$?
done
finish "$code"
MAD_END_OF_TASK

if [ "$NNODES" -gt 1 ]; then
	srun bash "$mad_task"
else
	bash "$mad_task"
fi
code=$?
rm -f "$mad_task"
exit "$code"
