#!/usr/bin/env python3
"""Turn functions.tab into the real functions' pointers and the wrappers around them.

    generate.py functions.tab api.h wrappers.c

Each wrapper asks one question (is this recorded?) and calls on. Rows without a hook
are installed only when their service was asked for; see load.c.
"""
import re
import sys

SERVICES = {
    "core": ("HSA_CORE", "HSA_CORE_API"),
    "amd": ("HSA_AMD", "HSA_AMD_EXT_API"),
    "image": ("HSA_IMAGE", "HSA_IMAGE_EXT_API"),
    "finalizer": ("HSA_FINALIZER", "HSA_FINALIZE_EXT_API"),
}
HOOKS = ("-", "always", "dispatch", "copy", "signal", "doorbell", "reach", "reserve", "list", "listed")
PLAIN = ("-", "listed")  # ROCr's function is called itself
# Hooks that are generated: from how many parameters of the row
MADE = {"alloc": 3, "free": 1}
ROW = re.compile(r"(\w+)\s+(-|\d+)\s+(\d+)\s+(-|\S+)\s+(.+?)\s*\b(hsa_\w+)\((.*)\)$")
MADE_ROW = re.compile(r"(\w+):(\w+)\(([\w,]*)\)$")


class Bad(Exception):
    pass


def split(params):
    """Parameters at commas outside of parentheses."""
    parts, depth, part = [], 0, ""
    for c in params:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    if part.strip():
        parts.append(part.strip())
    return [] if parts == ["void"] else parts


def name_of(param):
    """The name a parameter declares: a function pointer's is inside its parentheses."""
    m = re.search(r"\(\*\s*(\w+)\)\s*\(", param) or re.search(r"(\w+)$", param)
    if not m or " " not in param.replace("*", " "):
        raise Bad("parameter without a name: " + param)
    return m.group(1)


def read(path):
    rows, places = [], set()
    for number, line in enumerate(open(path), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        try:
            m = ROW.match(line)
            if not m:
                raise Bad("not a row")
            table, at52, ident, hook, ret, name, params = m.groups()
            if table not in SERVICES:
                raise Bad("unknown table " + table)
            made = MADE_ROW.match(hook)
            if made and MADE.get(made.group(1)) == made.group(3).count(",") + 1:
                hook, made = "alloc", (made.group(1), made.group(2), made.group(3).split(","))
            elif made or hook not in HOOKS:
                raise Bad("unknown hook " + hook)
            for place in ((table, "id", ident), (table, "5.2", at52), ("name", name)):
                if place in places and place[-1] != "-":
                    raise Bad("twice: " + " ".join(place))
                places.add(place)
            params = split(params)
            names = [name_of(p) for p in params]
            for used in made[2] if made else ():
                if used not in names:
                    raise Bad("no such parameter: " + used)
            rows.append((table, at52, ident, hook, ret.strip(), name, params, names, made))
        except Bad as bad:
            sys.exit("%s:%d: %s" % (path, number, bad))
    return rows


def pad(ret):
    return ret if ret.endswith("*") else ret + " "


def header(rows, out):
    out.write("/* Generated from functions.tab. */\n#ifndef WS_HSA_API_H\n#define WS_HSA_API_H\n\n")
    out.write('#include "collector/hsa/tables.h"\n\n')
    out.write("/* ROCr's own functions; NULL: this ROCr does not have it. */\nstruct col_hsa_api {\n")
    for _, _, _, _, ret, name, params, _, _ in rows:
        out.write("\t%s(*%s)(%s);\n" % (pad(ret), name, ", ".join(params) or "void"))
    out.write("};\nextern struct col_hsa_api col_hsa;\n\n")
    for _, _, _, hook, ret, name, params, _, _ in rows:
        if hook not in PLAIN:
            out.write("%scol_hsa_hook_%s(%s);\n" % (pad(ret), name, ", ".join(params) or "void"))
    out.write("\n#define COL_HSA_FUNCTIONS %d\n\n#endif\n" % len(rows))


def wrapper(i, row, out):
    """Two functions: the traced call, and in front of it a test that needs no stack frame."""
    table, _, _, hook, ret, name, params, names, _ = row
    service = SERVICES[table][0]
    call = "%s%s(%s)" % ("col_hsa." if hook in PLAIN else "col_hsa_hook_", name, ", ".join(names))
    traced = "trace_%s(%s)" % (name, ", ".join(names))
    declared = ", ".join(params) or "void"
    void = ret == "void"
    out.write("static __attribute__((noinline)) %strace_%s(%s)\n{\n" % (pad(ret), name, declared))
    if not void:
        out.write("\t%sret_;\n" % pad(ret))
    out.write("\tstruct col_call call_;\n\tstruct col_thread *t_ = col_call_begin(&call_);\n\n")
    out.write("\t%s%s;\n" % ("" if void else "ret_ = ", call))
    out.write("\tcol_call_end(t_, &call_, COL_OP_HSA + %d, CAP_DOMAIN_HSA_API);\n" % i)
    if not void:
        out.write("\treturn ret_;\n")
    out.write("}\n\nstatic %swrap_%s(%s)\n{\n" % (pad(ret), name, declared))
    recorded = "col_on(COL_SERVICE_%s) && !col_op_off(COL_OP_HSA + %d)" % (service, i)
    if hook == "listed":
        recorded += " && !col_hsa_is_listed()"
    if void:
        out.write("\tif (%s)\n\t\t%s;\n\telse\n\t\t%s;\n" % (recorded, traced, call))
    else:
        out.write("\treturn %s ? %s : %s;\n" % (recorded, traced, call))
    out.write("}\n\n")


def made_hook(row, out):
    """Memory that is allocated or freed: recorded when the call succeeds."""
    _, _, _, _, ret, name, params, names, (how, op, used) = row
    out.write("%scol_hsa_hook_%s(%s)\n{\n" % (pad(ret), name, ", ".join(params)))
    out.write("\tstruct col_call call_;\n\tstruct col_thread *t_ = col_alloc_begin(&call_);\n")
    call = "col_hsa.%s(%s)" % (name, ", ".join(names))
    if op == "FREE":
        out.write("\t%sret_;\n\n\tcol_ranges_remove((uint64_t)(uintptr_t)%s);\n\tret_ = %s;\n" % (pad(ret), used[0], call))
    else:
        out.write("\t%sret_ = %s;\n\n" % (pad(ret), call))
    if op == "ALLOCATE":
        # What is kept for replay is not to cost the program its memory.
        out.write("\tif (ret_ == HSA_STATUS_ERROR_OUT_OF_RESOURCES && col_saved_give_back())\n\t\tret_ = %s;\n" % call)
        out.write("\tif (ret_ == HSA_STATUS_SUCCESS)\n\t\tcol_ranges_allocated((uint64_t)(uintptr_t)*%s, %s, %s.handle);\n"
                  % (used[2], used[1], used[0]))
    what = ("*%s, %s, col_agent_of_pool(%s.handle)" % (used[2], used[1], used[0]) if how == "alloc"
            else "%s, 0, 0" % used[0])
    out.write("\tif (t_ && ret_ == HSA_STATUS_SUCCESS)\n"
              "\t\tcol_alloc_end(t_, &call_, CAP_ALLOC_%s, (uint64_t)(uintptr_t)%s);\n" % (op, what))
    out.write("\treturn ret_;\n}\n\n")


def source(rows, out):
    out.write('/* Generated from functions.tab. */\n#include "collector/hsa/hsa_priv.h"\n'
              '#include "collector/hsa/ranges.h"\n#include "collector/hsa/saved.h"\n\n')
    out.write("struct col_hsa_api col_hsa;\n\n")
    for i, row in enumerate(rows):
        if row[-1]:
            made_hook(row, out)
        wrapper(i, row, out)
    out.write("const struct col_hsa_function col_hsa_functions[COL_HSA_FUNCTIONS] = {\n")
    for table, at52, ident, hook, _, name, _, _, _ in rows:
        out.write("\t{ offsetof(struct col_hsa_api, %s), (void (*)(void))wrap_%s, COL_HSA_%s, %s, %s, "
                  "COL_HSA_HOOK_%s },\n" % (name, name, table.upper(), at52 if at52 != "-" else -1,
                                           ident, "NONE" if hook == "-" else hook.upper()))
    out.write("};\n\nconst struct col_op_def col_hsa_ops[COL_HSA_FUNCTIONS] = {\n")
    for table, _, ident, _, _, name, _, _, _ in rows:
        out.write('\t{ .name = "%s", .kind = CAP_KIND_%s, .id = %s, .domain = CAP_DOMAIN_HSA_API },\n'
                  % (name, SERVICES[table][1], ident))
    out.write("};\n")


def main():
    rows = read(sys.argv[1])
    with open(sys.argv[2], "w") as out:
        header(rows, out)
    with open(sys.argv[3], "w") as out:
        source(rows, out)


main()
