#!/usr/bin/env python3
"""Compares collector/mpi/table.h with the headers of MPIs: mpi_prototypes.py TABLE mpi.h..."""
import os
import re
import sys

text = open(sys.argv[1]).read()
table = {name: int(n) for name, n in re.findall(r"X\((MPI_\w+),\s*(\d+),", text)}
moves = {name: what for name, what in re.findall(r"X\((MPI_\w+),\s*\d+,\s*(.*?)\)\s*\\?\n", text)}
shared = {name: (int(comm), int(root))
          for name, comm, root in re.findall(r"\bC\((MPI_\w+),\s*(\d+),\s*(-?\d+)\)", text)}
made = {name: int(comm) for name, comm in re.findall(r"\bC\((MPI_\w+),\s*(\d+)\)", text)}
if len(table) < 150 or len(shared) < 30 or len(made) < 10:
    sys.exit("%d functions in the table" % len(table))
wrong = []
for path in sys.argv[2:]:
    header = ""
    for name in ("mpi.h", "mpi_proto.h", "mpio.h"):  # MPICH has files of their own for some
        part = os.path.join(os.path.dirname(path), name)
        header += open(part, errors="replace").read() if os.path.exists(part) else ""
    header = re.sub(r"/\*.*?\*/", " ", header, flags=re.S)
    found = {}
    for name, arguments in re.findall(r"\bint\s+(MPI_\w+)\s*\(([^;{]*?)\)\s*(?:MPICH_|ROMIO_|HAVE_|__attribute|;)", header):
        arguments = re.sub(r"\)\s*(?:MPICH|ROMIO)_.*", "", arguments, flags=re.S)
        found[name] = [] if arguments.strip() == "void" else [a.strip() for a in arguments.split(",")]
    for name, n in table.items():
        if name not in found:
            wrong.append("%s: %s is not there" % (path, name))
        elif len(found[name]) != n:
            wrong.append("%s: %s has %d arguments, not %d" % (path, name, len(found[name]), n))
        elif any(re.match(r"(float|double|struct|MPI_Status)\s+\w+$", a) for a in found[name]):
            wrong.append("%s: %s has an argument that is not an integer" % (path, name))
        else:
            # what is called a count is one, and what follows is its datatype
            called = re.match(r"(?:SEND|RECV|BOTH|ALL)\(([-\d, ]+)", moves.get(name, ""))
            numbers = [int(i) for i in called.group(1).split(",") if i.strip()] if called else []
            pairs = list(zip(numbers[0:4:2], numbers[1:4:2]))
            for count, datatype in pairs:
                if not re.match(r"int \w*count\w*$|int count$", found[name][count]) or \
                        "MPI_Datatype" not in found[name][datatype]:
                    wrong.append("%s: %s: %s, %s" % (path, name, found[name][count], found[name][datatype]))
            if called and called.group(0).startswith("ALL"):
                root, comm = numbers[4:6]
                if (root >= 0 and found[name][root] != "int root") or \
                        not found[name][comm].startswith("MPI_Comm "):
                    wrong.append("%s: %s: root or communicator" % (path, name))
    for name, (comm, root) in shared.items():
        if not found[name][comm].startswith("MPI_Comm ") or \
                ("int root" in found[name]) != (root >= 0) or (root >= 0 and found[name][root] != "int root"):
            wrong.append("%s: %s: root or communicator" % (path, name))
    for name, comm in made.items():
        if not re.match(r"MPI_Comm ?\*", found[name][comm]):
            wrong.append("%s: %s: argument %d is no address of a communicator" % (path, name, comm))
print("%d functions, %d wrong" % (len(table), len(wrong)))
if wrong:
    sys.exit("\n".join(wrong[:20]))
