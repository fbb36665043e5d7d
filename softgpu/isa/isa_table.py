"""Reads and checks the instruction tables (*.isa); see README.md for the format.

Every message starts with FILE:LINE, and tests/isa/bad/ holds one wrong table for each.
"""
import os
import re
import sys

TARGETS = ("gfx908", "gfx90a")

# encoding: (bits of the opcode field, roles it may use)
SCALAR = {"sdst", "src0", "src1", "simm16", "label", "hwreg", "waitcnt", "sendmsg", "imm32",
          "gpr_idx"}
VECTOR = {"vdst", "src0", "src1", "src2", "sdst", "co", "ci", "k"}
BUFFER = {"vdata", "vaddr", "srsrc", "soffset", "lds"}
ENCODINGS = {
    "sop2": (7, SCALAR), "sopk": (5, SCALAR), "sop1": (8, SCALAR), "sopc": (7, SCALAR),
    "sopp": (7, SCALAR), "smem": (8, {"sdata", "sbase", "soffset", "simm16"}),
    "vop2": (6, VECTOR), "vop1": (8, VECTOR), "vopc": (8, VECTOR), "vop3": (10, VECTOR),
    "vop3p": (7, VECTOR), "ds": (8, {"vdst", "vaddr", "data0", "data1", "offset", "offset0",
                                     "offset1", "swizzle", "gds"}),
    "flat": (7, {"vdst", "vaddr", "vdata", "saddr", "lds", "seg"}),
    "mubuf": (7, BUFFER), "mtbuf": (4, BUFFER),
}
UNTYPED = {"co", "ci", "gds", "lds", "label", "hwreg", "waitcnt", "sendmsg", "simm16", "imm32",
           "offset", "offset0", "offset1", "soffset", "saddr", "gpr_idx", "swizzle"}
# words after the operands that say what the operands do not, see README.md
FLAGS = {
    **dict.fromkeys(("vop1", "vop2", "vopc", "vop3", "vop3p"), {
        "clamp", "nomod", "class", "opsel", "negabs", "ignmods", "vcc", "mix", "mfma", "e32",
        "accdst", "accsrc"}),
    "sop1": {"regsrc"}, "sopp": {"optimm"}, "ds": {"gdsonly"}, "smem": {"atomic"},
    "flat": {"atomic", "noscc"}, "mubuf": {"atomic", "noscc", "noglc"},
}
FORMS = {"vop1": "pvsd", "vop2": "pvsd", "vopc": "pvs"}  # plain, VOP3, SDWA, DPP
TYPES = {  # type: registers
    **{k + b: max(1, int(b) // 32) for k in "buif" for b in ("16", "32", "64")},
    **{"b" + b: int(b) // 32 for b in ("96", "128", "160", "256", "512", "1024")},
    **{k + b: 1 for k in "bui" for b in ("8", "24")}, "b1": 1,
    "v2f16": 1, "v2i16": 1, "v2u16": 1, "v2b16": 1, "v2f32": 2, "v2b32": 2,
    "v2bf16": 1, "v4bf16": 2, "v4f16": 2, "v4i8": 1,
    **{f"v{n}f32": n for n in (4, 16, 32)}, **{f"v{n}i32": n for n in (4, 16, 32)},
    "v4f64": 8,
}
MAX_OPERANDS = 7  # SG_ISA_MAX_OPERANDS

# The order of the tables, and with it of the rows: handler number = 1 + position.
TABLES = ("sop2", "sopk", "sop1", "sopc", "sopp", "smem", "vop2", "vop1", "vopc", "vop3", "vop3p",
          "ds", "flat", "mubuf", "mtbuf")


class Operand:
    def __init__(self, role, type_):
        self.role, self.type = role, type_


class Row:
    def __init__(self, path, line, encoding, op, targets, mnemonic, operands, result, flags=(),
                 forms=None):
        self.path, self.line, self.encoding, self.op = path, line, encoding, op
        self.targets, self.mnemonic = targets, mnemonic
        self.operands, self.result = operands, result
        self.flags, self.forms = frozenset(flags), forms

    def operand(self, role):
        return next((o for o in self.operands if o.role == role), None)

    @property
    def name(self):
        """A C identifier that is unique among all rows: some mnemonics exist once per target."""
        only = "" if len(self.targets) == len(TARGETS) else "_" + self.targets[0]
        return f"{self.encoding}_{self.mnemonic}{only}"


class TableError(Exception):
    pass


def parse_operand(token, encoding, fail):
    role, _, type_ = token.partition(":")
    if role not in ENCODINGS[encoding][1]:
        fail(f"unknown operand '{role}' in encoding {encoding}")
    if role == "seg":
        if not type_ or set(type_) - set("fgs"):
            fail(f"segments of '{token}' are letters of 'fgs'")
    elif role in UNTYPED:
        if type_:
            fail(f"operand '{role}' takes no type")
    elif type_ not in TYPES:
        fail(f"unknown type '{type_}' of operand '{role}'")
    return Operand(role, type_)


def parse_forms(token, encoding, fail):
    known, forms = FORMS.get(encoding), token.partition(":")[2]
    if not known:
        fail(f"encoding {encoding} has one form only")
    if not forms or set(forms) - set(known):
        fail(f"forms of '{token}' are letters of '{known}'")
    return forms


def parse_file(path):
    rows, encoding = [], None
    with open(path, encoding="utf-8") as f:
        for number, text in enumerate(f, 1):
            def fail(message, number=number):
                raise TableError(f"{path}:{number}: {message}")
            text = text.rstrip("\n")
            if not text.strip() or text.lstrip().startswith("#"):
                continue
            if text.startswith("encoding"):
                encoding = text[len("encoding"):].strip()
                if encoding not in ENCODINGS:
                    fail(f"unknown encoding '{encoding}'")
                continue
            if encoding is None:
                fail("a row before the 'encoding' line")
            columns = re.split(r"\s{2,}", text.strip(), maxsplit=3)
            if len(columns) == 3:  # no operands
                columns.insert(2, "")
            if len(columns) != 4:
                fail("a row has four columns, two spaces apart: op mnemonic operands result")
            op_text, _, target = columns[0].partition("@")
            if target and target not in TARGETS:
                fail(f"unknown target '{target}'")
            if not re.fullmatch(r"0x[0-9a-f]+", op_text):
                fail(f"opcode '{op_text}' is not a hexadecimal number")
            op = int(op_text, 16)
            if op >> ENCODINGS[encoding][0]:
                fail(f"opcode {op_text} does not fit the {ENCODINGS[encoding][0]} bits "
                     f"of {encoding}")
            flags, forms, operands = [], FORMS.get(encoding), []
            for token in columns[2].split():
                if token in FLAGS.get(encoding, ()):
                    flags.append(token)
                elif token.startswith("forms:"):
                    forms = parse_forms(token, encoding, fail)
                else:
                    operands.append(parse_operand(token, encoding, fail))
            roles = [o.role for o in operands]
            for role in set(roles):
                if roles.count(role) > 1:
                    fail(f"operand '{role}' stands twice")
            if encoding == "flat" and "seg" not in roles:
                fail("a row of flat names its segments: seg:fgs")
            if sum(role != "seg" for role in roles) > MAX_OPERANDS:
                fail(f"{columns[1]} has more than {MAX_OPERANDS} operands")
            rows.append(Row(path, number, encoding, op, (target,) if target else TARGETS,
                            columns[1], operands, columns[3], flags, forms))
    return rows


def parse_files(paths):
    rows, seen, names = [], {}, {}
    for path in paths:
        for row in parse_file(path):
            where = f"{row.path}:{row.line}"
            for target in row.targets:
                segments = row.operand("seg")
                for seg in segments.type if segments else "-":
                    key = (row.encoding, row.op, target, seg)
                    if key in seen:
                        raise TableError(f"{where}: opcode 0x{row.op:02x} of {row.encoding} is "
                                         f"already {seen[key].mnemonic} (line {seen[key].line})")
                    seen[key] = row
            if row.name in names:
                raise TableError(f"{where}: {row.mnemonic} is already defined at line "
                                 f"{names[row.name].line}")
            names[row.name] = row
            rows.append(row)
    return rows


def handler_rows(paths):
    """All rows in the order that numbers them: row i has handler i + 1, everywhere."""
    def rank(path):
        stem = os.path.splitext(os.path.basename(path))[0]
        if stem not in TABLES:
            raise TableError(f"{path}:1: no table of this name is expected")
        return TABLES.index(stem)
    return parse_files(sorted(paths, key=rank))


def main_guard(fn):
    """Runs a generator; a wrong table is one line on stderr, not a traceback."""
    try:
        fn()
    except TableError as e:
        sys.exit(str(e))
