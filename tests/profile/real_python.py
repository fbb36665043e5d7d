"""Python frames among the native frames of the interpreter that runs this.

    real_python.py LIBRARY FOLDED

Python calls C (sorted), which calls Python, which calls C (ctypes): each Python function must come
out behind the function that called it, and none of the interpreter's main loop may be left.
"""
import ctypes
import os
import re
import subprocess
import sys
import tempfile

IN_ONE_LOOP = sys.version_info >= (3, 11)  # calls between Python functions


class Python(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("file", ctypes.c_char_p), ("table", ctypes.c_char_p),
                ("n_table", ctypes.c_uint32), ("first_line", ctypes.c_uint32),
                ("version", ctypes.c_uint32), ("at", ctypes.c_uint32), ("entry", ctypes.c_uint32)]


def frames_from(frame, entries):
    found = []
    while frame:
        code = frame.f_code
        table = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
        found.append(Python(code.co_name.encode(), code.co_filename.encode(), table, len(table),
                            code.co_firstlineno, sys.version_info[0] << 8 | sys.version_info[1],
                            frame.f_lasti, code.co_name in entries or not IN_ONE_LOOP))
        frame = frame.f_back
    return found


def leaf(_):
    found = frames_from(sys._getframe(), ("key", "<module>"))
    return library.stack_here(capture.encode(), (Python * len(found))(*found), len(found))


def key(value):
    return leaf(value)


def outer():
    return sorted([1], key=key)


def top():
    return outer()


def check():
    text = subprocess.run([folded, capture], check=True, stdout=subprocess.PIPE, text=True).stdout
    print(sys.version.split()[0], sys.executable)
    print(text)
    frames = re.sub(r" 1\n$", "", text).split(";")
    names = [f for f in frames if f in ("<module>", "top", "outer", "key", "leaf", "stack_here")]
    assert names == ["<module>", "top", "outer", "key", "leaf", "stack_here"], names
    assert not [f for f in frames if f.startswith("_PyEval_EvalFrame")], frames
    # next to each other: Python calls Python, whatever the interpreter does between
    assert frames.index("outer") == frames.index("top") + 1
    assert frames.index("leaf") == frames.index("key") + 1
    # sorted() and ctypes are between, the start of the program is outside
    assert frames.index("key") > frames.index("outer") + 1
    assert frames.index("stack_here") > frames.index("leaf") + 1
    assert frames.index("<module>") > 0


folded = sys.argv[2]
library = ctypes.CDLL(os.path.abspath(sys.argv[1]))
with tempfile.TemporaryDirectory() as folder:
    capture = os.path.join(folder, "a.wscap")
    assert top() == [1]
    assert os.path.getsize(capture)
    check()
