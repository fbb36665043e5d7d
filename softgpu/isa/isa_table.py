"""Reads and checks the instruction tables (*.isa); see README.md for the format.

Every message starts with FILE:LINE, and tests/isa/bad/ holds one wrong table for each.
"""
import os
import re
import sys

TARGETS = ("gfx908", "gfx90a", "gfx942", "gfx950")  # in the order of the generations

# encoding: (bits of the opcode field, roles it may use)
SCALAR = {"sdst", "src0", "src1", "simm16", "label", "hwreg", "waitcnt", "sendmsg", "imm32",
          "gpr_idx"}
VECTOR = {"vdst", "src0", "src1", "src2", "sdst", "co", "ci", "k", "scale0", "scale1"}
BUFFER = {"vdata", "vaddr", "srsrc", "soffset", "lds"}
ENCODINGS = {
    "sop2": (7, SCALAR), "sopk": (5, SCALAR), "sop1": (8, SCALAR), "sopc": (7, SCALAR),
    "sopp": (7, SCALAR), "smem": (8, {"sdata", "sbase", "soffset", "simm16"}),
    "vop2": (6, VECTOR), "vop1": (8, VECTOR), "vopc": (8, VECTOR), "vop3": (10, VECTOR),
    "vop3p": (7, VECTOR), "ds": (8, {"vdst", "vaddr", "data0", "data1", "offset", "offset0",
                                     "offset1", "swizzle", "gds"}),
    "flat": (7, {"vdst", "vaddr", "vdata", "saddr", "lds", "seg"}),
    "mubuf": (7, BUFFER), "mtbuf": (4, BUFFER), "vop3px": (7, VECTOR),
}
UNTYPED = {"co", "ci", "gds", "lds", "label", "hwreg", "waitcnt", "sendmsg", "simm16", "imm32",
           "offset", "offset0", "offset1", "soffset", "saddr", "gpr_idx", "swizzle"}
# words after the operands that say what the operands do not, see README.md
FLAGS = {
    **dict.fromkeys(("vop1", "vop2", "vopc", "vop3", "vop3p", "vop3px"), {
        "clamp", "nomod", "class", "opsel", "negabs", "ignmods", "vcc", "mix", "mfma", "e32",
        "accdst", "accsrc", "exec", "halves", "noclamp", "sel4", "srcsel", "bitop3", "permswap",
        "sparse", "f8f6f4", "vgprs"}),
    "sop1": {"regsrc"}, "sopp": {"optimm"}, "ds": {"gdsonly"}, "smem": {"atomic"},
    "flat": {"atomic", "noscc"}, "mubuf": {"atomic", "noscc", "noglc"},
}
FORMS = {"vop1": "pvsd", "vop2": "pvsd", "vopc": "pvs"}  # plain, VOP3, SDWA, DPP
TYPES = {  # type: registers
    **{k + b: max(1, int(b) // 32) for k in "buif" for b in ("16", "32", "64")},
    **{"b" + b: int(b) // 32 for b in ("96", "128", "160", "192", "256", "512", "1024")},
    **{k + b: 1 for k in "bui" for b in ("8", "24")}, "b1": 1,
    "v2f16": 1, "v2i16": 1, "v2u16": 1, "v2b16": 1, "v2f32": 2, "v2b32": 2,
    "bf16": 1, "v2bf16": 1, "v4bf16": 2, "v4f16": 2, "v4i8": 1,
    **{f"v{n}{t}16": n // 2 for n in (8, 16) for t in ("f", "bf")},
    **{f"v{n}{t}8": n // 4 for n in (8, 16, 32) for t in "if"},
    **{f"v{n}f32": n for n in (4, 16, 32)}, **{f"v{n}i32": n for n in (4, 16, 32)},
    "v4f64": 8,
}
MAX_OPERANDS = 7  # SG_ISA_MAX_OPERANDS

# The class column: which classes the rows of an encoding may have (enum sg_insn_class).
VECTOR_CLASSES = (
    "valu", "add_f16", "mul_f16", "fma_f16", "trans_f16", "add_f32", "mul_f32", "fma_f32",
    "trans_f32", "add_f64", "mul_f64", "fma_f64", "trans_f64", "int32", "int64", "cvt",
    "mfma_i8", "mfma_f16", "mfma_bf16", "mfma_f32", "mfma_f64", "mfma_xf32", "mfma_f8", "mfma_f6f4")
SCALAR_CLASSES = ("salu", "branch", "cbranch", "jump", "message", "barrier", "end", "waitcnt",
                  "nop", "sleep", "internal", "misc")
CLASSES = {
    **dict.fromkeys(("vop1", "vop2", "vopc", "vop3", "vop3p", "vop3px"), VECTOR_CLASSES),
    **dict.fromkeys(("sop2", "sopk", "sop1", "sopc", "sopp"), SCALAR_CLASSES),
    "smem": ("smem",), "ds": ("lds", "gds"), "flat": ("flat",), "mubuf": ("vmem",),
    "mtbuf": ("vmem",),
}
# The memory column: kinds (enum sg_mem_kind), and words for addresses that are not one plain
# register (enum sg_mem_addressing).
MEMORY_KINDS = ("load", "store", "atomic", "atomic_rtn")
ADDRESSING = {"smem": ("buffer", "scratch"), "ds": ("pair", "pair64"), "mubuf": ("format",),
              "mtbuf": ("format",)}
MEMORY_ENCODINGS = ("smem", "ds", "flat", "mubuf", "mtbuf")
MAX_BYTE = 255  # rates and sizes are bytes in struct sg_isa_row
MAX_WEIGHT = 1023

# The order of the tables, and with it of the rows: handler number = 1 + position.
TABLES = ("sop2", "sopk", "sop1", "sopc", "sopp", "smem", "vop2", "vop1", "vopc", "vop3", "vop3p",
          "ds", "flat", "mubuf", "mtbuf", "vop3px")


class Operand:
    def __init__(self, role, type_):
        self.role, self.type = role, type_


class Row:
    """One instruction. insn_class, weight: the class column. rates: quad-cycles by target.
    memory: (kind, bytes, addressing), None for an instruction without memory."""

    def __init__(self, path, line, encoding, op, targets, mnemonic):
        self.path, self.line, self.encoding, self.op = path, line, encoding, op
        self.targets, self.mnemonic = targets, mnemonic
        self.operands, self.flags, self.forms = [], set(), FORMS.get(encoding)
        self.insn_class, self.weight, self.rates, self.memory = None, 1, {}, None
        self.result = None

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


def parse_number(text, what, fail, largest=MAX_BYTE):
    if not re.fullmatch(r"[0-9]+", text) or not 0 < int(text) <= largest:
        fail(f"{what} '{text}' is not a number from 1 to {largest}")
    return int(text)


def parse_targets(text, fail):
    """gfx908,gfx942: these; gfx942+: it and all later ones."""
    chosen = set()
    for word in text.split(","):
        target = word.removesuffix("+")
        if target not in TARGETS:
            fail(f"unknown target '{target}'")
        at = TARGETS.index(target)
        chosen.update(TARGETS[at:] if word.endswith("+") else [target])
    return tuple(t for t in TARGETS if t in chosen)


def parse_opcode(text, encoding, fail):
    """op[@targets]: the opcode and the targets that have it."""
    op_text, _, targets = text.partition("@")
    if not re.fullmatch(r"0x[0-9a-f]+", op_text):
        fail(f"opcode '{op_text}' is not a hexadecimal number")
    op = int(op_text, 16)
    if op >> ENCODINGS[encoding][0]:
        fail(f"opcode {op_text} does not fit the {ENCODINGS[encoding][0]} bits of {encoding}")
    return op, parse_targets(targets, fail) if targets else TARGETS


def parse_operands(text, row, fail):
    for token in text.split() if text != "-" else ():
        if token in FLAGS.get(row.encoding, ()):
            row.flags.add(token)
        elif token.startswith("forms:"):
            row.forms = parse_forms(token, row.encoding, fail)
        else:
            row.operands.append(parse_operand(token, row.encoding, fail))
    roles = [o.role for o in row.operands]
    for role in set(roles):
        if roles.count(role) > 1:
            fail(f"operand '{role}' stands twice")
    if row.encoding == "flat" and "seg" not in roles:
        fail("a row of flat names its segments: seg:fgs")
    if sum(role != "seg" for role in roles) > MAX_OPERANDS:
        fail(f"{row.mnemonic} has more than {MAX_OPERANDS} operands")


def parse_class(text, row, fail):
    """class[*weight]"""
    row.insn_class, star, weight = text.partition("*")
    if row.insn_class not in CLASSES[row.encoding]:
        fail(f"encoding {row.encoding} has no class '{row.insn_class}'")
    if star:
        row.weight = parse_number(weight, "weight", fail, MAX_WEIGHT)
    if row.insn_class.startswith("mfma") != ("mfma" in row.flags):
        fail("a matrix instruction has the flag mfma and a class mfma_*")
    if "mfma" in row.flags and not star:
        fail("a matrix instruction names its operations / 512: mfma_f32*8")


def parse_rates(text, row, fail):
    """rate [targets:rate]..."""
    default, *exceptions = text.split(" ")
    row.rates = dict.fromkeys(row.targets, parse_number(default, "rate", fail))
    for exception in exceptions:
        targets, _, rate = exception.partition(":")
        for target in parse_targets(targets, fail):
            if target not in row.targets:
                fail(f"a rate for '{target}', which does not have {row.mnemonic}")
            row.rates[target] = parse_number(rate, "rate", fail)


def parse_memory(text, row, fail):
    """-, control, or kind:bytes [addressing]"""
    if row.encoding not in MEMORY_ENCODINGS:
        if text != "-":
            fail(f"encoding {row.encoding} has no memory, the column is '-'")
        return
    if text == "-":
        fail(f"a row of {row.encoding} says what it does to memory: load:4, control")
    access, _, addressing = text.partition(" ")
    kind, _, size = access.partition(":")
    if text == "control":
        row.memory = ("control", 0, "plain")
        return
    if kind not in MEMORY_KINDS:
        fail(f"unknown memory kind '{kind}'")
    if addressing and addressing not in ADDRESSING.get(row.encoding, ()):
        fail(f"encoding {row.encoding} has no addressing '{addressing}'")
    if addressing.startswith("pair") != bool(row.operand("offset1")):
        fail("a row with offset0 and offset1 is addressed by pair or pair64")
    row.memory = (kind, parse_number(size, "size", fail), addressing or "plain")


def parse_row(text, path, number, encoding, fail):
    columns = re.split(r"\s{2,}", text.strip(), maxsplit=6)
    if len(columns) != 7:
        fail("a row has seven columns, two spaces apart: op mnemonic operands class rate memory "
             "result")
    row = Row(path, number, encoding, *parse_opcode(columns[0], encoding, fail), columns[1])
    parse_operands(columns[2], row, fail)
    parse_class(columns[3], row, fail)
    parse_rates(columns[4], row, fail)
    parse_memory(columns[5], row, fail)
    row.result = columns[6]
    return row


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
            rows.append(parse_row(text, path, number, encoding, fail))
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
