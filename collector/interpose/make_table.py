#!/usr/bin/env python3
"""Derive an .tbl of library functions from C headers. Run by hand, rarely; the result is committed.

    clang -x c -E -P -D__HIP_PLATFORM_AMD__ all_headers.c >installed.i
    make_table.py --exports libamdhip64.so.5 --ids runtime=runtime_api_id.h \\
                  --ids compiler=compiler_api_id.h hip_api_trace.hpp installed.i >hip_api.tbl

Headers are read in order and the first that knows a function wins, so name the newest first: argument
names are then those AMD's tools print today. Prototypes and function-pointer typedefs (t_NAME,
NAME_fn_t) are understood. --ids KIND=FILE is an enumeration whose order numbers the functions of KIND;
exported functions that no enumeration has come last, numbered on. What the library exports and no
header declares is listed on stderr, to be written by hand into the .abi file beside the table.
"""
import argparse
import re
import subprocess
import sys

TYPE_WORDS = {'int', 'unsigned', 'long', 'char', 'size_t', 'float', 'double', 'bool', 'short'}


def tidy(text):
    return re.sub(r'\s*\*\s*', '*', re.sub(r'\s+', ' ', text).strip())


def split_commas(text):
    parts, depth, cur = [], 0, ''
    for c in text:
        depth += (c in '([') - (c in ')]')
        if c == ',' and depth == 0:
            parts.append(cur)
            cur = ''
        else:
            cur += c
    return [p.strip() for p in parts + [cur] if p.strip()]


def parse_argument(text, i):
    text = tidy(re.sub(r'\s*=.*$', '', text))
    text = re.sub(r'\b(struct|enum) ', '', text)
    m = re.match(r'^(.*)\(\*\s*(\w*)\)\s*\(.*\)$', text)
    if m:
        return 'void*', m.group(2) or f'arg{i}'
    m = re.match(r'^(.*[\*\s])(\w+)((?:\[\w*\])?)$', text)
    if m and m.group(2) not in TYPE_WORDS and m.group(1).strip() != 'const':
        base = 'unsigned int' if m.group(1).strip() == 'unsigned' else m.group(1).strip()
        return base + ('*' if m.group(3) else ''), m.group(2)
    return text, f'arg{i}'


def functions(text):
    """name -> (return type, [(type, name)]) of every prototype and function-pointer typedef"""
    text = re.sub(r'/\*.*?\*/|//[^\n]*|^\s*#[^\n]*', ' ', text, flags=re.S | re.M)
    text = re.sub(r'__attribute__\s*\(\(.*?\)\)', ' ', text, flags=re.S)
    found = {}
    typedef = r'typedef\s+([\w\s\*]+?)\(\*\s*(?:t_)?(\w+?)(?:_fn_t)?\)\s*\((.*?)\)\s*;'
    proto = (r'(?:^|[;{}\n])\s*((?:extern\s+)?(?:const\s+)?(?:struct\s+)?\w+[\s\*]+?)'
             r'((?:__|p)?(?:hip|nccl|msccl)\w+)\s*\(([^;{}]*)\)\s*;')
    for pattern in (typedef, proto):
        for m in re.finditer(pattern, text, flags=re.S):
            ret = re.sub(r'^(extern |struct )+', '', tidy(m.group(1)))
            if ret.split()[0] in ('return', 'typedef', 'static'):
                continue
            args = [] if m.group(3).strip() in ('', 'void') else [
                parse_argument(a, i) for i, a in enumerate(split_commas(m.group(3)))]
            found.setdefault(m.group(2), (ret, args))
    return found


def exports(path):
    out = subprocess.run(['objdump', '-T', path], capture_output=True, text=True, check=True).stdout
    return sorted({line.split()[-1] for line in out.splitlines() if ' .text\t' in line})


def main():
    p = argparse.ArgumentParser()
    p.add_argument('headers', nargs='+')
    p.add_argument('--ids', action='append', default=[])
    p.add_argument('--exports')
    p.add_argument('--kind', default='runtime', help='of functions in no enumeration')
    a = p.parse_args()
    known = {}
    for h in a.headers:
        for name, f in functions(open(h).read()).items():
            known.setdefault(name, f)
    rows, seen, next_id = [], set(), {}
    for kind, path in (i.split('=') for i in a.ids):
        names = [n for n in re.findall(r'_API_ID_(\w+)', open(path).read()) if n not in ('NONE', 'LAST')]
        rows += [(kind, i, n) for i, n in enumerate(names)]
        seen.update(names)
        next_id[kind] = len(names)
    for name in exports(a.exports) if a.exports else sorted(known):
        if name in seen:
            continue
        if name not in known:
            print(f'not declared: {name}', file=sys.stderr)
            continue
        rows.append((a.kind, next_id.get(a.kind, 0), name))
        next_id[a.kind] = next_id.get(a.kind, 0) + 1
    for kind, i, name in rows:
        if name not in known:
            print(f'enumerated but not declared: {name}', file=sys.stderr)
            continue
        ret, args = known[name]
        text = ', '.join(f'{t} {n}' for t, n in args) or 'void'
        print(f'{kind:<9}{i:<5}{ret:<14} {name}({text})')


if __name__ == '__main__':
    main()
