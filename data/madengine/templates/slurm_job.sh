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
@launcher@
node=$mad_results/node_$rank
log=$mad_output_dir/madengine-${mad_model}_${SLURM_JOB_ID}_node_$rank
work=
own_work=
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
			"$work"/rocprof_output "$work"/rpd_output "$work"/rocm_trace_lite_output \
			"$work"/*/rocprof_output; do
			name=${from##*/}
			if [ ! -e "$from" ] || [ -z "$name" ] || [ -e "$node/$name" ]; then
				continue
			fi
			# In a shared folder there may be files of earlier runs.
			if [ -z "$own_work" ] &&
				[ -z "$(find "$from" -newer "$node/node.txt" -print -quit)" ]; then
				continue
			fi
			cp -R "$from" "$node/" 2>>"$log.err" || printf 'lost=%s\n' "$name" >>"$node/node.txt"
		done
	fi
	cp "$log.err" "$node/stderr.err" 2>/dev/null
}

finish() {
	local code=$1
	trap '' TERM INT
	hand_back
	printf 'exit_code=%s\n' "$code" >>"$node/node.txt"
	if [ -n "$own_work" ]; then
		if [ "$code" -eq 0 ]; then
			rm -rf "$own_work"
		else
			printf 'work=%s:%s\n' "$(uname -n)" "$own_work" >>"$node/node.txt"
		fi
	fi
	exit "$code"
}

: >"$log.out"
: >"$log.err"
if ! command -v madengine >/dev/null; then
	say "no madengine in PATH: install it on the nodes, or load it with slurm.modules"
	finish 127
fi

# Where to work: a shared folder in place for one node, else a folder of this node.
if [ -n "$mad_shared_workspace" ]; then
	own_work=$mad_shared_workspace/madengine_job_${SLURM_JOB_ID}_node_$rank
elif [ "$NNODES" -eq 1 ] &&
	stat -f -c %T "$mad_submit_dir" | grep -qE '^(nfs|lustre|gpfs|ceph)'; then
	work=$mad_submit_dir
elif [ -n "${SLURM_TMPDIR:-}" ] && [ -w "${SLURM_TMPDIR:-}" ]; then
	own_work=$SLURM_TMPDIR/madengine_node_$rank
elif [ "$NNODES" -eq 1 ]; then
	own_work=/tmp/madengine_job_$SLURM_JOB_ID
else
	own_work=/tmp/madengine_job_${SLURM_JOB_ID}_node_$rank
fi
if [ -z "$work" ]; then
	work=$own_work
	# Results of earlier runs stay behind: they would be handed back as those of this one.
	if ! mkdir -p "$work" || ! tar -C "$mad_submit_dir" -cf - \
		--exclude=.git --exclude=__pycache__ --exclude='*.pyc' --exclude='*.egg-info' \
		--exclude=.pytest_cache --exclude-tag-all=pyvenv.cfg --anchored \
		--no-wildcards-match-slash --exclude="./$mad_output_name" --exclude='./*.log' \
		--exclude='./*_env.csv' --exclude='./*_output.csv' --exclude='./*_trace.csv' \
		--exclude='./perf*.csv' --exclude=./rocprof_output --exclude=./rpd_output \
		--exclude=./rocm_trace_lite_output . 2>>"$log.err" | tar -C "$work" -xf - 2>>"$log.err"; then
		say "cannot copy $mad_submit_dir to $work"
		finish 1
	fi
fi
cd "$work" && cp "$mad_manifest" build_manifest_local.json || finish 1

if [ "$rank" -eq 0 ]; then
	export MAD_COLLECT_METRICS=true MAD_SKIP_PERF_COLLECTION=false
else
	export MAD_COLLECT_METRICS=false MAD_SKIP_PERF_COLLECTION=true
fi
if [ "$NNODES" -gt 1 ]; then
	export TORCH_ELASTIC_RDZV_TIMEOUT=3600
	export MIOPEN_USER_DB_PATH=/tmp/.miopen/node_${rank}_rank_$LOCAL_RANK
fi

# In the background, so that the end of the job can be passed on: Slurm sends SIGTERM, and
# SIGKILL after its KillWait. In between there is time to hand back what was recorded.
pid=
stop() {
	say "the job is ending: stopping the run"
	[ -z "$pid" ] || kill -TERM "$pid" 2>/dev/null
}
trap stop TERM INT
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
