#!/bin/sh
# lint-profile finds mistakes of contexts before they cost a run, and 'run' checks the same.
. "$WS_SOURCE/tests/cmd/lib.sh"
cd "$work"
WAVESCOPE_GPU=mi210
export WAVESCOPE_GPU
lint() { run madengine lint-profile "$@"; }
context() { # TOOLS: an array
	printf '{"tools": %s}' "$1" >context.json
	lint context.json
}
wrapper="bash ../scripts/common/tools/rocprof_wrapper.sh"
counters=../scripts/common/tools/counters

# Our own presets have no errors. What is said of them is true.
for preset in compute_bound memory_bound multi_gpu lightweight multi_node multinode; do
	lint examples/profiling-configs/rocprofv3_$preset.json
	rc_is 0
	out_lacks "warning:"
done
out_is "note: slurm: with this key a batch job is submitted; counters were checked for the GPUs of this machine [batch-job]"
lint rocprofv3_compute_bound.json
out_is "note: tools[0]: the application is run 1 time: 12 sets of counters in 2 passes; AMD's rocprofv3 runs it 12 times [application-runs]"
lint rocprofv3_comprehensive.json
rc_is 0
out_is "warning: tools[0]: pmc_14: no counter 'SQ_WAIT_INST_VALU' on gfx90a: did you mean 'SQ_WAIT_INST_ANY'? [missing-counter]
note: tools[0]: the application is run 1 time: 15 sets of counters in 1 pass; AMD's rocprofv3 runs it 15 times [application-runs]"
lint rocprofv3_lightweight.json
out_is "rocprofv3_lightweight.json: nothing to report"
lint data/presets/rocprofv3_lightweight.json # as the sources have it, from any folder
out_is "data/presets/rocprofv3_lightweight.json: nothing to report"

# Each rule.
rule() { # RULE EXIT_CODE TEXT TOOLS
	context "$4"
	rc_is "$2"
	out_has "$3"
	out_has "[$1]"
}
rule unknown-tool 4 "error: tools[0]: no tool 'rocprofv3_compte': did you mean 'rocprofv3_compute'?" '[{"name": "rocprofv3_compte"}]'
rule repeated-tool 0 "warning: tools[1]: 'miopen_trace' is listed twice" '[{"name": "miopen_trace"}, {"name": "miopen_trace"}]'
rule nested-profilers 0 "warning: tools: 2 profilers" '[{"name": "rocprof"}, {"name": "rocprofv3_lightweight"}]'
rule unknown-tool-key 0 "warning: tools[0]: 'env_var' has no effect in an entry of tools: did you mean 'env_vars'?" \
	'[{"name": "rocprof", "env_var": {}}]'
rule unknown-variable 0 "no variable 'POWER_SAMPLNG_RATE': did you mean 'POWER_SAMPLING_RATE'?" \
	'[{"name": "gpu_info_power_profiler", "env_vars": {"POWER_SAMPLNG_RATE": 1}}]'
rule bad-variable 4 "error: tools[0].env_vars: VRAM_SAMPLING_RATE is '0': give seconds between samples" \
	'[{"name": "gpu_info_vram_profiler", "env_vars": {"VRAM_SAMPLING_RATE": 0}}]'
rule missing-separator 4 "error: tools[0].cmd: no '--' at the end" "[{\"name\": \"rocprof\", \"cmd\": \"$wrapper --sys-trace\"}]"
rule rejected-option 4 "rocprofv3: unknown option '--sys-trac': did you mean '--sys-trace'?" \
	"[{\"name\": \"rocprof\", \"cmd\": \"$wrapper --sys-trac --\"}]"
rule rejected-option 4 "No tracing options were enabled for --stats" '[{"name": "rocprof", "cmd": "rocprofv3 --stats --"}]'
rule rejected-option 4 "'app' is not an option" '[{"name": "rocprof", "cmd": "rocprofv3 --hip-trace yes app --"}]'
rule missing-file 4 "no file '$counters/nope.txt'" "[{\"name\": \"rocprof\", \"cmd\": \"rocprofv3 -i $counters/nope.txt --\"}]"
rule unchecked-file 0 "note: tools[0].cmd: 'mine.txt'" '[{"name": "rocprof", "cmd": "rocprofv3 --input=mine.txt --"}]'
rule unknown-counter 4 "no counter 'SQ_WAVE' on gfx90a: did you mean 'SQ_WAVES'?" '[{"name": "rocprof", "cmd": "rocprofv3 --pmc SQ_WAVE --"}]'
out_lacks application-runs
mkdir -p own
printf 'pmc: NEITHER\npmc: NOR\n' >own/none.txt
rule unknown-counter 4 "counters of no line" '[{"name": "rocprof", "cmd": "rocprofv3 -i ../own/none.txt --"}]'
# Values of a wrong type are no findings: the file is no context.
while IFS='|' read -r tools message; do
	context "$tools"
	rc_is 4
	err_is "madengine: context key 'tools[0]$message"
	out_is_empty
done <<'END'
["rocprof"]|' must be a mapping, not a text
[{"cmd": "rocprofv3 --"}]|': 'name' is missing
[{"name": "rocprof", "env_vars": []}]|.env_vars' must be a mapping, not a list
[{"name": "rocprof", "env_vars": {"A": [1]}}]|.env_vars.A' must be a text or a number, not a list
END
# a command that has nothing to do with rocprofv3
context '[{"name": "rocprof", "cmd": "nice -n 5"}]'
rc_is 0
out_is "context.json: nothing to report"
printf '{"tols": [], "_tols": [], "gpu_vendor": "AMD"}' >context.json
lint context.json
rc_is 0
out_is "warning: tols: no key 'tols', it has no effect: did you mean 'tools'? [unknown-key]"

lint -c '{"slurm": {"partion": "x", "nodes": 2}, "distributed": {"launcher": "torchrn", "port": 1, "nnode": 2}}'
rc_is 0
out_is "warning: slurm.partion: no key 'partion', it has no effect: did you mean 'partition'? [unknown-key]
warning: distributed.nnode: no key 'nnode', it has no effect: did you mean 'nnodes'? [unknown-key]
warning: distributed.launcher: no launcher 'torchrn', the model starts its own ranks: did you mean 'torchrun'? [unknown-launcher]
note: slurm: with this key a batch job is submitted; counters were checked for the GPUs of this machine [batch-job]"

# JSON, text instead of a file, the list of tools, wrong usage.
lint --json -c '{"tools": [{"name": "rocprof", "cmd": "rocprofv3 --pmc SQ_WAVES GRBM_COUNT --"}, {"name": "no"}]}'
rc_is 4
"$PYTHON" - "$out" <<'END' || fail "JSON"
import json, sys
report = json.load(open(sys.argv[1]))
assert report["file"] is None and report["n_errors"] == 1, report
assert [f["rule"] for f in report["findings"]] == ["application-runs", "unknown-tool"], report
assert report["findings"][0]["level"] == "note" and report["findings"][0]["where"] == "tools[0].cmd", report
END
lint --tools
rc_is 0
is "$(wc -l <"$out")" "$("$PYTHON" -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["tools"]))' \
	"$WS_SOURCE/data/madengine/scripts/common/tools.json")" "tools that are listed"
# rocprofv3 accepts the commands of all of them
lint -c "{\"tools\": [$(awk '{ printf "%s{\"name\": \"%s\"}", (NR > 1 ? "," : ""), $1 }' "$out")]}"
rc_is 0
out_has "14 profilers around one another"
lint
rc_is 4
lint no-such-file.json
rc_is 4
err_has "no-such-file.json"
echo '{' >context.json
lint context.json
rc_is 4

# A run: the model is not started, and has a row.
run madengine run --tags dummy -c '{"tools": [{"name": "rocprof", "cmd": "rocprofv3 --sys-trac --"}]}'
rc_is 3
err_has "dummy: FAILURE: tools[0].cmd: rocprofv3: unknown option '--sys-trac': did you mean '--sys-trace'? [rejected-option]"
grep -q "^dummy,.*FAILURE" perf.csv || fail "no row of a run that failed"
[ ! -e scripts ] || fail "scripts/common is left"
