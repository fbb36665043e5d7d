#!/bin/sh
# Counters from files, repeated --pmc, and the folders their output goes to.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
counted() { "$PYTHON" "$WS_SOURCE/tests/cmd/rocprofv3/counted.py" "$@" || fail "counted.py $*"; }
names() { counted values "$1" | awk '{ print $3 }' | sort -u | tr '\n' ' '; }

# Lines of a .txt: a folder for each, and one run for all.
printf '# two passes\npmc: SQ_WAVES GRBM_COUNT\n# pmc: none\npmc: SQ_INSTS_VALU # more\n' >two.txt
run rocprofv3 -i two.txt -f csv -d txt -o r -- sh -c "echo ran >>runs; $vcopy -n 65536 -b 256"
rc_is 0
is "$(names txt/pmc_1/r)" "GRBM_COUNT SQ_WAVES " "pass 1"
is "$(names txt/pmc_2/r)" "SQ_INSTS_VALU " "pass 2"
is "$(wc -l <runs)" 1 "runs"
# The wide layout of rocprof v1, from both.
wide="$WS_SOURCE/cmd/rocprofv3/convert-counters-collection-format.py"
run "$PYTHON" "$wide" -i txt -o wide/w.csv
rc_is 0
is "$(head -1 wide/w.csv)" "Dispatch_Id,Agent_Id,Grid_Size,Kernel_Name,LDS_Block_Size,Queue_Id,SGPR_Count,Scratch_Size,VGPR_Count,Workgroup_Size,GRBM_COUNT,SQ_INSTS_VALU,SQ_WAVES" header
is "$(sed 1d wide/w.csv | sed 's/"[^"]*"/name/' | cut -d, -f1-4,10,12,13)" "1,1,65536,name,256,10240.0,1024.0" row
run "$PYTHON" "$wide" -i txt/pmc_1/r_counter_collection.csv --retain-agent-prefix -o w.csv
is "$(sed 1d w.csv | cut -d, -f2)" "Agent 1" agent
run "$PYTHON" "$wide" -i txt/pmc_1/r_agent_info.csv -o w.csv
rc_is 1
err_has "it is not a counter_collection.csv"

echo 'pmc: SQ_WAVES' >one.txt
run rocprofv3 -i one.txt -f csv -d one -o r -- "$vcopy" -n 65536 -b 256
is "$(names one/pmc_1/r)" "SQ_WAVES " "one line has a folder, too"

run rocprofv3 --pmc SQ_WAVES --pmc SQ_INSTS_VALU,GRBM_COUNT --kernel-trace -f csv -d cli -o r -- \
	"$vcopy" -n 65536 -b 256
rc_is 0
is "$(names cli/pass_1/r)" "SQ_WAVES " "first --pmc"
is "$(names cli/pass_2/r)" "GRBM_COUNT SQ_INSTS_VALU " "second --pmc"
[ -s cli/pass_2/r_kernel_trace.csv ] || fail "the second has no trace"
run rocprofv3 --pmc SQ_WAVES GRBM_COUNT -f csv -d flat -o r -- "$vcopy" -n 65536 -b 256
is "$(names flat/r)" "GRBM_COUNT SQ_WAVES " "one --pmc has no folder"

cat >jobs.json <<END
{"jobs": [{"pmc": ["SQ_WAVES"], "output_format": ["csv"], "output_file": "a"},
          {"pmc": ["GRBM_COUNT", "SQ_INSTS_VALU"], "kernel_include_regex": "nothing",
           "output_format": ["csv"], "output_file": "b"},
          {"pmc": ["SQ_INSTS_VALU"], "kernel_include_regex": "vec", "output_format": ["csv"],
           "output_file": "c"}]}
END
run rocprofv3 -i jobs.json -d json -- "$vcopy" -n 65536 -b 256
rc_is 0
is "$(names json/pass_1/a)" "SQ_WAVES " "job 1"
[ ! -e json/pass_2/b_counter_collection.csv ] || fail "job 2 counted a kernel that does not match"
is "$(names json/pass_3/c)" "SQ_INSTS_VALU " "job 3"
printf 'jobs:\n  - pmc: [SQ_WAVES]\n    output_format: [csv]\n    output_file: y\n' >one.yaml
run rocprofv3 -i one.yaml -d yaml -- "$vcopy" -n 65536 -b 256
is "$(names yaml/pass_1/y)" "SQ_WAVES " "one job with counters has a folder"

# A file beside what is typed.
run rocprofv3 -i one.txt --pmc GRBM_COUNT -f csv -d both -o r -- "$vcopy" -n 65536 -b 256
rc_is 0
is "$(find both -name '*_counter_collection.csv' | wc -l)" 2 "a file and --pmc"

# Killed while counting with several runs: what is there can be recovered.
run rocprofv3 --keep-captures --replay application --pmc SQ_WAVES SQ_INSTS_VALU TCC_HIT TCC_MISS \
	TCC_READ TCC_WRITE TCC_EA_RDREQ -f csv -d kept -o r -- "$vcopy" -n 65536 -b 256
rc_is 0
dir=$(sed -n 's/.*the captures are in //p' "$err")
run rocprofv3 --recover "$dir" -d again
rc_is 0
is "$(counted same kept/r again/r)" 7 "recovered values"
