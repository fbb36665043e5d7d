#!/bin/sh
# rocprofv3-avail list: names in columns, GPUs, samplers, to the character.
. "$WS_SOURCE/tests/cmd/lib.sh"
mkdir "$work/tmp"
TMPDIR=$work/tmp # seen to be empty in the end
export TMPDIR
need_softgpu

run rocprofv3-avail list
rc_is 0
err_is_empty
out_has "TCC_HIT_sum"
out_has "L2CacheHit"
out_has "MeanOccupancyPerCU"
out_has "simd_count"
# What the software GPU has no value for cannot be collected, so it is not offered.
out_lacks "TD_SPI_STALL"
out_lacks "TCA_BUSY"
cp "$out" "$work/list"
cat >"$work/my.yaml" <<'END'
rocprofiler-sdk:
  counters-schema-version: 1
  counters:
    - name: MY_WAVES
      definitions:
        - architectures: [gfx90a]
          expression: 2*reduce(SQ_WAVES,sum)
END
for words in "-E $work/my.yaml list" "list -E $work/my.yaml" "-d 0 -E $work/my.yaml"; do
	# shellcheck disable=SC2086
	run rocprofv3-avail $words
	rc_is 0
	out_has MY_WAVES
done
run rocprofv3-avail
rc_is 0
same_files "$out" "$work/list" "without a command it does not list the counters"
# The same names, set by AMD's own rules of formatting.
"$PYTHON" - "$work/list" <<'END' || fail "the layout is not AMD's"
import sys
text = open(sys.argv[1]).read()
head, _, body = text.partition("\n\n")
names = body.split()
width = max(map(len, names))
columns = int(120 / (width + 1))
want = "{:30}:\t{}\n{:30}:\t{}\n".format("GPU", 0, "Name", "gfx90a") + "{:30}:\n".format("PMC") + "\n"
rows = ["{name:{width}}".format(name=n, width=width) for n in names]
for i in range(0, len(rows), columns):
    want += "{:30}".format(" ".join(rows[i:i + columns])) + "\n"
want += "\n\n"
assert names == sorted(names) and len(names) == len(set(names)) and len(names) > 400, len(names)
assert text == want
END

run rocprofv3-avail list --pmc
rc_is 0
same_files "$out" "$work/list" "'list --pmc' is not 'list'"
run rocprofv3-avail list --pmc yes
rc_is 0
same_files "$out" "$work/list" "'list --pmc yes' is not 'list'"
run rocprofv3-avail list --pmc=no
rc_is 0
out_is_empty

run rocprofv3-avail list --agent
rc_is 0
"$PYTHON" - "$out" <<'END' || fail "the agents are not AMD's"
import re
import sys
text = open(sys.argv[1]).read()
keys = """cpu_cores_count simd_count max_waves_per_simd runtime_visibility wave_front_size num_xcc cu_count
array_count num_shader_banks simd_arrays_per_engine cu_per_simd_array simd_per_cu gfx_target_version
max_waves_per_cu gpu_id workgroup_max_dim grid_max_dim name vendor_name product_name model_name node_id
logical_node_id logical_node_type_id""".split()
assert text.startswith("GPU:0\n\n") and text.endswith("\n\n\n")
rows = text[7:-3].split("\n")
assert [r[:30].rstrip() for r in rows] == keys, rows
assert all(r[30:32] == ":\t" for r in rows)
value = {r[:30].rstrip(): r[32:] for r in rows}
assert value["simd_count"] == "416" and value["cu_count"] == "104" and value["name"] == "gfx90a"
assert value["workgroup_max_dim"] == "{'x': 1024, 'y': 1024, 'z': 1024}"
assert re.fullmatch(r"\{'hsa': 1, 'hip': 1, 'rccl': \d, 'rocdecode': \d\}", value["runtime_visibility"])
END

run rocprofv3-avail list --pc-sampling
rc_is 0
printf 'Agents supporting PC Sampling\n\nGPU     :\t0\nName    :\tgfx90a\n\n\n' | cmp -s - "$out" ||
	fail "'list --pc-sampling' is not AMD's"

# Several GPUs, in their order; -d before or behind the sub-command picks one.
export WAVESCOPE_GPU=mi100,mi250x
run rocprofv3-avail list
rc_is 0
is "$(grep -c '^GPU ' "$out")" 3 GPUs
is "$(grep '^Name ' "$out" | cut -f2 | tr '\n' ' ')" "gfx908 gfx90a gfx90a " names
for words in "-d 0 list" "list -d 0" "--device=0 list --pmc"; do
	# shellcheck disable=SC2086
	run rocprofv3-avail $words
	rc_is 0
	is "$(grep '^Name ' "$out" | cut -f2)" gfx908 name
done
out_lacks "SQ_INSTS_VALU_ADD_F16" # not on gfx908
[ -z "$(ls "$TMPDIR")" ] ||
	fail "a folder is left behind"
