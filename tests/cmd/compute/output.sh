#!/bin/sh
# The report as files, comparisons, nodes, operators and samples.
. "$WS_SOURCE/tests/cmd/lib.sh"

cp -r "$WS_SOURCE/tests/cmd/compute/workloads" "$work/w"
cd "$work"

# Text: -o and --output-format txt are what stdout shows.
run rocprof-compute analyze -p w/gfx942
cp "$out" screen
run rocprof-compute analyze -p w/gfx942 -o file
rc_is 0
out_is_empty
same_files screen file "-o differs"
run rocprof-compute analyze -p w/gfx942 --output-format txt --output-name text
same_files screen text.txt "txt differs"
run rocprof-compute analyze -p w/gfx942 --output-format txt --output-name text
rc_is 1
err_has "exists already"
run rocprof-compute analyze -p w/gfx942 --output-format txt
ls rocprof_compute_*.txt >/dev/null || fail "no name of its own"
run rocprof-compute analyze -p w/gfx942 -o nowhere/file
rc_is 1
err_has "cannot write 'nowhere/file'"

# CSV per table, also of tables that are not printed.
run rocprof-compute analyze -p w/gfx942 --save-dfs dfs
rc_is 0
run rocprof-compute analyze -p w/gfx942 --output-format csv --output-name csv
for table in 0.1_Top_Kernels 1.1_System_Info 2.1_System_Speed-of-Light '13.3_L1I_<->_L2_interface' \
	18.2_L2_Cache_Hit_Rate_\(pct\) 18.9_'L2-Fabric_Read_Stall_(Cycles_per_normUnit)'; do
	[ "$(wc -l <"dfs/$table.csv")" -ge 2 ] || fail "dfs/$table.csv has no rows"
	same_files "dfs/$table.csv" "csv/$table.csv" "$table.csv differs"
done
head -n 1 dfs/2.1_System_Speed-of-Light.csv | grep -q '^Metric,Avg,Unit,Peak,Pct of Peak$' || fail "columns"

# SQLite answers questions.
run rocprof-compute analyze -p w/gfx942 --output-format db --output-name data
rc_is 0
"$PYTHON" - <<'PY' || fail "the database lacks values"
import json, sqlite3, subprocess
subprocess.run("rocprof-compute analyze -p w/gfx942 --output-format json --output-name j", shell=True, check=True)
db = sqlite3.connect("data.db")
rows = dict(((i, c), n) for i, c, n in db.execute("SELECT id, column, number FROM metric"))
n = 0
for table in json.load(open("j.json"))["tables"]:
    names = table["columns"]
    if names[0] != "Metric_ID":
        continue
    for row in table["rows"]:
        for name, value in zip(names[2:], row[2:]):
            if isinstance(value, (int, float)):
                n += 1
                assert abs(rows[row[0], name] - value) <= 1e-12 * abs(value) + 1e-300, (row[0], name)
assert n > 900, n
PY

# Several workloads: the baseline, then the others with the change.
cp -r w/gfx942 w/after
sed -i '2,$s/,Start/,Start/' w/after/pmc_perf.csv
"$PYTHON" - <<'PY'
import csv
rows = list(csv.reader(open("w/after/pmc_perf.csv")))
at = rows[0].index("SQ_INSTS_SALU")
for row in rows[1:]:
    row[at] = str(int(row[at]) * 2)
csv.writer(open("w/after/pmc_perf.csv", "w"), lineterminator="\n").writerows(rows)
PY
run rocprof-compute analyze -p w/gfx942 -p w/after -b 10.1 --report-diff 5
rc_is 0
err_has "10.1.4 Avg of w/after differs by 100% from the baseline"
out_has "(100.0%)"
out_has "Abs Diff"
out_has "(0.0%)"
run rocprof-compute analyze -p w/gfx942 -p w/after -b 1
rc_is 0
[ "$(grep -c 'Info  *│ Info' "$out")" -eq 1 ] || fail "no two Info columns"
# A value only one of them has is no change.
run rocprof-compute analyze -p w/gfx90a -p w/gfx908 -b 2.1.0 2.1.7
out_has "│ N/A"
run rocprof-compute analyze -p w/gfx90a -p w/gfx908 -b 2.1.0 2.1.7 --like-3.3
out_has "(-100.0%)"

# Nodes of a job, one after the other; or merged.
mkdir job && cp -r w/gfx942 job/node1 && cp -r w/gfx942 job/node2
run rocprof-compute analyze -p job --list-nodes
out_has "node1  node2"
run rocprof-compute analyze -p job --nodes -b 7
rc_is 0
out_has "│ node2"
run rocprof-compute analyze -p job --nodes node2 -b 7
rc_is 0
out_lacks "│ node1"
run rocprof-compute analyze -p job --spatial-multiplexing --list-stats
rc_is 0
[ "$(grep -c '^│  [0-9] │  ' "$out")" -eq 2 ] || fail "kernels were not merged"
run rocprof-compute analyze -p w --nodes
rc_is 1
err_has "nodes of one architecture"

# PyTorch operators.
cp -r w/gfx942 torch && mkdir torch/torch_trace
printf 'torch_trace: true\n' >torch/profiling_config.yaml
cat >torch/torch_trace/consolidated.csv <<'CSV'
Operator_Name,Context_Id,Kernel_Name,Counter_Name,Counter_Value,Start_Timestamp_function,End_Timestamp_function,Start_Timestamp_kernel,End_Timestamp_kernel
nn.Net.forward/torch.conv2d,1@net.py:12,"gemm<float, 16>(float const*, float*, int)",SQ_WAVES,1,0,9,1000,3000
nn.Net.forward/torch.conv2d,1@net.py:12,"gemm<float, 16>(float const*, float*, int)",SQ_BUSY,1,0,9,1000,3000
nn.Net.forward/torch.conv2d,1@net.py:12,"gemm<float, 16>(float const*, float*, int)",SQ_WAVES,1,0,9,5000,6000
nn.Net.forward/torch.relu,1@net.py:13,"copy(double*, double*)",SQ_WAVES,1,0,9,7000,8000
CSV
run rocprof-compute --experimental analyze -p torch --list-torch-operators
rc_is 0
out_has "PyTorch Operator Call Tree: torch"
out_has "└── net.py:12 (kernel_launches: 2, total_duration: 0.003000 ms)"
run rocprof-compute --experimental analyze -p torch --torch-operator '*conv2d' -b 7.1.0
rc_is 0
out_has "1048576.00 │ 1048576.00 │ 1048576.00"
run rocprof-compute --experimental analyze -p torch --torch-operator '*Net*/*relu' -b 7.1.0
out_has "65536.00 │ 65536.00 │ 65536.00"
run rocprof-compute --experimental analyze -p torch --torch-operator all -b 7.1.0
out_has "│ 65536.00 │ 1048576.00"
run rocprof-compute --experimental analyze -p torch --torch-operator 'nothing' -b 7.1.0
rc_is 1
err_has "belongs to such an operator"

# PC samples.
cp -r w/gfx942 pcs
cat >pcs/ps_file_pc_sampling_stochastic.csv <<'CSV'
"Sample_Timestamp","Exec_Mask","Dispatch_Id","Instruction","Instruction_Comment","Correlation_Id"
1,1,1,"v_add_u32 v0, v1","/src/a/copy.cpp:12",1
2,1,1,"s_load","/src/a/copy.cpp:10",1
3,1,1,"v_add_u32 v0, v1","/src/a/copy.cpp:12",1
4,1,1,"s_endpgm","",1
CSV
cat >pcs/ps_file_results.json <<'JSON'
{"rocprofiler-sdk-tool": [{
 "kernel_symbols": [
  {"code_object_id": 1, "formatted_kernel_name": "copy(double*, double*)", "kernel_code_entry_byte_offset": 256},
  {"code_object_id": 1, "formatted_kernel_name": "other()", "kernel_code_entry_byte_offset": 512}],
 "strings": {"pc_sample_instructions": ["s_load", "v_add"], "pc_sample_comments": ["/x/copy.cpp:1", "/x/copy.cpp:2"]},
 "buffer_records": {"pc_sample_stochastic": [
  {"record": {"pc": {"code_object_id": 1, "code_object_offset": 264}, "wave_issued": false,
    "snapshot": {"stall_reason": "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_WAITCNT"}}, "inst_index": 1},
  {"record": {"pc": {"code_object_id": 1, "code_object_offset": 260}, "wave_issued": true, "snapshot": {}}, "inst_index": 0},
  {"record": {"pc": {"code_object_id": 1, "code_object_offset": 264}, "wave_issued": true, "snapshot": {}}, "inst_index": 1},
  {"record": {"pc": {"code_object_id": 1, "code_object_offset": 600}, "wave_issued": true, "snapshot": {}}, "inst_index": 1}]}}]}
JSON
run rocprof-compute analyze -p pcs -b 21
rc_is 0
out_has "│  1 │ .../copy.cpp:12 │ v_add_u32 v0, v1 │       2 │"
run rocprof-compute analyze -p pcs -b 21 --list-stats
id=$(sed -n 's/^│  \([0-9]\) │ copy.*/\1/p' "$out" | head -n 1)
run rocprof-compute analyze -p pcs -b 21 -k "$id"
rc_is 0
out_has "0x104"
out_has "[('WAITCNT', 1)]"
out_lacks "0x258"
# Where addresses are known, they say where the code of a kernel is.
sed -i -e 's/"formatted_kernel_name": "copy/"kernel_address": {"handle": 1600}, &/' \
	-e 's/"formatted_kernel_name": "other/"kernel_address": {"handle": 1100}, &/' \
	-e 's/"kernel_symbols"/"code_objects": [{"code_object_id": 1, "load_delta": 1000}], &/' pcs/ps_file_results.json
run rocprof-compute analyze -p pcs -b 21 -k "$id"
rc_is 0
out_has "0x258"
out_lacks "0x104"
run rocprof-compute analyze -p pcs -b 21 -k 0 1
rc_is 0
out_has "PC sampling supports single kernel only!"
