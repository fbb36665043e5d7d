"""Random expressions of every type, none of which can be undefined.

Arithmetic of signed types is done in the unsigned type of the same width, shifts are
masked, divisors are odd and, where signed, positive, floats become integers only inside the
range. Floating-point operations are those that IEEE 754 defines to the last bit.
"""
from operations import OPERATIONS
from tree import Expr

INTS = ("u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64")
FLOATS = ("f16", "f32", "f64")
VECTORS = {"u16x2": ("u16", 2), "i16x2": ("i16", 2), "f16x2": ("f16", 2),
           "u32x2": ("u32", 2), "u32x3": ("u32", 3), "u32x4": ("u32", 4), "f32x2": ("f32", 2),
           "f32x4": ("f32", 4), "u64x2": ("u64", 2)}
BYTES = {"u8": 1, "i8": 1, "u16": 2, "i16": 2, "f16": 2, "u32": 4, "i32": 4, "f32": 4,
         "u64": 8, "i64": 8, "f64": 8, "u16x2": 4, "i16x2": 4, "f16x2": 4,
         "u32x2": 8, "u32x3": 16, "u32x4": 16, "f32x2": 8, "f32x4": 16, "u64x2": 16}
FLOAT_CONSTANTS = ("0x0p+0", "0x1p+0", "0x1p-1", "0x1p+1", "0x1p+2", "0x1.8p+1", "0x1.45f306p-3",
                   "0x1.99999ap-4", "0x1p-14", "0x1p-24", "0x1.ffcp+15", "0x1.2p-10",
                   "0x1.91eb86p+6")


def bits(ty):
    return int(ty[1:])


def wide(ty):
    """The unsigned type in which arithmetic of an integer type is done."""
    return "u64" if bits(ty) == 64 else "u32"


class Scope:
    """What an expression may name, and how deep it may still go."""

    def __init__(self, rng, features):
        self.rng, self.features = rng, features
        self.vars = {}          # type -> names that may be assigned
        self.fixed = {}         # type -> names that may only be read
        self.arrays = []        # (name, type, length)
        self.fields = []        # (template of an lvalue with $ for the index, type)
        self.calls = []         # (name, result type, argument types)
        self.readers = []       # functions that read through a pointer: (name, result, argument)
        self.pointers = []      # texts of pointers to at least 8 u32
        self.global_ = False    # whether in, own and the kernel's arguments can be named
        self.tables = []        # (name, type, length)

    def on(self, feature):
        return feature in self.features


def some_bits(r, n):
    """A number that instructions treat apart more often than chance would: small, a power, negative."""
    kind = r.random()
    if kind < 0.35:
        return r.randint(0, 80)
    if kind < 0.6:
        return (1 << r.randrange(n)) - r.choice((0, 1))
    if kind < 0.75:
        return -r.randint(1, 70)
    return r.getrandbits(n)


def constant(sc, ty):
    r = sc.rng
    if ty in VECTORS:
        of, n = VECTORS[ty]
        if ty in ("u16x2", "i16x2"):
            # both halves equal: LLVM 15 takes the inline constant -1 for (-1, 0) in packed
            # operations, where it is 32 bits wide
            both = constant(sc, of)
            return Expr(ty, "(%s{ %s, %s })" % (ty, both, both))
        if of == "u64":
            # no half is all ones: LLVM 15 loses the OR of such a half with what it is read from
            parts = [number(of, some_bits(r, 64) & 0xffff7fffffff7fff) for _ in range(n)]
            return Expr(ty, "(" + ty + "{ " + ", ".join(["$"] * n) + " })", *parts)
        return Expr(ty, "(" + ty + "{ " + ", ".join(["$"] * n) + " })",
                    *(constant(sc, of) for _ in range(n)))
    if ty in FLOATS:
        if r.random() < 0.3:
            text = "0x1.%xp%+d" % (r.getrandbits(24), r.randint(-20, 12))
        else:
            text = r.choice(FLOAT_CONSTANTS)
        text = ("-" if r.random() < 0.3 else "") + text
        return Expr(ty, "(%s)%s" % (ty, text + ("f" if ty != "f64" else "")))
    return number(ty, some_bits(r, bits(ty)))


def number(ty, v):
    n = bits(ty)
    v &= (1 << n) - 1
    if ty[0] == "i" and v >> (n - 1):
        v -= 1 << n
    if n == 64:
        return Expr(ty, "%dul" % v if ty == "u64" else "(i64)%dul" % (v & (1 << 64) - 1))
    if n == 32:
        return Expr(ty, "%du" % v if ty == "u32" else "(i32)%du" % (v & 0xffffffff))
    return Expr(ty, "(%s)%d" % (ty, v))


def leaf(sc, ty):
    r = sc.rng
    names = sc.vars.get(ty, []) * 2 + sc.fixed.get(ty, [])
    if names and r.random() < 0.8:
        return Expr(ty, r.choice(names))
    if ty in INTS and r.random() < 0.6:
        others = [(t, n) for t in INTS for n in sc.vars.get(t, []) + sc.fixed.get(t, [])]
        if others:
            t, n = r.choice(others)
            return Expr(ty, "(%s)$" % ty, Expr(t, n))
    return constant(sc, ty)


def index(sc, n, depth):
    """An index below n, a power of two, in the shapes compilers fold into offsets.

    Its type carries the bound, so that shrinking puts no other expression in its place.
    """
    r = sc.rng
    ty = "index%d" % n
    shape = r.random()
    if shape < 0.1:
        return Expr(ty, "%du" % r.randrange(n))
    if shape < 0.4 and sc.fixed.get("u32"):
        i = Expr("u32", r.choice(sc.fixed["u32"]))
    else:
        i = gen(sc, r.choice(("u32", "u32", "u8", "u16")), depth)
    keep = (1 << r.randrange(n.bit_length())) - 1
    if shape < 0.55 or not keep:
        return Expr(ty, "($ & %du)" % (n - 1), i)
    if r.random() < 0.6:
        return Expr(ty, "(%d - (i32)($ & %du))" % (r.randint(keep, n - 1), keep), i)
    return Expr(ty, "((i32)($ & %du) + %d)" % (keep, r.randint(0, n - 1 - keep)), i)


def gen(sc, ty, depth):
    if depth <= 0 or sc.rng.random() < 0.12:
        return leaf(sc, ty)
    if ty == "bool":
        return condition(sc, depth)
    if sc.rng.random() < 0.22:
        e = from_memory(sc, ty, depth - 1)
        if e:
            return e
    if sc.rng.random() < 0.08:
        fits = [c for c in sc.calls if c[1] == ty]
        if fits:
            return call(sc, sc.rng.choice(fits), depth - 1)
    if ty in VECTORS:
        return vector(sc, ty, depth - 1)
    if ty in FLOATS:
        return real(sc, ty, depth - 1)
    return integer(sc, ty, depth - 1)


def call(sc, target, depth):
    name, ty, args = target
    return Expr(ty, name + "(" + ", ".join(["$"] * len(args)) + ")",
                *(gen(sc, a, depth) for a in args))


def condition(sc, depth):
    r = sc.rng
    ty = r.choice(INTS + (FLOATS if sc.on("float") else ()))
    if ty in FLOATS and not sc.on(ty):
        ty = "u32"
    k = r.random()
    if k < 0.12:
        return Expr("bool", "($ %s $)" % r.choice(("&&", "||", "!=")),
                    condition(sc, depth - 1), condition(sc, depth - 1))
    if ty in ("f32", "f64") and k < 0.22:
        mask = r.getrandbits(8) << 2 | r.choice((0, 3))
        return Expr("bool", "CLASS_%s($, 0x%x)" % (ty.upper(), mask), gen(sc, ty, depth - 1))
    if ty in FLOATS and k < 0.3:
        return Expr("bool", "(bool)__builtin_isnan($)", gen(sc, ty, depth - 1))
    if k < 0.5 and ty in INTS:
        return Expr("bool", "(($ >> $) & 1)", gen(sc, ty, depth - 1),
                    number("u32", r.randrange(bits(ty))))
    return Expr("bool", "($ %s $)" % r.choice(("<", "<=", ">", ">=", "==", "!=")),
                gen(sc, ty, depth - 1), gen(sc, ty, depth - 1))


def from_memory(sc, ty, depth):
    r = sc.rng
    ways = []
    arrays = [a for a in sc.arrays if a[1] == ty]
    fields = [f for f in sc.fields if f[1] == ty]
    tables = [t for t in sc.tables if t[1] == ty]
    vectors = [(n, VECTORS[t][1]) for t in VECTORS if VECTORS[t] == (ty, 2) or VECTORS[t] == (ty, 4)
               for n in sc.vars.get(t, [])]
    if vectors:
        ways.append("element")
    if arrays:
        ways += ["array"] * 3
    if fields:
        ways += ["field"] * 3
    if tables:
        ways.append("table")
    if sc.global_ and ty in INTS + tuple(VECTORS) and not (ty[0] == "f"):
        ways += ["in", "in", "own"]
        if sc.on("unaligned"):
            ways.append("unaligned")
    if sc.global_ and ty[0] == "f":
        ways.append("make")
    if sc.global_ and ty == "u32":
        ways.append("words")
    if sc.readers and sc.pointers and ty in ("u32", "u64"):
        ways.append("reader")
    if not ways:
        return None
    way = r.choice(ways)
    if way == "array":
        name, _, n = r.choice(arrays)
        return Expr(ty, name + "[$]", index(sc, n, depth))
    if way == "field":
        text, _, n = r.choice(fields)
        return Expr(ty, text, *([index(sc, n, depth)] if "$" in text else []))
    if way == "element":
        name, n = r.choice(vectors)
        return Expr(ty, name + "[$]", index(sc, n, depth))
    if way == "table":
        name, _, n = r.choice(tables)
        return Expr(ty, name + "[$]", index(sc, n, depth))
    if way == "reader":
        fits = [f for f in sc.readers if f[1] == ty]
        if not fits:
            return None
        name, _, arg = r.choice(fits)
        return Expr(ty, "%s(%s, $)" % (name, r.choice(sc.pointers)), gen(sc, arg, depth))
    if ty == "u32x3":
        return Expr(ty, "load_three((const u32 *)%s + $)" % r.choice(("in", "own")),
                    index(sc, 16, depth))
    if way == "words":
        at = Expr("index512", "(k0 & 511u)") if r.random() < 0.5 else index(sc, 512, depth)
        return Expr(ty, "sum_words((const u32 *)in + $, %d)" % r.choice((2, 3, 4, 8, 16)), at)
    size = BYTES[ty]
    if way == "in":
        return Expr(ty, "((const %s *)in)[$]" % ty, index(sc, 4096 // size, depth))
    if way == "own":
        return Expr(ty, "((%s *)own)[$]" % ty, index(sc, 128 // size, depth))
    if way == "unaligned":
        return Expr(ty, "load_at<%s>(%s + $)" % (ty, r.choice(("in", "own"))),
                    index(sc, 64, depth))
    un = "u" + ty[1:]
    return Expr(ty, "make_%s(((const %s *)in)[$])" % (ty, un),
                index(sc, 4096 // BYTES[un], depth))


def integer(sc, ty, depth):
    r = sc.rng
    n, w = bits(ty), wide(ty)
    k = r.random()
    if k < 0.34:
        op = r.choice(("+", "-", "*", "&", "|", "^", "+", "-"))
        text = "(%s)((%s)$ %s (%s)$)" % (ty, w, op, w) if op != "*" or n < 64 else \
            "(%s)mul_64($, $)" % ty
        return Expr(ty, text, gen(sc, ty, depth), gen(sc, ty, depth))
    if k < 0.44:
        by = number("u32", r.randrange(n)) if r.random() < 0.5 else gen(sc, "u32", depth)
        if r.random() < 0.5:
            return Expr(ty, "(%s)((%s)$ << ($ & %du))" % (ty, w, n - 1), gen(sc, ty, depth), by)
        return Expr(ty, "(%s)($ >> ($ & %du))" % (ty, n - 1), gen(sc, ty, depth), by)
    if k < 0.54:
        t = r.choice(INTS)
        return Expr(ty, "(%s)$" % ty, gen(sc, t, depth))
    if k < 0.60:
        return Expr(ty, "($ ? $ : $)", condition(sc, depth), gen(sc, ty, depth), gen(sc, ty, depth))
    if k < 0.64:
        return Expr(ty, "(%s)%s" % (ty, r.choice(("(~$)", "(0u - (%s)$)" % w))), gen(sc, ty, depth))
    if k < 0.66:
        return Expr(ty, "(%s)$" % ty, condition(sc, depth))
    if k < 0.70:
        f = r.choice(("min", "max"))
        return Expr(ty, "__builtin_elementwise_%s($, $)" % f, typed(ty, gen(sc, ty, depth)),
                    typed(ty, gen(sc, ty, depth)))
    if k < 0.73 and sc.on("division") and (n < 64 or sc.on("division64")):
        # below half of the range, the unsigned too: LLVM 15 takes 0xfffffffe for a number of two
        # bits and divides in floats
        half = number(ty, (1 << (n - 1)) - 1)
        above = "($ & %s)" % half if ty[0] == "u" else "$"
        below = "(($ & %s) | 1)" % half if r.random() < 0.6 else \
            "%d" % r.choice((3, 5, 7, 10, 100, 127))
        text = "(%s)(%s %s (%s)%s)" % (ty, above, r.choice("/%"), ty, below)
        return Expr(ty, text, *(gen(sc, ty, depth) for _ in range(text.count("$"))))
    if k < 0.77 and sc.on("float"):
        f = r.choice([t for t in FLOATS if sc.on(t)] or ["f32"])
        return to_integer(sc, ty, f, depth)
    if k < 0.80 and sc.on("vector"):
        v = r.choice([t for t in VECTORS if VECTORS[t][0] in INTS])
        e = Expr(VECTORS[v][0], "$.%s" % r.choice("xyzw"[:VECTORS[v][1]]), gen(sc, v, depth))
        return e if e.ty == ty else Expr(ty, "(%s)$" % ty, e)
    return operation(sc, ty, depth)


def typed(ty, e):
    """Elementwise builtins want equal types, not one const and not one that C++ made int."""
    return Expr(ty, "(%s)$" % ty, e)


def to_integer(sc, ty, f, depth):
    r = sc.rng
    if r.random() < 0.4:
        e = Expr("u64", "bits_%s($)" % f, gen(sc, f, depth))
        return Expr(ty, "(%s)$" % ty, e)
    n = bits(ty)
    most = min(n - (ty[0] == "i"), 15 if f == "f16" else 64)
    low = "0x0p+0" if ty[0] == "u" else "-0x1p%d" % most
    suffix = "" if f == "f64" else "f"
    return Expr(ty, "(to_int<%s, %s>($, %s%s, 0x1p%d%s))" % (ty, f, low, suffix, most, suffix),
                gen(sc, f, depth))


def possible(sc, row):
    """Whether a program has the types that an operation takes."""
    kinds = {t.split("x")[0] for t in row[2]}
    return all(sc.on("float") and sc.on(t) for t in kinds if t in FLOATS) and \
        (sc.on("vector") or not any(t in VECTORS for t in row[2]))


def operation(sc, ty, depth):
    """A row of the table, or None if there is none for the type."""
    fits = [o for o in OPERATIONS if possible(sc, o) and (
        o[0] == ty or (ty in INTS and o[0] in INTS))]
    if not fits:
        return None
    t, text, args = sc.rng.choice(fits)
    e = Expr(t, text, *(typed(a, gen(sc, a, depth)) for a in args))
    return e if t == ty else Expr(ty, "(%s)$" % ty, e)


def real(sc, ty, depth):
    r = sc.rng
    k = r.random()
    if k < 0.25:
        e = operation(sc, ty, depth)
        if e:
            return e
    if k < 0.40:
        op = r.choice(("+", "-", "*"))
        text = "%s_f16($, $)" % {"+": "add", "-": "sub", "*": "mul"}[op] if ty == "f16" else \
            "($ %s $)" % op
        return Expr(ty, text, gen(sc, ty, depth), gen(sc, ty, depth))
    if k < 0.50:
        text = {"f16": "fma_f16($, $, $)", "f32": "__builtin_fmaf($, $, $)",
                "f64": "__builtin_fma($, $, $)"}[ty]
        return Expr(ty, text, *(gen(sc, ty, depth) for _ in range(3)))
    if k < 0.58:
        return Expr(ty, "(-$)" if r.random() < 0.5 or ty == "f16" else
                    "__builtin_fabs%s($)" % ("f" if ty == "f32" else ""), gen(sc, ty, depth))
    if k < 0.66:
        return Expr(ty, "($ ? $ : $)", condition(sc, depth), gen(sc, ty, depth), gen(sc, ty, depth))
    if k < 0.76:
        t = r.choice(("u8", "i16") if ty == "f16" else INTS)
        return Expr(ty, "(%s)$" % ty, gen(sc, t, depth))
    if k < 0.86:
        others = [t for t in FLOATS if t != ty and sc.on(t)]
        if others:
            return Expr(ty, "(%s)$" % ty, gen(sc, r.choice(others), depth))
    if k < 0.91 and ty != "f16":
        s = "f" if ty == "f32" else ""
        f = r.choice(("floor", "ceil", "trunc", "rint"))
        return Expr(ty, "__builtin_%s%s($)" % (f, s), gen(sc, ty, depth))
    if k < 0.94 and sc.on("fdiv"):
        return Expr(ty, "div_f16($, $)" if ty == "f16" else "($ / $)",
                    gen(sc, ty, depth), gen(sc, ty, depth))
    if sc.on("vector") and ty != "f64":
        v = r.choice(("f32x2", "f32x4") if ty == "f32" else ("f16x2",))
        return Expr(ty, "$.%s" % r.choice("xyzw"[:VECTORS[v][1]]), gen(sc, v, depth))
    # which zero the smaller of two zeros is nobody promises; adding one makes it +0
    s = {"f16": "f", "f32": "f", "f64": ""}[ty]
    text = "__builtin_f%s%s($, $) + 0.0%s" % (r.choice(("min", "max")), s, s)
    e = [gen(sc, ty, depth), gen(sc, ty, depth)]
    if ty == "f16":
        return Expr(ty, "(f16)(%s)" % text, *(Expr("f32", "(f32)$", x) for x in e))
    return Expr(ty, "(%s)" % text, *e)


def vector(sc, ty, depth):
    r = sc.rng
    of, n = VECTORS[ty]
    k = r.random()
    if k < 0.3:
        e = operation(sc, ty, depth)
        if e:
            return e
    if k < 0.25:
        parts = [gen(sc, of, depth - 1) for _ in range(n)]
        if not any(x.kids or x.text[0].isalpha() for x in parts):
            return constant(sc, ty)
        return Expr(ty, "(" + ty + "{ " + ", ".join(["$"] * n) + " })",
                    *(typed(of, x) for x in parts))
    if k < 0.35:
        letters = "".join(r.choice("xyzw"[:n]) for _ in range(n))
        return Expr(ty, "$.%s" % letters, gen(sc, ty, depth))
    if of in FLOATS:
        if k < 0.75:
            return Expr(ty, "($ %s $)" % r.choice("+-*"), gen(sc, ty, depth), gen(sc, ty, depth))
        if k < 0.85 and ty in ("f16x2", "f32x2"):
            return Expr(ty, "fma_%s($, $, $)" % ty, *(gen(sc, ty, depth) for _ in range(3)))
        if k < 0.92:
            return Expr(ty, "(-$)", gen(sc, ty, depth))
        return leaf(sc, ty)
    if k < 0.45 and of != "u64":
        return Expr(ty, "($ * $ + $)", *(gen(sc, ty, depth) for _ in range(3)))
    if k < 0.50 and of in ("u16", "i16", "u32"):
        return Expr(ty, "__builtin_elementwise_%s_sat($, $)" % r.choice(("add", "sub")),
                    typed(ty, gen(sc, ty, depth)), typed(ty, gen(sc, ty, depth)))
    if k < 0.75:
        op = r.choice("+-&|^" + "*" * (of != "u64"))
        return Expr(ty, "($ %s $)" % op, gen(sc, ty, depth), gen(sc, ty, depth))
    if k < 0.85:
        return Expr(ty, "__builtin_elementwise_%s($, $)" % r.choice(("min", "max")),
                    typed(ty, gen(sc, ty, depth)), typed(ty, gen(sc, ty, depth)))
    if k < 0.95:
        return Expr(ty, "($ %s ($ & (%s)(%d)))" % (
            r.choice(("<<", ">>")) if of[0] == "u" else ">>", ty, bits(of) - 1),
                    gen(sc, ty, depth), gen(sc, ty, depth))
    return leaf(sc, ty)
