#!/usr/bin/env python3
"""From a table of functions: a library that has them all, a program that calls them all, and what
a recording of that program holds.

    gen_standin.py TABLE ABI standin.c driver.c expected.txt

Each argument of each call has a value of its own. The stand-in compares what arrives with what the
program passed, and answers with a value of its own, which the program compares: a wrapper that loses,
swaps or narrows anything is found by one of the two, and a wrong record by the comparison of the dump.
C types are written out here a second time on purpose: this must not share the generator's mistakes.
"""
import re
import sys

C = {'enum': 'int', 'i32': 'int', 'u32': 'unsigned', 'u64': 'unsigned long', 'u8': 'unsigned char',
     'u16': 'unsigned short', 'bool': '_Bool', 'f32': 'float', 'ptr': 'void *', 'stream': 'void *',
     'text': 'const char *', 'dim3': 'struct dim3'}
STREAM = 0x7000
table, abi_path, standin_path, driver_path, expected_path = sys.argv[1:]

types, structs, symbols, only, stream_in = {}, {}, {}, set(), {}
for line in open(abi_path):
    words = line.split('#')[0].split()
    if not words:
        continue
    if words[0] == 'type':
        types[' '.join(words[1:-1])] = words[-1]
    elif words[0] == 'struct':
        structs[words[1]] = [tuple(f.split()) for f in ' '.join(words[2:]).split(',')]
    elif words[0] == 'bytes':
        structs[words[1]] = int(words[2])
    elif words[0] == 'stream_in':
        stream_in[words[1]] = (words[2], int(words[3]))
    elif words[0] in ('symbol', 'only'):
        symbols[words[1]] = words[2]
        if words[0] == 'only':
            only.add(words[1])


def how(ctype):
    if ctype == 'const char*':
        return 'text'
    if ctype.endswith('*'):
        return 'ptr'
    ctype = ctype.replace('const ', '')
    return types.get(ctype) or ('void' if ctype == 'void' else 'struct')


def c_type(ctype):
    return {'void': 'void', 'struct': 'struct ' + ctype}.get(how(ctype)) or C[how(ctype)]


def value(ctype, i, j):
    """C text of the value, and how it is printed in the dump"""
    n = 1000 * i + 7 * j + 3
    h = how(ctype)
    if h == 'text':
        return f'"text-{i}-{j}"', f'"text-{i}-{j}"'
    if h == 'stream':
        return f'(void *){STREAM}', 'stream:1'
    if h == 'ptr':
        return f'(void *)0x7f00{n:08x}', f'0x7f00{n:08x}'
    if h in ('enum', 'i32'):
        return (f'(-{n})', f'-{n}') if (i + j) % 3 == 0 else (f'{n}', f'{n}')
    if h == 'u32':
        return f'{0x80000000 + n}u', str(0x80000000 + n)
    if h == 'u64':
        return f'{(1 << 63) + n}ul', str((1 << 63) + n)
    if h == 'u8':
        return str(n % 251), str(n % 251)
    if h == 'u16':
        return str(n % 65521), str(n % 65521)
    if h == 'bool':
        return '1', '1'
    if h == 'f32':
        return f'{n % 1000}.5f', f'{n % 1000}.5'  # few digits: %g prints six
    if h == 'dim3':
        return f'((struct dim3){{ {n}, {n + 1}, {n + 2} }})', f'{{{n},{n + 1},{n + 2}}}'
    fields = structs[ctype]
    if isinstance(fields, int):
        byte = n % 256
        return f'filled_{ctype}({byte})', f'"{byte:02x}' + f'{byte:02x}' * (fields - 1) + '"'
    vals = [(f'(void *)0x{n + k:x}', f'0x{n + k:x}') if t == 'ptr' else (str(n + k), str(n + k))
            for k, (t, _) in enumerate(fields)]
    text = ', '.join(f'{name}={v[1]}' for (_, name), v in reversed(list(zip(fields, vals))))
    return f'((struct {ctype}){{ {", ".join(v[0] for v in vals)} }})', '"{' + text + '}"'


rows = []
for line in open(table):
    m = re.match(r'^(\w+)\s+(\d+)\s+(\S.*?)\s+(\w+)\((.*)\)$', line.split('#')[0].rstrip())
    if m:
        args = [] if m.group(5) == 'void' else [a.rsplit(' ', 1) for a in m.group(5).split(', ')]
        rows.append((m.group(1), int(m.group(2)), m.group(3), m.group(4), args))

head = ['#include <stdio.h>', '#include <string.h>', 'struct dim3 { unsigned x, y, z; };']
for name, fields in structs.items():
    if isinstance(fields, int):
        head.append(f'struct {name} {{ char bytes[{fields}]; }};')
        head.append(f'static inline struct {name} filled_{name}(int b)\n{{\n\tstruct {name} v;\n\n'
                    f'\tmemset(&v, b, sizeof(v));\n\treturn v;\n}}')
    else:
        head.append(f'struct {name} {{ ' + ' '.join(f'{C[t]} {n};' for t, n in fields) + ' };')

standin, driver, calls, expected = list(head), list(head), [], []
driver[0] = '#include <stdint.h>\n#include <stdio.h>\n#include <sys/mman.h>'
standin.append('int standin_wrong;\nint standin_calls;')
driver.append('extern int standin_wrong, standin_calls;\nstatic int wrong;')
for i, (kind, ident, ret, name, args) in enumerate(rows):
    exported = ([] if name in only else [name]) + ([symbols[name]] if name in symbols else [])
    params = ', '.join(f'{c_type(t)} {n}' for t, n in args) or 'void'
    for k, symbol in enumerate(exported):
        label = f'fn_{i}_{k}'
        proto = f'{c_type(ret)} {label}({params}) __asm__("{symbol}");'
        standin.append(proto)
        driver.append(proto)
        body = []
        for j, (t, n) in enumerate(args):
            v = value(t, i, j)[0]
            if how(t) == 'text':
                body.append(f'\tstandin_wrong += strcmp({n}, {v}) != 0;')
            elif how(t) in ('struct', 'dim3'):
                body.append(f'\tstandin_wrong += memcmp(&{n}, &(struct {t}[]){{ {v} }}[0], sizeof({n})) != 0;')
            else:
                body.append(f'\tstandin_wrong += {n} != {v};')
        body.append('\tstandin_calls++;')
        r = value(ret, i, 99)[0] if how(ret) != 'void' else ''
        if how(ret) != 'void':
            body.append(f'\treturn {r};')
        standin.append(f'{c_type(ret)} {label}({params})\n{{\n' + '\n'.join(body) + '\n}')
        if name in stream_in:  # its struct is really there, with the stream inside
            arg, offset = stream_in[name]
            at = next(value(t, i, j)[0] for j, (t, n) in enumerate(args) if n == arg)
            calls.append(f'\tmmap((void *)((uintptr_t){at} & ~4095ul), 8192, PROT_READ | PROT_WRITE, '
                         'MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);')
            calls.append(f'\tmemcpy((char *){at} + {offset}, &(void *){{ (void *){STREAM} }}, sizeof(void *));')
        call = f'{label}({", ".join(value(t, i, j)[0] for j, (t, _) in enumerate(args))})'
        if how(ret) == 'void':
            calls.append(f'\t{call};')
        elif how(ret) == 'text':
            calls.append(f'\twrong += strcmp({call}, {r}) != 0;')
        elif how(ret) == 'struct':
            calls.append(f'\twrong += memcmp(&(struct {ret}[]){{ {call} }}[0], &(struct {ret}[]){{ {r} }}[0], sizeof(struct {ret})) != 0;')
        else:
            calls.append(f'\twrong += {call} != {r};')
        printed = value(ret, i, 99)[1] if how(ret) not in ('void', 'struct', 'text') else '0'
        if how(ret) in ('enum', 'i32'):
            printed = str(int(printed) & 0xffffffff)
        elif how(ret) == 'ptr':
            printed = str(int(printed, 16))
        elif how(ret) == 'text':
            printed = '*'
        text = ''.join(f' {n}={value(t, i, j)[1]}' for j, (t, n) in enumerate(args))
        expected.append(f'{name} id={ident} stream={int(name in stream_in or any(how(t) == "stream" for t, _ in args))} '
                        f'ret={printed}{text}')

driver += ['int main(void)', '{'] + calls + [
    '\tprintf("%d calls, %d arguments wrong, %d results wrong\\n", standin_calls, standin_wrong, wrong);',
    '\treturn wrong || standin_wrong;', '}']
for path, lines in ((standin_path, standin), (driver_path, driver), (expected_path, expected)):
    open(path, 'w').write('\n'.join(lines) + '\n')
