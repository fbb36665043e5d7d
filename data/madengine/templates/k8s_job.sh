set -u
# What a pod does: lay the scripts, run the model, keep what it wrote.
mad_job=@job@
mad_hosts() { @hosts@; }
rank=${JOB_COMPLETION_INDEX:-0}
export NODE_RANK=$rank RANK=$rank MAD_NODE_RANK=$rank
export MAD_K8S_POD_NAME=$HOSTNAME
@exports@
@launcher@
mkdir -p /workspace/run_directory && cd /workspace || exit 1
cp -RL /config/* . || exit 1
cd run_directory || exit 1
cp -R /workspace/model/. . || exit 1
before_or_after() { # SCRIPT ARGUMENTS...: what fails here does not stop the run
	bash "/workspace/$@" || echo "madengine: $1 ended with $?"
}
@pre_scripts@
cat >/tmp/run_launcher.sh <<'MAD_END_OF_LAUNCHER'
@command@
MAD_END_OF_LAUNCHER
begin=$(date +%s%N)
@prefix@bash /tmp/run_launcher.sh
code=$?
awk -v ns=$(($(date +%s%N) - begin)) 'BEGIN { printf "test_duration: %.2fs\n", ns / 1e9 }'
@post_scripts@
results=/results/$mad_job/node_$rank
mkdir -p "$results"
for from in /workspace/*_env.csv ./*_output.csv ./*_trace.csv ./library_trace.csv ./rocprof_output \
	./rpd_output ./rocm_trace_lite_output ./results* ./multi_results*.csv @multiple_results@; do
	[ ! -e "$from" ] || cp -R "$from" "$results/" || echo "madengine: $from could not be kept"
done
echo "madengine: node $rank ended with $code"
exit "$code"
