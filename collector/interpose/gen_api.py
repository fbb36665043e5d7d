#!/usr/bin/env python3
"""Turn a table of library functions into C: what the capture says about them, and their wrappers.

    gen_api.py ops  --name hip --base COL_OP_HIP hip.abi hip_api.tbl out.c
    gen_api.py wrap --name hip --base COL_OP_HIP [--streams] hip.abi hip_api.tbl out.c

The words of the .abi file are explained in collector/hip/hip.abi. Row i of the table is operation
base + i. --streams makes wrappers only for functions that name a stream or have a hook: all that is
needed to know which stream GPU work belongs to while HIP calls are not recorded.
"""
import argparse
import re
import sys

# how a value is passed -> C type, enum cap_arg_kind, expression for its slot
SCALARS = {
    'i32': ('int32_t', 'I32', '(uint64_t)(int64_t){0}'),
    'u32': ('uint32_t', 'U32', '{0}'),
    'i64': ('int64_t', 'I64', '(uint64_t){0}'),
    'u64': ('uint64_t', 'U64', '{0}'),
    'u8': ('uint8_t', 'U32', '{0}'),
    'u16': ('uint16_t', 'U32', '{0}'),
    'bool': ('bool', 'BOOL', '{0}'),
    'f32': ('float', 'F32', 'col_slot_f32({0})'),
    'enum': ('int32_t', 'ENUM', '(uint64_t)(int64_t){0}'),
    'ptr': ('void *', 'PTR', '(uintptr_t){0}'),
}
FIELD_TEXT = {'u64': 'col_text_u64', 'i32': 'col_text_i64', 'ptr': 'col_text_ptr'}


class Wrong(Exception):
    pass


class Abi:
    def __init__(self):
        self.kinds, self.types, self.structs, self.n_bytes = {}, {}, {}, {}
        self.names, self.absent, self.symbols, self.before, self.after = {}, {}, {}, {}, {}
        self.only, self.stream_in = set(), {}

    def read(self, path):
        for where, line in rows(path):
            word, _, rest = line.partition(' ')
            rest = rest.strip()
            if word == 'type':
                name, _, how = rest.rpartition(' ')
                if how not in SCALARS and how not in ('stream', 'dim3'):
                    raise Wrong(f"{where}: unknown way to pass a value '{how}'")
                self.add(self.types, where, name.strip(), how)
                continue
            name, _, rest = rest.partition(' ')
            rest = rest.strip()
            if word == 'kind':
                self.add(self.kinds, where, name, rest.split())
            elif word == 'struct':
                fields = [tuple(f.split()) for f in rest.split(',')]
                for how, _ in fields:
                    if how not in FIELD_TEXT:
                        raise Wrong(f"{where}: unknown field type '{how}'")
                self.add(self.structs, where, name, fields)
            elif word == 'bytes':
                self.add(self.n_bytes, where, name, int(rest))
            elif word == 'names':
                self.add(self.names, where, name, [v.split('=') for v in rest.split()])
            elif word == 'absent':
                self.add(self.absent, where, name, int(rest))
            elif word in ('symbol', 'only'):
                self.add(self.symbols, where, name, rest)
                if word == 'only':
                    self.only.add(name)
            elif word in ('before', 'after'):
                self.add(getattr(self, word), where, name, rest)
            elif word == 'stream_in':
                arg, _, offset = rest.partition(' ')
                if not offset.strip().isdigit():
                    raise Wrong(f"{where}: stream_in wants a function, an argument and an offset")
                self.add(self.stream_in, where, name, (arg, int(offset)))
            else:
                raise Wrong(f"{where}: unknown word '{word}'")

    @staticmethod
    def add(where_to, where, name, value):
        if name in where_to:
            raise Wrong(f"{where}: '{name}' is there twice")
        where_to[name] = value

    def how(self, ctype):
        """way to pass a type: a key of SCALARS, stream, dim3, text, struct, bytes or void"""
        if ctype == 'const char*':
            return 'text'
        if ctype.endswith('*'):
            return 'ptr'
        bare = re.sub(r'^const ', '', ctype)
        if bare == 'void':
            return 'void'
        if bare in self.structs:
            return 'struct'
        if bare in self.n_bytes:
            return 'bytes'
        return self.types.get(bare)

    def c(self, ctype):
        how = self.how(ctype)
        if how in SCALARS:
            return SCALARS[how][0]
        return {'text': 'const char *', 'stream': 'void *', 'dim3': 'struct col_dim3', 'void': 'void',
                'struct': f'struct col_by_{ctype}', 'bytes': f'struct col_by_{ctype}'}[how]

    def arg_kind(self, ctype):
        how = self.how(ctype)
        if how in SCALARS:
            return SCALARS[how][1]
        return {'text': 'STR', 'stream': 'STREAM', 'dim3': 'DIM3', 'void': 'NONE',
                'struct': 'STR', 'bytes': 'STR'}[how]


def rows(path):
    for i, line in enumerate(open(path), 1):
        line = line.split('#')[0].rstrip()
        if line:
            yield f'{path}:{i}', line


class Function:
    def __init__(self, where, line, abi):
        m = re.match(r'^(\w+)\s+(\d+)\s+(\S.*?)\s+(\w+)\((.*)\)$', line)
        if not m:
            raise Wrong(f'{where}: not a row: kind, id, return type, name(arguments)')
        self.kind, self.id, self.ret, self.name = m.group(1), int(m.group(2)), m.group(3), m.group(4)
        self.args = []
        for text in [] if m.group(5) == 'void' else m.group(5).split(', '):
            ctype, _, name = text.rpartition(' ')
            if not ctype:
                raise Wrong(f"{where}: argument '{text}' has no type")
            self.args.append((ctype, name))
        if self.kind not in abi.kinds:
            raise Wrong(f"{where}: unknown kind '{self.kind}'")
        for ctype in [self.ret] + [t for t, _ in self.args]:
            if abi.how(ctype) is None:
                raise Wrong(f"{where}: nothing says how '{ctype}' is passed")
        if abi.how(self.ret) in ('dim3', 'stream', 'f32'):
            raise Wrong(f"{where}: cannot return '{self.ret}'")
        self.streams = [n for t, n in self.args if abi.how(t) == 'stream']
        if self.name in abi.stream_in:
            arg, offset = abi.stream_in[self.name]
            if arg not in [n for t, n in self.args if t.endswith('*')]:
                raise Wrong(f"{where}: '{arg}' is not a pointer that '{self.name}' takes")
            self.streams.insert(0, f'col_stream_in({arg}, {offset})')


def functions(path, abi):
    out, names, ids = [], set(), set()
    for where, line in rows(path):
        f = Function(where, line, abi)
        if f.name in names:
            raise Wrong(f"{where}: function '{f.name}' is there twice")
        if (f.kind, f.id) in ids:
            raise Wrong(f'{where}: {f.kind} id {f.id} is there twice')
        names.add(f.name)
        ids.add((f.kind, f.id))
        out.append(f)
    for what in (abi.symbols, abi.before, abi.after, abi.stream_in):
        for name in what:
            if name not in names:
                raise Wrong(f"{path}: the .abi file mentions '{name}', which is not in the table")
    return out


def ops(name, base, abi, fns):
    yield '#include "collector/interpose/ops.h"\n'
    for f in fns:
        if f.args:
            yield f'static const struct col_arg_def args_{f.name}[] = {{'
            for ctype, n in f.args:
                yield f'\t{{ "{n}", "{ctype}", CAP_ARG_{abi.arg_kind(ctype)} }},'
            yield '};'
    yield f'\nconst struct col_op_def col_{name}_ops[] = {{'
    for f in fns:
        _, kind, domain = abi.kinds[f.kind]
        args = f'args_{f.name}' if f.args else 'NULL'
        ret = 'PTR' if abi.how(f.ret) == 'text' else 'NONE' if abi.how(f.ret) in ('struct', 'bytes') \
            else abi.arg_kind(f.ret)
        yield (f'\t{{ "{f.name}", {args}, CAP_KIND_{kind}, {f.id}, CAP_DOMAIN_{domain}, '
               f'CAP_ARG_{ret}, {len(f.args)} }},')
    yield f'}};\nconst size_t col_{name}_n_ops = {len(fns)};'
    yield f'\nconst struct col_enum_name col_{name}_names[] = {{'
    n = 0
    for ctype, values in abi.names.items():
        for value, text in values:
            yield f'\t{{ "{ctype}", "{text}", {value} }},'
            n += 1
    yield '\t{ NULL, NULL, 0 },'
    yield f'}};\nconst size_t col_{name}_n_names = {n};'


def by_value(abi, fns):
    """C types of what is passed by value, and their text as AMD prints it: last field first"""
    as_argument = {t for f in fns for t, _ in f.args}
    for name, fields in abi.structs.items():
        members = ' '.join(f'{SCALARS[how][0]}{"" if how == "ptr" else " "}{n};' for how, n in fields)
        yield f'struct col_by_{name} {{ {members} }};'
        if name not in as_argument:
            continue
        yield f'static uint32_t slots_{name}(uint64_t *slots, const struct col_by_{name} *v)\n{{'
        yield '\tchar *const start = (char *)(slots + 1);\n\tchar *to = start;\n'
        for i, (how, n) in enumerate(reversed(fields)):
            yield f'\tto = {FIELD_TEXT[how]}(to, "{", " if i else "{"}{n}=", v->{n});'
        yield '\t*to++ = \'}\';\n\treturn col_slot_close(slots, start, to);\n}\n'
    for name, n in abi.n_bytes.items():
        yield f'struct col_by_{name} {{ char bytes[{n}]; }};'
        if name not in as_argument:
            continue
        yield f'static uint32_t slots_{name}(uint64_t *slots, const struct col_by_{name} *v)\n{{'
        yield '\treturn col_slot_hex(slots, v->bytes, sizeof(v->bytes));\n}\n'


def slot_code(f, abi):
    """the statements that fill slots[], and the number of slots as an expression"""
    hows = [(abi.how(t), t, n) for t, n in f.args]
    room = {'text': 'COL_SLOTS_TEXT', 'struct': 'COL_SLOTS_TEXT', 'bytes': 'COL_SLOTS_TEXT',
            'stream': '2', 'dim3': '2'}
    if not hows:
        return [], 'NULL', '0'
    varying = any(h in ('text', 'struct', 'bytes') for h, _, _ in hows)
    if not varying:
        exprs = []
        for how, _, n in hows:
            if how == 'stream':
                exprs += ['stream_id' if n == f.streams[0] else f'col_hip_stream({n})', f'(uintptr_t){n}']
            elif how == 'dim3':
                exprs += [f'{n}.x | (uint64_t){n}.y << 32', f'{n}.z']
            else:
                exprs.append(SCALARS[how][2].format(n))
        return [f'const uint64_t slots[] = {{ {", ".join(exprs)} }};'], 'slots', str(len(exprs))
    lines = [f'uint64_t slots[{" + ".join(room.get(h, "1") for h, _, _ in hows)}];', 'uint32_t n = 0;', '']
    for how, ctype, n in hows:
        if how == 'text':
            lines.append(f'n += col_slot_text(slots + n, {n});')
        elif how in ('struct', 'bytes'):
            lines.append(f'n += slots_{ctype}(slots + n, &{n});')
        elif how == 'stream':
            lines += [f'slots[n++] = {"stream_id" if n == f.streams[0] else f"col_hip_stream({n})"};',
                      f'slots[n++] = (uintptr_t){n};']
        elif how == 'dim3':
            lines += [f'slots[n++] = {n}.x | (uint64_t){n}.y << 32;', f'slots[n++] = {n}.z;']
        else:
            lines.append(f'slots[n++] = {SCALARS[how][2].format(n)};')
    return lines, 'slots', 'n'


def wrapper(row, i, f, abi, base, api, symbol, label, record):
    """one exported function; `symbol` is its name in the library, `label` the name it has in C"""
    service, _, domain = abi.kinds[f.kind]
    decl = lambda t: abi.c(t)
    types = ', '.join(decl(t) for t, _ in f.args) or 'void'
    params = ', '.join((decl(t) if decl(t).endswith('*') else decl(t) + ' ') + n for t, n in f.args) or 'void'
    call = ', '.join(n for _, n in f.args)
    ret, ret_how = decl(f.ret), abi.how(f.ret)
    gap = '' if ret.endswith('*') else ' '
    void = ret_how == 'void'
    before, after = abi.before.get(f.name), abi.after.get(f.name)
    get = '' if void else 'ret = '
    done = 'return;' if void else 'return ret;'
    hook = before or after

    yield (f'{ret}{gap}{label}({params}) __asm__("{symbol}") WS_PUBLIC;')
    yield f'{ret}{gap}{label}({params})\n{{'
    yield f'\t{ret}{gap}(*real)({types}) = (void *)COL_REAL({row});'
    if record:
        yield '\tstruct col_call call;'
    if record or (f.streams and not hook):
        yield '\tconst uint32_t on = col_switches_now();'
    if record or f.streams:
        yield '\tstruct col_thread *t;'
    if f.streams:
        yield '\tuint32_t stream_id, stream_before;'
    if before and after:
        yield '\tuint64_t token;'
    if not void:
        yield f'\t{ret}{gap}ret;'
    yield ''
    absent = abi.absent.get(f.ret)
    if ret_how in ('struct', 'bytes'):
        nothing = f'(struct col_by_{f.ret}){{ 0 }}'
    else:
        nothing = str(absent) if absent is not None else 'NULL' if ret.endswith('*') else '0'
    yield f'\tif (__builtin_expect(!real, 0) && !(real = (void *)col_resolve(&{api}, {row})))'
    yield '\t\treturn;' if void else f'\t\treturn {nothing};'
    on = []
    if record:
        on.append(f'COL_SERVICE_BIT({service})')
    if f.streams:
        on.append('COL_STREAM_USERS')
    # nothing to do for this call: straight through, the compiler makes it a jump
    if not hook:
        if on:
            left_out = '' if f.streams or not record else f' || col_op_off({base} + {i})'
            yield f'\tif (!(on & ({" | ".join(on)})){left_out})'
        yield ('\t{\n\t\treal(' + call + ');\n\t\treturn;\n\t}') if void else f'\t\treturn real({call});'
    if f.streams:  # before the hook: it may be the one that forgets the stream
        yield f'\tstream_id = col_hip_stream({f.streams[0]});'
    if before:
        yield f'\t{"token = " if after else ""}{before}({call});'
    slots, at, n = slot_code(f, abi)
    invoke = f'{get}real({call});'
    if record:
        if hook or f.streams:
            yield f'\tif (on & COL_SERVICE_BIT({service}) && !col_op_off({base} + {i})) {{'
        else:
            yield '\t{'
        yield '\t\tt = col_call_begin(&call);'
        if f.streams:
            yield '\t\tstream_before = col_stream_enter(t, stream_id);'
        yield f'\t\t{invoke}'
        value = '0' if ret_how in ('void', 'struct', 'bytes') else '(uintptr_t)ret' if ret.endswith('*') \
            else '(uint32_t)ret' if ret_how in ('enum', 'i32') else 'ret'
        yield '\t\t{'
        for line in slots:
            yield f'\t\t\t{line}' if line else ''
        yield (f'\t\t\tcol_call_end_args(t, &call, {base} + {i}, CAP_DOMAIN_{domain}, {value}, {at}, {n});')
        yield '\t\t}'
        if f.streams:
            yield '\t\tcol_stream_leave(t, stream_before);'
        yield '\t} else {' if hook or f.streams else '\t}'
    indent = '\t\t' if record else '\t'
    if f.streams:
        yield f'{indent}t = col_thread();'
        yield f'{indent}stream_before = col_stream_enter(t, stream_id);'
        yield f'{indent}{invoke}'
        yield f'{indent}col_stream_leave(t, stream_before);'
    elif hook:
        yield f'{indent}{invoke}'
    if record and (hook or f.streams):
        yield '\t}'
    if after:
        parts = ([] if void else ['ret']) + ['token' if before else '0'] + ([call] if call else [])
        yield f'\t{after}({", ".join(parts)});'
    yield f'\t{done}\n}}\n'


def wrap(name, base, abi, fns, streams_only):
    yield f'#include "collector/{name}/wrap.h"\n'
    yield from by_value(abi, [] if streams_only else fns)
    entries = []
    for i, f in enumerate(fns):
        if streams_only and not (f.streams or f.name in abi.before or f.name in abi.after):
            continue
        if f.name not in abi.only:
            entries.append((i, f, f.name, f'col_wrap_{f.name}'))
        if f.name in abi.symbols:
            entries.append((i, f, abi.symbols[f.name], f'col_wrap_{f.name}_2'))
    api = f'col_{name}_api'
    yield f'static void *real_functions[{len(entries)}];'
    yield 'static const char *const symbols[] = {'
    for _, _, symbol, _ in entries:
        yield f'\t"{symbol}",'
    yield '};\n'
    yield (f'static struct col_api {api} = {{ real_functions, symbols, {len(entries)}, '
           f'col_{name}_libraries, col_{name}_found }};')
    yield '#define COL_REAL(i) __atomic_load_n(&real_functions[i], __ATOMIC_RELAXED)\n'
    for row, (i, f, symbol, label) in enumerate(entries):
        yield from wrapper(row, i, f, abi, base, api, symbol, label, not streams_only)


def main():
    p = argparse.ArgumentParser()
    p.add_argument('what', choices=['ops', 'wrap'])
    p.add_argument('--name', required=True)
    p.add_argument('--base', required=True)
    p.add_argument('--streams', action='store_true')
    p.add_argument('abi')
    p.add_argument('table')
    p.add_argument('out')
    a = p.parse_args()
    try:
        abi = Abi()
        abi.read(a.abi)
        fns = functions(a.table, abi)
    except Wrong as e:
        print(f'gen_api: {e}', file=sys.stderr)
        return 1
    lines = ops(a.name, a.base, abi, fns) if a.what == 'ops' else wrap(a.name, a.base, abi, fns, a.streams)
    with open(a.out, 'w') as f:
        f.write('/* Made by collector/interpose/gen_api.py; do not edit. */\n')
        f.write('\n'.join(lines) + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
