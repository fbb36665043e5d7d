"""Checks stochastic PC samples of gfx9 in JSON files against what hardware can report."""
import collections
import json
import sys

TYPE = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_"
REASON = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_"
NO_INST, ALU, WIN, STALL = ("NO_INSTRUCTION_AVAILABLE", "ALU_DEPENDENCY", "ARBITER_NOT_WIN",
                            "ARBITER_WIN_EX_STALL")
ARBITRATED = {NO_INST, WIN, STALL}
PIPES = ("valu", "matrix", "lds", "lds_direct", "scalar", "vmem_tex", "flat", "exp", "misc", "brmsg")

# mnemonic's beginning: types when issued (none: never issued), pipe, reasons when not; the first that fits
RULES = (
    ("s_waitcnt", set(), None, {NO_INST, "WAITCNT"}),
    ("s_nop", set(), None, {NO_INST, "INTERNAL_INSTRUCTION"}),
    ("s_sleep", set(), None, {NO_INST, "OTHER_WAIT"}),
    ("s_branch", {"BRANCH_TAKEN"}, "misc", {NO_INST, WIN}),
    ("s_cbranch", {"BRANCH_TAKEN", "BRANCH_NOT_TAKEN"}, "misc", ARBITRATED | {ALU}),
    ("s_barrier", {"BARRIER"}, "misc", {NO_INST, WIN, "BARRIER_WAIT"}),
    ("s_setpc", {"JUMP"}, "misc", {NO_INST}),
    ("s_swappc", {"JUMP"}, "misc", {NO_INST}),
    ("s_", {"SCALAR"}, "scalar", ARBITRATED | {ALU}),
    ("v_mfma", {"MATRIX"}, "matrix", ARBITRATED),
    ("v_", {"VALU"}, "valu", ARBITRATED),
    ("flat_", {"FLAT"}, "flat", ARBITRATED | {ALU}),
    ("global_", {"FLAT"}, "flat", ARBITRATED | {ALU}),
    ("scratch_", {"FLAT"}, "flat", ARBITRATED | {ALU}),  # from gfx942 on
    ("ds_", {"LDS"}, "lds", ARBITRATED | {ALU}),
    ("buffer_", {"TEX"}, "vmem_tex", ARBITRATED | {ALU}),
)

seen = collections.Counter()
for path in sys.argv[1:]:
    tool = json.load(open(path))["rocprofiler-sdk-tool"][0]
    texts = tool["strings"]["pc_sample_instructions"]
    for entry in tool["buffer_records"]["pc_sample_stochastic"]:
        if entry["inst_index"] < 0:
            continue
        text, record = texts[entry["inst_index"]], entry["record"]
        snapshot = record["snapshot"]
        prefix, types, pipe, reasons = next(r for r in RULES if text.startswith(r[0]))
        about = (path, text, record)
        issue = {p for p in PIPES if snapshot["arb_state_issue_" + p]}
        stall = {p for p in PIPES if snapshot["arb_state_stall_" + p]}
        assert stall <= issue, about
        assert not issue & {"lds_direct", "brmsg", "exp"}, about
        assert 0 < record["wave_cnt"] <= 32, about
        if record["wave_issued"]:
            kind = record["inst_type"].removeprefix(TYPE)
            assert kind in types, about
            assert (issue, stall) == ({pipe}, set()), about
            seen[prefix, kind] += 1
        else:
            reason = snapshot["stall_reason"].removeprefix(REASON)
            assert reason in reasons, about
            assert issue == ({pipe} if reason in (WIN, STALL) else set()), about
            assert stall == ({pipe} if reason == STALL else set()), about
            seen[prefix, reason] += 1

# None of it holds for want of samples.
for what in (("s_cbranch", "BRANCH_TAKEN"), ("s_cbranch", "BRANCH_NOT_TAKEN"), ("s_waitcnt", "WAITCNT"),
             ("s_barrier", "BARRIER_WAIT"), ("v_", "VALU"), ("ds_", STALL), ("ds_", "LDS"), ("v_mfma", "MATRIX"),
             ("global_", "FLAT"), ("s_", "SCALAR")):
    assert seen[what], (what, sorted(seen.items()))
assert seen["buffer_", "TEX"] or seen["scratch_", "FLAT"], sorted(seen.items())
