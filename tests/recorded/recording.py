#!/usr/bin/env python3
"""Counter recordings of real GPUs in a compact form (README.md here describes it).

    recording.py list                print the names of the recordings
    recording.py unpack NAME FOLDER  write the workload folder that analyze -p reads
    recording.py pack NAME FOLDER REFERENCE
                                     add a recording: FOLDER is the workload, REFERENCE the text that
                                     the reference tool's analyze printed for it
"""
import argparse
import csv
import hashlib
import os
import re

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vcopy")

# What a dispatch is: the same in every file of counters, so written once.
FACTS = ["Dispatch_ID", "Kernel_Name", "GPU_ID", "Grid_Size", "Workgroup_Size", "LDS_Per_Workgroup",
         "Scratch_Per_Workitem", "Arch_VGPR", "Accum_VGPR", "SGPR"]
# Columns that identify a process or a queue; merging appends a number to repeated names.
NOT_KEPT = re.compile(r"(queue-id|queue-index|Queue_ID|pid|PID|tid|TID|sig|obj|wave_size|Wave_Size|Correlation_ID|"
                      r"Kernel_ID|XCC_Index|DispatchNs|CompleteNs)(_\d+)?$")
DISPATCHES = "dispatches"  # the section whose columns all files of counters share
CHANNEL = re.compile(r"(.*)\[(\d+)\]$")
TEXTS = {"Metric", "Unit", "Units", "Xfer", "Coherency", "Type", "Transaction"}


# ---- numbers in lines ----

def plain(cell):
    """39762.0 is 39762; an empty cell is written as two quotes, so that it can be seen."""
    return '""' if cell == "" else re.sub(r"^(-?\d+)\.0$", r"\1", cell)


def runs(values):
    """5 5 5 7 as 5*3 7"""
    out = []
    for value in values:
        if out and out[-1][0] == value:
            out[-1][1] += 1
        else:
            out.append([value, 1])
    return " ".join(value if n == 1 else f"{value}*{n}" for value, n in out)


def unrun(text):
    out = []
    for part in text.split(" "):
        value, _, n = part.partition("*")
        out += [value] * int(n or 1)
    return out


def ranges(numbers):
    """[0, 1, 2, 7] as 0-2,7"""
    out = []
    for n in numbers:
        if out and out[-1][1] + 1 == n:
            out[-1][1] = n
        else:
            out.append([n, n])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in out)


def unrange(text):
    out = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        out += range(int(first), int(last or first) + 1)
    return out


# ---- counters ----

def read_counters(name):
    """{section: (rows, {column: [cell of each row]})} with channels as single columns."""
    sections = {}
    with open(f"{HERE}/{name}.counters", encoding="utf-8") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            head = re.match(r"\[(\S+) (\d+)\]$", line)
            if head:
                rows, columns = int(head.group(2)), {}
                sections[head.group(1)] = rows, columns
                continue
            column, *cells = line.split("\t")
            cells = cells * rows if len(cells) == 1 else cells
            assert len(cells) == rows, f"{name}: {column}: {len(cells)} cells for {rows} rows"
            group = re.match(r"(.*)\[([\d,-]+)\]$", column)
            if not group:
                columns[column] = ["" if cell == '""' else cell for cell in cells]
                continue
            channels = unrange(group.group(2))
            values = [unrun(cell) for cell in cells]
            for row in values:
                assert len(row) == len(channels), f"{name}: {column}: {len(row)} values"
            for k, channel in enumerate(channels):
                columns[f"{group.group(1)}[{channel}]"] = [row[k] for row in values]
    return sections


def unpack(name, folder):
    sections = read_counters(name)
    os.makedirs(folder)
    shared = sections.pop(DISPATCHES)[1]
    for file, (rows, columns) in sections.items():
        if file not in ("sysinfo", "roofline"):
            columns = {**shared, **columns}
        with open(f"{folder}/{file}.csv", "w", encoding="utf-8", newline="") as to:
            out = csv.writer(to, lineterminator="\n")
            out.writerow(columns)
            out.writerows(zip(*columns.values()))


def read_folder(folder):
    """{file: {column: [cells]}} of the files of a workload, without the columns not kept."""
    files = {}
    for file in sorted(os.listdir(folder)):
        # pmc_perf.csv is the merged form of pmc_perf_N.csv; dispatch_info repeats columns of it.
        if not file.endswith(".csv") or re.match(r"pmc_(perf_\d|dispatch_info|kernel_top)", file):
            continue
        with open(f"{folder}/{file}", encoding="utf-8", newline="") as lines:
            rows = list(csv.reader(lines))
        columns = {}
        for k, column in enumerate(rows[0]):
            if file not in ("sysinfo.csv", "roofline.csv") and NOT_KEPT.match(column):
                continue
            columns[column] = [plain(row[k]) for row in rows[1:]]
        files[file[:-4]] = columns
    return files


def pack_section(out, name, columns):
    rows = len(next(iter(columns.values())))
    out.append(f"\n[{name} {rows}]")
    channels = {}
    for column in columns:
        match = CHANNEL.match(column)
        if match:
            channels.setdefault(match.group(1), []).append(int(match.group(2)))
    for column, cells in columns.items():
        match = CHANNEL.match(column)
        if match:
            numbers = sorted(channels.pop(match.group(1), []))
            if not numbers:
                continue  # the whole group was written with its first channel
            column = f"{match.group(1)}[{ranges(numbers)}]"
            cells = [runs(columns[f"{match.group(1)}[{n}]"][row] for n in numbers) for row in range(rows)]
        out.append("\t".join([column] + (cells[:1] if len(set(cells)) == 1 else cells)))


def packed_counters(name, folder):
    """The text of NAME.counters."""
    files = read_folder(folder)
    shared = {column: files["pmc_perf"][column] for column in FACTS}
    out = [f"# vcopy -n 1048576 -b 256 -i 3 on {name}: counters per dispatch. README.md describes the form."]
    for file in ("sysinfo", "roofline"):
        if file in files:
            pack_section(out, file, files.pop(file))
    pack_section(out, DISPATCHES, shared)
    for file, columns in files.items():
        pack_section(out, file, {c: v for c, v in columns.items() if shared.get(c) != v})
    return "\n".join(out) + "\n"


# ---- tables of the reference tool ----

def report_tables(path):
    """{"2.1": [header row, row, ...]} of a report as analyze prints it; wrapped cells are joined."""
    found, name, rows, current = {}, None, None, None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if re.match(r"^\d+\. ", line):
                name = "1.1" if line.startswith("1.") else None
            title = re.match(r"^(\d+\.\d+) ", line)
            if title:
                name = title.group(1)
            if line.startswith("╒") and name:
                rows, current = [], None
            elif rows is not None and line.startswith("│"):
                cells = [cell.strip() for cell in line.strip("│").split("│")]
                current = cells if current is None else [
                    (a + " " + b).strip() for a, b in zip(current, cells)]
            elif rows is not None and line[:1] in ("╞", "├", "╘"):
                rows.append(current)
                current = None
                if line[0] == "╘":
                    found[name] = rows
                    rows, name = None, None
    return found


def report_lines(path):
    """{"2.1": its title and the lines below it} of a report; what the tool logs is left out."""
    parts, part = {}, None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.rstrip("\n")
            title = re.match(r"(\d+)\.(\d*) ", line)
            if title:
                part = parts.setdefault(title.group(0).strip(), [])
            if part is not None and line and not re.match(r"-+$| INFO|WARNING", line):
                part.append(line)
    return parts


def digest(lines):
    """The lines of a report's part without its text: how many, and a hash of them."""
    return [str(len(lines)), hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]]


def read_names():
    """{(recording or None, metric): its texts}; None is every recording that has no line of its own."""
    names = {}
    with open(f"{HERE}/names.tsv", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#"):
                continue
            metric, recordings, *texts = line.rstrip("\n").split("\t")
            for recording in recordings.split(",") if recordings != "*" else [None]:
                names[recording, metric] = ["" if text == '""' else text for text in texts]
    return names


def read_tables(name):
    """The reference tool's tables as report_tables() has them, and {part: digest of its lines}."""
    names, tables, digests = read_names(), {}, {}
    with open(f"{HERE}/{name}.tables", encoding="utf-8") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            if line.startswith("["):
                table, *header = line.strip("[]").split("\t")
                header = ["" if cell == '""' else cell for cell in header]
                if table != "lines":
                    rows = tables[table] = [header]
                continue
            key, *cells = line.split("\t")
            if table == "lines":
                digests[key] = cells
                continue
            cells = ["" if cell == '""' else cell for cell in cells]
            if header[0] != "Metric_ID":
                rows.append([key] + cells)
                continue
            for n in unrange(key):
                metric = f"{table}.{n}"
                texts = iter(names.get((name, metric)) or names.get((None, metric), []))
                values = iter([f"{n}.00"] + cells if "Channel" in header else cells)
                rows.append([metric] + [next(texts if column in TEXTS else values) for column in header[1:]])
    return tables, digests


def texts_of(header, row):
    return tuple(cell or '""' for column, cell in zip(header, row) if column in TEXTS)


def packed_rows(header, rows):
    """Lines of a table: the key, then cells that are neither texts nor follow from the key."""
    packed = []
    for key, *cells in rows:
        if header[0] == "Metric_ID":
            key = key.rsplit(".", 1)[1]
            assert "Channel" not in header or cells[0] == f"{key}.00", cells
        packed.append((key, [cell or '""' for column, cell in zip(header[1:], cells)
                             if column not in TEXTS | {"Channel"}]))
    while packed:
        same = 1
        while "Channel" in header and same < len(packed) and packed[same][1] == packed[0][1]:
            same += 1
        key = packed[0][0] if same == 1 else ranges([int(key) for key, _ in packed[:same]])
        yield "\t".join([key] + packed[0][1])
        del packed[:same]


def packed_tables(name, tables, lines):
    """The text of NAME.tables."""
    out = [f"# What rocprof-compute 3.3.0 computes from {name}.counters. README.md describes the form."]
    for table, (header, *rows) in tables.items():
        out.append("\n[" + "\t".join([table] + [cell or '""' for cell in header]) + "]")
        out += packed_rows(header, rows)
    out.append("\n[lines]")
    out += ["\t".join([part] + digest(of)) for part, of in lines.items() if not part.startswith("4.")]
    return "\n".join(out) + "\n"


def packed_names(tables_of):
    """The text of names.tsv, from {recording: its tables}."""
    names = {}
    for name, tables in tables_of.items():
        for header, *rows in tables.values():
            for row in rows:
                if header[0] == "Metric_ID" and texts_of(header, row):
                    names.setdefault(row[0], {}).setdefault(texts_of(header, row), []).append(name)
    out = ["# Texts of the reference tool's metrics: metric, recordings (* is all others), texts by column."]
    for metric in sorted(names, key=lambda metric: [int(n) for n in metric.split(".")]):
        for n, (texts, of) in enumerate(names[metric].items()):
            out.append("\t".join([metric, ",".join(of) if n else "*"] + list(texts)))
    return "\n".join(out) + "\n"


def pack(name, folder, reference):
    tables_of = {other: read_tables(other)[0] for other in recordings() if other != name}
    tables_of[name] = report_tables(reference)
    texts = {f"{name}.counters": packed_counters(name, folder),
             f"{name}.tables": packed_tables(name, tables_of[name], report_lines(reference)),
             "names.tsv": packed_names(dict(sorted(tables_of.items())))}
    for file, text in texts.items():
        with open(f"{HERE}/{file}", "w", encoding="utf-8") as to:
            to.write(text)


def recordings():
    return sorted(file[:-9] for file in os.listdir(HERE) if file.endswith(".counters"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="print the names of the recordings")
    one = commands.add_parser("unpack", help="write the workload folder of a recording")
    one.add_argument("name", choices=recordings())
    one.add_argument("folder")
    new = commands.add_parser("pack", help="add a recording")
    new.add_argument("name")
    new.add_argument("folder", help="the workload folder")
    new.add_argument("reference", help="what the reference tool's analyze printed for it")
    args = parser.parse_args()
    if args.command == "list":
        print("\n".join(recordings()))
    elif args.command == "unpack":
        unpack(args.name, args.folder)
    else:
        pack(args.name, args.folder, args.reference)


if __name__ == "__main__":
    main()
