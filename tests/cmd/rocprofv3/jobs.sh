#!/bin/sh
# Input files: one run per job, each with a folder of its own; what is typed holds for all.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
cat >jobs.yaml <<END
jobs:
  - kernel_trace: true
    output_format: [csv]
    output_file: first
    unknown_key: 3
  - hsa_trace: yes
    hsa-core-trace: false   # spelled with dashes: ignored
    hsa_amd_trace: off
    output_format: [csv, json]
    output_file: second
END
run rocprofv3 -i jobs.yaml -d out -- "$vcopy" -n 65536 -b 256
rc_is 0
is "$(find out -type f | sort | tr '\n' ' ')" \
	"out/pass_1/first_agent_info.csv out/pass_1/first_kernel_trace.csv out/pass_2/second_agent_info.csv out/pass_2/second_hsa_api_trace.csv out/pass_2/second_results.json " files
err_has "jobs.yaml:5: unknown option 'unknown_key' is ignored"
err_has "unknown option 'hsa-core-trace' is ignored: did you mean 'hsa_core_trace'?"
! grep -q HSA_AMD_EXT_API out/pass_2/second_hsa_api_trace.csv || fail "hsa_amd_trace: off was not heard"
grep -q HSA_CORE_API out/pass_2/second_hsa_api_trace.csv || fail "no core calls"

echo '{"jobs": [{"kernel_trace": true, "output_format": ["csv"], "output_file": "one"}]}' >one.json
run rocprofv3 -i one.json -d one -- "$vcopy" -n 65536 -b 256
rc_is 0
[ -s one/one_kernel_trace.csv ] || fail "one job without counters goes to the folder itself"

run rocprofv3 -i one.json --kernel-trace=no -- true
rc_is 1
err_has "conflicting value for kernel-trace : False vs True"
# Two lines of counters, and a comment: two runs.
printf 'pmc: SQ_WAVES GRBM_COUNT\n# pmc: none\npmc: SQ_INSTS_VALU # more\n' >two.txt
run rocprofv3 -i two.txt --echo -- ./app
rc_is 0
is "$(grep -c '^command:' "$out")" 2 runs
# A program that fails ends them all.
run rocprofv3 -i jobs.yaml -d failed -- sh -c 'exit 3'
rc_is 1
err_has "Fatal error: Command '['sh', '-c', 'exit 3']' returned non-zero exit status 3."
for bad in 'a: 1' 'jobs: 3' 'jobs: [' 'jobs: [{kernel_trace: [1]}]'; do
	echo "$bad" >bad.yaml
	run rocprofv3 -i bad.yaml -- true
	[ "$rc" -ne 0 ] || fail "'$bad' was taken"
	err_has bad.yaml
done
