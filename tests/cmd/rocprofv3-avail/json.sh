#!/bin/sh
# rocprofv3-avail info --json: what the text has, for programs.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu
export WAVESCOPE_GPU=mi100,mi210

run rocprofv3-avail info --pmc
rc_is 0
cp "$out" "$work/text"
run rocprofv3-avail info --pc-sampling
cp "$out" "$work/samplers"
run rocprofv3-avail info --json
rc_is 0
err_is_empty
"${PYTHON:-python3}" - "$out" "$work/text" "$work/samplers" <<'END' || fail "JSON and text differ"
import json
import sys
report = json.load(open(sys.argv[1]))
text = samplers = ""
handles = []
for gpu in report["gpus"]:
    text += "GPU:%d\nName:%s\n" % (gpu["device"], gpu["name"])
    for c in gpu["counters"]:
        rows = [("Counter_Name", c["name"]), ("Description", c["description"])]
        rows += [(k.capitalize(), c[k]) for k in ("expression", "block") if k in c]
        assert {"hardware": "block", "derived": "expression", "constant": "name"}[c["kind"]] in c
        if c["kind"] != "constant":
            rows.append(("Dimensions", " ".join(
                "%s[0:%d]" % (d["name"], d["instances"] - 1) for d in c["dimensions"])))
            assert c["software_gpu"] in ("exact", "modelled"), c
        text += "".join("{:20}:\t{}\n".format(*row) for row in rows) + "\n\n"
        handles.append(c["handle"])
    samplers += "{:8}:\t{}\n{:8}:\t{}\n{:8}:\n".format(
        "GPU", gpu["device"], "Name", gpu["name"], "configs")
    for s in gpu["pc_sampling"]:
        samplers += "".join("   {:20}:\t{}\n".format("_".join(
            w.capitalize() for w in k.split("_")), v) for k, v in s.items()) + "\n\n"
    samplers += "\n\n"
    agent, = [a for a in report["agents"] if a["id"]["handle"] == gpu["agent"]]
    assert (agent["type"], agent["name"]) == (2, gpu["name"])
assert [g["name"] for g in report["gpus"]] == ["gfx908", "gfx90a"]
assert {a["type"] for a in report["agents"]} == {1, 2}
assert len(handles) == len(set(handles)) > 600
assert text == open(sys.argv[2]).read()
assert samplers == open(sys.argv[3]).read()
END

# One GPU, some counters; those the software GPU has no value for when they are asked for.
run rocprofv3-avail -d 1 info --json --pmc SQ_WAVES TD_SPI_STALL
rc_is 0
"${PYTHON:-python3}" - "$out" <<'END' || fail "not what was asked for"
import json
import sys
gpu, = json.load(open(sys.argv[1]))["gpus"]
assert (gpu["device"], gpu["name"]) == (1, "gfx90a")
assert {c["name"]: c["software_gpu"] for c in gpu["counters"]} == {
    "SQ_WAVES": "exact", "TD_SPI_STALL": "unsupported"}
END
run rocprofv3-avail info --json --pmc SQ_WAVES SQ_WAVS
rc_is 1
out_is_empty
err_has "did you mean 'SQ_WAVES'?"
