#!/bin/sh
# The profile page in a real browser: its numbers are those of the other formats, and it can be used.
. "$WS_SOURCE/tests/cmd/lib.sh"

make_load() { "$PYTHON" "$WS_SOURCE/tests/cmd/compute/make_workload.py" "$@"; }
cd "$work"
evil=$(printf '<img src=x onerror=alert(1)>"`${1}&amp;\303\274\342\202\254\001\033[2J')
make_load before --soft --rename "saxpy<float>=$evil$(printf 'k%.0s' $(seq 4096))"
make_load after --rename "saxpy<float>=$evil$(printf 'k%.0s' $(seq 4096))" --slower gemm=1.3 --more TCC_EA_RDREQ_sum=1.5
cat >before/ps_file_pc_sampling_stochastic.csv <<'CSV'
"Sample_Timestamp","Exec_Mask","Dispatch_Id","Instruction","Instruction_Comment","Correlation_Id"
1,1,1,"v_add_u32 v0, v1","/src/<b>.cpp:12",1
2,1,1,"s_load","/src/copy.cpp:10",1
3,1,1,"v_add_u32 v0, v1","/src/<b>.cpp:12",1
CSV
cat >before/ps_file_results.json <<'JSON'
{"rocprofiler-sdk-tool": [{
 "kernel_symbols": [{"code_object_id": 1, "formatted_kernel_name": "gemm(float const*, float const*, float*)", "kernel_code_entry_byte_offset": 256}],
 "strings": {"pc_sample_instructions": ["s_load", "v_add"], "pc_sample_comments": ["/x/gemm.cpp:1", "/x/gemm.cpp:2"]},
 "buffer_records": {"pc_sample_stochastic": [
  {"record": {"pc": {"code_object_id": 1, "code_object_offset": 264}, "wave_issued": false,
    "snapshot": {"stall_reason": "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_WAITCNT"}}, "inst_index": 1},
  {"record": {"pc": {"code_object_id": 1, "code_object_offset": 260}, "wave_issued": true, "snapshot": {}}, "inst_index": 0},
  {"record": {"pc": {"code_object_id": 1, "code_object_offset": 264}, "wave_issued": true, "snapshot": {}}, "inst_index": 1}]}}]}
JSON
run rocprof-compute analyze -p before --output-format html --output-name one
rc_is 0
out_has "Report written to one.html"
run rocprof-compute analyze -p before -p after --output-format html --output-name two
rc_is 0
for file in one two; do
	grep -q "default-src 'none'" $file.html || fail "$file.html has no policy that forbids requests"
	grep -Eq 'https?://' $file.html && ! grep -Eo 'https?://[^"'"'"' ]*' $file.html | grep -vq '^http://www.w3.org/' ||
		fail "$file.html names an address of the network"
done
command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || skip "chromium is not installed"
run rocprof-compute analyze -p before --output-format json --output-name all
rc_is 0
run rocprof-compute analyze -p before -k 0 --output-format json --output-name gemm
rc_is 0
limit_s=120 run "$PYTHON" -B "$WS_SOURCE/tests/pages/profile_page.py" one.html two.html all.json gemm.json
cat "$out"
rc_is 0
