#!/bin/sh
# rocprofv3-avail info: what counters and samplers are; counters of a person's own.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu

run rocprofv3-avail info --pmc SQ_WAVES L2CacheHit simd_count TCP_GATE_EN1
rc_is 0
err_is_empty
sed 's/^\(Description *:\t\).*/\1.../' "$out" >"$work/info"
cat >"$work/want" <<'END'
GPU:0
Name:gfx90a
Counter_Name        :	SQ_WAVES
Description         :	...
Block               :	SQ
Dimensions          :	DIMENSION_INSTANCE[0:0] DIMENSION_SHADER_ENGINE[0:7]


Counter_Name        :	L2CacheHit
Description         :	...
Expression          :	100*reduce(TCC_HIT,sum)/(reduce(TCC_HIT,sum)+reduce(TCC_MISS,sum))
Dimensions          :	DIMENSION_INSTANCE[0:0]


Counter_Name        :	simd_count
Description         :	...


Counter_Name        :	TCP_GATE_EN1
Description         :	...
Block               :	TCP
Dimensions          :	DIMENSION_INSTANCE[0:12] DIMENSION_SHADER_ENGINE[0:7]


END
same_files "$work/info" "$work/want" "'info --pmc' is not as specified"

# All of them: each with a description, and with what its kind has.
run rocprofv3-avail info --pmc
rc_is 0
"$PYTHON" - "$out" <<'END' || fail "a counter is not complete"
import re
import sys
head, *counters = open(sys.argv[1]).read().split("\n\n\n")
first = head.split("\n")
assert first[:2] == ["GPU:0", "Name:gfx90a"]
counters = ["\n".join(first[2:])] + counters
assert counters.pop() == ""
kinds = {"Block": 0, "Expression": 0, "": 0}
for c in counters:
    rows = [(r[:20].rstrip(), r[22:]) for r in c.split("\n")]
    keys = [k for k, _ in rows]
    assert all(v for _, v in rows), c
    assert keys in (["Counter_Name", "Description"],
                    ["Counter_Name", "Description", "Block", "Dimensions"],
                    ["Counter_Name", "Description", "Expression", "Dimensions"]), c
    kinds[keys[2] if len(keys) > 2 else ""] += 1
    if len(keys) > 2:
        assert re.fullmatch(r"DIMENSION_INSTANCE\[0:\d+\]( DIMENSION_SHADER_ENGINE\[0:7\])?", rows[3][1]), c
assert min(kinds.values()) >= 25 and kinds["Block"] > 200 and kinds["Expression"] > 150, kinds
END

# Without options: the agent and the names.
run rocprofv3-avail info
rc_is 0
out_has "gfx_target_version            :	90010"
out_has "TCC_HIT_sum"
is "$(head -1 "$out")" "GPU:0" "first line"
is "$(grep -c '^PMC  *:$' "$out")" 1 "lists of names"

run rocprofv3-avail info --pc-sampling
rc_is 0
out_has "configs :"
out_has "   Method              :	host_trap"
out_has "   Unit                :	time"
out_has "   Max_Interval        :	18446744073709551615"
out_has "   Flags               :	none"
out_lacks stochastic

# What the software GPU makes of it, when asked, or when that is why it cannot be had.
run rocprofv3-avail info --fidelity --pmc SQ_WAVES
out_has "Software_GPU        :	exact"
run rocprofv3-avail info --pmc TD_SPI_STALL
out_has "Software_GPU        :	unsupported"

cat >"$work/mine.yaml" <<'END'
rocprofiler-sdk:
  counters-schema-version: 1
  counters:
    - name: MY_HIT_RATE
      description: "hits per request"
      properties: []
      definitions:
        - architectures: [gfx90a]
          expression: reduce(TCC_HIT,sum)/reduce(TCC_REQ,sum)
END
run rocprofv3-avail info -E "$work/mine.yaml" --pmc MY_HIT_RATE
rc_is 0
out_has "Description         :	hits per request"
out_has "Expression          :	reduce(TCC_HIT,sum)/reduce(TCC_REQ,sum)"

# rocprofv3's own listing is this one.
run rocprofv3 --list-avail
rc_is 0
out_has "configs :"
out_has "Counter_Name        :	SQ_WAVES"
