#!/bin/bash
@directives@

# A job of madengine whose model starts its own containers on all nodes, from the first one.
@modules@
@exports@
export MAD_SLURM_JOB_ID=${SLURM_JOB_ID:-local}
export mad_results=$mad_output_dir/$mad_model/${SLURM_JOB_ID:-local}
node=$mad_results/node_0
log=$mad_output_dir/madengine-${mad_model}_${SLURM_JOB_ID:-local}_node_0
mkdir -p "$node" || exit 1
printf 'host=%s\n' "${SLURMD_NODENAME:-$(uname -n)}" >"$node/node.txt"
@pull@
cd "$mad_script_dir" || exit 1
@command@ >"$log.out" 2>"$log.err"
code=$?
cp "$log.out" "$node/stdout.out"
cp "$log.err" "$node/stderr.err"
printf 'exit_code=%s\n' "$code" >>"$node/node.txt"
exit "$code"
