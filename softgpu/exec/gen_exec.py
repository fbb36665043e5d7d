#!/usr/bin/env python3
"""Turns the result columns of the instruction tables into C handlers.

usage: gen_exec.py handlers ENCODING OUT.c TABLE...   the handlers of one encoding
       gen_exec.py list OUT.h TABLE...                numbers of all handlers, for the lookup tables

Written as text rather than as C macros: what a handler loads depends on the operands of its row and
on what its expression mentions, and the compiler's messages then name real lines.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "isa"))
import isa_table  # noqa: E402

C_TYPES = {"b": "uint{}_t", "u": "uint{}_t", "i": "int{}_t"}
OPERANDS = ("src0", "src1", "src2")
# the header with the templates and lane functions that an encoding's rows use
FAMILY = {"sop2": "scalar", "sopk": "scalar", "sop1": "scalar", "sopc": "scalar", "sopp": "scalar",
          "smem": "smem", "vop2": "vector", "vop1": "vector", "vopc": "vector", "vop3": "vector",
          "vop3p": "vector", "vop3px": "vector", "ds": "ds", "flat": "flat", "mubuf": "buffer", "mtbuf": "buffer"}


def c_type(type_):
    if type_ == "f32":
        return "float"
    if type_ == "f64":
        return "double"
    if type_ in ("f16", "bf16"):
        return "uint16_t"  # the bits: lane_f16.h and lane_small.h compute with them
    kind, bits = type_[0], type_[1:]
    if kind == "v":
        return "uint64_t" if isa_table.TYPES[type_] == 2 else "uint32_t"
    return C_TYPES[kind].format({"1": "32", "8": "32", "24": "32"}.get(bits, bits))


def accessor(type_):
    """The name behind get_ and put_ in handler.h."""
    if type_[0] == "v":
        return "b64" if isa_table.TYPES[type_] == 2 else "b32"
    return "b32" if type_ == "b1" else type_


def uses(text, name):
    return re.search(rf"\b{name}\b", text) is not None


def statements(result, single):
    """'expr' or 'a = expr; b = expr' as a list of (name, expression)."""
    parts = [p.strip() for p in result.split(";") if p.strip()]
    out = []
    for part in parts:
        m = re.match(r"(d|lo|co|scc|exec|vcc)\s*=(?!=)\s*(.*)", part)
        if m:
            out.append((m.group(1), m.group(2)))
        elif len(parts) == 1:
            out.append((single, part))
        else:
            raise isa_table.TableError(f"'{part}' assigns nothing")
    return out


def vector_handler(row):
    result = row.result
    compare = row.encoding == "vopc"
    parts = statements(result, "co" if compare else "d")
    names = [n for n, _ in parts]
    text = " ".join(e for _, e in parts)
    vdst = row.operand("vdst")
    lines = [f"SG_HANDLER({row.name})", "{", "\tSG_SPLAT();"]
    for k, role in enumerate(OPERANDS):
        if row.operand(role) and uses(text, f"s{k}"):
            lines.append(f"\tconst uint32_t *p{k} = sg_src(w, i, SG_S{k});")
    if uses(text, "k"):
        lines.append("\tconst uint32_t kbits = i->literal;")
    if uses(text, "ci"):
        lines.append("\tuint32_t carry_in[SG_LANES] __attribute__((aligned(64)));")
        # v_div_fmas reads VCC without naming it: its third source is a vector
        mask = "sg_s64(w, SG_S_VCC)" if "vcc" in row.flags else "sg_scalar64(w, i, SG_S2)"
        lines.append(f"\tsg_expand(carry_in, {mask});")
    if uses(text, "mode"):
        lines.append("\tconst uint32_t mode = w->mode;")
    if uses(text, "op_sel"):
        lines.append("\tconst uint32_t op_sel = i->fields->op_sel;")
    if uses(text, "bitop3"):
        lines.append("\tconst uint32_t bitop3 = i->fields->bitop3;")
    if uses(text, "clamp"):
        lines.append("\tconst bool clamp = i->clamp;")
    if "d" in names or "lo" in names or uses(text, "d"):
        lines.append("\tuint32_t *dst = sg_dst(w, i), *out = sg_out(w, dst);")
    if "co" in names:
        lines.append("\tuint32_t bits[SG_LANES] __attribute__((aligned(64)));")
    lines += ["", "\tSG_EACH_LANE {"]
    for k, role in enumerate(OPERANDS):
        operand = row.operand(role)
        if operand and uses(text, f"s{k}"):
            lines.append(f"\t\tconst {c_type(operand.type)} s{k} = get_{accessor(operand.type)}(p{k}, l);")
    if uses(text, "k"):
        type_ = row.operand("k").type
        get = "sg_as_f32(kbits)" if type_ == "f32" else f"({c_type(type_)})kbits"
        lines.append(f"\t\tconst {c_type(type_)} k = {get};")
    if uses(text, "ci"):
        lines.append("\t\tconst uint32_t ci = carry_in[l] & 1;")
    if uses(text, "d"):
        lines.append(f"\t\tconst {c_type(vdst.type)} d = get_{accessor(vdst.type)}(dst, l);")
    for name, expr in parts:
        if name in ("d", "lo"):
            # computed first, stored last: the other results may still want the sources
            lines.append(f"\t\tconst {c_type(vdst.type)} result = {expr};")
        elif name == "co":
            lines.append(f"\t\tbits[l] = ({expr}) ? ~0u : 0;")
        else:
            raise isa_table.TableError(f"{row.path}:{row.line}: a lane cannot assign '{name}'")
    if "d" in names:
        lines.append(f"\t\tput_{accessor(vdst.type)}(out, l, result);")
    if "lo" in names:  # a 16-bit result that leaves the upper half alone
        lines.append("\t\tout[l] = (dst[l] & 0xffff0000u) | (uint16_t)result;")
    lines.append("\t}")
    if "co" in names:
        lines.append("\tsg_s64_put(w, i->sdst, sg_pack(bits) & sg_exec(w));")
    if "d" in names or "lo" in names:
        lines.append(f"\tsg_commit(w, dst, out, {isa_table.TYPES[vdst.type]});")
    if "exec" in row.flags:
        # EXEC after VCC: the mask above is of the old EXEC
        lines.append("\tsg_s64_put(w, SG_S_EXEC, sg_s64(w, i->sdst));")
    lines += ["\treturn SG_GO;", "}", ""]
    return lines


def scalar_handler(row):
    single = {"sopc": "scc"}.get(row.encoding, "d")
    parts = statements(row.result, single)
    names = [n for n, _ in parts]
    text = " ".join(e for _, e in parts)
    sdst = row.operand("sdst")
    lines = [f"SG_HANDLER({row.name})", "{"]
    for k, role in enumerate(OPERANDS):
        operand = row.operand(role)
        if operand and uses(text, f"s{k}"):
            bits = 64 if isa_table.TYPES[operand.type] == 2 else 32
            lines.append(f"\tconst {c_type(operand.type)} s{k} = ({c_type(operand.type)})"
                         f"sg_scalar{bits}(w, i, SG_S{k});")
    if uses(text, "simm"):
        lines.append("\tconst int32_t simm = i->imm;")
    if uses(text, "old_scc"):
        lines.append("\tconst uint32_t old_scc = w->scc;")
    if uses(text, "exec"):
        lines.append("\tconst uint64_t exec = sg_exec(w);")
    wide = sdst and sdst.type and isa_table.TYPES[sdst.type] == 2
    if sdst and uses(row.result, "d"):
        type_ = c_type(sdst.type)
        get = "sg_s64(w, i->sdst)" if wide else "w->s[i->sdst]"
        lines.append(f"\t{type_} d = ({type_}){get};")
    elif sdst and "d" in names:
        lines.append(f"\t{c_type(sdst.type)} d;")
    lines.append("")
    for name, expr in parts:
        if name == "d":
            lines.append(f"\td = {expr};")
        elif name == "scc":
            lines.append(f"\tconst uint32_t new_scc = ({expr}) ? 1 : 0;")
        elif name == "exec":
            lines.append(f"\tconst uint64_t new_exec = {expr};")
        else:
            raise isa_table.TableError(f"{row.path}:{row.line}: a scalar cannot assign '{name}'")
    if "d" in names:
        lines.append("\tsg_s64_put(w, i->sdst, (uint64_t)d);" if wide else
                     "\tw->s[i->sdst] = (uint32_t)d;")
    if "exec" in names:
        lines.append("\tsg_s64_put(w, SG_S_EXEC, new_exec);")
    if "scc" in names:
        lines.append("\tw->scc = new_scc;")
    lines += ["\treturn SG_GO;", "}", ""]
    return lines


def template_handler(row):
    name, _, arguments = row.result[1:].partition(" ")
    comma = ", " if arguments.strip() else ""
    return [f"SG_OP_{name}({row.name}{comma}{arguments.strip()})", ""]


def handler_names(rows):
    """The handler of each row: rows of one encoding with the same template share the first one's."""
    first = {}
    return [first.setdefault((row.encoding, row.result), row.name)
            if row.result.startswith("@") else row.name for row in rows]


def emit_handlers(encoding, out, paths):
    lines = ["/* Generated by gen_exec.py from the instruction tables. */",
             '#include "softgpu/exec/handler.h"', f'#include "softgpu/exec/ops_{FAMILY[encoding]}.h"', ""]
    rows = isa_table.handler_rows(paths)
    for row, name in zip(rows, handler_names(rows)):
        if row.encoding != encoding or name != row.name:
            continue
        lines.append(f'#line {row.line} "{row.path}"')
        if row.result == "?":
            lines += [f"SG_OP_unwritten({row.name})", ""]
        elif row.result.startswith("@"):
            lines += template_handler(row)
        elif encoding.startswith("v"):
            lines += vector_handler(row)
        elif encoding.startswith("sop"):
            lines += scalar_handler(row)
        else:
            raise isa_table.TableError(f"{row.path}:{row.line}: a memory instruction's result is "
                                       "'@template arguments'")
    with open(out, "w", encoding="utf-8") as f:
        f.write("\n".join(lines))


def emit_list(out, paths):
    rows = isa_table.handler_rows(paths)
    with open(out, "w", encoding="utf-8") as f:
        f.write("/* Generated by gen_exec.py: every handler, in the order of its number from 1. */\n")
        f.write("#define SG_HANDLER_LIST(X) \\\n")
        f.write(" \\\n".join(f"\tX({name})" for name in handler_names(rows)) + "\n\n")
        f.write(f"#define SG_N_ROW_HANDLERS {len(rows)}\n")


def main():
    if sys.argv[1] == "handlers":
        emit_handlers(sys.argv[2], sys.argv[3], sys.argv[4:])
    else:
        emit_list(sys.argv[2], sys.argv[3:])


if __name__ == "__main__":
    isa_table.main_guard(main)
