"""Programs as trees: how they become text, and how a smaller one is made of one.

An expression is a template with one `$` for each operand, a statement one with `$` for
each expression and `#` for each block. Every template is safe whatever is put in its places
(indices are masked, shifts and divisors bounded), so a smaller tree is as well defined
as the one it came from, and shrinking needs no knowledge of what templates mean.
"""
import copy


class Expr:
    __slots__ = ("ty", "text", "kids")

    def __init__(self, ty, text, *kids):
        self.ty, self.text, self.kids = ty, text, list(kids)

    def __str__(self):
        parts = self.text.split("$")
        return parts[0] + "".join(str(k) + p for k, p in zip(self.kids, parts[1:]))

    def walk(self):
        yield self
        for kid in self.kids:
            yield from kid.walk()


class Stmt:
    """without: for a loop, a template that runs the body once and declares the loop's counter."""
    __slots__ = ("text", "exprs", "blocks", "without")

    def __init__(self, text, exprs=(), blocks=(), without=None):
        self.text, self.exprs, self.blocks = text, list(exprs), [list(b) for b in blocks]
        self.without = without

    def lines(self, indent):
        tab = "\t" * indent
        out, exprs, blocks = "", iter(self.exprs), iter(self.blocks)
        for c in self.text:
            if c == "$":
                out += str(next(exprs))
            elif c == "#":
                out += "\n" + block_text(next(blocks), indent + 1) + tab
            elif c == "\n":
                out += "\n" + tab
            else:
                out += c
        return tab + out + "\n"


def block_text(block, indent):
    return "".join(s.lines(indent) for s in block)


class Function:
    """A device function: declarations, a block and the value it returns (None for void)."""

    def __init__(self, name, head, decls, block, value):
        self.name, self.head, self.decls, self.block, self.value = name, head, decls, block, value

    def __str__(self):
        ret = "" if self.value is None else "\treturn %s;\n" % self.value
        return "%s\n{\n%s%s%s}\n" % (self.head, decl_text(self.decls),
                                    block_text(self.block, 1), ret)


def decl_text(decls):
    return "".join("\t%s\n" % text for _, text in decls)


class Program:
    """
    globals_  (name, text) before the functions: structs, tables
    decls     (name, text) of the kernel's variables
    results   (name, expression text) stored as 64 bits when the kernel ends
    """

    def __init__(self, seed):
        self.seed, self.name = seed, "fz%d" % seed
        self.globals_, self.functions, self.decls, self.block = [], [], [], []
        self.results, self.attrs = [], ""
        self.n_groups, self.nx, self.ny = 1, 64, 1

    def renamed(self, name):
        new = copy.deepcopy(self)
        new.name = name
        return new

    def __str__(self):
        return self.raw().replace("@", self.name)

    def raw(self):
        """The text in which names of the program's own functions and structs still begin with @."""
        text = "".join(t + "\n" for _, t in self.globals_)
        text += "".join(str(f) for f in self.functions)
        text += ("extern \"C\" KERNEL %svoid @(const u8 *in, u8 *out, u32 *acc, u32 k0, u64 k1, "
                 "i8 k2,\n\t\tu16 k3, f32 k4, f64 k5)\n{\n" % self.attrs)
        text += "\tconst u32 item = ITEM_Y() * %du + ITEM_X(), me = GROUP() * %du + item;\n" % (
            self.nx, self.nx * self.ny)
        text += "\tu8 *own = out + me * %du;\n" % (8 * self.n_slots())
        text += decl_text(self.decls)
        text += block_text(self.block, 1)
        for i, (_, value) in enumerate(self.results):
            text += "\t((u64 *)(own + %d))[%d] = %s;\n" % (OWN_BYTES, i, value)
        text += "}\n"
        return text

    def entry(self):
        return '{ "%s", %s, %du, %du, %du, %du, %du },' % (
            self.name, self.name, self.seed & 0xffffffff, self.n_groups, self.nx, self.ny,
            self.n_slots())

    def n_slots(self):
        """64-bit words of a work-item; an even number keeps vectors of its own part aligned."""
        return OWN_BYTES // 8 + (len(self.results) + 1) // 2 * 2

    def size(self):
        return len(self.raw())


OWN_BYTES = 128  # of a work-item in the output buffer, before its results


def source(programs):
    """One translation unit of several programs."""
    text = '#include "kernel.h"\n' + "".join(str(p) for p in programs)
    text += "#ifndef __AMDGCN__\nextern \"C\" const fz_program fz_programs[] = {\n"
    text += "".join("\t%s\n" % p.entry() for p in programs)
    return text + "\t{}\n};\n#endif\n"


# Shrinking: each of SHRINKS yields programs that are smaller in one place.

def blocks_of(program):
    def down(block):
        yield block
        for s in block:
            for b in s.blocks:
                yield from down(b)

    for f in program.functions:
        yield from down(f.block)
    yield from down(program.block)


def exprs_of(program):
    """Each place that holds an expression, as (list, index)."""
    def down(holder, i):
        yield holder, i
        for j in range(len(holder[i].kids)):
            yield from down(holder[i].kids, j)

    for f in program.functions:
        if f.value is not None:
            f_value = [f.value]
            yield from ((h, i) if h is not f_value else (f, "value") for h, i in down(f_value, 0))
    for block in blocks_of(program):
        for s in block:
            for i in range(len(s.exprs)):
                yield from down(s.exprs, i)


def put(holder, i, expr):
    if i == "value":
        holder.value = expr
    else:
        holder[i] = expr


def take(holder, i):
    return holder.value if i == "value" else holder[i]


ZEROS = {"u8": "(u8)0", "i8": "(i8)0", "u16": "(u16)0", "i16": "(i16)0", "u32": "0u", "i32": "0",
         "u64": "0ul", "i64": "0l", "f16": "(f16)0", "f32": "0.0f", "f64": "0.0", "bool": "false"}
ONES = {"u8": "(u8)1", "i8": "(i8)-1", "u16": "(u16)1", "i16": "(i16)-1", "u32": "1u", "i32": "-1",
        "u64": "1ul", "i64": "-1l", "f16": "(f16)1", "f32": "1.0f", "f64": "1.0", "bool": "true"}


def clean(program):
    """Leaves out what nothing names any more."""
    program = copy.deepcopy(program)
    while True:
        text, before = program.raw(), program.size()
        program.functions = [f for f in program.functions if text.count(f.name) > 1]
        program.globals_ = [(n, t) for n, t in program.globals_ if text.count(n) > t.count(n)]
        for f in program.functions:
            f.decls = named_decls(f.decls, block_text(f.block, 1) + str(f.value))
        program.decls = named_decls(program.decls, block_text(program.block, 1) +
                                    " ".join(v for _, v in program.results))
        if program.size() == before:
            return program


def named_decls(decls, text):
    return [(n, t) for n, t in decls
            if word_in(n, text + " " + " ".join(u for m, u in decls if m != n))]


def word_in(name, text):
    at = text.find(name)
    while at >= 0:
        after = text[at + len(name):at + len(name) + 1]
        if not (after.isalnum() or after == "_") and not (
                at and (text[at - 1].isalnum() or text[at - 1] == "_")):
            return True
        at = text.find(name, at + 1)
    return False


def fewer_results(program):
    n = len(program.results)
    chunk = n
    while chunk >= 1:
        for at in range(0, n, chunk):
            new = copy.deepcopy(program)
            del new.results[at:at + chunk]
            yield new
        chunk //= 2


def fewer_statements(program):
    sizes = [len(b) for b in blocks_of(program)]
    for part in (1, 2, 4, 8, 10000):
        for i, size in enumerate(sizes):
            chunk = max(size // part, 1)
            if not size or (part > 1 and chunk == max(size // (part // 2), 1)):
                continue
            for at in range(0, size, chunk):
                new = copy.deepcopy(program)
                del list(blocks_of(new))[i][at:at + chunk]
                yield new


def unwrapped(program):
    """A branch or loop replaced by what it holds."""
    for i, old in enumerate(blocks_of(program)):
        for at, stmt in enumerate(old):
            for j in range(len(stmt.blocks)):
                text = block_text(stmt.blocks[j], 0)
                if "break;" in text or "continue;" in text or stmt.text == stmt.without:
                    continue
                new = copy.deepcopy(program)
                block = list(blocks_of(new))[i]
                inner = block[at].blocks[j]
                block[at:at + 1] = [Stmt(stmt.without, [], [inner], stmt.without)] \
                    if stmt.without and word_in(counter_of(stmt), text) else inner
                yield new


def counter_of(stmt):
    return stmt.without.split("u32 ")[1].split(" ")[0]


def simpler_expressions(program):
    for n, (holder, i) in enumerate(list(exprs_of(program))):
        e = take(holder, i)
        if not e.kids and not e.text[0].isalpha():
            continue  # a constant
        zero = "0u" if e.ty.startswith("index") else ZEROS.get(e.ty, "(%s{})" % e.ty)
        for other in [Expr(e.ty, zero), Expr(e.ty, ONES.get(e.ty, zero))] + [
                x for x in list(e.walk())[1:] if x.ty == e.ty][:8]:
            if str(other) == str(e):
                continue
            new = copy.deepcopy(program)
            h, j = list(exprs_of(new))[n]
            put(h, j, copy.deepcopy(other))
            yield new


def plainer_kernels(program):
    if program.attrs:
        new = copy.deepcopy(program)
        new.attrs = ""
        yield new
    if program.n_groups > 1:
        new = copy.deepcopy(program)
        new.n_groups = 1
        yield new


SHRINKS = (fewer_results, fewer_statements, unwrapped, fewer_statements, plainer_kernels,
           simpler_expressions)
