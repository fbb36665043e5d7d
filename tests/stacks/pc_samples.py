"""Compares the PC samples of two JSON files of rocprofv3: pc_samples.py SERVICE ROCR METHOD.

Equal is everything but times and ids that name a run. The samples of ROCr lie within their dispatches. One sample of a
thousand may be of another instruction of the same wave: why a few are is not known (docs/pc-sampling.md).
"""
import collections
import json
import re
import sys


def read(path, method):
    tool = json.load(open(path))["rocprofiler-sdk-tool"][0]
    records = [r["record"] for r in tool["buffer_records"]["pc_sample_" + method]]
    dispatches = {d["dispatch_info"]["dispatch_id"]: d for d in tool["buffer_records"]["kernel_dispatch"]}
    texts = tool["strings"]["pc_sample_instructions"]
    names = {r["inst_index"] for r in tool["buffer_records"]["pc_sample_" + method]}
    assert all(i >= 0 and texts[i] for i in names), "an instruction is missing"
    return records, dispatches


def key(record):
    same = {k: v for k, v in record.items() if k not in ("timestamp", "corr_id")}
    same["pc"] = record["pc"]["code_object_offset"]
    return json.dumps(same, sort_keys=True)


service, _ = read(sys.argv[1], sys.argv[3])
rocr, dispatches = read(sys.argv[2], sys.argv[3])
assert len(service) > 100, "the service has %d samples" % len(service)
for record in rocr:
    dispatch = dispatches[record["dispatch_id"]]
    # ROCr converts the times of samples and dispatches one by one
    slack = 10000
    assert dispatch["start_timestamp"] - slack <= record["timestamp"] <= dispatch["end_timestamp"] + slack, (
        record, dispatch["start_timestamp"], dispatch["end_timestamp"])
a, b = (collections.Counter(map(key, s)) for s in (service, rocr))
equal = sum((a & b).values())
if a != b:
    for only, name in ((a - b, "service"), (b - a, "ROCr")):
        for text, n in only.most_common(2):
            print("only by %s, %d times: %s" % (name, n, text), file=sys.stderr)
print("%d of %d samples of %d dispatches equal" % (equal, max(len(service), len(rocr)), len(dispatches)))


def waves(counter):
    """The same without the instruction."""
    out = collections.Counter()
    for text, n in counter.items():
        out[re.sub(r'"pc": \d+', "", text)] += n
    return out


sys.exit(len(service) - equal > len(service) / 1000 or (sys.argv[3] == "host_trap" and waves(a) != waves(b)))
