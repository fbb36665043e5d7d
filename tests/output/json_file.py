"""JSON read back."""
import json
import re
import struct

from harness import AGENTS, API, of, same, shown_name

# Fields of AMD's structs (rocprofiler-sdk 1.0.0), in order: what `size` must be. HIP's longest list of
# arguments is that of hipExtModuleLaunchKernel, its largest result a hipChannelFormatDesc.
CALL, INFO = "Q II QQQ QQ Q", "Q QQQQ II III III"
SIZES = {
    "hsa_api": CALL, "marker_api": CALL, "rccl_api": CALL, "rocjpeg_api": CALL,
    "hip_api": CALL + "P IIIIII QPPPPP I 0P" + "5i 0P",
    "rocdecode_api": CALL + "P i PPP" + "Q",
    "kernel_dispatch": "Q II QQ Q QQ 128s",
    "memory_copy": "Q II QQ Q QQ QQ Q QQ",
    "memory_allocation": "Q II QQQ Q QQ Q Q Q",
    "scratch_memory": "Q II QQQ QQ Q QQ I Q",
    "counter_collection": "Q QQ QQ 128s",
    "code_objects": "Q Q Q Q P QQ q I QQ",
    "kernel_symbols": "QQQ P Q IIIIIII q Q",
    "host_functions": "QQQQ QQ P I III III III III Q",
}


def size_of(fields):
    return struct.calcsize("@" + fields + " 0Q")


def check_sizes(processes):
    for p in processes:
        for key, records in p["buffer_records"].items():
            if key in SIZES:
                same({r["size"] for r in records} - {size_of(SIZES[key])}, set(), "sizes of " + key)
        for r in p["buffer_records"]["kernel_dispatch"]:
            same(r["dispatch_info"]["size"], size_of(INFO), "size of dispatch_info")
        same({r["dispatch_data"]["size"] for r in p["callback_records"]["counter_collection"]} -
             {size_of(SIZES["counter_collection"])}, set(), "sizes of dispatch_data")
        for key in "code_objects", "kernel_symbols", "host_functions":
            same([o["size"] for o in p[key]], [0] + [size_of(SIZES[key])] * (len(p[key]) - 1),
                 "sizes of " + key)
        same({a["size"] for a in p["agents"]}, {312}, "sizes of agents")


def check_json(where, events, rename=False):
    with open(f"{where}/host/4711_results.json", encoding="utf-8") as f:
        text = f.read()
    same(text.count("\n"), 1, "lines of the JSON file")
    processes = json.loads(text)["rocprofiler-sdk-tool"]
    first = processes[0]
    same(list(first), ["metadata", "agents", "counters", "strings", "code_objects",
                       "kernel_symbols", "host_functions", "summary", "callback_records",
                       "buffer_records"], "keys")
    same(list(first["strings"]),
         ["callback_records", "buffer_records", "marker_api", "correlation_id", "counters",
          "pc_sample_instructions", "pc_sample_comments", "att_filenames",
          "code_object_snapshot_filenames"], "strings")
    check_sizes(processes)
    handles = {a["id"]["handle"]: a["node_id"] for a in first["agents"]}
    same(sorted(handles.values()), sorted(AGENTS), "agents")
    capability = first["agents"][0]["capability"]
    same((capability["WatchPointsTotalBits"], capability["DoorbellType"],
          capability["ASICRevision"]), (0x9, 2, 0x7), "capability bits")
    for domain in API + ["KERNEL_DISPATCH", "MEMORY_COPY", "MEMORY_ALLOCATION", "SCRATCH_MEMORY"]:
        got, expected = [], []
        for p in processes:
            kinds = p["strings"]["buffer_records"]
            messages = {m["key"]: m["value"] for m in p["strings"]["marker_api"]}
            external = {m["key"]: m["value"] for m in p["strings"]["correlation_id"]["external"]}
            for r in p["buffer_records"][domain.lower()]:
                name = kinds[r["kind"]]["operations"][r["operation"]]
                internal = r["correlation_id"]["internal"]
                if domain == "MARKER_API":
                    name = messages.get(internal, name)
                if domain == "KERNEL_DISPATCH":
                    info = r["dispatch_info"]
                    name = p["kernel_symbols"][info["kernel_id"]]["formatted_kernel_name"]
                    same(p["kernel_symbols"][info["kernel_id"]]["kernel_id"], info["kernel_id"],
                         "kernel index")
                    if rename:
                        name = external.get(r["correlation_id"]["external"], name)
                row = [p["metadata"]["pid"], r["thread_id"], name, r["kind"], r["operation"],
                       internal, r["correlation_id"]["external"], r["start_timestamp"],
                       r["end_timestamp"]]
                if domain == "KERNEL_DISPATCH":
                    row += [info["dispatch_id"], info["queue_id"]["handle"],
                            handles[info["agent_id"]["handle"]], *info["grid_size"].values(),
                            *info["workgroup_size"].values(), info["group_segment_size"],
                            info["private_segment_size"], r["stream_id"]["handle"]]
                elif domain == "MEMORY_COPY":
                    row += [r["bytes"], handles[r["dst_agent_id"]["handle"]],
                            handles[r["src_agent_id"]["handle"]]]
                elif domain == "MEMORY_ALLOCATION":
                    row += [r["allocation_size"], int(r["address"], 16)]
                elif domain == "SCRATCH_MEMORY":
                    row += [r["allocation_size"], r["flags"]]
                elif domain in ("HIP_API", "ROCDECODE_API"):
                    row += [tuple((a["type"], a["name"], a["value"]) for a in r["args"]),
                            r["retval"]["uint64_t_retval"]]
                if domain in API:
                    row.append(r["correlation_id"]["ancestor"])
                got.append(tuple(row))
        for e in of(events, domain):
            # what is not UTF-8 cannot be in JSON: each bad byte is one U+FFFD
            name = re.sub("[\udc80-\udcff]", "\ufffd", shown_name(e, rename))
            row = [e["pid"], e["tid"], name, e["kind"], e["op"], e["corr"], e["external"],
                   e["start"], e["end"]]
            if domain == "KERNEL_DISPATCH":
                row += [e["dispatch"], e["queue"], e["agent"], *e["grid"], *e["workgroup"],
                        e["lds"], e["scratch"], e["stream"]]
            elif domain == "MEMORY_COPY":
                row += [e["bytes"], e["dst"], e["src"]]
            elif domain == "MEMORY_ALLOCATION":
                row += [e["bytes"], e["address"]]
            elif domain == "SCRATCH_MEMORY":
                row += [e["bytes"], e["flags"]]
            elif domain in ("HIP_API", "ROCDECODE_API"):
                row += [tuple((t, n, bytes.fromhex(v).decode()) for t, n, v in e["args"]),
                        e["retval"]]
            if domain in API:
                row.append(e["ancestor"])
            expected.append(tuple(row))
        same(got, expected, "json " + domain)
    got = [(r["dispatch_data"]["dispatch_info"]["dispatch_id"],
            [(v["counter_id"]["handle"], v["value"]) for v in r["records"]])
           for p in processes for r in p["callback_records"]["counter_collection"]]
    same(got, [(e["dispatch"], [tuple(v) for v in e["values"]])
               for e in of(events, "COUNTER_COLLECTION")], "json counters")
    instructions = first["strings"]["pc_sample_instructions"]
    for r in first["buffer_records"]["pc_sample_stochastic"]:
        offset, index = r["record"]["pc"]["code_object_offset"], r["inst_index"]
        same("" if index < 0 else instructions[index],
             "" if offset == 0x1004 or not instructions else f'v_add_f32 "{offset:x}"',
             "instruction")
    assert "workgroup_id " in first["buffer_records"]["pc_sample_host_trap"][0]["record"]["hw_id"]
    for entry in first["summary"]:
        if entry["domain"] == "HIP_API":
            same(entry["stats"]["sum"],
                 sum(e["end"] - e["start"] for e in of(events, "HIP_API")), "json summary")
            same(sum(o["value"]["count"] for o in entry["stats"]["operations"]),
                 entry["stats"]["count"], "json summary operations")
    return processes
