"""Random programs from a seed: one kernel each, with its functions, structs and tables.

A program uses a random part of what there is (`FEATURES`), so that unusual things meet
often. Work-items share memory in three ways only, none of which depends on their order: an
exchange through LDS between two barriers, lane exchanges where all lanes are active, and
atomics whose memory is touched by one commutative operation.
"""
import random

from expressions import (BYTES, FLOATS, INTS, VECTORS, Scope, condition, constant, gen, index,
                         number)
from tree import Expr, Function, Program, Stmt

FEATURES = ("unaligned", "division", "division64", "fdiv",
            "arrays", "structs", "functions", "pointers", "fpointers", "lds", "waves", "atomics",
            "loops", "pressure", "tables", "switch", "volatile", "stores")

# what makes many instructions is rarer: compiling is most of what a program costs
SHARE = {"pressure": 0.12, "functions": 0.3, "pointers": 0.3, "fpointers": 0.25, "division64": 0.2,
         "fdiv": 0.3, "switch": 0.35}

ATOMICS = (("add", "u32"), ("min", "u32"), ("max", "u32"), ("and", "u32"), ("or", "u32"),
           ("xor", "u32"), ("min", "i32"), ("max", "i32"), ("add", "u64"), ("min", "u64"),
           ("max", "i64"), ("xor", "u64"), ("and", "u64"))


class Maker:
    def __init__(self, seed):
        self.rng = r = random.Random(seed)
        self.features = {f for f in FEATURES if r.random() < SHARE.get(f, 0.5)}
        self.types = r.sample(INTS + FLOATS + tuple(VECTORS), r.randint(1, 5)) + ["u32"]
        elements = {VECTORS.get(t, (t, 1))[0] for t in self.types}
        self.features |= elements & set(FLOATS)
        if elements & set(FLOATS):
            self.features.add("float")
        if set(self.types) & set(VECTORS):
            self.features.add("vector")
        self.program = Program(seed)
        self.n_names = 0
        self.structs = []  # (name, [(field, type, length or 0)])

    def on(self, feature):
        return feature in self.features

    def name(self, prefix):
        self.n_names += 1
        return "%s%d" % (prefix, self.n_names)

    def type(self):
        """One of the few that the program uses, so that values of one type meet."""
        return self.rng.choice(self.types)

    # declarations

    def variables(self, sc, decls, n):
        for _ in range(n):
            ty, name = self.type(), self.name("v")
            first = constant(sc, ty) if self.rng.random() < 0.4 else gen(sc, ty, 1)
            decls.append((name, "%s %s = %s;" % (ty, name, first)))
            sc.vars.setdefault(ty, []).append(name)

    def array(self, sc, decls):
        r = self.rng
        ty, n, name = self.type(), r.choice((2, 4, 8, 8, 16, 32, 64)), self.name("a")
        how = "volatile " if self.on("volatile") and ty not in VECTORS and r.random() < 0.4 else ""
        decls.append((name, "%s%s %s[%d];" % (how, ty, name, n)))
        decls.append((name, "for (u32 i = 0; i < %du; i++)\n\t\t%s[i] = %s;" % (
            n, name, from_counter(ty, "i + %du" % r.randrange(9)))))
        sc.arrays.append((name, ty, n))
        if ty == "u32" and n >= 8 and not how:
            sc.pointers.append(name)

    def struct_type(self):
        r = self.rng
        name = "@_S%d" % len(self.structs)
        fields, text = [], "struct %s%s {" % (
            "__attribute__((packed)) " if self.on("unaligned") and r.random() < 0.4 else "", name)
        packed = "packed" in text
        for i in range(r.randint(2, 6)):
            ty = self.type()
            if packed and ty in VECTORS:
                ty = "u16"
            n = r.choice((0, 0, 0, 2, 4, 8))
            fields.append(("f%d" % i, ty, n))
            text += " %s f%d%s;" % (ty, i, "[%d]" % n if n else "")
        self.program.globals_.append((name, text + " };"))
        self.structs.append((name, fields))

    def struct(self, sc, decls):
        r = self.rng
        sname, fields = r.choice(self.structs)
        n, name = r.choice((0, 0, 2, 4, 8)), self.name("s")
        decls.append((name, "%s %s%s = {};" % (sname, name, "[%d]" % n if n else "")))
        self.struct_vars.append((name if not n else "%s[%d]" % (name, r.randrange(n)), sname))
        for field, ty, m in fields:
            if n and m:
                sc.fields.append(("%s[$].%s[%d]" % (name, field, r.randrange(m)), ty, n))
                sc.fields.append(("%s[%d].%s[$]" % (name, r.randrange(n), field), ty, m))
            elif n or m:
                sc.fields.append(("%s%s.%s%s" % (name, "[$]" if n else "", field,
                                                 "[$]" if m else ""), ty, n or m))
            else:
                sc.fields.append(("%s.%s" % (name, field), ty, 1))

    def table(self):
        r = self.rng
        ty = r.choice([t for t in INTS] + ["f32", "f64"] * self.on("float"))
        n, name = r.choice((4, 16, 64)), "@_T%d" % len(self.tables)
        values = [str(constant(self.scope(), ty)) for _ in range(n)]
        self.program.globals_.append((name, "TABLE %s %s[%d] = { %s };" % (
            ty, name, n, ", ".join(values))))
        self.tables.append((name, ty, n))

    def scope(self):
        sc = Scope(self.rng, self.features)
        sc.tables = list(getattr(self, "tables", []))
        return sc

    def function(self, kind):
        """kind: value, reader (through a pointer) or writer."""
        r = self.rng
        sc, decls = self.scope(), []
        name = "@_%s%d" % (kind[0], len(self.program.functions))
        args = [self.type() for _ in range(r.randint(1, 4 if kind == "value" else 1))]
        ty = {"value": self.type(), "reader": r.choice(("u32", "u64")), "writer": "void"}[kind]
        sc.calls, sc.readers = list(self.calls), []
        for i, t in enumerate(args):
            sc.vars.setdefault(t, []).append("p%d" % i)
        params = ["%s p%d" % (t, i) for i, t in enumerate(args)]
        if kind != "value":
            params.insert(0, "%su32 *p" % ("const " if kind == "reader" else ""))
            sc.arrays.append(("p", "u32", 8))
        self.variables(sc, decls, r.randint(1, 3))
        if self.on("arrays") and r.random() < 0.4:
            self.array(sc, decls)
        stored = [a for a in sc.arrays if a[0] != "p" or kind == "writer"]
        block = self.block(sc, r.randint(1, 3), 1, stored)
        value = None if kind == "writer" else gen(sc, ty, 2)
        how = "NOINLINE" if kind == "writer" or r.random() < 0.8 else "DEVICE"
        head = "%s static %s %s(%s)" % (how, ty, name, ", ".join(params))
        self.program.functions.append(Function(name, head, decls, block, value))
        if kind == "value":
            self.calls.append((name, ty, args))
        else:
            (self.readers if kind == "reader" else self.writers).append((name, ty, args[0]))

    def struct_function(self):
        """Takes a struct by value and returns one, with more arguments than fit in registers."""
        r = self.rng
        sname, fields = r.choice(self.structs)
        sc, decls = self.scope(), []
        name = "@_s%d" % len(self.program.functions)
        args = [r.choice(("u64", "u32", "i64", "u8")) for _ in range(r.choice((1, 2, 16)))]
        for i, t in enumerate(args):
            sc.vars.setdefault(t, []).append("p%d" % i)
        for field, ty, m in fields:
            sc.fields.append(("s.%s%s" % (field, "[$]" if m else ""), ty, m or 1))
        block = self.block(sc, r.randint(1, 3), 1, [])
        head = "NOINLINE static %s %s(%s s, %s)" % (
            sname, name, sname, ", ".join("%s p%d" % (t, i) for i, t in enumerate(args)))
        self.program.functions.append(Function(name, head, decls, block, Expr("struct", "s")))
        self.by_value.append((name, sname, args))

    def function_table(self):
        """Two functions of one type that are called through a pointer."""
        r = self.rng
        made = []
        for which in range(2):
            sc, decls = self.scope(), []
            sc.vars = {"u32": ["p0", "p1"]}
            name = "@_i%d" % len(self.program.functions)
            self.variables(sc, decls, 1)
            block = self.block(sc, r.randint(1, 3), 1, [])
            self.program.functions.append(Function(
                name, "NOINLINE static u32 %s(u32 p0, u32 p1)" % name, decls, block,
                gen(sc, "u32", 2)))
            made.append(name)
        return made

    # statements

    def block(self, sc, n, depth, stored, loop=False):
        return [self.statement(sc, depth, stored, loop) for _ in range(n)]

    def statement(self, sc, depth, stored, loop):
        r = self.rng
        k = r.random()
        if k < 0.12 and depth > 0:
            return self.branch(sc, depth, stored, loop)
        if k < 0.22 and depth > 0 and self.on("loops"):
            return self.loop(sc, depth, stored)
        if k < 0.26 and depth > 0 and self.on("switch"):
            return self.switch(sc, depth, stored)
        if k < 0.28 and loop:
            return Stmt("if ($)\n\t%s;" % r.choice(("break", "continue")), [condition(sc, 2)])
        if k < 0.42 and stored:
            name, ty, n = r.choice(stored)
            return Stmt("%s[$] = $;" % name, [index(sc, n, 2), gen(sc, ty, 3)])
        if k < 0.54 and sc.fields:
            text, ty, n = r.choice(sc.fields)
            return Stmt(text + " = $;", ([index(sc, n, 2)] if "$" in text else []) +
                        [gen(sc, ty, 3)])
        if k < 0.60 and sc.global_ and self.on("stores"):
            return self.store(sc)
        if k < 0.66 and sc.global_ and self.on("atomics"):
            return self.atomic(sc)
        if k < 0.70 and sc.global_ and self.writers:
            name, _, arg = r.choice(self.writers)
            own = "(u32 *)(own + %d)" % (4 * r.randrange(24))
            target = r.choice([p for p in sc.pointers if "in" not in p and "T" not in p] + [own])
            return Stmt("%s(%s, $);" % (name, target), [gen(sc, arg, 2)])
        if k < 0.72 and sc.global_ and self.by_value:
            name, sname, args = r.choice(self.by_value)
            kept = [v for v, t in self.struct_vars if t == sname]
            if kept:
                to, of = r.choice(kept), r.choice(kept)
                return Stmt("%s = %s(%s, %s);" % (to, name, of, ", ".join(["$"] * len(args))),
                            [gen(sc, t, 1) for t in args])
        if k < 0.74 and sc.vars.get("u32") and self.pair:
            return Stmt("%s = ($ ? %s : %s)($, $);" % (r.choice(sc.vars["u32"]), *self.pair),
                        [condition(sc, 2), gen(sc, "u32", 2), gen(sc, "u32", 2)])
        wide = [(n, t) for t in ("u32x4", "f32x4") for n in sc.vars.get(t, [])]
        if k < 0.77 and wide:
            name, ty = r.choice(wide)
            return Stmt("%s[$] = $;" % name, [Expr("index4", "($ & 3u)", gen(sc, "u32", 2)),
                                              gen(sc, VECTORS[ty][0], 3)])
        types = [t for t in sc.vars if sc.vars[t]]
        if not types:
            return Stmt(";")
        ty = r.choice(types)
        names = sc.vars[ty]
        if sc.global_ and r.random() < 0.2:  # equal in all lanes: work for the scalar unit
            sc = self.scope()
            sc.global_ = True
            sc.fixed = {"u32": ["k0"], "u64": ["k1"], "i8": ["k2"], "u16": ["k3"], "f32": ["k4"],
                        "f64": ["k5"]}
        return Stmt("%s = $;" % r.choice(names), [gen(sc, ty, r.choice((2, 3, 3, 3, 4)))])

    def store(self, sc):
        r = self.rng
        ty = r.choice([t for t in list(INTS) + list(VECTORS) if t[0] != "f"])
        if ty == "u32x3":
            return Stmt("store_three((u32 *)own + $, $);", [index(sc, 16, 2), gen(sc, ty, 3)])
        if self.on("unaligned") and r.random() < 0.4:
            return Stmt("store_at<%s>(own + $, $);" % ty, [index(sc, 64, 2), gen(sc, ty, 3)])
        return Stmt("((%s *)own)[$] = $;" % ty, [index(sc, 128 // BYTES[ty], 2), gen(sc, ty, 3)])

    def atomic(self, sc):
        r = self.rng
        i = r.randrange(len(ATOMICS))
        op, ty = ATOMICS[i]
        at = "acc[%d + $]" % (8 * i)
        if "64" in ty:
            at = "((%s *)(acc + %d))[$]" % (ty, 8 * i)
        elif ty != "u32":
            at = "((%s *)acc)[%d + $]" % (ty, 8 * i)
        if r.random() < 0.2:  # tickets: who gets which differs, that each is given once does not
            i = len(ATOMICS)
            return Stmt("{\n\tu32 t = ATOMIC(add, acc + %d, 1u);\n"
                        "\tATOMIC(add, acc + %d, t * t ^ t >> 3);\n}" % (8 * i, 8 * i + 1))
        if r.random() < 0.25:
            text, arg = r.choice((
                ("atomic_mul<u32>(acc + 4 + $, $ | 1u);", "u32"),
                ("ATOMIC(add, (f32 *)acc + 112 + $, (f32)($ & 15u));", "u32"),
                ("ATOMIC(add, (f64 *)(acc + 116) + ($ >> 1), (f64)(i8)$);", "u32")))
            return Stmt(text, [index(sc, 4, 2), gen(sc, arg, 2)])
        if r.random() < 0.1:
            return Stmt(r.choice(("ATOMIC_INC(acc + 120, 1000u);", "ATOMIC_DEC(acc + 121, 99u);")))
        return Stmt("ATOMIC(%s, &%s, $);" % (op, at),
                    [index(sc, 4, 2), Expr(ty, "(%s)$" % ty, gen(sc, ty, 3))])

    def branch(self, sc, depth, stored, loop):
        n = self.rng.choice((1, 1, 2))
        if self.rng.random() < 0.5:
            return Stmt("if ($) {#}", [condition(sc, 3)],
                        [self.block(sc, n, depth - 1, stored, loop)])
        return Stmt("if ($) {#} else {#}", [condition(sc, 3)],
                    [self.block(sc, n, depth - 1, stored, loop),
                     self.block(sc, n, depth - 1, stored, loop)])

    def loop(self, sc, depth, stored):
        r = self.rng
        i = self.name("n")
        sc.fixed.setdefault("u32", []).append(i)
        body = self.block(sc, r.choice((1, 2, 2, 3)), depth - 1, stored, True)
        sc.fixed["u32"].remove(i)
        if r.random() < 0.4:
            until, exprs = "%du" % r.randint(1, 9), []
        else:
            until, exprs = "($ & %du)" % r.choice((3, 7)), [gen(sc, "u32", 2)]
        once = "{\n\tconst u32 %s = 0;#}" % i
        if r.random() < 0.3:
            return Stmt("for (u32 %s = %s; %s-- > 0;) {#}" % (i, until, i), exprs, [body], once)
        if exprs:
            return Stmt("for (u32 %s = 0, %s_end = %s; %s < %s_end; %s++) {#}" % (
                i, i, until, i, i, i), exprs, [body], once)
        return Stmt("for (u32 %s = 0; %s < %s; %s++) {#}" % (i, i, until, i), exprs, [body], once)

    def switch(self, sc, depth, stored):
        r = self.rng
        n = r.randint(2, 4)
        text = "switch ($ & 7u) {"
        for i in range(n):
            text += "\ncase %d: {#}\n\t%s" % (i * r.choice((1, 1, 2)) if i < 3 else 7,
                                           "break;" if r.random() < 0.8 else "/* fall through */")
        seen, parts = set(), text.split("\ncase ")
        for part in parts[1:]:  # a label stands once
            seen.add(part.split(":")[0])
        if len(seen) != n:
            return self.branch(sc, depth, stored, False)
        text = text.rsplit("\t", 1)[0] + "\tbreak;\ndefault: {#}\n}"
        blocks = [self.block(sc, r.randint(1, 2), depth - 1, stored) for _ in range(n + 1)]
        return Stmt(text, [gen(sc, "u32", 2)], blocks)

    # what all work-items of a group do together

    def together(self, sc):
        r = self.rng
        ways = ["exchange", "count"] * self.on("lds") + ["wave"] * 2 * self.on("waves")
        if not ways:
            return self.statement(sc, 2, sc.arrays, False)
        return getattr(self, r.choice(ways))(sc)

    def exchange(self, sc):
        r = self.rng
        types = [t for t in sc.vars if sc.vars[t]]
        ty, n = r.choice([t for t in types if t != "u32x3"]), self.program.nx * self.program.ny
        var = r.choice(sc.vars[ty])
        step = r.choice((1, 1, 2)) if BYTES[ty] <= 8 else 1
        base = "((%s *)lds)" % ty
        if self.readers and ty in ("u32", "u64") and r.random() < 0.4:
            fits = [f for f in self.readers if f[1] == ty and f[2] in INTS]
            if fits:
                return Stmt("((u32 *)lds)[item] = $;\nBARRIER();\n"
                            "%s = %s((u32 *)lds + ($ %% %du), $);\nBARRIER();" % (
                                var, fits[0][0], n - 8),
                            [gen(sc, "u32", 2), gen(sc, "u32", 2), gen(sc, fits[0][2], 1)])
        if ty in INTS and r.random() < 0.4:  # two at once, near or 64 elements apart
            return Stmt("{\n\t%s[item] = $;\n\tBARRIER();\n\tu32 at = $ %% %du;\n"
                        "\t%s = (%s)(%s[at] - %s[at + %d]);\n}\nBARRIER();" % (
                            base, n // 2, var, ty, base.replace("(" + ty, "(u" + ty[1:]),
                            base.replace("(" + ty, "(u" + ty[1:]), r.choice((1, 2, n // 2))),
                        [gen(sc, ty, 2), gen(sc, "u32", 2)])
        return Stmt("%s[item * %du] = $;\nBARRIER();\n%s = %s[$ %% %du * %du];\nBARRIER();" % (
            base, step, var, base, n, step), [gen(sc, ty, 2), gen(sc, "u32", 2)])

    def count(self, sc):
        r = self.rng
        op, ty = r.choice(ATOMICS)
        var = r.choice(sc.vars.get("u32") or ["k0"])
        return Stmt("if (item < 8)\n\t((%s *)lds)[item] = 77;\nBARRIER();\nif ($)\n"
                    "\tATOMIC(%s, (%s *)lds + $, $);\nBARRIER();\n"
                    "%s += (u32)((%s *)lds)[$];\nBARRIER();"
                    % (ty, op, ty, var, ty),
                    [condition(sc, 2), index(sc, 8, 2), Expr(ty, "(%s)$" % ty, gen(sc, ty, 2)),
                     index(sc, 8, 2)])

    def wave(self, sc):
        r = self.rng
        x = Expr("u32", "(u32)$", gen(sc, "u32", 2))
        var = r.choice(sc.vars.get("u32") or ["k0"])
        k = r.randrange(8)
        if k == 7 and sc.vars.get("u32x4"):
            c = r.choice(sc.vars["u32x4"])
            return Stmt("%s = MFMA_I8($, $, %s);" % (c, c), [x, gen(sc, "u32", 1)])
        if k == 7:
            m = self.name("m")
            return Stmt("{\n\tf32x4 %s = MFMA_F32((f32)(i8)$, (f32)(i8)$, (f32x4{ 1, 2, 3, 4 }));\n"
                        "\t%s ^= (u32)(i32)%s.%s;\n}" % (m, var, m, r.choice("xyzw")),
                        [x, gen(sc, "u32", 1)])
        if k == 0:
            return Stmt("%s ^= READLANE($, %d);" % (var, r.randrange(64)), [x])
        if k == 1:
            return Stmt("%s += READFIRST($);" % var, [x])
        if k == 2:
            return Stmt("%s = BPERMUTE($, $);" % var, [gen(sc, "u32", 2), x])
        if k == 3:
            m = self.name("m")
            if not sc.vars.get("u64"):
                return Stmt("{\n\tu64 %s = BALLOT($);\n\t%s += MBCNT(%s);\n}" % (m, var, m),
                            [condition(sc, 2)])
            return Stmt("%s ^= BALLOT($);" % r.choice(sc.vars["u64"]), [condition(sc, 2)])
        if k == 4:
            pattern = 0x8000 | r.getrandbits(8) if r.random() < 0.3 else r.getrandbits(15)
            return Stmt("%s ^= SWIZZLE($, 0x%x);" % (var, pattern), [x])
        ctrl, rows = r.choice((
            (r.getrandbits(8), 15), (0x100 + r.randint(1, 15), 15), (0x110 + r.randint(1, 15), 15),
            (0x120 + r.randint(1, 15), 15), (r.choice((0x130, 0x134, 0x138, 0x13c)), 15),
            (0x140, 15), (0x141, 15), (0x142, 10), (0x143, 12)))
        if rows == 15 and r.random() < 0.3:
            rows = r.randint(1, 15)
        banks = 15 if r.random() < 0.7 else r.randint(1, 15)
        op = r.choice(("%s += $", "%s = $", "%s ^= $", "%s = __builtin_elementwise_max(%s, $)",
                       "%s = %s - $", "%s = %s & $"))
        op = op.replace("%s", var)
        return Stmt(op.replace("$", "DPP($, $, 0x%x, 0x%x, 0x%x, %s)" % (
            ctrl, rows, banks, r.choice(("true", "false")))) + ";",
            [number("u32", r.choice((0, 0, 0xffffffff, 5))) if r.random() < 0.7 else
             gen(sc, "u32", 1), x])

    # the whole

    def make(self):
        r, p = self.rng, self.program
        shapes = ((64, 1), (128, 1), (32, 4), (16, 16), (64, 2))
        p.nx, p.ny = r.choice(shapes if self.on("waves") else shapes + ((40, 1), (7, 11), (100, 1)))
        p.n_groups = r.choice((1, 2, 2, 3))
        items = p.nx * p.ny
        self.tables, self.calls, self.readers, self.writers, self.pair = [], [], [], [], None
        self.by_value, self.struct_vars = [], []
        if self.on("tables"):
            for _ in range(r.randint(1, 3)):
                self.table()
        if self.on("structs"):
            for _ in range(r.randint(1, 2)):
                self.struct_type()
        if self.on("functions"):
            for _ in range(r.randint(1, 2)):
                self.function("value")
        if self.structs and r.random() < 0.3:
            self.struct_function()
        if self.on("pointers"):
            self.function("reader")
            if r.random() < 0.6:
                self.function("writer")
        if self.on("fpointers") and r.random() < 0.5:
            self.pair = self.function_table()

        sc = self.scope()
        sc.global_ = True
        sc.calls, sc.readers = self.calls, self.readers
        sc.fixed = {"u32": ["item", "me", "k0"], "u64": ["k1"], "i8": ["k2"], "u16": ["k3"],
                    "f32": ["k4"], "f64": ["k5"]}
        sc.pointers = ["(const u32 *)in + %d" % r.randrange(900)]
        sc.pointers += ["(const u32 *)" + n for n, t, m in self.tables if m >= 16 and BYTES[t] >= 4]
        if self.on("pressure"):
            self.variables(sc, p.decls, r.randint(16, 28))
            p.attrs = r.choice((
                "GPU_ONLY(amdgpu_num_vgpr(%d)) " % r.choice((32, 40, 48)),
                "GPU_ONLY(amdgpu_waves_per_eu(8, 8)) ", ""))
        else:
            self.variables(sc, p.decls, r.randint(3, 6))
        sc.vars.setdefault("u32", [])
        if not sc.vars["u32"]:
            name = self.name("v")
            p.decls.append((name, "u32 %s = k0;" % name))
            sc.vars["u32"].append(name)
        if r.random() < 0.5:
            p.attrs += "GPU_ONLY(amdgpu_flat_work_group_size(%d, %d)) " % (items, items)
        if self.on("arrays"):
            for _ in range(r.choice((1, 1, 2))):
                self.array(sc, p.decls)
        if self.structs:
            self.struct(sc, p.decls)
        if self.on("lds"):
            p.decls.append(("lds", "SHARED __attribute__((aligned(16))) u8 lds[%d];" % (
                items * 16 + 64)))
        for _ in range(r.choice((2, 3, 3, 4, 4, 5, 8))):
            if r.random() < 0.25:
                p.block.append(self.together(sc))
            else:
                p.block.append(self.statement(sc, 2, sc.arrays, False))
        self.results(sc)
        return p

    def results(self, sc):
        p = self.program
        for ty, names in sc.vars.items():
            for n in names:
                p.results += [(n, v) for v in as_bits(ty, n)]
        for name, ty, n in sc.arrays:
            h = self.name("h")
            p.decls.append((h, "u64 %s = 0;" % h))
            values = " + ".join("%s * %du" % (v, 2 * i + 1)
                                for i, v in enumerate(as_bits(ty, "%s[i]" % name)))
            p.block.append(Stmt("for (u32 i = 0; i < %du; i++)\n\t%s = %s * 31u + (%s);" % (
                n, h, h, values)))
            p.results.append((h, h))
        for text, ty, n in sc.fields:
            for i in {0, n - 1}:  # what lies between shows where something else reads it
                p.results += [(text, v) for v in as_bits(ty, text.replace("$", str(i)))]


def from_counter(ty, text):
    if ty in VECTORS:
        of, n = VECTORS[ty]
        values = ("(%s)(%s + %du)" % (of, text, i) for i in range(n))
        return "(" + ty + "{ " + ", ".join(values) + " })"
    return "(%s)(%s)" % (ty, text)


def as_bits(ty, text):
    if ty in VECTORS:
        of, n = VECTORS[ty]
        return [b for c in "xyzw"[:n] for b in as_bits(of, text + "." + c)]
    if ty in FLOATS:
        return ["bits_%s(%s)" % (ty, text)]
    return ["(u64)" + text]


def program(seed):
    return Maker(seed).make()
