"""The database read back, by SQL."""
import json
import re
import sqlite3
import subprocess

from csv_files import KINDS
from harness import API, COUNTERS, fail, of, same, same_rows, sums


def check_rocpd(where, events, rename=False, queues=False):
    path = f"{where}/host/4711_results.db"
    shell = subprocess.run(["sqlite3", "-bail", path, "PRAGMA integrity_check; "
                            "PRAGMA foreign_key_check; SELECT value FROM rocpd_metadata "
                            "ORDER BY id;"], stdout=subprocess.PIPE, check=True)
    lines = shell.stdout.decode().split()
    same(lines[:2], ["ok", "3"], "integrity, foreign keys, version")
    db = sqlite3.connect(path)
    db.text_factory = lambda b: b.decode("utf-8", "surrogateescape")
    guid = lines[3]
    same(lines[2], "_" + guid.replace("-", "_"), "suffix")
    if not re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
                        guid):
        fail("guid " + guid)
    tables = [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type='table' AND "
                                       "name LIKE 'rocpd%'")]
    same(len(tables), 20, "tables")
    for view, in db.execute("SELECT name FROM sqlite_master WHERE type='view'").fetchall():
        db.execute(f"SELECT * FROM {view}").fetchall() # every view can be read
    rows = db.execute("SELECT category, name, pid, tid, start, end, stack_id, parent_stack_id, "
                      "corr_id, json_extract(extdata, '$.message') FROM regions_and_samples")
    got = []
    for category, name, pid, tid, start, end, stack, parent, corr, message in rows:
        if not category.startswith("MARKER"):
            same(message, None, "message of a call")
        got.append((category, message if message is not None else name, pid, tid, start, end,
                    stack, parent, corr))
    expected = []
    for domain in API:
        for e in of(events, domain):
            name = re.sub("[\udc80-\udcff]", "\ufffd", e["name"]) \
                if domain == "MARKER_API" else e["name"]
            if e["kind"] == 32 and e["start"] == e["end"] and not name:
                name = KINDS[32]
            expected.append((KINDS[e["kind"]], name, e["pid"], e["tid"], e["start"], e["end"],
                             e["corr"], e["ancestor"], e["external"]))
    same_rows(got, expected, "rocpd regions")
    same({r[0] for r in db.execute("SELECT DISTINCT name FROM regions WHERE category = "
                                   "'MARKER_CORE_RANGE_API'")},
         {"roctxThreadRangeA", "roctxProcessRangeA"}, "names of marker regions")
    rows = db.execute("SELECT pid, tid, name, region, dispatch_id, kernel_id & 0xffffffff, "
                      "queue_id & 0xffffffff, stream_id & 0xffffffff, agent_abs_index, start, "
                      "end, grid_x, grid_y, grid_z, workgroup_x, workgroup_y, workgroup_z, "
                      "lds_size, scratch_size, stack_id, corr_id FROM kernels")
    same_rows(rows.fetchall(),
              [(e["pid"], e["tid"], e["formatted"],
                e["name"] if rename and e["renamed"] else "", e["dispatch"], e["kernel"],
                e["queue"], 0 if queues else e["stream"], e["agent"], e["start"], e["end"],
                *e["grid"], *e["workgroup"], e["lds"], e["scratch"], e["corr"], e["external"])
               for e in of(events, "KERNEL_DISPATCH")], "rocpd kernels")
    rows = db.execute("SELECT pid, tid, name, start, end, size, dst_agent_abs_index, "
                      "src_agent_abs_index, stack_id FROM memory_copies")
    same_rows(rows.fetchall(),
              [(e["pid"], e["tid"], e["name"], e["start"], e["end"], e["bytes"], e["dst"],
                e["src"], e["corr"]) for e in of(events, "MEMORY_COPY")], "rocpd copies")
    rows = db.execute("SELECT pid, tid, type, level, start, end, size, address, stack_id, "
                      "parent_stack_id FROM memory_allocations WHERE level != 'SCRATCH'")
    same_rows(rows.fetchall(),
              [(e["pid"], e["tid"], "FREE" if "FREE" in e["name"] else "ALLOC",
                "VIRTUAL" if "VMEM" in e["name"] else "REAL", e["start"], e["end"], e["bytes"],
                e["address"], e["corr"], e["ancestor"]) for e in of(events, "MEMORY_ALLOCATION")],
              "rocpd allocations")
    rows = db.execute("SELECT pid, operation, start, end, size, alloc_flags FROM scratch_memory")
    short = {"SCRATCH_MEMORY_ALLOC": "ALLOC", "SCRATCH_MEMORY_FREE": "FREE",
             "SCRATCH_MEMORY_ASYNC_RECLAIM": "RECLAIM"}
    same_rows(rows.fetchall(),
              [(e["pid"], short[e["name"]], e["start"], e["end"], e["bytes"], str(e["flags"]))
               for e in of(events, "SCRATCH_MEMORY")], "rocpd scratch")
    rows = db.execute("SELECT dispatch_id, pid, counter_name, value, start, end "
                      "FROM counters_collection")
    expected = [(e["dispatch"], e["pid"], COUNTERS[c], v, e["start"], e["end"])
                for e in of(events, "COUNTER_COLLECTION") for c, v in sums(e).items()]
    if len({e["pid"] for e in events}) == 1: # the view groups by dispatch id alone
        same_rows(rows.fetchall(), expected, "rocpd counters")
    rows = db.execute("SELECT E.stack_id, A.position, A.type, A.name, A.value FROM rocpd_arg A "
                      "JOIN rocpd_event E ON E.id = A.event_id")
    same_rows(rows.fetchall(),
              [(e["corr"], i, t, n, bytes.fromhex(v).decode())
               for d in ("HIP_API", "ROCDECODE_API") for e in of(events, d)
               for i, (t, n, v) in enumerate(e["args"])], "rocpd arguments")
    same({r[0] for r in db.execute("SELECT stream_id & 0xff FROM stream_args")},
         {0} if queues else {1, 2, 3}, "stream arguments")
    # as a user's script reads it
    total, = db.execute("SELECT SUM(total_calls) FROM top_kernels").fetchone()
    same(total, len(of(events, "KERNEL_DISPATCH")), "top_kernels")
    ledger, = db.execute("SELECT value FROM rocpd_metadata WHERE tag = 'wavescope_ledger'").fetchone()
    ledger = {row["domain"]: row for row in json.loads(ledger)["ledger"]}
    pid = events[0]["pid"]
    same(ledger["HIP_API"]["written"], len([e for e in of(events, "HIP_API") if e["pid"] == pid]),
         "ledger")
    env, = db.execute("SELECT environment FROM rocpd_info_process").fetchone()
    same(json.loads(env)["ODD"], '"quoted"\nline', "environment")
    for ext, in db.execute("SELECT extdata FROM rocpd_info_agent"):
        json.loads(ext)["capability"]["DebugSupportedFirmware"]
    db.close()
