"""python3 -m rocprofsys [options] -- script.py [arguments]: runs a script and profiles its functions.

The profiler has to be in the process when it starts. If it is not, rocprof-sys-run starts this
command again with it.
"""

import argparse
import builtins
import os
import sys
import types

# In the environment of the interpreter that rocprof-sys-run starts: do not start again.
STARTED = "WAVESCOPE_PYTHON"


def fail(text, code=2):
    sys.stderr.write("rocprof-sys-python: %s\n" % text)
    raise SystemExit(code)


def boolean(text):
    if text.lower() in ("yes", "true", "t", "y", "on", "1"):
        return True
    if text.lower() in ("no", "false", "f", "n", "off", "0"):
        return False
    raise argparse.ArgumentTypeError("'%s' is neither yes nor no" % text)


def make_parser():
    parser = argparse.ArgumentParser(
        "rocprof-sys-python", allow_abbrev=False,
        usage="%(prog)s [options] -- SCRIPT [ARG...]",
        description="Runs a Python script and records its functions as regions. SCRIPT may also be "
                    "'-m MODULE' or '-c TEXT'. Patterns are regular expressions.")
    flag = {"type": boolean, "nargs": "?", "const": True, "default": False, "metavar": "BOOL"}
    several = {"nargs": "+", "default": [], "action": "extend"}
    add = parser.add_argument
    add("-v", "--verbosity", type=int, default=0, metavar="N", help="with 1: print the functions that are not recorded")
    add("-b", "--builtin", action="store_true",
        help="profile only what the script marks with @profile or 'with profile:'; both names are "
             "built in")
    add("-c", "--config", metavar="FILE", help="settings of rocprof-sys")
    add("-s", "--setup", metavar="FILE", help="execute FILE first, without profiling")
    add("-F", "--full-filepath", help="full paths in names instead of file names", **flag)
    add("--label", nargs="*", choices=("args", "file", "line"), default=[],
        help="add arguments, file or line to names")
    add("-I", "--function-include", metavar="FUNC", help="record these, also if excluded", **several)
    add("-E", "--function-exclude", metavar="FUNC",
        help="do not record these, nor what they call", **several)
    add("-R", "--function-restrict", metavar="FUNC", help="record only these", **several)
    add("-MI", "--module-include", metavar="FILE", help="record functions of these files", **several)
    add("-ME", "--module-exclude", metavar="FILE", help="do not record functions of these files",
        **several)
    add("-MR", "--module-restrict", metavar="FILE", help="record only functions of these files",
        **several)
    add("--trace-c", help="record functions written in C", **flag)
    add("-a", "--annotate-trace",
        help="add file, line, lasti, argcount, nlocals and stacksize to the trace", **flag)
    return parser


def split(words):
    """Options and command. Without '--' the first word that is no option begins the command."""
    if "--" in words:
        at = words.index("--")
        return words[:at], words[at + 1:]
    if words and not words[0].startswith("-"):
        return [], words
    return words, []


def start_again(options):
    """The same command line with the profiler; does not return."""
    import _wavescope

    try:
        run = _wavescope.find("rocprof-sys-run")
    except FileNotFoundError as error:
        fail(error)
    words = getattr(sys, "orig_argv", None)  # 3.10 and later; has the interpreter's own options
    words = words[1:] if words else ["-m", "rocprofsys"] + sys.argv[1:]
    os.environ[STARTED] = "1"
    os.environ.setdefault("ROCPROFSYS_USE_SAMPLING", "false")
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    paths = [folder] + [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    if options.config:
        files = [f for f in os.environ.get("ROCPROFSYS_CONFIG_FILE", "").split(":") if f]
        os.environ["ROCPROFSYS_CONFIG_FILE"] = ":".join(files + [options.config])
    os.execv(run, [run, "--", sys.executable] + words)


def find_script(name):
    """A file, or a program of PATH."""
    if os.path.isfile(name):
        return name
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, name)
        if folder and os.path.isfile(path):
            return path
    return fail("no script '%s': give the name of a file" % name, 127)


def configure(options):
    from .profiler import config

    config.trace_c = options.trace_c
    config.include_args = "args" in options.label
    config.include_line = "line" in options.label
    config.include_filename = "file" in options.label
    config.full_filepath = options.full_filepath
    config.annotate_trace = options.annotate_trace
    config.verbosity = options.verbosity
    for name in ("include", "exclude", "restrict"):
        for kind in ("function", "module"):
            field = "%s_%ss" % (name, kind)
            given = getattr(options, "%s_%s" % (kind, name))
            try:
                setattr(config, field, getattr(config, field) + given)
            except Exception as error:
                fail("--%s-%s: %s" % (kind, name, error))


def main_module(file):
    """A fresh __main__, as the script finds it when Python runs it."""
    module = types.ModuleType("__main__")
    module.__builtins__ = builtins
    if file:
        module.__file__ = file
    module.__dict__["__cached__"] = None
    sys.modules["__main__"] = module
    return module.__dict__


def compiled(path):
    with open(path, "rb") as file:
        return compile(file.read(), path, "exec", dont_inherit=True)


def make_command(words):
    """What to call, with sys.argv, sys.path and __main__ as Python sets them."""
    if words[0] in ("-m", "-c") and len(words) < 2:
        fail("%s needs a value after it" % words[0])
    if words[0] == "-m":
        import runpy

        sys.argv[:] = words[1:]
        sys.path[0] = os.getcwd()
        return lambda: runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    if words[0] == "-c":
        sys.argv[:] = ["-c"] + words[2:]
        sys.path[0] = ""
        code, space = compile(words[1], "<string>", "exec", dont_inherit=True), main_module(None)
    else:
        script = find_script(words[0])
        sys.argv[:] = [script] + words[1:]
        sys.path[0] = os.path.dirname(os.path.realpath(script))
        code, space = compiled(script), main_module(script)
    return lambda: exec(code, space)


def execute(command):
    """As Python itself does it, but without our own frames in a traceback."""
    try:
        command()
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        trace = error.__traceback__
        here = os.path.dirname(os.path.abspath(__file__))
        while trace and os.path.dirname(os.path.abspath(trace.tb_frame.f_code.co_filename)) == here:
            trace = trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        raise SystemExit(1)


def main():
    mine, command = split(sys.argv[1:])
    parser = make_parser()
    options = parser.parse_args(mine)
    if not command:
        parser.print_usage(sys.stderr)
        fail("no script: give it after '--'")
    from . import _native
    from .profiler import FakeProfiler, Profiler

    if not _native.available() and os.environ.get(STARTED) != "1":
        start_again(options)
    os.environ.pop(STARTED, None)
    configure(options)
    profiler, fake = Profiler(), FakeProfiler()
    if options.setup:
        setup = find_script(options.setup)
        exec(compiled(setup), {"__name__": "__main__", "__file__": setup, "__builtins__": builtins})
    for name, value in (("profile", profiler), ("noprofile", fake), ("trace", profiler),
                        ("notrace", fake)):
        setattr(builtins, name, value)
    run = make_command(command)
    if options.builtin:
        execute(run)
    else:
        with profiler:
            execute(run)


if __name__ == "__main__":
    main()
